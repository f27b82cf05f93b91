"""Recorded sessions, and how a test begins one."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from inspector.core.entries import Channel, FrameReceived, Log, Purpose, RequestSent, ResponseEnded
from inspector.core.saved.recording import SessionHeader
from inspector.core.saved.session_store import Recording, record, session_paths

STARTED = datetime.fromisoformat("2026-11-20T10:02:10.250+01:00")
BODY = (
    b'{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{"kind":"message",'
    b'"role":"user","messageId":"m","parts":[{"kind":"text","text":"send 50 to Joe"}]}}}'
)

Begin: TypeAlias = Callable[..., Recording]


@pytest.fixture
def started() -> datetime:
    """When a session begins unless the test says otherwise."""
    return STARTED


@pytest.fixture
def header(started: datetime) -> SessionHeader:
    return SessionHeader("7f3a1c09", "http://agent.test", started, "0.1.0")


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    """Begin a session in the folder `sessions` of the test, on a clock that stands still."""

    def begin_one(id: str = "7f3a1c09", now: datetime = STARTED) -> Recording:
        return record(
            tmp_path / "sessions",
            "http://agent.test",
            id=id,
            now=now,
            clock=lambda: 0.0,
            warn=pytest.fail,
        )

    return begin_one


@pytest.fixture
def only_path(tmp_path: Path) -> Callable[[], Path]:
    """Where the one session of the test is saved."""

    def find() -> Path:
        (path,) = session_paths(tmp_path / "sessions")
        return path

    return find


@pytest.fixture
async def recording(begin: Begin, exchange: Callable[..., None]) -> Recording:
    """A session with one exchange that goes on being recorded."""
    begun = begin()
    exchange(begun.log)
    return begun


@pytest.fixture
def exchange() -> Callable[..., None]:
    """Append a whole exchange, or one without its end, to a log."""

    def append(log: Log, number: int = 1, *, ends: bool = True) -> None:
        url = "http://agent.test/"
        log.append(
            partial(
                RequestSent,
                exchange=number,
                purpose=Purpose.SEND,
                method="POST",
                url=url,
                headers=(),
                content=BODY,
            )
        )
        log.append(
            partial(FrameReceived, exchange=number, channel=Channel.RESPONSE, content=b"\xff{}\n")
        )
        if ends:
            log.append(partial(ResponseEnded, exchange=number))

    return append
