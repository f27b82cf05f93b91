"""The meaning of a message without a model: rules tried in order, the first that fires wins.

The order is that of flows.md §7, with two exceptions. A correction, a request to stop and a clear
request for another flow come before an answer; free text, which fits everything, comes last.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TypeAlias

from rapidfuzz import fuzz, process

from mock_server.dialogue import lexicon
from mock_server.dialogue.assistant import Assistant, FlowIndex, UnderstandRule
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    CommandSyntaxError,
    ContinueAgent,
    HumanHandoff,
    RepeatLastBotMessages,
    ReportError,
    SetSlot,
    SkipQuestion,
    StartFlow,
    fill_command,
    is_set_slots,
    parse_set_slots,
    read_slash,
    value_of,
)
from mock_server.dialogue.expressions import can_start, holds
from mock_server.dialogue.lexicon import (
    AFFIRM,
    DENY,
    FALSE_WORDS,
    GENERIC_VERBS,
    REMEMBERED_SENTENCES,
    TRUE_WORDS,
    WORD,
    content_words,
    normalized,
    read_sentence,
)
from mock_server.dialogue.model import (
    CHOICE_SLOT,
    NO_CHOICE,
    Button,
    Flow,
    Json,
    Slot,
    SlotFiller,
    SlotType,
)
from mock_server.dialogue.outside import Generation
from mock_server.dialogue.regular_expressions import search
from mock_server.dialogue.state import (
    DialogueState,
    RuleTried,
    Understood,
    active_frame,
    active_group,
    asked_slot,
    context_of,
)
from mock_server.dialogue.turn import waiting_agent
from mock_server.errors import SearchTooSlow
from mock_server.records import record

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
    match = lexicon.LEAD_IN.match(stripped)
    rest = stripped[match.end() :] if match else stripped
    return lexicon.ONLY_OPENERS.sub("", rest, count=1).strip().rstrip(".!") or stripped


def named_category(slot: Slot, text: str) -> str | None:
    """The one declared value of `slot` that is a word of `text`."""
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
    """The value that `text` agrees to or declines, of a slot with values such as Yes and No."""
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
    order = (SlotType.FLOAT, SlotType.CATEGORICAL, SlotType.TEXT)
    by_type = [slot for kind in order for slot in reversed(slots) if slot.type is kind]
    for slot in (*reversed(named), *by_type):
        if unchanged and slot.type is SlotType.TEXT:
            break
        takes_text = slot in named or not asks_free_text
        value = _corrected_value(slot, text, takes_text=takes_text)
        if value is not None and value != values[slot.name]:
            return slot, value
        if value is not None and slot.type is not SlotType.TEXT:
            unchanged = unchanged or (slot, value)
    return unchanged


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
    """The words behind the cue and a lead-in such as "the handle is"; None if there are none."""
    rest = lexicon.CORRECTION_CUES.sub("", text.strip(), count=1).strip()
    rest = lexicon.CORRECTION_TAIL.sub("", rest)
    value = free_text(rest).strip(" .,!")
    is_cue_only = lexicon.normalized(value) in {"", "no", "wait", "sorry", "actually"}
    return None if is_cue_only else value


ENOUGH = 0.5
TIE = 0.05
FIRST_WORD = 1.5
GENERIC_WORD = 0.5
DESCRIPTION_WORD = 0.6
# Nobody asks for a flow in a longer text.
MAX_REQUEST = 1000

NO_FLOWS: frozenset[str] = frozenset()
# A name, an amount or a quotation belongs to no flow. A text without a digit is searched faster.
DIGIT = re.compile(r"\d")
SIGN = re.compile(r"(?<=\w )[A-Z]\w*|[@#€$£]\S+|\"[^\"]*\"")
VALUE = re.compile(r"(?<=\w )[A-Z]\w*|[@#€$£]\S+|\S*\d\S*|\"[^\"]*\"")

_FoundWord: TypeAlias = tuple[int, str, float, frozenset[str], frozenset[str]]
"""How many flows have a word, the word, its share of the weight, and the flows by name and text."""


@record
class FlowMatch:
    """`score` is the share of the sentence's weight that `words` of the flow cover."""

    flow_id: str
    score: float
    words: frozenset[str]
    named: frozenset[str]


def rank(
    text: str, index: FlowIndex, is_open: Callable[[str], bool] = lambda _: True
) -> tuple[FlowMatch, ...]:
    """The flows that `text` may ask for, best first; flows without a common word are left out.

    So are flows that have only common words, once an open flow is found that they cannot come near:
    rare words are looked up first.
    """
    if len(text) > MAX_REQUEST:
        return ()
    found = _find_words(_words(text), index)
    matches: dict[str, FlowMatch] = {}
    top = 0.0
    rest = sum([_most(word) for word in found])
    for word in found:
        if rest < top - TIE:
            break
        rest -= _most(word)
        _, _, _, named, described = word
        for flow_id in named | described:
            if flow_id in matches:
                continue
            match = matches[flow_id] = _match(flow_id, found)
            if match.score >= max(ENOUGH, top) and _is_telling(match) and is_open(flow_id):
                top = match.score
    if len(matches) <= 1:
        return tuple(matches.values())
    order = index.order
    return tuple(sorted(matches.values(), key=lambda match: (-match.score, order[match.flow_id])))


@lru_cache(REMEMBERED_SENTENCES)  # 9 % of a turn, where the same is said again
def _words(text: str) -> tuple[str, ...]:
    values = VALUE if DIGIT.search(text) else SIGN
    return content_words(values.sub(" ", text))


def _most(word: _FoundWord) -> float:
    """The most that the word can add to a flow's score."""
    _, _, share, named, _ = word
    return share if named else share * DESCRIPTION_WORD


def best(matches: Sequence[FlowMatch]) -> tuple[FlowMatch, ...]:
    """The matches that are good enough and as good as the best: one, or several that tie."""
    telling = [match for match in matches if _is_telling(match)]
    if not telling:
        return ()
    least = max(ENOUGH, telling[0].score - TIE)
    return tuple([match for match in telling if match.score >= least])


def _is_telling(match: FlowMatch) -> bool:
    """A single word that only a description has is not enough: descriptions mention much."""
    return bool(match.named) or len(match.words) > 1


def _find_words(words: Sequence[str], index: FlowIndex) -> list[_FoundWord]:
    """The words that flows have, those of the fewest flows first."""
    weights = _weights(words)
    total = sum(weights.values())
    found: list[_FoundWord] = []
    for word, weight in weights.items():
        spellings = spellings_of(word, index)
        named = _flows(spellings, index.named)
        described = _flows(spellings, index.described)
        if named or described:
            found.append((len(named) + len(described), word, weight / total, named, described))
    found.sort()
    return found


def spellings_of(word: str, index: FlowIndex) -> tuple[str, ...]:
    """The words of flows that `word` may stand for: itself, or else words much like it."""
    is_known = word in index.named or word in index.described
    return (word,) if is_known else index.similar_words(word)


def _flows(words: Sequence[str], postings: Mapping[str, frozenset[str]]) -> frozenset[str]:
    if len(words) == 1:
        return postings.get(words[0], NO_FLOWS)
    return NO_FLOWS.union(*[postings[word] for word in words if word in postings])


def _weights(words: Sequence[str]) -> dict[str, float]:
    """A sentence's first word of meaning is mostly its verb, and weighs the most."""
    weights: dict[str, float] = {}
    weight = FIRST_WORD
    for word in words:
        if word in GENERIC_VERBS:
            weights[word] = GENERIC_WORD
        else:
            weights[word] = weight
            weight = 1.0
    return weights


def _match(flow_id: str, found: Iterable[_FoundWord]) -> FlowMatch:
    named: list[str] = []
    described: list[str] = []
    score = 0.0
    for _, word, share, having, mentioning in found:
        if flow_id in having:
            named.append(word)
            score += share
        elif flow_id in mentioning:
            described.append(word)
            score += DESCRIPTION_WORD * share
    return FlowMatch(flow_id, min(score, 1.0), frozenset((*named, *described)), frozenset(named))


@record
class RequestedFlows:
    """The flows that a text asks for: one, several that tie, or none, and why."""

    best: tuple[FlowMatch, ...]
    reason: str


def requested_flows(assistant: Assistant, slots: Mapping[str, Json], text: str) -> RequestedFlows:
    """The flows that the words of `text` fit; a flow whose guard fails is not a candidate."""

    def is_open(flow_id: str) -> bool:
        return can_start(assistant.flows[flow_id], slots)

    matches = rank(text, assistant.index, is_open)
    open_matches = [match for match in matches if is_open(match.flow_id)]
    fitting = best(open_matches)
    if fitting:
        return RequestedFlows(fitting, ", ".join(f"{m.flow_id} {m.score:.2f}" for m in fitting))
    if best(matches):
        return RequestedFlows((), f"the condition of flow {matches[0].flow_id!r} does not hold")
    if open_matches:
        top = open_matches[0]
        return RequestedFlows((), f"nearest is {top.flow_id!r} with {top.score:.2f} of {ENOUGH}")
    return RequestedFlows((), "no word of it belongs to a flow")


FREE_TEXT = frozenset({SlotType.TEXT, SlotType.ANY})

CLEAR_WORDS = 2

RuleResult: TypeAlias = tuple[tuple[Command, ...], str]
"""The commands of a rule, none if it does not fire, and the reason either way."""
TOO_LONG = "rasa_internal_error_user_input_too_long"
SHORT = 4
EMPTY = "rasa_internal_error_user_input_empty"


Warn: TypeAlias = Callable[[str], None]


def _ignore(_: str) -> None:
    pass


class MessageInContext:
    """A message in its situation, as the rules look at it."""

    def __init__(
        self, assistant: Assistant, state: DialogueState, text: str, warn: Warn = _ignore
    ) -> None:
        self.assistant = assistant
        self.state = state
        self.text = text
        self.warn = warn
        self.sentence = read_sentence(text)
        self.asked = _asked(assistant, state)
        self._requested: RequestedFlows | None = None

    @property
    def plain(self) -> str:
        return self.sentence.plain

    @property
    def asks_free_text(self) -> bool:
        return self.asked is not None and self.asked.type in FREE_TEXT

    @property
    def active_flow(self) -> Flow | None:
        frame = active_frame(self.state.stack)
        return self.assistant.flows.get(frame.flow_id) if frame else None

    @property
    def buttons(self) -> tuple[Button, ...]:
        """The buttons of the bot's last message."""
        said = self.state.previously_uttered
        return said[-1].buttons if said else ()

    @property
    def requested(self) -> RequestedFlows:
        """The flows that the message asks for, which several rules need."""
        if self._requested is None:
            self._requested = requested_flows(self.assistant, self.state.slots, self.text)
        return self._requested

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of the buttons that set the asked slot, each with the value as written."""
        titles: dict[str, str] = {}
        for button in self.buttons:
            payload = button.payload.strip().removeprefix("/")
            if not is_set_slots(payload):
                continue
            try:
                pairs = parse_set_slots(payload)
            except CommandSyntaxError:
                continue
            for pair in pairs:
                if self.asked is not None and pair.name == self.asked.name:
                    titles[button.title] = str(pair.value)
        return titles

    @property
    def correctable(self) -> tuple[Slot, ...]:
        """The slots that the running flows have collected so far, the latest asked last."""
        collected = self.assistant.index.collected
        names: dict[str, None] = {}
        for frame in active_group(self.state.stack):
            names.update(dict.fromkeys(collected.get(frame.flow_id, ())))
        return tuple(
            self.assistant.slots[name] for name in names if self.state.slots.get(name) is not None
        )


def _asked(assistant: Assistant, state: DialogueState) -> Slot | None:
    """The slot that the bot waits for; the choice of a flow is one of categories."""
    name = asked_slot(state.stack)
    slot = assistant.slots.get(name) if name else None
    if slot is None or slot.name != CHOICE_SLOT:
        return slot
    options = context_of(state.stack).get("interrupted_flow_names")
    names = [str(option) for option in options] if isinstance(options, list) else []
    return replace(slot, type=SlotType.CATEGORICAL, values=(*names, NO_CHOICE))


def clear_request(message: MessageInContext) -> tuple[FlowMatch, ...]:
    """The flows that are asked for beyond doubt.

    Beyond doubt is a request ("show me …"), or a sentence that begins as a flow's name does and
    has a second word of it; a value, such as "checking account", is neither.
    """
    matches = message.requested.best
    if not matches or message.sentence.requests:
        return matches
    begins = next(iter(WORD.findall(message.plain)), "")
    is_imperative = any(
        begins in _name_words(message.assistant.flows[match.flow_id]) for match in matches
    )
    has_more = any(len(match.words) >= CLEAR_WORDS for match in matches)
    return matches if is_imperative and has_more else ()


def digression(message: MessageInContext) -> tuple[FlowMatch, ...]:
    """The clear request, if it is for another flow than the running one."""
    matches = clear_request(message)
    is_active = any(
        message.assistant.flows[match.flow_id] is message.active_flow for match in matches
    )
    return () if is_active else matches


def _name_words(flow: Flow) -> set[str]:
    return {word.lower() for word in WORD.findall(f"{flow.id} {flow.name}".replace("_", " "))}


def commands_for(message: MessageInContext, matches: tuple[FlowMatch, ...]) -> tuple[Command, ...]:
    """Start the one flow with the values that the message names, or ask which of several."""
    flows = [message.assistant.flows[match.flow_id] for match in matches]
    if len(flows) > 1:
        return (Clarify(tuple(flow.id for flow in flows)),)
    return tuple([c for flow in flows for c in (StartFlow(flow.id), *_values(message, flow))])


def _values(message: MessageInContext, flow: Flow) -> tuple[SetSlot, ...]:
    """The one number for the one number asked in the flow, and each category that is named."""
    names = sorted(message.assistant.index.collected[flow.id])
    slots = [message.assistant.slots[name] for name in names]
    fillable = [slot for slot in slots if slot.filler is SlotFiller.FROM_LLM]
    if not fillable:
        return ()
    numbers = numbers_in(message.text)
    floats = [slot for slot in fillable if slot.type is SlotType.FLOAT]
    values: list[SetSlot] = []
    if len(numbers) == len(floats) == 1:
        values.append(SetSlot(floats[0].name, numbers[0]))
    for slot in fillable:
        category = _meant_category(slot, message.text)
        if category is not None:
            values.append(SetSlot(slot.name, category))
    return tuple(values)


def _meant_category(slot: Slot, text: str) -> str | None:
    if slot.type is not SlotType.CATEGORICAL:
        return None
    category = named_category(slot, text)
    is_plain_yes = category is not None and yes_or_no(category) is not None
    return None if is_plain_yes else category


def by_rules(message: MessageInContext) -> RuleResult:
    """The commands of the first rule in mock.yml that matches while its `when` holds."""
    for rule in message.assistant.understand:
        try:
            commands, reason = _by_rule(rule, message.text, message.plain)
        except SearchTooSlow as error:
            _warn_of(message, rule, str(error))
            continue
        warn = partial(_warn_of, message, rule)
        if commands and holds(rule.when, message.state, warn):
            return commands, f"{rule.location}: {reason}"
    count = len(message.assistant.understand)
    return (), f"none of {count} rules in mock.yml matches" if count else "mock.yml has no rules"


def _warn_of(message: MessageInContext, rule: UnderstandRule, text: str) -> None:
    message.warn(f"{rule.location}: {text}")


def _by_rule(rule: UnderstandRule, text: str, plain: str) -> RuleResult:
    groups: dict[str, str] = {}
    if rule.match is not None:
        match = search(rule.match, text)
        if match is None:
            return (), ""
        groups = {name: value.strip() for name, value in match.groupdict("").items()}
        reason = f"{match[0]!r} matches"
    else:
        least, examples = 100 * rule.threshold, rule.plain_examples
        like = process.extractOne(plain, examples, scorer=fuzz.ratio, score_cutoff=least)
        if like is None:
            return (), ""
        reason = f"like {like[0]!r} by {like[1]:.0f} %"
    filled = (fill_command(command, groups) for command in rule.commands)
    return tuple(c for c in filled if c is not None), reason


Rule: TypeAlias = Callable[[MessageInContext], RuleResult]


def understand(
    assistant: Assistant,
    state: DialogueState,
    text: str,
    generation: Generation | None = None,
    warn: Warn = _ignore,
) -> Understood:
    """The commands that `text` asks for in `state`, and every rule tried with its reason.

    `generation` is what a language model made of it; the rules before it win. `warn` gets what
    is wrong with a rule.
    """
    message = MessageInContext(assistant, state, text.strip(), warn)
    if generation is None:
        return _tried(message, _RULES)
    given = generation.commands, generation.reason
    return _tried(message, (*_SURE_RULES, ("llm", lambda _: given), *_GUESSING_RULES))


def needs_model(assistant: Assistant, state: DialogueState, text: str) -> bool:
    """Whether none of the sure rules understands `text` (flows.md §13)."""
    message = MessageInContext(assistant, state, text.strip())
    return not any(rule(message)[0] for _, rule in _SURE_RULES)


def _tried(message: MessageInContext, rules: Sequence[tuple[str, Rule]]) -> Understood:
    trace: list[RuleTried] = []
    for name, rule in rules:
        commands, reason = rule(message)
        if commands:
            return Understood(commands, (*trace, RuleTried(name, True, reason)))
        trace.append(_passed(name, reason))
    trace.append(RuleTried("nothing", True, "no rule fired"))
    return Understood((CannotHandle(),), tuple(trace))


@lru_cache(REMEMBERED_SENTENCES)  # 4 % of a turn: a dozen rules pass for the same few reasons
def _passed(rule: str, reason: str) -> RuleTried:
    return RuleTried(rule, False, reason)


def _slash(message: MessageInContext) -> RuleResult:
    if not message.text.startswith("/"):
        return (), "it does not begin with a slash"
    return read_slash(message.text, message.assistant)


def _length(message: MessageInContext) -> RuleResult:
    limit = message.assistant.max_characters
    if not message.text:
        return (ReportError(EMPTY),), "the message is empty"
    if limit is not None and len(message.text) > limit:
        info = (("max_characters", limit),)
        return (ReportError(TOO_LONG, info),), f"{len(message.text)} of {limit} characters"
    return (), "the message is neither empty nor too long"


def _button(message: MessageInContext) -> RuleResult:
    if not message.buttons:
        return (), "the bot offered no buttons"
    for number, button in enumerate(message.buttons, start=1):
        is_number = message.plain == str(number) and not _is_value(message)
        if is_number or lexicon.normalized(button.title) == message.plain:
            sent = MessageInContext(
                message.assistant, message.state, button.payload.strip(), message.warn
            )
            understood = _tried(sent, [rule for rule in _RULES if rule[1] is not _button])
            return understood.commands, f"the button {button.title!r} sends {button.payload!r}"
    return (), "no button has this title or number"


def _is_value(message: MessageInContext) -> bool:
    """Whether a number answers the question itself, rather than one of its numbered buttons."""
    slot = message.asked
    return slot is not None and (
        slot.type is SlotType.FLOAT or is_exact_category(slot, message.text)
    )


def _correction(message: MessageInContext) -> RuleResult:
    if not message.sentence.corrects:
        return (), "no word of correction"
    if digression(message):
        return (), "a flow is asked for"
    slots = [slot for slot in message.correctable if slot is not message.asked]
    found = corrected(
        slots, message.state.slots, message.text, asks_free_text=message.asks_free_text
    )
    if found is None:
        return (), "no slot that was filled fits the new value"
    slot, value = found
    return (SetSlot(slot.name, value),), f"{value!r} corrects {slot.name}"


def _cancel(message: MessageInContext) -> RuleResult:
    if not message.sentence.cancels:
        return (), "no word of cancelling"
    if message.active_flow is None:
        return (), "there is no flow to cancel"
    if message.asked is not None and is_exact_category(message.asked, message.text):
        return (), f"it is a value of {message.asked.name}"
    return _unless_digression(message, CancelFlow(), "the user wants to stop")


def _unless_digression(message: MessageInContext, command: Command, reason: str) -> RuleResult:
    flow = digression(message)
    return ((), f"flow {flow[0].flow_id!r} is asked for") if flow else ((command,), reason)


def _skip(message: MessageInContext) -> RuleResult:
    if not message.sentence.skips:
        return (), "no word of skipping"
    if message.asked is None:
        return (), "there is no question to skip"
    return (SkipQuestion(),), "the user does not want to answer"


def _repeat(message: MessageInContext) -> RuleResult:
    if message.sentence.asks_to_repeat:
        return (RepeatLastBotMessages(),), "the user wants to hear it again"
    return (), "no word of repeating"


def _answer(message: MessageInContext) -> RuleResult:
    slot = message.asked
    if slot is None:
        return (), "no slot is asked"
    flow = digression(message)
    if flow:
        return (), f"flow {flow[0].flow_id!r} is asked for"
    value = answer(slot, message.text, message.titles)
    if value is None:
        return (), f"it names no value of the {slot.type} slot {slot.name}"
    return (SetSlot(slot.name, value),), f"{slot.name} is asked"


def _agent(message: MessageInContext) -> RuleResult:
    frame = waiting_agent(message.state.stack)
    if frame is None:
        return (), "no sub agent waits for the user"
    reason = f"sub agent {frame.context.get('agent')!r} waits for the user"
    return _unless_digression(message, ContinueAgent(), reason)


def _human(message: MessageInContext) -> RuleResult:
    if not message.sentence.mentions_human:
        return (), "no request for a human"
    slots = message.state.slots
    flows = [flow for flow in message.assistant.index.handoffs if can_start(flow, slots)]
    if len(flows) == 1:
        return (StartFlow(flows[0].id),), f"flow {flows[0].id!r} hands over to a human"
    is_short = len(message.plain.split()) <= SHORT
    if not is_short and not message.sentence.requests:
        return (), "a human is mentioned, not asked for"
    return (HumanHandoff(),), "the user wants a human"


def _flow(message: MessageInContext) -> RuleResult:
    requested = message.requested
    matches = clear_request(message) if message.asks_free_text else requested.best
    if not matches:
        unclear = "no clear request for a flow, and free text is asked"
        return (), unclear if requested.best else requested.reason
    return commands_for(message, matches), requested.reason


def _chitchat(message: MessageInContext) -> RuleResult:
    if message.sentence.is_small_talk:
        return (ChitChat(),), "small talk"
    return (), "no small talk"


def _free_text(message: MessageInContext) -> RuleResult:
    slot = message.asked
    if slot is None or not message.asks_free_text:
        return (), "no free text is asked"
    spoken = free_text(message.text)
    value = value_of(spoken)
    # Who says "true" to an open question says a word.
    said = spoken if isinstance(value, bool) else value
    return (SetSlot(slot.name, said),), f"{slot.name} is asked and takes any text"


_SURE_RULES: tuple[tuple[str, Rule], ...] = (
    ("slash", _slash),
    ("length", _length),
    ("mock.yml", by_rules),
)
_GUESSING_RULES: tuple[tuple[str, Rule], ...] = (
    ("button", _button),
    ("cancel", _cancel),
    ("correction", _correction),
    ("skip", _skip),
    ("repeat", _repeat),
    ("agent", _agent),
    ("answer", _answer),
    ("human", _human),
    ("flow", _flow),
    ("chitchat", _chitchat),
    ("text", _free_text),
)
_RULES = (*_SURE_RULES, *_GUESSING_RULES)
