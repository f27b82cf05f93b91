"""The exit statuses, and what can go wrong in the inspector with the status of each (CLI-1).

InspectorError
├── UsageError        2  a flag, file or target that cannot be used as given
├── Unreachable       3  no answer: DNS, connection, TLS
├── NotA2A            4  an answer, but not in A2A
├── Refused           5  a JSON-RPC error, 401, 409 or another refusal
└── TimedOut          5  no answer within --timeout
"""

from typing import ClassVar

EXIT_OK = 0
EXIT_UNEXPECTED = 1
EXIT_INTERRUPTED = 130


class InspectorError(Exception):
    """`text` says what happened, `hint` what to try next."""

    exit_status: ClassVar[int] = 1

    def __init__(self, text: str, hint: str = "") -> None:
        self.text = text
        self.hint = hint
        super().__init__(f"{text}\n{hint}" if hint else text)


class UsageError(InspectorError):
    exit_status = 2


class Unreachable(InspectorError):
    exit_status = 3


class NotA2A(InspectorError):
    exit_status = 4


class Refused(InspectorError):
    exit_status = 5


class TimedOut(InspectorError):
    exit_status = 5
