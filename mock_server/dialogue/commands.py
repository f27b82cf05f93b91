"""What a message asks the dialogue to do: Rasa's commands, one small class each (flows.md §5)."""

from dataclasses import dataclass
from typing import TypeAlias

from mock_server.dialogue.model import Json


@dataclass(frozen=True, slots=True)
class StartFlow:
    """`is_trigger`: from a flow's own `nlu_trigger`, which no guard stops (flows.md §2.1)."""

    flow_id: str
    is_trigger: bool = False


@dataclass(frozen=True, slots=True)
class CancelFlow:
    pass


@dataclass(frozen=True, slots=True)
class SetSlot:
    """`is_direct`: from a button or the orchestrator, so no mapping of the slot forbids it."""

    name: str
    value: Json
    is_direct: bool = False


@dataclass(frozen=True, slots=True)
class Clarify:
    flow_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChitChat:
    pass


@dataclass(frozen=True, slots=True)
class SearchAndReply:
    pass


@dataclass(frozen=True, slots=True)
class SkipQuestion:
    pass


@dataclass(frozen=True, slots=True)
class HumanHandoff:
    pass


@dataclass(frozen=True, slots=True)
class RepeatLastBotMessages:
    pass


@dataclass(frozen=True, slots=True)
class CannotHandle:
    """`reason` as `pattern_cannot_handle` branches on it; None is its default branch."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ReportError:
    """Rasa's ErrorCommand: `pattern_internal_error` with this type and info."""

    error_type: str
    info: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class SessionStart:
    pass


@dataclass(frozen=True, slots=True)
class SessionEnd:
    pass


@dataclass(frozen=True, slots=True)
class Restart:
    pass


@dataclass(frozen=True, slots=True)
class HandleCodeChange:
    """The flows that the dialogue is in are not what they were."""


@dataclass(frozen=True, slots=True)
class ContinueAgent:
    """The words are for the sub agent that waits for them."""


@dataclass(frozen=True, slots=True)
class RestartAgent:
    """Sub agent `agent`, which the running flow has called or calls, is to begin anew."""

    agent: str


@dataclass(frozen=True, slots=True)
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
