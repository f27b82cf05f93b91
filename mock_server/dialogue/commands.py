"""What a message asks the dialogue to do: Rasa's commands, one small class each (flows.md §5)."""

from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.records import record


@record
class StartFlow:
    """`is_trigger`: from a flow's own `nlu_trigger`, which no guard stops (flows.md §2.1)."""

    flow_id: str
    is_trigger: bool = False


@record
class CancelFlow:
    pass


@record
class SetSlot:
    """`is_direct`: from a button or the orchestrator, so no mapping of the slot forbids it."""

    name: str
    value: Json
    is_direct: bool = False


@record
class Clarify:
    flow_ids: tuple[str, ...]


@record
class ChitChat:
    pass


@record
class SearchAndReply:
    pass


@record
class SkipQuestion:
    pass


@record
class HumanHandoff:
    pass


@record
class RepeatLastBotMessages:
    pass


@record
class CannotHandle:
    """`reason` as `pattern_cannot_handle` branches on it; None is its default branch."""

    reason: str | None = None


@record
class ReportError:
    """Rasa's ErrorCommand: `pattern_internal_error` with this type and info."""

    error_type: str
    info: tuple[tuple[str, Json], ...] = ()


@record
class SessionStart:
    pass


@record
class SessionEnd:
    pass


@record
class Restart:
    pass


@record
class HandleCodeChange:
    """The flows that the dialogue is in are not what they were."""


@record
class ContinueAgent:
    """The words are for the sub agent that waits for them."""


@record
class RestartAgent:
    """Sub agent `agent`, which the running flow has called or calls, is to begin anew."""

    agent: str


@record
class Noop:
    pass


Command: TypeAlias = (
    StartFlow
    | CancelFlow
    | SetSlot
    | Clarify
    | ChitChat
    | SearchAndReply
    | SkipQuestion
    | HumanHandoff
    | RepeatLastBotMessages
    | CannotHandle
    | ReportError
    | SessionStart
    | SessionEnd
    | Restart
    | HandleCodeChange
    | ContinueAgent
    | RestartAgent
    | Noop
)
