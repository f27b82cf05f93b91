"""What happened in a dialogue. The state of a conversation is the fold of these (state.apply)."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

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
    """Who gave a slot its value."""

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
    """A rule of the understanding and why it fired or not, in the order of trying."""

    rule: str
    fired: bool
    reason: str = ""


@record
class Understood:
    """The commands a message was understood as, and the trace of the rules tried."""

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
    """The engine waits for what a language model makes of `text`; nothing has happened yet."""

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
    """Frame `frame_id` goes on at `step_id`; `context`, where given, replaces its fields."""

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
class Restarted:
    """The conversation begins anew: slots at their initial values, the stack empty."""


@record
class Warned:
    """Something a developer should know about this turn; goes to the trace and the log."""

    text: str


Request: TypeAlias = ActionRequested | GenerationRequested
"""What the engine wants from outside: it goes on with the `outside.Outcome` that is sent in."""

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
    | Restarted
    | Warned
)
