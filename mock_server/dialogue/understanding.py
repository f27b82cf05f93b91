"""What a message means, without a model: rules tried in order, the first that fires wins.

The order is that of flows.md §7, with two turns. A correction, a wish to stop and a clear wish for
another flow are heard before an answer; free text, which everything could be, is the last resort.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from rapidfuzz import fuzz, process

from mock_server.dialogue import answers, lexicon
from mock_server.dialogue.agents import waiting_agent
from mock_server.dialogue.answers import corrected
from mock_server.dialogue.assistant import Assistant, UnderstandRule
from mock_server.dialogue.command_language import (
    CommandSyntaxError,
    fill_command,
    is_set_slots,
    parse_set_slots,
    read_slash,
    value_of,
)
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    ContinueAgent,
    HumanHandoff,
    RepeatLastBotMessages,
    ReportError,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.conditions import can_start, holds
from mock_server.dialogue.events import RuleTried, Understood
from mock_server.dialogue.flow_matching import FlowMatch, Wish, wish
from mock_server.dialogue.lexicon import REMEMBERED_SENTENCES, WORD, read_sentence
from mock_server.dialogue.model import Button, Flow, Slot, SlotFiller, SlotType
from mock_server.dialogue.outside import Generation
from mock_server.dialogue.slots import CHOICE_SLOT, NO_CHOICE
from mock_server.dialogue.stack import active_frame, active_group, asked_slot, context_of
from mock_server.dialogue.state import DialogueState

FREE_TEXT = frozenset({SlotType.TEXT, SlotType.ANY})

CLEAR_WORDS = 2

RuleResult: TypeAlias = tuple[tuple[Command, ...], str]
"""The commands of a rule, none if it does not fire, and the reason either way."""
TOO_LONG = "rasa_internal_error_user_input_too_long"
SHORT = 4
EMPTY = "rasa_internal_error_user_input_empty"


class MessageInContext:
    """A message in its situation: what the rules look at.

    What nearly every rule needs is made at once, the rest once, when it is needed.
    """

    def __init__(self, assistant: Assistant, state: DialogueState, text: str) -> None:
        self.assistant = assistant
        self.state = state
        self.text = text
        self.sentence = read_sentence(text)
        self.asked = _asked(assistant, state)
        self._wish: Wish | None = None

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
    def wish(self) -> Wish:
        """What several rules ask for: is it a flow that the user wants?"""
        if self._wish is None:
            self._wish = wish(self.assistant, self.state.slots, self.text)
        return self._wish

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


def clear_wish(message: MessageInContext) -> tuple[FlowMatch, ...]:
    """The flows that are wished for beyond doubt.

    Beyond doubt is a request ("show me …"), or a sentence that begins as a flow's name does and
    has a second word of it; a value, such as "checking account", is neither.
    """
    matches = message.wish.best
    if not matches or message.sentence.requests:
        return matches
    begins = next(iter(WORD.findall(message.plain)), "")
    is_imperative = any(
        begins in _name_words(message.assistant.flows[match.flow_id]) for match in matches
    )
    has_more = any(len(match.words) >= CLEAR_WORDS for match in matches)
    return matches if is_imperative and has_more else ()


def digression(message: MessageInContext) -> tuple[FlowMatch, ...]:
    """The clear wish, if it is for another flow than the running one."""
    matches = clear_wish(message)
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


def handoff_flow(message: MessageInContext) -> Flow | None:
    """The one flow of the project that is named after handing over to a human."""
    slots = message.state.slots
    flows = [flow for flow in message.assistant.index.handoffs if can_start(flow, slots)]
    return flows[0] if len(flows) == 1 else None


def _values(message: MessageInContext, flow: Flow) -> tuple[SetSlot, ...]:
    """The one number for the one number asked in the flow, and each category that is named."""
    names = sorted(message.assistant.index.collected[flow.id])
    slots = [message.assistant.slots[name] for name in names]
    fillable = [slot for slot in slots if slot.filler is SlotFiller.FROM_LLM]
    if not fillable:
        return ()
    numbers = answers.numbers_in(message.text)
    floats = [slot for slot in fillable if slot.type is SlotType.FLOAT]
    values: list[SetSlot] = []
    if len(numbers) == len(floats) == 1:
        values.append(SetSlot(floats[0].name, numbers[0]))
    for slot in fillable:
        category = _category(slot, message.text)
        if category is not None:
            values.append(SetSlot(slot.name, category))
    return tuple(values)


def _category(slot: Slot, text: str) -> str | None:
    if slot.type is not SlotType.CATEGORICAL:
        return None
    category = answers.named_category(slot, text)
    is_plain_yes = category is not None and answers.yes_or_no(category) is not None
    return None if is_plain_yes else category


def by_rules(message: MessageInContext) -> RuleResult:
    """What the first rule that fits the message, and the moment, makes of it."""
    for rule in message.assistant.understand:
        commands, reason = _by_rule(rule, message.text, message.plain)
        if commands and holds(rule.when, message.state):
            return commands, f"{rule.location}: {reason}"
    count = len(message.assistant.understand)
    return (), f"none of {count} rules in mock.yml matches" if count else "mock.yml has no rules"


def _by_rule(rule: UnderstandRule, text: str, plain: str) -> RuleResult:
    if rule.match is not None:
        match = re.search(rule.match, text)
        if match is None:
            return (), ""
        groups = {name: value.strip() for name, value in match.groupdict(default="").items()}
        filled = (fill_command(command, groups) for command in rule.commands)
        return tuple(c for c in filled if c is not None), f"{match[0]!r} matches"
    like = process.extractOne(
        plain,
        rule.plain_examples,
        scorer=fuzz.ratio,
        score_cutoff=100 * rule.threshold,
    )
    if like is None:
        return (), ""
    filled = (fill_command(command, {}) for command in rule.commands)
    return tuple(c for c in filled if c is not None), f"like {like[0]!r} by {like[1]:.0f} %"


Rule: TypeAlias = Callable[[MessageInContext], RuleResult]


def understand(
    assistant: Assistant, state: DialogueState, text: str, generation: Generation | None = None
) -> Understood:
    """The commands that `text` asks for in `state`, and every rule tried with its reason.

    `generation` is what a language model made of it; the rules before it win.
    """
    message = MessageInContext(assistant, state, text.strip())
    if generation is None:
        return _tried(message, _RULES)
    given = generation.commands, generation.reason
    return _tried(message, (*_SURE_RULES, ("llm", lambda _: given), *_GUESSING_RULES))


def needs_model(assistant: Assistant, state: DialogueState, text: str) -> bool:
    """Whether no rule that is sure of itself understands `text` (flows.md §13)."""
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
            sent = MessageInContext(message.assistant, message.state, button.payload.strip())
            understood = _tried(sent, [rule for rule in _RULES if rule[1] is not _button])
            return understood.commands, f"the button {button.title!r} sends {button.payload!r}"
    return (), "no button has this title or number"


def _is_value(message: MessageInContext) -> bool:
    """Whether a number answers the question itself, rather than one of its numbered buttons."""
    slot = message.asked
    return slot is not None and (
        slot.type is SlotType.FLOAT or answers.is_exact_category(slot, message.text)
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
    if message.asked is not None and answers.is_exact_category(message.asked, message.text):
        return (), f"it is a value of {message.asked.name}"
    flow = digression(message)
    if flow:
        return (), f"flow {flow[0].flow_id!r} is asked for"
    return (CancelFlow(),), "the user wants to stop"


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
    value = answers.answer(slot, message.text, message.titles)
    if value is None:
        return (), f"it names no value of the {slot.type} slot {slot.name}"
    return (SetSlot(slot.name, value),), f"{slot.name} is asked"


def _agent(message: MessageInContext) -> RuleResult:
    frame = waiting_agent(message.state.stack)
    if frame is None:
        return (), "no sub agent waits for the user"
    flow = digression(message)
    if flow:
        return (), f"flow {flow[0].flow_id!r} is asked for"
    return (ContinueAgent(),), f"sub agent {frame.context.get('agent')!r} waits for the user"


def _human(message: MessageInContext) -> RuleResult:
    if not message.sentence.mentions_human:
        return (), "no wish for a human"
    flow = handoff_flow(message)
    if flow is not None:
        return (StartFlow(flow.id),), f"flow {flow.id!r} hands over to a human"
    is_short = len(message.plain.split()) <= SHORT
    if not is_short and not message.sentence.requests:
        return (), "a human is mentioned, not asked for"
    return (HumanHandoff(),), "the user wants a human"


def _flow(message: MessageInContext) -> RuleResult:
    wished = message.wish
    matches = clear_wish(message) if message.asks_free_text else wished.best
    if not matches:
        unclear = "no clear wish for a flow, and free text is asked"
        return (), unclear if wished.best else wished.reason
    return commands_for(message, matches), wished.reason


def _chitchat(message: MessageInContext) -> RuleResult:
    if message.sentence.is_small_talk:
        return (ChitChat(),), "small talk"
    return (), "no small talk"


def _free_text(message: MessageInContext) -> RuleResult:
    slot = message.asked
    if slot is None or not message.asks_free_text:
        return (), "no free text is asked"
    spoken = answers.free_text(message.text)
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
