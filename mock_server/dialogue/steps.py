"""One step of the topmost flow at a time, until the bot waits for the user."""

from typing import assert_never

from mock_server.dialogue.actions import run_action
from mock_server.dialogue.agents import call_agent, take_turn
from mock_server.dialogue.collecting import collect
from mock_server.dialogue.events import (
    Frame,
    FrameMoved,
    FrameType,
    Listened,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.dialogue.lifecycle import (
    cancel_frames,
    fail,
    finish,
    go_on,
    leave,
    next_step,
    start,
)
from mock_server.dialogue.model import (
    AGENT_PREFIX,
    PATTERN_PREFIX,
    ActionStep,
    AgentTurnStep,
    CallStep,
    CollectStep,
    LinkStep,
    NoopStep,
    SetSlotsStep,
    ToolStep,
)
from mock_server.dialogue.templates import render_expression
from mock_server.dialogue.tools import call_tool
from mock_server.dialogue.turn import Steps, Turn
from mock_server.errors import FlowLoop, TemplateFailed

STEPS_PER_TURN = 250
STEPS_AFTER_LOOP = 50


def run_until_listening(turn: Turn) -> Steps:
    """Run the stack until a flow listens or nothing is left; `Listened` is the last event.

    A turn of too many steps is an internal error; if that does not end it, all flows are cancelled.
    """
    try:
        yield from _run(turn, STEPS_PER_TURN)
    except FlowLoop as loop:
        yield Warned(str(loop))
        yield from fail(turn, {"flow": loop.flow_id, "steps": loop.limit})
        try:
            yield from _run(turn, STEPS_AFTER_LOOP)
        except FlowLoop as again:
            yield Warned(str(again))
            yield from cancel_frames(turn, turn.stack)
    if not turn.state.is_listening:
        yield Listened()


def _run(turn: Turn, limit: int) -> Steps:
    taken = 0
    while turn.stack and not turn.state.is_listening:
        if taken == limit:
            raise FlowLoop(turn.top.flow_id, limit)
        taken += 1
        yield from _step(turn)


def _step(turn: Turn) -> Steps:
    frame = turn.top
    step = turn.step_of(frame)
    match step:
        case None:
            yield from finish(turn, frame)
        case CollectStep():
            yield from collect(turn, step)
        case ActionStep():
            yield from _act(turn, frame, step)
        case SetSlotsStep():
            for name, value in step.values:
                yield SlotSet(name, value, SlotSource.FLOW)
            yield from go_on(turn, frame, step.next)
        case NoopStep():
            yield from go_on(turn, frame, step.next)
        case CallStep() if step.flow_id.startswith(AGENT_PREFIX):
            yield from call_agent(turn, step)
        case CallStep():
            yield from start(turn, step.flow_id, FrameType.CALL)
        case ToolStep():
            yield from call_tool(turn, frame, step)
        case AgentTurnStep():
            yield from take_turn(turn, frame, step)
        case LinkStep():
            yield from _link(turn, frame, step)
        case _:
            assert_never(step)


def _act(turn: Turn, frame: Frame, step: ActionStep) -> Steps:
    try:
        name = render_expression(step.action, turn.document())
    except TemplateFailed as error:
        yield Warned(str(error))
        yield from fail(turn, {"flow": frame.flow_id, "step": step.id})
        return
    if name == "action_listen":
        # Where to go on is settled before the answer, so that patterns above it may come and go.
        yield FrameMoved(frame.id, (yield from next_step(turn, step.next)))
        yield Listened()
        return
    went_well = yield from run_action(turn, name)
    if went_well and turn.stack and turn.top.id == frame.id:
        yield from go_on(turn, turn.top, step.next)


def _link(turn: Turn, frame: Frame, step: LinkStep) -> Steps:
    """End this flow and start the other in its place, which inherits what it interrupted."""
    yield from leave(turn, frame)
    is_plain = frame.type in (FrameType.REGULAR, FrameType.LINK)
    is_pattern_to_pattern = frame.is_pattern and step.flow_id.startswith(PATTERN_PREFIX)
    is_inherited = is_pattern_to_pattern or not is_plain
    yield from start(turn, step.flow_id, frame.type if is_inherited else FrameType.LINK)
