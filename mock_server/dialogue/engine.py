"""One turn of a conversation: a message in, events out (flows.md §5).

Nothing here waits or remembers: the caller keeps the state, performs custom actions, and drops a
turn that is cancelled. The state that the turn has made by then is one to go on from.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import assert_never

from mock_server.dialogue.actions import call_tool, record_outcome, run_action
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.command_processor import apply_plan, clean_up
from mock_server.dialogue.commands import Command
from mock_server.dialogue.expressions import render_expression
from mock_server.dialogue.model import (
    AGENT_PREFIX,
    PATTERN_PREFIX,
    ActionStep,
    AgentTurnStep,
    CallStep,
    CollectStep,
    Flow,
    Json,
    LinkStep,
    NoopStep,
    PlainStep,
    SetSlotsStep,
    ToolStep,
)
from mock_server.dialogue.outside import Generation, Outcome
from mock_server.dialogue.state import (
    ActionExecuted,
    DialogueState,
    Event,
    Frame,
    FrameMoved,
    FrameRemoved,
    FrameType,
    GenerationRequested,
    Listened,
    ProjectReloaded,
    SlotSet,
    SlotSource,
    Understood,
    UserUttered,
    Warned,
    index_of,
    is_root,
)
from mock_server.dialogue.turn import (
    Requesting,
    RunningTurn,
    begin_session,
    call_agent,
    cancel_frames,
    collect,
    fail,
    finish,
    go_on,
    leave,
    next_step,
    perform,
    start,
    take_turn,
)
from mock_server.dialogue.understanding import needs_model, understand
from mock_server.errors import FlowLoop, TemplateFailed
from mock_server.records import record

STEPS_PER_TURN = 250
STEPS_AFTER_LOOP = 50
SESSION_START = "action_session_start"


@record
class UserMessage:
    """A message as the adapter read it: `text` without slot markers, and its slots, coerced.

    `commands`, where given, stand in place of what the text would be understood as. With
    `asks_model` a language model is asked about a text that no sure rule understands.
    """

    text: str
    seeded_slots: tuple[tuple[str, Json], ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    commands: tuple[Command, ...] | None = None
    asks_model: bool = False


class DialogueTurn:
    """A turn that runs from request to request; `state` is what its events have made so far."""

    __slots__ = ("_run", "_turn")

    def __init__(self, turn: RunningTurn, run: Requesting[None]) -> None:
        self._turn = turn
        self._run = run

    @property
    def state(self) -> DialogueState:
        return self._turn.state

    def run(self, outcome: Outcome | None = None) -> list[Event]:
        """All events up to the next request, which is the last, or to the end; none: it is over.

        `outcome` is that of the request before; None counts as one without any effect.
        """
        self._turn.events = []
        with suppress(StopIteration):
            self._run.send(outcome)
        return self._turn.events


def advance(assistant: Assistant, state: DialogueState, message: UserMessage) -> DialogueTurn:
    """The turn that `message` begins; `Listened` is its last event."""
    turn = RunningTurn(assistant, state)
    return DialogueTurn(turn, _turn(turn, message))


def open_session(assistant: Assistant, state: DialogueState) -> DialogueTurn:
    """The session's start, as the first turn else does before its message."""
    turn = RunningTurn(assistant, state)
    return DialogueTurn(turn, _start_session(turn))


def cancel(assistant: Assistant, state: DialogueState) -> DialogueTurn:
    """The end of all that is on the stack, as `tasks/cancel` and a timeout want it.

    Nothing happens when nothing is active.
    """
    turn = RunningTurn(assistant, state)
    return DialogueTurn(turn, _cancel(turn))


def _turn(turn: RunningTurn, message: UserMessage) -> Requesting[None]:
    _follow_assistant(turn)
    if not turn.state.is_started:
        yield from _start_session(turn)
    earlier_slots = turn.state.slots
    turn.emit(UserUttered(message.text, message.metadata))
    for name, value in message.seeded_slots:
        turn.emit(SlotSet(name, value, SlotSource.ORCHESTRATOR))
    for action in turn.assistant.actions_every_turn:
        yield from _run_beside(turn, action)
    if message.text or message.commands is not None or not message.seeded_slots:
        understood = yield from _understood(turn, message)
        turn.emit(understood)
        plan = clean_up(turn.assistant, turn.state, understood.commands, earlier_slots)
        apply_plan(turn, plan)
    yield from _run_until_listening(turn)


def _understood(turn: RunningTurn, message: UserMessage) -> Requesting[Understood]:
    """The commands of `message`; a language model reads what no sure rule understands (§13)."""
    if message.commands is not None:
        return Understood(message.commands)
    generation: Generation | None = None
    if message.asks_model and needs_model(turn.assistant, turn.state, message.text):
        turn.emit(GenerationRequested(message.text))
        outcome = yield
        generation = outcome if isinstance(outcome, Generation) else None

    def warn(text: str) -> None:
        turn.emit(Warned(text))

    return understand(turn.assistant, turn.state, message.text, generation, warn)


def _start_session(turn: RunningTurn) -> Requesting[None]:
    begin_session(turn)
    if SESSION_START in turn.assistant.actions:
        yield from _run_beside(turn, SESSION_START)


def _run_beside(turn: RunningTurn, action: str) -> Requesting[None]:
    """Run `action` outside of any flow: if it fails, the user's message is handled all the same."""
    outcome = yield from perform(turn, action)
    if outcome.failure is None:
        record_outcome(turn, action, outcome)
    else:
        turn.emit(ActionExecuted(action, outcome.failure))
        turn.emit(Warned(f"action {action!r} failed: {dict(outcome.failure)}"))


def _follow_assistant(turn: RunningTurn) -> None:
    """Adapt a state of an earlier version of the project to this one (flows.md §5, 3.16.13)."""
    if turn.state.initial_slots is not turn.assistant.initial_slots:
        turn.emit(ProjectReloaded(turn.assistant.initial_slots))
    while stale := next(filter(turn.is_stale, turn.stack), None):
        flow = turn.assistant.flows.get(stale.flow_id)
        target = moved_step(flow, stale.step_id) if flow else None
        if target:
            turn.emit(FrameMoved(stale.id, target))
        else:
            _leave_stale(turn, stale)


def _leave_stale(turn: RunningTurn, stale: Frame) -> None:
    turn.emit(Warned(f"flow {stale.flow_id!r} has no step {stale.step_id!r} any more: left"))
    start = index_of(turn.stack, stale.id)
    end = next((i for i in range(start + 1, len(turn.stack)) if is_root(turn.stack[i])), None)
    for frame in reversed(turn.stack[start:end]):
        turn.emit(FrameRemoved(frame.id))


def _cancel(turn: RunningTurn) -> Requesting[None]:
    if turn.stack:
        _follow_assistant(turn)
        cancel_frames(turn, turn.stack)
    if not turn.state.is_listening:
        turn.emit(Listened())
    yield from ()


def _run_until_listening(turn: RunningTurn) -> Requesting[None]:
    """Run the stack until a flow listens or nothing is left; `Listened` is the last event.

    A turn of too many steps is an internal error; if that does not end it, all flows are cancelled.
    """
    try:
        yield from _run(turn, STEPS_PER_TURN)
    except FlowLoop as loop:
        turn.emit(Warned(str(loop)))
        fail(turn, {"flow": loop.flow_id, "steps": loop.limit})
        try:
            yield from _run(turn, STEPS_AFTER_LOOP)
        except FlowLoop as again:
            turn.emit(Warned(str(again)))
            cancel_frames(turn, turn.stack)
    if not turn.state.is_listening:
        turn.emit(Listened())


def _run(turn: RunningTurn, limit: int) -> Requesting[None]:
    taken = 0
    while turn.stack and not turn.state.is_listening:
        if taken == limit:
            raise FlowLoop(turn.top.flow_id, limit)
        taken += 1
        frame = turn.top
        step = turn.step_of(frame)
        if isinstance(step, ActionStep):
            yield from _act(turn, frame, step)
        else:
            _take(turn, frame, step)


def _take(turn: RunningTurn, frame: Frame, step: PlainStep | None) -> None:
    match step:
        case None:
            finish(turn, frame)
        case CollectStep():
            collect(turn, step)
        case SetSlotsStep():
            for name, value in step.values:
                turn.emit(SlotSet(name, value, SlotSource.FLOW))
            go_on(turn, frame, step.next)
        case NoopStep():
            go_on(turn, frame, step.next)
        case CallStep() if step.flow_id.startswith(AGENT_PREFIX):
            call_agent(turn, step)
        case CallStep():
            start(turn, step.flow_id, FrameType.CALL)
        case ToolStep():
            call_tool(turn, frame, step)
        case AgentTurnStep():
            take_turn(turn, frame, step)
        case LinkStep():
            _link(turn, frame, step)
        case _:
            assert_never(step)


def _act(turn: RunningTurn, frame: Frame, step: ActionStep) -> Requesting[None]:
    try:
        is_plain = "{" not in step.action
        name = step.action if is_plain else render_expression(step.action, turn.document())
    except TemplateFailed as error:
        turn.emit(Warned(str(error)))
        fail(turn, {"flow": frame.flow_id, "step": step.id})
        return
    if name == "action_listen":
        # Where to go on is settled before the answer, so that patterns above it may come and go.
        turn.emit(FrameMoved(frame.id, next_step(turn, step.next)))
        turn.emit(Listened())
        return
    went_well = yield from run_action(turn, name)
    if went_well and turn.stack and turn.top.id == frame.id:
        go_on(turn, turn.top, step.next)


def _link(turn: RunningTurn, frame: Frame, step: LinkStep) -> None:
    """End this flow and start the other in its place, which inherits what it interrupted."""
    leave(turn, frame)
    is_plain = frame.type in (FrameType.REGULAR, FrameType.LINK)
    is_pattern_to_pattern = frame.is_pattern and step.flow_id.startswith(PATTERN_PREFIX)
    is_inherited = is_pattern_to_pattern or not is_plain
    start(turn, step.flow_id, frame.type if is_inherited else FrameType.LINK)


def moved_step(flow: Flow, step_id: str) -> str | None:
    """The step of `flow` that differs from the missing `step_id` in its number only."""
    sought = _without_number(flow, step_id)
    found = [id for id in flow.steps if sought and _without_number(flow, id) == sought]
    return found[0] if len(found) == 1 and step_id not in flow.steps else None


def _without_number(flow: Flow, step_id: str) -> str | None:
    """The id of a numbered step without its number; None for an id that was written."""
    number, _, does = step_id.removeprefix(f"{flow.id}_").partition("_")
    return does if number.isdecimal() and step_id.startswith(f"{flow.id}_") else None
