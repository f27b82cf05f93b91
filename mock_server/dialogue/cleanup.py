"""The clean-up of a message's commands: which of them count, and as what (flows.md §5).

Each rule is one function that sorts one kind of command into a `Plan`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    Clarify,
    Command,
    Noop,
    ReportError,
    SetSlot,
    StartFlow,
)
from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.events import CommandDropped, FrameType
from mock_server.dialogue.model import (
    Assistant,
    CollectStep,
    Flow,
    Json,
    Slot,
    SlotFiller,
    SlotType,
)
from mock_server.dialogue.slots import coerce
from mock_server.dialogue.stack import (
    Stack,
    active_frame,
    active_group,
    asked_slot,
    roots,
    slots_collected,
)
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.templates import Document
from mock_server.errors import ConditionError, InvalidSlotValue, TemplateFailed

CHOICE_SLOT = "interrupted_flow_to_continue"


@dataclass(slots=True)
class Plan:
    """What the commands of a message come to.

    `starts` are flows to begin, the first to run first; `resumed` waits on the stack already.
    `refused` values do not fit their slot. `patterns` are answered by the pattern of their name.
    """

    starts: list[str] = field(default_factory=list[str])
    resumed: str | None = None
    is_cancelled: bool = False
    values: dict[str, Json] = field(default_factory=dict[str, Json])
    corrections: dict[str, Json] = field(default_factory=dict[str, Json])
    refused: list[SetSlot] = field(default_factory=list[SetSlot])
    patterns: list[Command] = field(default_factory=list[Command])
    dropped: list[CommandDropped] = field(default_factory=list[CommandDropped])
    is_settled: bool = False

    @property
    def is_empty(self) -> bool:
        flows = self.starts or self.resumed or self.is_cancelled
        return not (flows or self.values or self.corrections or self.refused or self.patterns)

    def drop(self, command: Command, reason: str, is_settled: bool = False) -> None:
        """Leave `command` out; `is_settled`: it was understood, and nothing is left to do."""
        self.dropped.append(CommandDropped(command, reason))
        self.is_settled = self.is_settled or is_settled


@dataclass(frozen=True, slots=True)
class _Situation:
    """What the rules look at; `earlier_slots` are the values before the orchestrator's."""

    assistant: Assistant
    state: DialogueState
    earlier_slots: Mapping[str, Json]

    def can_start(self, flow: Flow) -> bool:
        if flow.guard is None:
            return True
        document: Document = {"slots": self.state.slots, "context": {}}
        try:
            return evaluate(flow.guard, document)
        except (ConditionError, TemplateFailed):
            return False


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
    situation = _Situation(assistant, state, earlier_slots)
    plan = Plan()
    considered = _clarified(situation, plan, _forced(situation, plan, commands))
    # What starts depends on what is cancelled, and what may be set on what starts.
    for command in sorted(considered, key=_phase):
        match command:
            case CancelFlow():
                _cancel(situation, plan, command)
            case StartFlow():
                _start(situation, plan, command)
            case SetSlot():
                _set(situation, plan, command)
            case Noop():
                plan.drop(command, "it asks for nothing", is_settled=True)
            case _:
                plan.patterns.append(command)
    if plan.is_empty and not plan.is_settled:
        plan.patterns.append(CannotHandle())
    return plan


def _phase(command: Command) -> int:
    match command:
        case CancelFlow():
            return 0
        case StartFlow():
            return 1
        case _:
            return 2


def _forced(situation: _Situation, plan: Plan, commands: Sequence[Command]) -> list[Command]:
    """While a step forces its slot, only that slot's value counts; errors are no wish."""
    asked = asked_slot(situation.state.stack)
    frame = active_frame(situation.state.stack)
    flow = situation.assistant.flows[frame.flow_id] if frame else None
    step = flow.steps.get(frame.step_id) if flow and frame else None
    if not (isinstance(step, CollectStep) and step.force_slot_filling and step.slot == asked):
        return list(commands)
    kept: list[Command] = []
    for command in commands:
        if isinstance(command, ReportError) or (
            isinstance(command, SetSlot) and command.name == asked
        ):
            kept.append(command)
        else:
            plan.drop(command, f"slot {asked!r} is to be filled first")
    return kept


def _clarified(situation: _Situation, plan: Plan, commands: Sequence[Command]) -> list[Command]:
    """Turn several starts into a question where the assistant wants that; settle Clarify."""
    starts = [command.flow_id for command in commands if isinstance(command, StartFlow)]
    is_idle = active_frame(situation.state.stack) is None
    if situation.assistant.clarify_on_multiple_starts and len(starts) > 1 and is_idle:
        commands = [Clarify(tuple(starts))]
    settled = [_settled(situation, command) for command in commands]
    others = [command for command in settled if not isinstance(command, Clarify)]
    kept: list[Command] = []
    for command in settled:
        if isinstance(command, Clarify) and others:
            plan.drop(command, "other commands are clear")
        elif isinstance(command, Clarify) and _is_interrupting(situation.state):
            plan.drop(command, "the flow that runs interrupts another one")
        else:
            kept.append(command)
    return kept


def _settled(situation: _Situation, command: Command) -> Command:
    """Clarify with the flows that could start, StartFlow where that is one only."""
    if not isinstance(command, Clarify):
        return command
    flows = situation.assistant.flows
    options = [
        flow_id
        for flow_id in dict.fromkeys(command.flow_ids)
        if flow_id in flows and situation.can_start(flows[flow_id])
    ]
    if len(options) == 1:
        return StartFlow(options[0])
    limit = situation.state.slots.get("max_clarification_options")
    return Clarify(tuple(options[: int(limit)] if isinstance(limit, float | int) else options))


def _is_interrupting(state: DialogueState) -> bool:
    group = active_group(state.stack)
    return bool(group) and group[0].type is FrameType.INTERRUPT


def _cancel(situation: _Situation, plan: Plan, command: CancelFlow) -> None:
    if active_frame(situation.state.stack) is None:
        plan.drop(command, "there is no flow to cancel")
    else:
        plan.is_cancelled = True


def _start(situation: _Situation, plan: Plan, command: StartFlow) -> None:
    flow = situation.assistant.flows.get(command.flow_id)
    if flow is None or (flow.is_pattern and not command.is_trigger):
        plan.drop(command, "there is no such flow")
    elif not command.is_trigger and not situation.can_start(flow):
        plan.drop(command, "the flow's condition does not hold")
    elif flow.is_pattern:
        plan.patterns.append(command)
    elif flow.id in plan.starts or flow.id in _flow_ids(_going_on(situation, plan)):
        plan.drop(command, "the flow runs already", is_settled=True)
    elif flow.id in _flow_ids(roots(situation.state.stack)) and not plan.is_cancelled:
        plan.resumed = flow.id
    else:
        plan.starts.append(flow.id)


def _going_on(situation: _Situation, plan: Plan) -> Stack:
    """The active group, unless the message cancels it."""
    return () if plan.is_cancelled else active_group(situation.state.stack)


def _flow_ids(frames: Stack) -> set[str]:
    return {frame.flow_id for frame in frames}


def _set(situation: _Situation, plan: Plan, command: SetSlot) -> None:
    slot = situation.assistant.slots.get(command.name)
    if slot is None:
        plan.drop(command, "there is no such slot", is_settled=command.is_direct)
        return
    fault = _fault(situation, plan, command, slot)
    if fault:
        plan.drop(command, fault, is_settled=command.is_direct)
        return
    try:
        value = coerce(slot, _meant(command))
    except InvalidSlotValue:
        plan.refused.append(command)
        return
    if value == situation.state.slots[slot.name]:
        plan.drop(command, "the slot has that value", is_settled=True)
    elif _is_correction(situation, plan, slot.name):
        plan.corrections[slot.name] = value
    else:
        plan.values[slot.name] = value


def _meant(command: SetSlot) -> Json:
    """The value of `command`; "none" declines the choice of a flow, where elsewhere it clears."""
    is_declined = command.name == CHOICE_SLOT and command.value is None
    return "none" if is_declined else command.value


def _fault(situation: _Situation, plan: Plan, command: SetSlot, slot: Slot) -> str:
    """Why `command` may not set `slot`; empty if it may."""
    if slot.type is SlotType.LIST:
        return "a list slot is set by actions only"
    if not command.is_direct and slot.filler is not SlotFiller.FROM_LLM:
        return "the user's words do not fill the slot"
    if slot.name in _collected(situation, plan) or slot.name == asked_slot(situation.state.stack):
        return ""
    if command.is_direct and _is_startable_slot(situation, slot.name):
        return ""
    return "no flow that runs collects the slot"


def _collected(situation: _Situation, plan: Plan) -> set[str]:
    """The slots that the flows on the stack, and those that start now, collect."""
    flows = situation.assistant.flows
    ended = active_group(situation.state.stack) if plan.is_cancelled else ()
    ids = _flow_ids(tuple(f for f in situation.state.stack if f not in ended)) | {*plan.starts}
    return {name for flow_id in ids for name in slots_collected(flows[flow_id], flows)}


def _is_startable_slot(situation: _Situation, name: str) -> bool:
    flows = situation.assistant.flows
    return any(
        name in slots_collected(flow, flows) and situation.can_start(flow)
        for flow in flows.values()
        if not flow.is_pattern
    )


def _is_correction(situation: _Situation, plan: Plan, name: str) -> bool:
    return (
        situation.earlier_slots[name] is not None
        and name != asked_slot(situation.state.stack)
        and name in _collected(situation, plan)
        and not plan.is_cancelled
    )
