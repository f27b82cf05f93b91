"""What can go wrong in the mock.

MockError
├── ProjectError            the project folder cannot be served as it is; carries every Problem
├── OutputLost              stdout takes no more
├── GraphvizFailed          Graphviz's dot is not installed, or does not draw
├── StartError              the server cannot start with its options
├── ConditionError          a condition that pypred cannot read
├── TemplateFailed          a text whose Jinja cannot be read or evaluated
├── InvalidSlotValue        a value that a slot's type does not admit
├── FlowLoop                a turn that took more steps than a turn may
├── IllegalTransition       an update to a task that is already terminal
├── PushRefused             a push configuration that the mock refuses
├── ActionServerFailed      the project's action server does not start
├── PostFailed              a push notification that did not arrive
└── RpcError                a JSON-RPC error reply: code, message, data
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class MockError(Exception):
    """Anything the mock raises on purpose."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A line of a file of the project; `line` counts from 1, 0 means the file as a whole."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


NOWHERE = Location()


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of a project, and how to fix it."""

    location: Location
    code: str
    text: str
    fix: str = ""
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        message = f"{self.location}: {self.code}: {self.text}"
        return f"{message}; {self.fix}" if self.fix else message


class ProjectError(MockError):
    """The project cannot be served; `problems` holds all that was found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class StartError(MockError):
    """The server cannot start; `problems` are the lines to print."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class OutputLost(MockError):
    """`reason` is the system's: the disk is full, say."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"stdout cannot be written: {reason}; make room, or print elsewhere")


class GraphvizFailed(MockError):
    """No picture can be drawn; the message says why and what else to do."""


class ConditionError(MockError):
    """`source` is not a condition that pypred reads."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"condition {source!r}: {reason}")


class SlowCondition(ConditionError):
    """A regular expression in `source` takes too long."""


class SearchTooSlow(MockError):
    """Whether `expression` matches a text takes too long to tell."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        super().__init__(
            f"regular expression {expression!r} takes too long: "
            "repeat nothing that is repeated itself, as in (a+)+"
        )


class TemplateFailed(MockError):
    """The Jinja of `source` cannot be read, or fails on the values it is given."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"template {source!r}: {reason}")


class InvalidSlotValue(MockError):
    """`value` is not admitted by the type of slot `name`."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        self.name = name
        self.value = value
        self.expected = expected
        super().__init__(f"slot {name!r}: found {value!r}, expected {expected}")


class FlowLoop(MockError):
    """A turn took more than `limit` steps without waiting for the user."""

    def __init__(self, flow_id: str, limit: int) -> None:
        self.flow_id = flow_id
        self.limit = limit
        super().__init__(f"flow {flow_id!r} took more than {limit} steps in one turn")


class IllegalTransition(MockError):
    """Task `task_id` is terminal in `state` and takes no further update (A2A 0.3 §6.3)."""

    def __init__(self, task_id: str, state: str) -> None:
        self.task_id = task_id
        self.state = state
        super().__init__(f"task {task_id!r} is already {state}")


class PushRefused(MockError):
    """`reason` is for the client and reveals nothing about our network; `detail` is for the log."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail or reason
        super().__init__(self.detail)


class ActionServerFailed(MockError):
    """The action server cannot be started; the message says why, and what to look at."""


class PostFailed(MockError):
    """A callback could not be reached or did not accept; `reason` holds nothing of the request."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class RpcError(MockError):
    """A JSON-RPC error as it goes out: `code`, `message` and optional `data` (JSON)."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{code}: {message}")
