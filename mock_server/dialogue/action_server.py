"""Which action server a project has: what its files say of it (flows.md §8, §13)."""

from dataclasses import dataclass, field
from enum import StrEnum

from mock_server.errors import NOWHERE, Location

TIMEOUT_SECONDS = 60.0


class ActionServerKind(StrEnum):
    """`mock.yml: action_server`: scripts, the server of endpoints.yml, or one of our own."""

    STUBS = "stubs"
    ENDPOINT = "endpoint"
    CHILD = "child"


@dataclass(frozen=True, slots=True)
class ActionServer:
    """Where actions without a stub run: nowhere, at `url`, or in a child process of the mock.

    A child runs `module` with the interpreter `python` in `folder`; these paths are absolute.
    `cafile` has the certificates that prove an `https` server.
    """

    kind: ActionServerKind = ActionServerKind.STUBS
    url: str = ""
    cafile: str | None = None
    python: str = ""
    module: str = "actions"
    folder: str = ""
    timeout_seconds: float = TIMEOUT_SECONDS
    location: Location = field(default=NOWHERE, compare=False)
