"""What a sentence says as the answer to a question, or as the correction of an earlier one."""

import re
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz, process

from mock_server.dialogue import lexicon
from mock_server.dialogue.lexicon import (
    AFFIRM,
    DENY,
    FALSE_WORDS,
    TRUE_WORDS,
    content_words,
    normalized,
)
from mock_server.dialogue.model import Json, Slot, SlotType
from mock_server.dialogue.slots import NO_CHOICE

FUZZY = 80
PREFIX_LENGTH = 2
NUMBER = re.compile(
    r"(?<![\w./:-])-?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?![\d/:]|-\d)"
)


def answer(slot: Slot, text: str, titles: Mapping[str, str]) -> Json:
    """The value of `slot` that `text` names; None if it names none, or the slot is free text.

    `titles` are those of the buttons that were offered, each with the value it stands for.
    """
    match slot.type:
        case SlotType.BOOL:
            return yes_or_no(text)
        case SlotType.FLOAT:
            numbers = numbers_in(text)
            return numbers[0] if numbers else None
        case SlotType.CATEGORICAL:
            return _category(slot, text, titles)
        case _:
            return None


def yes_or_no(text: str) -> bool | None:
    """Whether `text` begins like a yes or like a no."""
    plain = normalized(text)
    first = re.split(r"[\s,.;!]", plain, maxsplit=1)[0]
    if first in DENY or lexicon.DENYING.match(plain):
        return False
    if first in AFFIRM or lexicon.AFFIRMING.match(plain):
        return True
    return None


def numbers_in(text: str) -> tuple[float, ...]:
    """The numbers of `text`, without currency and thousands separators; dates hold none."""
    return tuple(_number(found) for found in NUMBER.findall(text))


def free_text(text: str) -> str:
    """`text` without a lead-in such as "it's" and "my name is"."""
    stripped = text.strip()
    rest = (
        lexicon.LEAD_IN.sub("", stripped, count=1) if lexicon.LEAD_IN.match(stripped) else stripped
    )
    return lexicon.ONLY_OPENERS.sub("", rest, count=1).strip().rstrip(".!") or stripped


def named_category(slot: Slot, text: str) -> str | None:
    """The one declared value of `slot` that stands in `text` as a word of its own."""
    named = [value for value in slot.values if _is_in(_spoken(value), text)]
    return named[0] if len(named) == 1 else None


def is_exact_category(slot: Slot, text: str) -> bool:
    return any(_spoken(value) == _spoken(normalized(text)) for value in slot.values)


def _category(slot: Slot, text: str, titles: Mapping[str, str]) -> str | None:
    """By the exact value, a value named in the sentence, yes or no, a prefix, then likeness."""
    spoken = _spoken(normalized(free_text(text)))
    names = {_spoken(value): value for value in slot.values}
    if spoken in names:
        return names[spoken]
    for title, value in titles.items():
        names.setdefault(_spoken(title), value)
    named = {value for name, value in names.items() if _is_in(name, text)}
    if len(named) == 1:
        return named.pop()
    agreed = _agreed(slot, text)
    if agreed is not None:
        return agreed
    starting = {value for name, value in names.items() if name.startswith(spoken)}
    if len(spoken) >= PREFIX_LENGTH and len(starting) == 1:
        return starting.pop()
    like = process.extract(spoken, names.keys(), scorer=fuzz.ratio, score_cutoff=FUZZY, limit=2)
    is_one = len(like) == 1 or (len(like) > 1 and like[0][1] > like[1][1])
    return names[like[0][0]] if is_one else None


def _agreed(slot: Slot, text: str) -> str | None:
    """Of a slot with values such as Yes and No, or with one to decline, what `text` means."""
    said = yes_or_no(text)
    words = TRUE_WORDS if said else FALSE_WORDS
    fitting = [value for value in slot.values if value.casefold() in words]
    if not (fitting or said):
        fitting = [value for value in slot.values if value.casefold() == NO_CHOICE]
    return fitting[0] if said is not None and len(fitting) == 1 else None


def _is_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _spoken(normalized(text))) is not None


def _spoken(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ").strip()


def _number(text: str) -> float:
    is_decimal_comma = re.fullmatch(r"-?\d+,\d{1,2}", text) is not None
    return float(text.replace(",", "." if is_decimal_comma else ""))


def corrected(
    slots: Sequence[Slot], values: Mapping[str, Json], text: str, *, asks_free_text: bool
) -> tuple[Slot, Json] | None:
    """The one of `slots`, the latest asked last, that `text` gives a new value, and that value.

    A slot that is named wins; else a number is for the latest number, a category for the slot
    that has it, and other words are for the latest text. What a number or category has already is
    no other slot's new text. Free text that is asked is an answer, unless a slot is named.
    """
    named = [slot for slot in slots if _is_named(slot, text)]
    unchanged: tuple[Slot, Json] | None = None
    for slot in (*reversed(named), *_by_type(slots)):
        if unchanged and slot.type is SlotType.TEXT:
            break
        takes_text = slot in named or not asks_free_text
        value = _corrected_value(slot, text, takes_text=takes_text)
        if value is not None and value != values[slot.name]:
            return slot, value
        if value is not None and slot.type is not SlotType.TEXT:
            unchanged = unchanged or (slot, value)
    return unchanged


def _by_type(slots: Sequence[Slot]) -> tuple[Slot, ...]:
    order = (SlotType.FLOAT, SlotType.CATEGORICAL, SlotType.TEXT)
    return tuple(slot for kind in order for slot in reversed(slots) if slot.type is kind)


def _is_named(slot: Slot, text: str) -> bool:
    """Whether the last word of the slot's name, its noun, is in the text."""
    words = content_words(slot.name)
    return bool(words) and words[-1] in content_words(text)


def _corrected_value(slot: Slot, text: str, *, takes_text: bool) -> Json:
    match slot.type:
        case SlotType.FLOAT:
            numbers = numbers_in(text)
            return numbers[-1] if numbers else None
        case SlotType.CATEGORICAL:
            return named_category(slot, text)
        case SlotType.TEXT if takes_text:
            return _corrected_text(text)
        case _:
            return None


def _corrected_text(text: str) -> str | None:
    """The words behind the cue and a lead-in such as "the handle is"; None if none are left."""
    rest = lexicon.CORRECTION_TAIL.sub(
        "", lexicon.CORRECTION_CUES.sub("", text.strip(), count=1).strip()
    )
    value = free_text(rest).strip(" .,!")
    is_cue_only = lexicon.normalized(value) in {"", "no", "wait", "sorry", "actually"}
    return None if is_cue_only else value
