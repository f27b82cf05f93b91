"""The effect of a cleaned-up message on stack and slots (flows.md §5).

The stack is built from below: flows that start, then the patterns of the other commands, then the
cancellation, then the checks of values that were just set, and the correction on top. So the user
hears what was cancelled before the next flow says a word, and a value is checked before it is used.
"""

from collections.abc import Mapping

from mock_server.dialogue.agents import continue_agent, restart_agent
from mock_server.dialogue.cleanup import Plan
from mock_server.dialogue.collecting import push_correction, validate
from mock_server.dialogue.commands import (
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    HandleCodeChange,
    HumanHandoff,
    RepeatLastBotMessages,
    ReportError,
    Restart,
    SearchAndReply,
    SessionEnd,
    SessionStart,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.events import (
    FrameType,
    SessionEnded,
    SlotSet,
    SlotSource,
)
from mock_server.dialogue.model import Json, SlotType
from mock_server.dialogue.responses import utter
from mock_server.dialogue.stack import (
    Stack,
    active_frame,
    active_group,
    open_questions,
    roots,
)
from mock_server.dialogue.turn import (
    ERROR_PATTERN,
    RunningTurn,
    cancel_frames,
    interrupt,
    reset_slots,
    resume,
    start,
)

SILENCE = "pattern_user_silence"
SILENT_TIMES = "consecutive_silence_timeouts"

REFUSALS = {
    SlotType.BOOL: "utter_boolean_slot_rejection",
    SlotType.CATEGORICAL: "utter_categorical_slot_rejection",
    SlotType.FLOAT: "utter_float_slot_rejection",
}

PATTERNS: Mapping[type[Command], str] = {
    ChitChat: "pattern_chitchat",
    SearchAndReply: "pattern_search",
    SkipQuestion: "pattern_skip_question",
    HumanHandoff: "pattern_human_handoff",
    RepeatLastBotMessages: "pattern_repeat_bot_messages",
    SessionStart: "pattern_session_start",
    Restart: "pattern_restart",
    HandleCodeChange: "pattern_code_change",
}


def apply_plan(turn: RunningTurn, plan: Plan) -> None:
    for dropped in plan.dropped:
        turn.emit(dropped)
    _end_silence(turn, plan)
    if plan.continues_agent:
        continue_agent(turn)
    elif plan.restarted_agent:
        restart_agent(turn, plan.restarted_agent)
    canceled = active_group(turn.stack) if plan.is_cancelled else ()
    if plan.starts or plan.resumed:
        _begin_flows(turn, plan, canceled)
    for name, value in plan.values.items():
        turn.emit(SlotSet(name, value, SlotSource.USER))
    for refused in plan.refused:
        _refuse(turn, refused)
    for command in reversed(plan.patterns):
        _push_pattern(turn, command)
    if canceled:
        _push_cancel(turn, canceled, plan)
    for name in (*plan.values, *plan.corrections):
        _push_check(turn, name)
    if plan.corrections:
        push_correction(turn, plan.corrections)


def _end_silence(turn: RunningTurn, plan: Plan) -> None:
    """Timeouts are consecutive until the user says something."""
    if SILENT_TIMES not in turn.assistant.slots:
        return
    if not any([isinstance(c, StartFlow) and c.flow_id == SILENCE for c in plan.patterns]):
        reset_slots(turn, (SILENT_TIMES,))


def _begin_flows(turn: RunningTurn, plan: Plan, canceled: Stack) -> None:
    answered = open_questions(turn.stack)
    if answered:
        cancel_frames(turn, answered)
    if plan.resumed:
        waiting = next(root for root in roots(turn.stack) if root.flow_id == plan.resumed)
        if not (canceled or waiting in active_group(turn.stack)):
            interrupt(turn)
        resume(turn, waiting)
    if not plan.starts:
        return
    if canceled:
        frame_type = canceled[0].type
    else:
        frame_type = FrameType.INTERRUPT if active_frame(turn.stack) else FrameType.REGULAR
        interrupt(turn)
    for flow_id in reversed(plan.starts):
        start(turn, flow_id, frame_type)
        frame_type = FrameType.REGULAR


def _refuse(turn: RunningTurn, refused: SetSlot) -> None:
    response = REFUSALS.get(turn.assistant.slots[refused.name].type)
    if response:
        utter(turn, response, {"value": refused.value, "slot": refused.name})


def _push_pattern(turn: RunningTurn, command: Command) -> None:
    match command:
        case Clarify(flow_ids=flow_ids):
            names: list[Json] = [turn.assistant.flows[flow_id].name for flow_id in flow_ids]
            context: dict[str, Json] = {"names": names, "clarification_options": ""}
            turn.push("pattern_clarification", context=context)
        case CannotHandle(reason=reason):
            frame = active_frame(turn.stack)
            context = {"reason": reason, "user_flow": frame.flow_id if frame else None}
            turn.push("pattern_cannot_handle", context=context)
        case ReportError(error_type=error_type, info=info):
            context = {"error_type": error_type, "info": dict(info)}
            turn.push(ERROR_PATTERN, context=context)
        case StartFlow(flow_id=flow_id):
            turn.push(flow_id)
        case SessionEnd():
            cancel_frames(turn, turn.stack)
            turn.emit(SessionEnded())
        case _:
            turn.push(PATTERNS[type(command)])


def _push_cancel(turn: RunningTurn, canceled: Stack, plan: Plan) -> None:
    context: dict[str, Json] = {
        "canceled_name": turn.assistant.flows[canceled[0].flow_id].name,
        "canceled_frames": [frame.id for frame in canceled],
        "kept_slots": list(plan.values),
    }
    turn.push("pattern_cancel_flow", context=context)


def _push_check(turn: RunningTurn, name: str) -> None:
    """Push the check of the domain's `validation`, unless one asks for this slot already."""
    slot = turn.assistant.slots[name]
    if slot.validation and not any(frame.context.get("validate") == name for frame in turn.stack):
        validate(turn, slot, slot.validation)
