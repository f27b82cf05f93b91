"""The session behind the main screen; imported once the first frame stands."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

from inspector.core.log import Log
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.net.http import HttpTransport
from inspector.settings import Connection


@dataclass(frozen=True, slots=True)
class Link:
    """A session and its clock: `now_ms` counts from the zero of its log."""

    session: Session
    now_ms: Callable[[], float]


def open_link(target: str, connection: Connection) -> Link:
    """Return a link to `target`; nothing is sent yet.

    Raises:
        UsageError: `target` is neither a URL nor a file.
    """
    began = perf_counter()
    session = Session(
        parse_target(target),
        HttpTransport(connection),
        Log(perf_counter),
        new_id=lambda: str(uuid4()),
        credentials=connection.headers,
        timeout_seconds=connection.timeout_seconds,
    )
    return Link(session, lambda: (perf_counter() - began) * 1000)
