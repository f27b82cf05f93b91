"""What a message means, without a model: rules tried in order, the first that fires wins.

The order is that of flows.md §7, with two turns. A correction, a wish to stop and a clear wish for
another flow are heard before an answer; free text, which everything could be, is the last resort.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mock_server.dialogue import answers, lexicon, phrases
from mock_server.dialogue.agents import waiting_agent
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.command_values import value_of
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    ContinueAgent,
    HumanHandoff,
    RepeatLastBotMessages,
    ReportError,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.corrected_values import corrected
from mock_server.dialogue.events import RuleTried, Understood
from mock_server.dialogue.flow_wishes import (
    clear_wish,
    commands_for,
    digression,
    handoff_flow,
)
from mock_server.dialogue.hearing import Hearing
from mock_server.dialogue.language_model import Generation
from mock_server.dialogue.model import SlotType
from mock_server.dialogue.side_file import Outcome, by_rules
from mock_server.dialogue.slash import read_slash
from mock_server.dialogue.state import DialogueState

TOO_LONG = "rasa_internal_error_user_input_too_long"
SHORT = 4
EMPTY = "rasa_internal_error_user_input_empty"

Rule: TypeAlias = Callable[[Hearing], Outcome]


def understand(
    assistant: Assistant, state: DialogueState, text: str, generation: Generation | None = None
) -> Understood:
    """The commands that `text` asks for in `state`, and every rule tried with its reason.

    `generation` is what a language model made of it; the rules before it win.
    """
    hearing = Hearing(assistant, state, text.strip())
    if generation is None:
        return _tried(hearing, _RULES)
    given = generation.commands, generation.reason
    return _tried(hearing, (*_SURE_RULES, ("llm", lambda _: given), *_GUESSING_RULES))


def needs_model(assistant: Assistant, state: DialogueState, text: str) -> bool:
    """Whether no rule that is sure of itself understands `text` (flows.md §13)."""
    hearing = Hearing(assistant, state, text.strip())
    return not any(rule(hearing)[0] for _, rule in _SURE_RULES)


def _tried(hearing: Hearing, rules: Sequence[tuple[str, Rule]]) -> Understood:
    trace: list[RuleTried] = []
    for name, rule in rules:
        commands, reason = rule(hearing)
        trace.append(RuleTried(name, bool(commands), reason))
        if commands:
            return Understood(commands, tuple(trace))
    trace.append(RuleTried("nothing", True, "no rule fired"))
    return Understood((CannotHandle(),), tuple(trace))


def _slash(hearing: Hearing) -> Outcome:
    return read_slash(hearing.text, hearing.assistant)


def _length(hearing: Hearing) -> Outcome:
    limit = hearing.assistant.max_characters
    if not hearing.text:
        return (ReportError(EMPTY),), "the message is empty"
    if limit is not None and len(hearing.text) > limit:
        info = (("max_characters", limit),)
        return (ReportError(TOO_LONG, info),), f"{len(hearing.text)} of {limit} characters"
    return (), "the message is neither empty nor too long"


def _button(hearing: Hearing) -> Outcome:
    if not hearing.buttons:
        return (), "the bot offered no buttons"
    for number, button in enumerate(hearing.buttons, start=1):
        is_number = hearing.plain == str(number) and not _is_value(hearing)
        if is_number or lexicon.normalized(button.title) == hearing.plain:
            sent = Hearing(hearing.assistant, hearing.state, button.payload.strip())
            understood = _tried(sent, [rule for rule in _RULES if rule[1] is not _button])
            return understood.commands, f"the button {button.title!r} sends {button.payload!r}"
    return (), "no button has this title or number"


def _is_value(hearing: Hearing) -> bool:
    """Whether a number answers the question itself, rather than one of its numbered buttons."""
    slot = hearing.asked
    return slot is not None and (
        slot.type is SlotType.FLOAT or answers.is_exact_category(slot, hearing.text)
    )


def _correction(hearing: Hearing) -> Outcome:
    if not phrases.CORRECTION.search(hearing.plain):
        return (), "no word of correction"
    if digression(hearing):
        return (), "a flow is asked for"
    found = corrected(hearing)
    if found is None:
        return (), "no slot that was filled fits the new value"
    slot, value = found
    return (SetSlot(slot.name, value),), f"{value!r} corrects {slot.name}"


def _cancel(hearing: Hearing) -> Outcome:
    if not any(phrases.CANCEL.fullmatch(clause) for clause in hearing.clauses):
        return (), "no word of cancelling"
    if hearing.active_flow is None:
        return (), "there is no flow to cancel"
    if hearing.asked is not None and answers.is_exact_category(hearing.asked, hearing.text):
        return (), f"it is a value of {hearing.asked.name}"
    flow = digression(hearing)
    if flow:
        return (), f"flow {flow[0].flow_id!r} is asked for"
    return (CancelFlow(),), "the user wants to stop"


def _skip(hearing: Hearing) -> Outcome:
    if not phrases.SKIP.fullmatch(hearing.plain):
        return (), "no word of skipping"
    if hearing.asked is None:
        return (), "there is no question to skip"
    return (SkipQuestion(),), "the user does not want to answer"


def _repeat(hearing: Hearing) -> Outcome:
    if phrases.REPEAT.fullmatch(hearing.plain):
        return (RepeatLastBotMessages(),), "the user wants to hear it again"
    return (), "no word of repeating"


def _answer(hearing: Hearing) -> Outcome:
    slot = hearing.asked
    if slot is None:
        return (), "no slot is asked"
    flow = digression(hearing)
    if flow:
        return (), f"flow {flow[0].flow_id!r} is asked for"
    value = answers.answer(slot, hearing.text, hearing.titles)
    if value is None:
        return (), f"it names no value of the {slot.type} slot {slot.name}"
    return (SetSlot(slot.name, value),), f"{slot.name} is asked"


def _agent(hearing: Hearing) -> Outcome:
    frame = waiting_agent(hearing.state.stack)
    if frame is None:
        return (), "no sub agent waits for the user"
    flow = digression(hearing)
    if flow:
        return (), f"flow {flow[0].flow_id!r} is asked for"
    return (ContinueAgent(),), f"sub agent {frame.context.get('agent')!r} waits for the user"


def _human(hearing: Hearing) -> Outcome:
    if not phrases.HUMAN.search(hearing.plain):
        return (), "no wish for a human"
    flow = handoff_flow(hearing)
    if flow is not None:
        return (StartFlow(flow.id),), f"flow {flow.id!r} hands over to a human"
    is_short = len(hearing.plain.split()) <= SHORT
    if not is_short and not phrases.REQUEST.search(hearing.plain):
        return (), "a human is mentioned, not asked for"
    return (HumanHandoff(),), "the user wants a human"


def _flow(hearing: Hearing) -> Outcome:
    wished = hearing.wish
    matches = clear_wish(hearing) if hearing.asks_free_text else wished.best
    if not matches:
        unclear = "no clear wish for a flow, and free text is asked"
        return (), unclear if wished.best else wished.reason
    return commands_for(hearing, matches), wished.reason


def _chitchat(hearing: Hearing) -> Outcome:
    if any(phrases.CHITCHAT.fullmatch(clause) for clause in hearing.clauses):
        return (ChitChat(),), "small talk"
    return (), "no small talk"


def _free_text(hearing: Hearing) -> Outcome:
    slot = hearing.asked
    if slot is None or not hearing.asks_free_text:
        return (), "no free text is asked"
    spoken = answers.free_text(hearing.text)
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
