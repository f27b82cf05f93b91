"""A message's commands: which of them count, as what, and what they do (flows.md §5).

`clean_up` sorts each kind of command into a `Plan`. `apply_plan` builds the stack from below: flows
that start, then the patterns of the other commands, then the cancellation, then the checks of
values that were just set, and the correction on top. So the user hears what was cancelled before
the next flow says a word, and a value is checked before it is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mock_server.dialogue.actions import utter
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    ContinueAgent,
    HandleCodeChange,
    HumanHandoff,
    Noop,
    RepeatLastBotMessages,
    ReportError,
    Restart,
    RestartAgent,
    SearchAndReply,
    SessionEnd,
    SessionStart,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.expressions import can_start, why_closed
from mock_server.dialogue.model import (
    CHOICE_SLOT,
    NO_CHOICE,
    CollectStep,
    Json,
    Slot,
    SlotFiller,
    SlotType,
    coerce_said,
)
from mock_server.dialogue.state import (
    CommandDropped,
    DialogueState,
    Frame,
    FrameType,
    SessionEnded,
    SlotSet,
    SlotSource,
    Stack,
    active_frame,
    active_group,
    asked_slot,
    asking_frame,
    is_root,
    open_questions,
    roots,
)
from mock_server.dialogue.turn import (
    ERROR_PATTERN,
    RunningTurn,
    agent_call,
    cancel_frames,
    continue_agent,
    interrupt,
    push_correction,
    reset_slots,
    restart_agent,
    resume,
    start,
    validate,
    waiting_agent,
)
from mock_server.errors import InvalidSlotValue
from mock_server.records import record


@dataclass(slots=True)
class Plan:
    """The commands of a message, sorted by what they do.

    `begun` are flows to start, or to resume if they wait on the stack; the first runs first.
    `refused` values do not fit their slot. `patterns` are answered by the pattern of their name.
    """

    begun: list[str] = field(default_factory=list[str])
    is_cancelled: bool = False
    values: dict[str, Json] = field(default_factory=dict[str, Json])
    corrections: dict[str, Json] = field(default_factory=dict[str, Json])
    refused: list[SetSlot] = field(default_factory=list[SetSlot])
    patterns: list[Command] = field(default_factory=list[Command])
    dropped: list[CommandDropped] = field(default_factory=list[CommandDropped])
    is_settled: bool = False
    continues_agent: bool = False
    restarted_agent: str | None = None

    @property
    def is_empty(self) -> bool:
        flows = self.begun or self.is_cancelled
        agents = self.continues_agent or self.restarted_agent
        slots = self.values or self.corrections or self.refused
        return not (flows or agents or slots or self.patterns)

    def drop(self, command: Command, reason: str, is_settled: bool = False) -> None:
        """Leave `command` out; `is_settled`: it was understood, and nothing is left to do."""
        self.dropped.append(CommandDropped(command, reason))
        self.is_settled = self.is_settled or is_settled


@record
class Situation:
    """The input of the clean-up; `earlier_slots` are the values before the orchestrator's."""

    assistant: Assistant
    state: DialogueState
    earlier_slots: Mapping[str, Json]

    @property
    def stack(self) -> Stack:
        return self.state.stack

    def staying(self, plan: Plan) -> Stack:
        """The stack without what the message cancels."""
        if not plan.is_cancelled:
            return self.stack
        ended = active_group(self.stack)
        return tuple([frame for frame in self.stack if frame not in ended])


def fill(situation: Situation, plan: Plan, command: SetSlot) -> None:
    """Sort a value: set, a correction, refused by its type, or dropped."""
    slot = situation.assistant.slots.get(command.name)
    if slot is None:
        plan.drop(command, "there is no such slot", is_settled=command.is_direct)
        return
    fault = _fault(situation, plan, command, slot)
    if fault:
        plan.drop(command, fault, is_settled=command.is_direct)
        return
    try:
        # "none" declines the choice of a flow, where elsewhere it clears the slot.
        is_declined = slot.name == CHOICE_SLOT and command.value is None
        value = coerce_said(slot, NO_CHOICE if is_declined else command.value)
    except InvalidSlotValue:
        plan.refused.append(command)
        return
    if value == situation.state.slots[slot.name]:
        plan.drop(command, "the slot has that value", is_settled=True)
    elif _is_correction(situation, plan, slot.name):
        plan.corrections[slot.name] = value
    else:
        plan.values[slot.name] = value


def _fault(situation: Situation, plan: Plan, command: SetSlot, slot: Slot) -> str:
    """Why `command` may not set `slot`; empty if it may."""
    if slot.type is SlotType.LIST:
        return "a list slot is set by actions only"
    if not command.is_direct and slot.filler is not SlotFiller.FROM_LLM:
        return "the user's words do not fill the slot"
    if slot.name in _collected(situation, plan) or slot.name == asked_slot(situation.stack):
        return ""
    flows = situation.assistant.index.by_slot.get(slot.name, ()) if command.is_direct else ()
    if any(can_start(flow, situation.state.slots) for flow in flows):
        return ""
    return "no flow that runs collects the slot"


def _collected(situation: Situation, plan: Plan) -> set[str]:
    """The slots that the flows on the stack, and those that start now, collect."""
    collected = situation.assistant.index.collected
    ids = {frame.flow_id for frame in situation.staying(plan)} | {*plan.begun}
    return {name for flow_id in ids for name in collected[flow_id]}


def _is_correction(situation: Situation, plan: Plan, name: str) -> bool:
    return (
        situation.earlier_slots[name] is not None
        and name != asked_slot(situation.stack)
        and name in _collected(situation, plan)
        and not plan.is_cancelled
    )


def clean_up(
    assistant: Assistant,
    state: DialogueState,
    commands: Sequence[Command],
    earlier_slots: Mapping[str, Json],
) -> Plan:
    """Sort `commands`; `earlier_slots` are the values before the orchestrator's of this turn.

    What is left without any effect is a CannotHandle, unless a command has been understood that
    needs none: a value that the slot has, the flow that runs, a button.
    """
    situation = Situation(assistant, state, earlier_slots)
    plan = Plan()
    considered = _clarified(situation, plan, _forced(situation, plan, commands))
    # What starts depends on what is cancelled, and what may be set on what starts.
    for command in sorted(considered, key=_phase) if len(considered) > 1 else considered:
        match command:
            case CancelFlow() if active_frame(state.stack) is None:
                plan.drop(command, "there is no flow to cancel")
            case CancelFlow():
                plan.is_cancelled = True
            case StartFlow():
                _start(situation, plan, command)
            case SetSlot():
                fill(situation, plan, command)
            case ContinueAgent() if waiting_agent(state.stack) is None:
                plan.drop(command, "no sub agent waits for the user")
            case ContinueAgent():
                plan.continues_agent = True
            case RestartAgent(agent=agent) if agent_call(assistant, state.stack, agent) is None:
                plan.drop(command, "no flow that runs calls this sub agent")
            case RestartAgent():
                plan.restarted_agent = command.agent
            case Noop():
                plan.drop(command, "it asks for nothing", is_settled=True)
            case _:
                plan.patterns.append(command)
    if plan.is_empty and not plan.is_settled:
        plan.patterns.append(CannotHandle())
    return plan


def _phase(command: Command) -> int:
    return 0 if isinstance(command, CancelFlow) else 1 if isinstance(command, StartFlow) else 2


def _forced(situation: Situation, plan: Plan, commands: Sequence[Command]) -> Sequence[Command]:
    """While a step forces its slot, only that slot's value counts; and errors."""
    asked = asked_slot(situation.stack)
    if asked is None:
        return commands
    frame = asking_frame(situation.stack)
    flow = situation.assistant.flows[frame.flow_id] if frame else None
    step = flow.steps.get(frame.step_id) if flow and frame else None
    if not (isinstance(step, CollectStep) and step.force_slot_filling and step.slot == asked):
        return commands
    kept: list[Command] = []
    for command in commands:
        if isinstance(command, ReportError) or (
            isinstance(command, SetSlot) and command.name == asked
        ):
            kept.append(command)
        else:
            plan.drop(command, f"slot {asked!r} is to be filled first")
    return kept


def _clarified(situation: Situation, plan: Plan, commands: Sequence[Command]) -> Sequence[Command]:
    """Turn several starts into a question where the assistant wants that; settle Clarify."""
    if situation.assistant.clarify_on_multiple_starts and active_frame(situation.stack) is None:
        starts = [command.flow_id for command in commands if isinstance(command, StartFlow)]
        commands = [Clarify(tuple(starts))] if len(starts) > 1 else commands
    if not any([isinstance(command, Clarify) for command in commands]):
        return commands
    settled = [_settled(situation, command) for command in commands]
    others = [command for command in settled if not isinstance(command, Clarify)]
    group = active_group(situation.stack)
    kept: list[Command] = []
    for command in settled:
        if isinstance(command, Clarify) and others:
            plan.drop(command, "other commands are clear")
        elif isinstance(command, Clarify) and group and group[0].type is FrameType.INTERRUPT:
            plan.drop(command, "the flow that runs interrupts another one")
        else:
            kept.append(command)
    return kept


def _settled(situation: Situation, command: Command) -> Command:
    """Clarify with the flows that could start, StartFlow where that is one only."""
    if not isinstance(command, Clarify):
        return command
    options = [id_ for id_ in dict.fromkeys(command.flow_ids) if _is_option(situation, id_)]
    if len(options) == 1:
        return StartFlow(options[0])
    limit = situation.state.slots.get("max_clarification_options")
    if isinstance(limit, int | float) and 1 <= limit < len(options):
        options = options[: int(limit)]
    return Clarify(tuple(options))


def _is_option(situation: Situation, flow_id: str) -> bool:
    flow = situation.assistant.flows.get(flow_id)
    return flow is not None and not flow.is_pattern and can_start(flow, situation.state.slots)


def _start(situation: Situation, plan: Plan, command: StartFlow) -> None:
    flow = situation.assistant.flows.get(command.flow_id)
    if flow is None or (flow.is_pattern and not command.is_trigger):
        plan.drop(command, "there is no such flow")
    elif not command.is_trigger and (closed := why_closed(flow, situation.state.slots)):
        plan.drop(command, closed)
    elif flow.is_pattern:
        plan.patterns.append(command)
    else:
        running = None if plan.is_cancelled else _root_of_running(situation, flow.id)
        begun = running.flow_id if running else flow.id
        # What runs needs no start, but may wait behind a question.
        if begun in plan.begun or (running and not open_questions(situation.stack)):
            plan.drop(command, "the flow runs already", is_settled=True)
        else:
            plan.begun.append(begun)


def _root_of_running(situation: Situation, flow_id: str) -> Frame | None:
    """The root of the running group, if the flow is one of it."""
    group = active_group(situation.stack)
    runs = any([frame.flow_id == flow_id for frame in group])
    return next(filter(is_root, group), None) if runs else None


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
    if plan.begun:
        _begin_flows(turn, plan, canceled)
    for name, value in plan.values.items():
        turn.emit(SlotSet(name, value, SlotSource.USER))
    for refused in plan.refused:
        response = REFUSALS.get(turn.assistant.slots[refused.name].type)
        if response:
            utter(turn, response, {"value": refused.value, "slot": refused.name})
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
    """Start or resume the flows of `plan`: the first named runs first, the others follow it."""
    answered = open_questions(turn.stack)
    if answered:
        cancel_frames(turn, answered)
    waiting = {root.flow_id: root for root in reversed(roots(turn.stack)) if root not in canceled}
    *later, last = plan.begun
    if not canceled and waiting.get(last) not in active_group(turn.stack):
        interrupt(turn)
    if last in waiting:
        resume(turn, waiting[last])
    elif canceled:
        start(turn, last, canceled[0].type)
    else:
        start(turn, last, FrameType.INTERRUPT if active_frame(turn.stack) else FrameType.REGULAR)
    for flow_id in reversed(later):
        if flow_id in waiting:
            resume(turn, waiting[flow_id], frame_type=FrameType.REGULAR)
        else:
            start(turn, flow_id)


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
