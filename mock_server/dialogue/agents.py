"""Scripted sub agents: what the script of mock.yml says in place of a model (flows.md §9).

A script is a pattern of its own that a flow calls. It keeps the conversation until it completes,
fails, or its caller's `exit_if` holds; a digression interrupts it like any question.
"""

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import (
    ActionExecuted,
    BotUttered,
    Frame,
    FrameMoved,
    FrameRemoved,
    FrameType,
    Listened,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.dialogue.model import AGENT_PREFIX, AgentTurnStep, CallStep, Json
from mock_server.dialogue.stack import Stack, active_frame, index_of
from mock_server.dialogue.templates import fill
from mock_server.dialogue.turn import RunningTurn, fail, finish, go_on, next_step

WAITING = "waiting_for_input"
RUNNING = "running"
REQUEST_INPUT = "action_agent_request_user_input"


def waiting_agent(stack: Stack) -> Frame | None:
    """The sub agent that the user's next words are for."""
    is_waiting = bool(stack) and stack[-1].context.get("agent_state") == WAITING
    return stack[-1] if is_waiting else None


def call_agent(turn: RunningTurn, step: CallStep) -> None:
    """Begin the script; slots that decide its end are cleared, also when it ran before."""
    for name in step.exit_slots:
        if turn.state.slots[name] is not None:
            turn.emit(SlotSet(name, None, SlotSource.RESET))
    context: dict[str, Json] = {
        "agent": turn.assistant.flows[step.flow_id].name,
        "agent_state": RUNNING,
        "exit_if": [*step.exit_if],
    }
    turn.push(step.flow_id, FrameType.CALL, context)


def continue_agent(turn: RunningTurn) -> None:
    """Hand the user's words to the agent on top, which waits for them."""
    frame, step = turn.top, turn.step_of(turn.top)
    assert isinstance(step, AgentTurnStep)
    target = next_step(turn, step.next)
    turn.emit(FrameMoved(frame.id, target, {**frame.context, "agent_state": RUNNING}))


def agent_call(assistant: Assistant, stack: Stack, agent: str) -> tuple[Frame, str] | None:
    """The frame of the running flow, and the step of it that calls `agent`."""
    frame = active_frame(stack)
    flow = assistant.flows[frame.flow_id] if frame else None
    for step in flow.steps.values() if flow else ():
        if isinstance(step, CallStep) and step.flow_id == f"{AGENT_PREFIX}{agent}" and frame:
            return frame, step.id
    return None


def restart_agent(turn: RunningTurn, agent: str) -> None:
    """Take the running flow back to where it calls `agent`."""
    called = agent_call(turn.assistant, turn.stack, agent)
    assert called
    frame, step_id = called
    for above in reversed(turn.stack[index_of(turn.stack, frame.id) + 1 :]):
        turn.emit(FrameRemoved(above.id))
    turn.emit(FrameMoved(frame.id, step_id))


def take_turn(turn: RunningTurn, frame: Frame, step: AgentTurnStep) -> None:
    """Say and do what the script has next; what interrupted it is over if it waits still."""
    if step.say:
        turn.emit(BotUttered(fill(step.say, turn.document(), {})))
    if frame.context.get("agent_state") == WAITING:
        turn.emit(ActionExecuted(REQUEST_INPUT))
        turn.emit(Listened())
        return
    for name, value in step.slots:
        turn.emit(SlotSet(name, value, SlotSource.ACTION))
    if step.fails:
        turn.emit(Warned(f"sub agent {frame.context.get('agent')!r} fails, as its script says"))
        fail(turn, {"agent": frame.context.get("agent")})
    elif _may_exit(turn, frame):
        finish(turn, turn.top)
    elif step.waits:
        turn.emit(FrameMoved(frame.id, step.id, {**frame.context, "agent_state": WAITING}))
        turn.emit(ActionExecuted(REQUEST_INPUT))
        turn.emit(Listened())
    else:
        go_on(turn, turn.top, step.next)


def _may_exit(turn: RunningTurn, frame: Frame) -> bool:
    """Whether all of the caller's `exit_if` hold; without any, the script alone decides."""
    conditions = _conditions(frame.context.get("exit_if"))
    for condition in conditions:
        if not turn.holds(condition):
            return False
    return bool(conditions)


def _conditions(listed: Json) -> list[str]:
    return [c for c in listed if isinstance(c, str)] if isinstance(listed, list) else []
