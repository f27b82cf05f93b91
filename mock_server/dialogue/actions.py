"""Actions of a flow: responses, custom and default actions, MCP tools (flows.md §4.2, §5, §9)."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from mock_server.dialogue.expressions import (
    Document,
    evaluate,
    evaluate_expression,
    fill,
    render_response,
)
from mock_server.dialogue.model import Button, Json, ToolStep, Variation, coerce
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import (
    COLLECT_PATTERN,
    ActionExecuted,
    BotUttered,
    Frame,
    FrameMoved,
    FrameType,
    Restarted,
    SlotSet,
    SlotSource,
    Warned,
    active_frame,
    asked_slot,
    is_root,
    roots,
    texts_in,
)
from mock_server.dialogue.turn import (
    Requesting,
    RunningTurn,
    ask_to_continue,
    begin_session,
    cancel_frames,
    correct_flow_slot,
    fail,
    go_on,
    perform,
    resume,
)
from mock_server.errors import ConditionError, InvalidSlotValue, TemplateFailed

CHANNEL = "a2a"

INTERNAL_ERROR_RESPONSE = "utter_internal_error_rasa"


def choose(
    variations: Sequence[Variation], document: Document, faults: list[str]
) -> Variation | None:
    """Return the variation to say, the first of its class; None if there is none.

    Classes in order: condition and channel, channel, condition, default (flows.md §4.2). What is
    wrong with a condition is added to `faults`; it does not hold.
    """
    if len(variations) == 1 and variations[0].condition is None and variations[0].channel is None:
        return variations[0]
    spoken = (v for v in variations if v.channel in (None, CHANNEL))
    eligible = [v for v in spoken if _holds(v.condition, document, faults)]
    return min(eligible, key=lambda v: (v.channel is None, v.condition is None), default=None)


def _holds(condition: str | None, document: Document, faults: list[str]) -> bool:
    if condition is None:
        return True
    try:
        return evaluate(condition, document)
    except (ConditionError, TemplateFailed) as error:
        faults.append(str(error))
        return False


def say(
    name: str, variation: Variation, document: Document, arguments: Mapping[str, Json]
) -> BotUttered:
    """Return what the bot says with `variation` of response `name`, in the slot `language`.

    Raises:
        TemplateFailed: the variation's Jinja fails on the values of now.
    """
    fill_in = render_response if variation.is_jinja else fill
    text, buttons, custom = variation.text, variation.buttons, variation.custom
    if variation.translations or variation.translated_buttons:
        language = str(document["slots"].get("language"))
        text = variation.translations.get(language, text)
        buttons = variation.translated_buttons.get(language, buttons)
    if buttons:
        texts = ((button.title, button.payload) for button in buttons)
        buttons = tuple(Button(*[fill_in(t, document, arguments) for t in text]) for text in texts)
    if custom is not None:
        custom = _fill_all(custom, lambda text: fill_in(text, document, arguments))
    image = fill_in(variation.image, document, arguments) if variation.image else None
    return BotUttered(fill_in(text, document, arguments), buttons, name, image, custom)


def _fill_all(custom: Json, fill_in: Callable[[str], str]) -> Json:
    match custom:
        case str():
            return fill_in(custom)
        case list():
            return [_fill_all(item, fill_in) for item in custom]
        case dict():
            return {key: _fill_all(item, fill_in) for key, item in custom.items()}
        case _:
            return custom


def utter(turn: RunningTurn, name: str, arguments: Mapping[str, Json] | None = None) -> None:
    """Say response `name`; where it cannot be said, the response for internal errors."""
    document = turn.document()
    faults: list[str] = []
    variation = choose(turn.assistant.responses.get(name, ()), document, faults)
    for fault in faults:
        turn.emit(Warned(f"response {name!r}: {fault}"))
    if variation is None:
        _apologise(turn, name, f"response {name!r} has no variation that fits")
        return
    try:
        uttered = say(name, variation, document, arguments or {})
    except TemplateFailed as error:
        _apologise(turn, name, f"response {name!r}: {error}")
        return
    turn.emit(uttered)


def _apologise(turn: RunningTurn, failed: str, reason: str) -> None:
    turn.emit(Warned(reason))
    if failed != INTERNAL_ERROR_RESPONSE:
        utter(turn, INTERNAL_ERROR_RESPONSE)


# Else a flow that repeats in a circle says and remembers more with every turn.
MAX_REPEATED = 20


def run_action(turn: RunningTurn, name: str) -> Requesting[bool]:
    """Run action `name`; False if it failed, and the flow with it.

    The project's own actions win over default ones of the same name. A pattern's rendered
    `validate_…` need not exist (flows.md §2.2).
    """
    if name in turn.assistant.responses:
        utter(turn, name)
    elif name in turn.assistant.actions:
        return (yield from _run_custom_action(turn, name))
    elif name in DEFAULT_ACTIONS:
        DEFAULT_ACTIONS[name](turn)
    elif not name or name.startswith("validate_"):
        return True
    else:
        turn.emit(ActionExecuted(name, {"action": name}))
        fail(turn, {"action": name})
        return False
    turn.emit(ActionExecuted(name))
    return True


def _run_custom_action(turn: RunningTurn, name: str) -> Requesting[bool]:
    outcome = yield from perform(turn, name)
    if outcome.failure is not None:
        turn.emit(ActionExecuted(name, outcome.failure))
        fail(turn, dict(outcome.failure))
        return False
    record_outcome(turn, name, outcome)
    return True


def record_outcome(turn: RunningTurn, name: str, outcome: ActionResult) -> None:
    """The slots and texts of a custom action that went well."""
    for slot, value in outcome.slots:
        if slot in turn.assistant.slots:
            turn.emit(SlotSet(slot, value, SlotSource.ACTION))
        else:
            turn.emit(Warned(f"action {name!r} sets slot {slot!r}, which the domain does not have"))
    for utterance in outcome.utterances:
        _say(turn, utterance)
    turn.emit(ActionExecuted(name))


def _say(turn: RunningTurn, utterance: Utterance) -> None:
    if utterance.response:
        utter(turn, utterance.response, utterance.arguments)
    else:
        said = utterance
        turn.emit(BotUttered(said.text, said.buttons, None, said.image, said.custom))


def call_tool(turn: RunningTurn, frame: Frame, step: ToolStep) -> None:
    """Put what the script returns into the slots of the step's `mapping.output`."""
    branches = turn.assistant.tools.get(step.tool, ())
    branch = next((b for b in branches if b.when is None or turn.holds(b.when)), None)
    if branch is None:
        turn.emit(Warned(f"tool {step.tool!r} has no result in mock.yml, so it sets no slot"))
    elif branch.fails:
        turn.emit(Warned(f"tool {step.tool!r} fails, as its script says"))
        fail(turn, {"tool": step.tool})
        return
    else:
        _fill_slots(turn, step, branch.result)
    go_on(turn, frame, step.next)


def _fill_slots(turn: RunningTurn, step: ToolStep, result: Json) -> None:
    """Leave a slot alone, with a warning, whose value is missing or does not fit."""
    names: Mapping[str, object] = {"result": result, "slots": turn.state.slots}
    for name, expression in step.outputs:
        try:
            value = coerce(turn.assistant.slots[name], evaluate_expression(expression, names))
        except (TemplateFailed, InvalidSlotValue) as error:
            turn.emit(Warned(f"tool {step.tool!r}, output {name!r}: {error}"))
            continue
        turn.emit(SlotSet(name, value, SlotSource.ACTION))


def _run_slot_rejections(turn: RunningTurn) -> None:
    """Refuse the asked slot's value by the first rejection that holds, and say why."""
    slot = asked_slot(turn.stack)
    if slot is None or turn.state.slots[slot] is None:
        return
    refusal = _refusal(turn)
    if refusal is not None:
        # Said before the value goes, so that the text can name it.
        utter(turn, refusal)
        turn.emit(SlotSet(slot, None, SlotSource.RESET))


def _refusal(turn: RunningTurn) -> str | None:
    """The response of the first rejection that holds; one that cannot be evaluated refuses too."""
    document = turn.document()
    for condition, response in _rejections(turn.top):
        try:
            if evaluate(condition, document):
                return response
        except (ConditionError, TemplateFailed) as error:
            turn.emit(Warned(str(error)))
            return INTERNAL_ERROR_RESPONSE
    return None


def _rejections(frame: Frame) -> list[tuple[str, str]]:
    """The rejections that the question was pushed with: condition and response of each."""
    listed = frame.context.get("rejections")
    entries = listed if isinstance(listed, list) else []
    return [(str(e["if"]), str(e["utter"])) for e in entries if isinstance(e, dict)]


def _cancel_flow(turn: RunningTurn) -> None:
    """Cancel the frames that the pattern was pushed for; the flow they interrupted asks again."""
    context = turn.top.context
    doomed = tuple(f for f in turn.stack if f.id in texts_in(context, "canceled_frames"))
    if not doomed:
        return
    is_interrupting = doomed[0].type is FrameType.INTERRUPT
    is_topmost = active_frame(turn.stack) in doomed
    cancel_frames(turn, doomed, texts_in(context, "kept_slots"))
    if is_interrupting and is_topmost and roots(turn.stack):
        ask_to_continue(turn, len(turn.stack) - 1)


def _clarify_flows(turn: RunningTurn) -> None:
    frame = turn.top
    options = ", ".join(texts_in(frame.context, "names"))
    context = {**frame.context, "clarification_options": options}
    turn.emit(FrameMoved(frame.id, frame.step_id, context))


def _continue_interrupted_flow(turn: RunningTurn) -> None:
    """Resume the flow that the user named; by itself the one that waits on top."""
    waiting = roots(turn.stack)
    wanted = str(turn.state.slots.get("interrupted_flow_to_continue")).strip().casefold()
    for root in reversed(waiting):
        flow = turn.assistant.flows[root.flow_id]
        if wanted in (flow.id.casefold(), flow.name.casefold()):
            resume(turn, root, turn.top.id)
            return
    if waiting:
        resume(turn, waiting[-1], turn.top.id)


def _cancel_interrupted_flows(turn: RunningTurn) -> None:
    first = next((index for index, f in enumerate(turn.stack) if is_root(f)), len(turn.stack))
    cancel_frames(turn, turn.stack[first:-1])


def _repeat_bot_messages(turn: RunningTurn) -> None:
    """Say again what was said last, less the question that is asked again anyway."""
    asking = turn.stack[-2] if len(turn.stack) > 1 else None
    asked = asking.context["utter"] if asking and asking.flow_id == COLLECT_PATTERN else None
    for uttered in turn.state.previously_uttered[-MAX_REPEATED:]:
        if asked is None or uttered.response != asked:
            turn.emit(uttered)


DEFAULT_ACTIONS: Mapping[str, Callable[[RunningTurn], None]] = MappingProxyType(
    {
        "action_run_slot_rejections": _run_slot_rejections,
        "action_correct_flow_slot": correct_flow_slot,
        "action_cancel_flow": _cancel_flow,
        "action_clarify_flows": _clarify_flows,
        "action_continue_interrupted_flow": _continue_interrupted_flow,
        "action_cancel_interrupted_flows": _cancel_interrupted_flows,
        "action_clean_stack": lambda turn: cancel_frames(turn, turn.stack[:-1]),
        "action_repeat_bot_messages": _repeat_bot_messages,
        "action_session_start": begin_session,
        "action_restart": lambda turn: turn.emit(Restarted()),
        "action_trigger_search": lambda turn: utter(turn, "utter_no_knowledge_base"),
        "action_trigger_chitchat": lambda turn: utter(turn, "utter_cannot_handle"),
        # Voice, metrics and coexistence have no counterpart in a text conversation over A2A.
        "action_hangup": lambda _: None,
        "action_handoff_metric": lambda _: None,
        "action_reset_routing": lambda _: None,
    }
)
