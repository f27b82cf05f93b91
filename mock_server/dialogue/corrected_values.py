"""Which slot a correction means, and its new value: "no wait, I meant 65"."""

from mock_server.dialogue import answers, lexicon, phrases
from mock_server.dialogue.hearing import Hearing
from mock_server.dialogue.lexicon import content_words
from mock_server.dialogue.model import Json, Slot, SlotType


def corrected(hearing: Hearing) -> tuple[Slot, Json] | None:
    """The slot of the running flow that the message gives a new value, and that value.

    A slot that is named wins; else a number is for the latest number, a category for the slot
    that has it, and other words are for the latest text. What a number or category has already is
    no other slot's new text.
    """
    slots = [slot for slot in hearing.correctable if slot is not hearing.asked]
    named = [slot for slot in slots if _is_named(slot, hearing.text)]
    unchanged: tuple[Slot, Json] | None = None
    for slot in (*reversed(named), *_by_type(slots)):
        if unchanged and slot.type is SlotType.TEXT:
            break
        value = _value(slot, hearing, is_named=slot in named)
        if value is not None and value != hearing.state.slots[slot.name]:
            return slot, value
        if value is not None and slot.type is not SlotType.TEXT:
            unchanged = unchanged or (slot, value)
    return unchanged


def _by_type(slots: list[Slot]) -> tuple[Slot, ...]:
    order = (SlotType.FLOAT, SlotType.CATEGORICAL, SlotType.TEXT)
    return tuple(slot for kind in order for slot in reversed(slots) if slot.type is kind)


def _is_named(slot: Slot, text: str) -> bool:
    """Whether the last word of the slot's name, its noun, is in the text."""
    words = content_words(slot.name)
    return bool(words) and words[-1] in content_words(text)


def _value(slot: Slot, hearing: Hearing, *, is_named: bool) -> Json:
    """What the message has for `slot`; free text that is asked is an answer, unless named."""
    match slot.type:
        case SlotType.FLOAT:
            numbers = answers.numbers_in(hearing.text)
            return numbers[-1] if numbers else None
        case SlotType.CATEGORICAL:
            return answers.named_category(slot, hearing.text)
        case SlotType.TEXT:
            is_answer = hearing.asks_free_text and not is_named
            return None if is_answer else _text(hearing.text)
        case _:
            return None


def _text(text: str) -> str | None:
    """The words behind the cue and a lead-in such as "the handle is"; None if none are left."""
    rest = phrases.CORRECTION_TAIL.sub(
        "", phrases.CORRECTION_CUES.sub("", text.strip(), count=1).strip()
    )
    value = answers.free_text(rest).strip(" .,!")
    is_cue_only = lexicon.normalized(value) in {"", "no", "wait", "sorry", "actually"}
    return None if is_cue_only else value
