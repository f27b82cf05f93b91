"""The clean-up of a message's commands: which of them count, and as what (flows.md §5).

Each rule is one function that sorts one kind of command into a `Plan`.
"""

from collections.abc import Mapping, Sequence

from mock_server.dialogue.agents import agent_call, waiting_agent
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    Clarify,
    Command,
    ContinueAgent,
    Noop,
    ReportError,
    RestartAgent,
    SetSlot,
    StartFlow,
)
from mock_server.dialogue.events import Frame, FrameType
from mock_server.dialogue.filling import fill
from mock_server.dialogue.guards import can_start, why_closed
from mock_server.dialogue.model import CollectStep, Json
from mock_server.dialogue.plan import Plan, Situation
from mock_server.dialogue.stack import (
    active_frame,
    active_group,
    asked_slot,
    asking_frame,
    is_root,
    open_questions,
    roots,
)
from mock_server.dialogue.state import DialogueState


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
    for command in sorted(considered, key=_phase):
        match command:
            case CancelFlow():
                _cancel(situation, plan, command)
            case StartFlow():
                _start(situation, plan, command)
            case SetSlot():
                fill(situation, plan, command)
            case ContinueAgent():
                _continue(situation, plan, command)
            case RestartAgent():
                _restart_agent(situation, plan, command)
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


def _forced(situation: Situation, plan: Plan, commands: Sequence[Command]) -> list[Command]:
    """While a step forces its slot, only that slot's value counts; errors are no wish."""
    asked = asked_slot(situation.stack)
    frame = asking_frame(situation.stack)
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


def _clarified(situation: Situation, plan: Plan, commands: Sequence[Command]) -> list[Command]:
    """Turn several starts into a question where the assistant wants that; settle Clarify."""
    starts = [command.flow_id for command in commands if isinstance(command, StartFlow)]
    is_idle = active_frame(situation.stack) is None
    if situation.assistant.clarify_on_multiple_starts and len(starts) > 1 and is_idle:
        commands = [Clarify(tuple(starts))]
    settled = [_settled(situation, command) for command in commands]
    others = [command for command in settled if not isinstance(command, Clarify)]
    kept: list[Command] = []
    for command in settled:
        if isinstance(command, Clarify) and others:
            plan.drop(command, "other commands are clear")
        elif isinstance(command, Clarify) and _is_interrupting(situation):
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


def _is_interrupting(situation: Situation) -> bool:
    group = active_group(situation.stack)
    return bool(group) and group[0].type is FrameType.INTERRUPT


def _cancel(situation: Situation, plan: Plan, command: CancelFlow) -> None:
    if active_frame(situation.stack) is None:
        plan.drop(command, "there is no flow to cancel")
    else:
        plan.is_cancelled = True


def _continue(situation: Situation, plan: Plan, command: ContinueAgent) -> None:
    if waiting_agent(situation.stack) is None:
        plan.drop(command, "no sub agent waits for the user")
    else:
        plan.continues_agent = True


def _restart_agent(situation: Situation, plan: Plan, command: RestartAgent) -> None:
    if agent_call(situation.assistant, situation.stack, command.agent) is None:
        plan.drop(command, "no flow that runs calls this sub agent")
    else:
        plan.restarted_agent = command.agent


def _start(situation: Situation, plan: Plan, command: StartFlow) -> None:
    flow = situation.assistant.flows.get(command.flow_id)
    if flow is None or (flow.is_pattern and not command.is_trigger):
        plan.drop(command, "there is no such flow")
    elif not command.is_trigger and (closed := why_closed(flow, situation.state.slots)):
        plan.drop(command, closed)
    elif flow.is_pattern:
        plan.patterns.append(command)
    elif flow.id in plan.starts:
        plan.drop(command, "the flow runs already", is_settled=True)
    elif not plan.is_cancelled and (root := _root_of_running(situation, flow.id)):
        _go_on(situation, plan, command, root)
    elif any(root.flow_id == flow.id for root in roots(situation.staying(plan))):
        plan.resumed = flow.id
    else:
        plan.starts.append(flow.id)


def _root_of_running(situation: Situation, flow_id: str) -> Frame | None:
    """The root of the running group, if the flow is one of it."""
    group = active_group(situation.stack)
    runs = any(frame.flow_id == flow_id for frame in group)
    return next(filter(is_root, group), None) if runs else None


def _go_on(situation: Situation, plan: Plan, command: StartFlow, root: Frame) -> None:
    """The flow that runs needs no start, but may wait for the user to say that it goes on."""
    if any(open_questions(situation.stack)):
        plan.resumed = root.flow_id
    else:
        plan.drop(command, "the flow runs already", is_settled=True)
