"""A conversation: its events, the state that is their fold, and questions about its stack."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command
from mock_server.dialogue.model import Button, Json
from mock_server.records import record


class FrameType(StrEnum):
    """How a flow came onto the stack (flows.md §5)."""

    REGULAR = "regular"
    INTERRUPT = "interrupt"
    LINK = "link"
    CALL = "call"


@record
class Frame:
    """A flow on the dialogue stack; `step_id` is the step it runs next or waits at.

    `context` holds a pattern's own fields, e.g. `canceled_name`.
    """

    id: str
    flow_id: str
    step_id: str
    type: FrameType = FrameType.REGULAR
    context: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def is_pattern(self) -> bool:
        return self.flow_id.startswith("pattern_")


class SlotSource(StrEnum):
    """The origin of a slot's value."""

    USER = "user"
    ORCHESTRATOR = "orchestrator"
    FLOW = "flow"
    ACTION = "action"
    RESET = "reset"
    INITIAL = "initial"


@record
class SessionStarted:
    pass


@record
class SessionEnded:
    """The next message begins another session; slots are carried over to it."""


@record
class UserUttered:
    """`text` without slot markers; `metadata` is the message's, less `slots`."""

    text: str
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@record
class RuleTried:
    """A rule that was tried, and why it fired or not."""

    rule: str
    fired: bool
    reason: str = ""


@record
class Understood:
    """The commands of a message, and the rules tried, in their order."""

    commands: tuple[Command, ...]
    trace: tuple[RuleTried, ...] = ()


@record
class CommandDropped:
    """The clean-up of commands left this one out (flows.md §5)."""

    command: Command
    reason: str


@record
class SlotSet:
    name: str
    value: Json
    source: SlotSource


@record
class BotUttered:
    """`response` is the domain's name of it, None for an action's own text."""

    text: str
    buttons: tuple[Button, ...] = ()
    response: str | None = None
    image: str | None = None
    custom: Json = None


@record
class ActionRequested:
    """The engine waits for the outcome of custom action `name`."""

    name: str


@record
class GenerationRequested:
    """The engine waits for a language model to read `text`."""

    text: str


@record
class ActionExecuted:
    """`failure` is None, or the error_info of the failure."""

    name: str
    failure: Mapping[str, Json] | None = None


@record
class FramePushed:
    frame: Frame


@record
class FrameInserted:
    """`frame` was put below the top at `index` (0 is the bottom)."""

    frame: Frame
    index: int


@record
class FrameMoved:
    """Frame `frame_id` continues at `step_id`; `context`, where given, replaces its fields."""

    frame_id: str
    step_id: str
    context: Mapping[str, Json] | None = None


@record
class FrameRemoved:
    frame_id: str


@record
class FlowStarted:
    flow_id: str


@record
class FlowCompleted:
    """`is_child`: a called flow came back to its caller, which completes nothing for the user."""

    flow_id: str
    step_id: str
    is_child: bool = False
    persisted_slots: Mapping[str, Json] = field(default_factory=dict[str, Json])


@record
class FlowCancelled:
    flow_id: str
    step_id: str


@record
class FlowInterrupted:
    flow_id: str
    step_id: str


@record
class FlowResumed:
    flow_id: str
    step_id: str


@record
class Listened:
    """`action_listen`: the bot waits for the user; the last event of a turn."""


@record
class ProjectReloaded:
    """A later version of the project takes over; its slots replace those of the one before."""

    initial_slots: Mapping[str, Json]


@record
class Restarted:
    """The conversation starts over: slots at their initial values, the stack empty."""


@record
class Warned:
    """Something a developer should know about this turn, for the trace and the log."""

    text: str


Request: TypeAlias = ActionRequested | GenerationRequested
"""What the engine wants from outside: it goes on with an `outside.Outcome`."""

Event: TypeAlias = (
    SessionStarted
    | SessionEnded
    | UserUttered
    | Understood
    | CommandDropped
    | SlotSet
    | BotUttered
    | ActionRequested
    | GenerationRequested
    | ActionExecuted
    | FramePushed
    | FrameInserted
    | FrameMoved
    | FrameRemoved
    | FlowStarted
    | FlowCompleted
    | FlowCancelled
    | FlowInterrupted
    | FlowResumed
    | Listened
    | ProjectReloaded
    | Restarted
    | Warned
)


COLLECT_PATTERN = "pattern_collect_information"
VALIDATE_PATTERN = "pattern_validate_slot"
# The patterns that ask on behalf of the frame below them, and the field that names their slot.
ASKING = {COLLECT_PATTERN: "collect", VALIDATE_PATTERN: "validate"}
# A flow that starts answers these questions: their frames go (flows.md §5, clean-up 4).
QUESTIONS = frozenset(
    {"pattern_continue_interrupted", "pattern_completed", "pattern_customer_satisfaction"}
)

MAX_TRACKED_EVENTS = 1000
MAX_TRACKED_BYTES = 16 * 1024 * 1024

Stack: TypeAlias = tuple[Frame, ...]


def active_frame(stack: Stack) -> Frame | None:
    """The topmost frame of a user flow."""
    for frame in reversed(stack):
        if not frame.is_pattern:
            return frame
    return None


def asked_slot(stack: Stack) -> str | None:
    """The slot that the question on top of the stack waits for."""
    asking = ASKING.get(stack[-1].flow_id) if stack else None
    slot = stack[-1].context.get(asking) if asking else None
    return slot if isinstance(slot, str) else None


def asking_frame(stack: Stack) -> Frame | None:
    """The frame whose question stands on top of the stack, or the topmost itself."""
    for frame in reversed(stack):
        if frame.flow_id not in ASKING:
            return frame
    return None


def open_questions(stack: Stack) -> Stack:
    """The patterns on top that a new flow answers, and their questions, the topmost last."""
    start = len(stack)
    for index in range(len(stack) - 1, -1, -1):
        if not stack[index].is_pattern:
            break
        if stack[index].flow_id in QUESTIONS:
            start = index
    return stack[start:]


def context_of(stack: Stack) -> dict[str, Json]:
    """The fields of the pattern on top, and of the one that a question on top is asked for.

    All have `flow_id`, `step_id` and `frame_id` (flows.md §6). The upper one's win.
    """
    merged: dict[str, Json] = {}
    for frame in reversed(stack):
        if not frame.is_pattern:
            break
        fields: dict[str, Json] = {
            "flow_id": frame.flow_id,
            "step_id": frame.step_id,
            "frame_id": frame.id,
            **frame.context,
        }
        merged = {**fields, **merged} if merged else fields
        if frame.flow_id not in ASKING:
            break
    return merged


def texts_in(context: Mapping[str, Json], field: str) -> list[str]:
    """The texts in a list that a pattern was pushed with."""
    listed = context.get(field)
    return [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []


def index_of(stack: Stack, frame_id: str) -> int:
    return next(index for index, frame in enumerate(stack) if frame.id == frame_id)


def is_root(frame: Frame) -> bool:
    """Whether `frame` begins a group: a user flow that nobody called."""
    return not frame.is_pattern and frame.type is not FrameType.CALL


def group_of(stack: Stack, frame: Frame) -> Stack:
    """The group that `frame`, of a user flow, stands in: its root first, the top last."""
    start = index_of(stack, frame.id)
    while start and not is_root(stack[start]):
        start -= 1
    end = start + 1
    while end < len(stack) and not is_root(stack[end]):
        end += 1
    return stack[start:end]


def active_group(stack: Stack) -> Stack:
    """The topmost user flow's group, empty when there is none."""
    frame = active_frame(stack)
    return group_of(stack, frame) if frame else ()


def roots(stack: Stack) -> Stack:
    return tuple([frame for frame in stack if is_root(frame)])


@record
class DialogueState:
    """`stack` has its top last. `slots` has a value, perhaps None, for every slot.

    `bot_uttered` are the bot's messages since the user's last one, `previously_uttered` those of
    the turn before: an answer by a button's title and the repeat pattern need them.
    """

    slots: Mapping[str, Json]
    initial_slots: Mapping[str, Json]
    stack: tuple[Frame, ...] = ()
    is_started: bool = False
    is_listening: bool = True
    user_text: str = ""
    user_metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    bot_uttered: tuple[BotUttered, ...] = ()
    previously_uttered: tuple[BotUttered, ...] = ()
    frames_made: int = 0


def initial_state(assistant: Assistant) -> DialogueState:
    """The state of a conversation in which nothing was said yet."""
    return DialogueState(slots=assistant.initial_slots, initial_slots=assistant.initial_slots)


def apply(state: DialogueState, event: Event) -> DialogueState:
    """Return `state` after `event`; events that only inform leave it as it is."""
    # By type, as `match` on classes costs 5 % of a turn.
    kind = type(event)
    if type(event) is FrameMoved:
        return _changed(state, stack=_moved(state.stack, event))
    if type(event) is FramePushed:
        return _changed(state, stack=(*state.stack, event.frame), made=1)
    if type(event) is FrameRemoved:
        return _changed(state, stack=tuple([f for f in state.stack if f.id != event.frame_id]))
    if type(event) is FrameInserted:
        below, above = state.stack[: event.index], state.stack[event.index :]
        return _changed(state, stack=(*below, event.frame, *above), made=1)
    if type(event) is SlotSet:
        return _changed(state, slots={**state.slots, event.name: event.value})
    if type(event) is BotUttered:
        return _changed(state, bot_uttered=(*state.bot_uttered, event))
    if type(event) is UserUttered:
        return DialogueState(
            state.slots,
            state.initial_slots,
            state.stack,
            state.is_started,
            False,
            event.text,
            event.metadata,
            (),
            state.bot_uttered,
            state.frames_made,
        )
    if kind is Listened:
        return _changed(state, is_listening=True)
    if kind is SessionStarted or kind is SessionEnded:
        return _changed(state, is_started=kind is SessionStarted)
    if type(event) is ProjectReloaded:
        initial = event.initial_slots
        slots = {name: state.slots.get(name, value) for name, value in initial.items()}
        return replace(state, slots=slots, initial_slots=initial)
    if kind is Restarted:
        slots = state.initial_slots
        return DialogueState(slots=slots, initial_slots=slots, is_listening=False)
    return state


def _changed(
    state: DialogueState,
    *,
    slots: Mapping[str, Json] | None = None,
    stack: Stack | None = None,
    is_started: bool | None = None,
    is_listening: bool | None = None,
    bot_uttered: tuple[BotUttered, ...] | None = None,
    made: int = 0,
) -> DialogueState:
    """What `replace` does, at a third of its cost."""
    return DialogueState(
        state.slots if slots is None else slots,
        state.initial_slots,
        state.stack if stack is None else stack,
        state.is_started if is_started is None else is_started,
        state.is_listening if is_listening is None else is_listening,
        state.user_text,
        state.user_metadata,
        state.bot_uttered if bot_uttered is None else bot_uttered,
        state.previously_uttered,
        state.frames_made + made,
    )


def _moved(stack: tuple[Frame, ...], event: FrameMoved) -> tuple[Frame, ...]:
    place = len(stack) - 1
    while place >= 0 and stack[place].id != event.frame_id:
        place -= 1
    if place < 0:
        return stack
    frame = stack[place]
    context = frame.context if event.context is None else event.context
    moved = Frame(frame.id, frame.flow_id, event.step_id, frame.type, context)
    return (*stack[:place], moved, *stack[place + 1 :])


def held_bytes(*values: Json) -> int:
    """The memory that JSON values take."""
    size_bytes = 0
    pending = [*values]
    while pending:
        value = pending.pop()
        size_bytes += sys.getsizeof(value)
        if isinstance(value, dict):
            pending += value
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return size_bytes


def state_bytes(state: DialogueState) -> int:
    """The memory that the values of a dialogue take: its slots, and what was said last."""
    size_bytes = sys.getsizeof(state.user_text) + _uttered_bytes(state.bot_uttered)
    size_bytes += _uttered_bytes(state.previously_uttered)
    if state.user_metadata:
        size_bytes += held_bytes(dict(state.user_metadata))
    for frame in state.stack:
        size_bytes += held_bytes(dict(frame.context))
    for value in state.slots.values():
        if value is not None:
            size_bytes += held_bytes(value)
    return size_bytes


def _uttered_bytes(uttered: tuple[BotUttered, ...]) -> int:
    return sum([held_bytes(said.text, said.custom) for said in uttered])


def event_bytes(event: Event) -> int:
    """The memory that the values of `event` take."""
    match event:
        case UserUttered(text=text, metadata=metadata):
            return held_bytes(text, dict(metadata))
        case SlotSet(value=value):
            return held_bytes(value)
        case BotUttered(text=text, custom=custom):
            return held_bytes(text, custom)
        case _:
            return 0


@dataclass(slots=True)
class Tracker:
    """The last events of a conversation, each with its time in seconds since 1970."""

    conversation_id: str
    events: list[tuple[float, Event]] = field(default_factory=list[tuple[float, Event]])
    _before_turn: int = 0

    def begin_turn(self) -> None:
        """Mark where a turn begins that may be undone, and drop old events."""
        kept = size_bytes = 0
        for _, event in reversed(self.events):
            size_bytes += event_bytes(event)
            if kept == MAX_TRACKED_EVENTS or size_bytes > MAX_TRACKED_BYTES:
                break
            kept += 1
        del self.events[: len(self.events) - kept]
        self._before_turn = len(self.events)

    def record(self, event: Event, seconds: float) -> None:
        self.events.append((seconds, event))

    def undo_turn(self) -> None:
        del self.events[self._before_turn :]

    def forget(self) -> None:
        self.events.clear()
        self._before_turn = 0
