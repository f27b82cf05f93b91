"""A session with one target and the file that it is recorded in; opened, or opened again."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from uuid import uuid4

from inspector.core.bodies import BodyMemory
from inspector.core.entries import Log
from inspector.core.saved.quota import read_quota
from inspector.core.saved.recording import read_session
from inspector.core.saved.session_store import (
    Recording,
    find_conversation,
    make_room,
    record,
    record_again,
    replayed,
)
from inspector.core.session import Session
from inspector.core.target import Target, authenticated, parse_target
from inspector.errors import UsageError
from inspector.folders import config_folder, sessions_folder
from inspector.net.http import HttpTransport
from inspector.settings import Connection
from inspector.wire.tokens import MASK

REOPENED = "reopened: nothing is sent before you do"


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """`target` is what the user typed or saved; `remark` is what to say on reopening."""

    target: str
    session: Session
    recording: Recording
    connection: Connection
    remark: str = ""

    def now_ms(self) -> float:
        """The time since the zero of the session's log."""
        return self.recording.log.now_ms

    async def aclose(self) -> None:
        """End the session; older ones make room for what it took."""
        await self.session.aclose()
        self.recording.make_room()
        self.recording.close()


def open_session(
    target: str,
    connection: Connection,
    warn: Callable[[str], None],
    context_id: str | None = None,
) -> RecordedSession:
    """Open a session with `target`; nothing is sent yet.

    With a `context_id` it goes on with the saved session that holds this context, if there is
    one that no other process records.

    `warn` is called with the reason if the session cannot be saved, and with what was deleted to
    make room for it.

    Raises:
        UsageError: as `parse_target` and `authenticated` do.
    """
    found = parse_target(target)
    connection = authenticated(connection, found)
    if connection.is_saved and context_id is not None:
        path = find_conversation(sessions_folder(), target, context_id)
        if path is not None:
            # one that is open in another process stays that one's
            with suppress(UsageError):
                return reopen_session(path, connection, warn, target)
    now = datetime.now().astimezone()
    if connection.is_saved:
        folder, id = sessions_folder(), token_hex(4)
        quota = read_quota(config_folder(), warn)
        recording = record(
            folder, target, id=id, now=now, clock=perf_counter, warn=warn, most_bytes=quota
        )
    else:
        recording = Recording(Log(perf_counter, memory=BodyMemory(warn=warn)), now)
    return _recorded(found, connection, recording)


def reopen_session(
    path: Path, connection: Connection, warn: Callable[[str], None], target: str | None = None
) -> RecordedSession:
    """Go on with a saved session, at its own target or another.

    Raises:
        UsageError: the file is not a session, is open elsewhere, or its target held a secret; and
            as `parse_target` and `authenticated` do.
    """
    saved = read_session(path)
    target = target or saved.header.target
    if MASK in target:
        raise UsageError(
            f"the session's target {target} held a secret, which is not saved",
            f"a2a-inspect URL --session {saved.header.id}",
        )
    found = parse_target(target)
    connection = authenticated(connection, found)
    now = datetime.now().astimezone()
    if connection.is_saved:
        recording = record_again(saved, now=now, clock=perf_counter, warn=warn)
        if path.parent == (folder := sessions_folder()):
            quota = read_quota(config_folder(), warn)
            tidy = partial(make_room, folder, warn, most_bytes=quota, stays=path)
            recording = replace(recording, make_room=tidy)
    else:
        saved.memory.warn = warn
        recording = Recording(replayed(saved, now=now, clock=perf_counter), saved.header.started)
    return _recorded(found, connection, recording, saved.damage or REOPENED)


def _recorded(
    target: Target, connection: Connection, recording: Recording, remark: str = ""
) -> RecordedSession:
    session = Session(
        target,
        HttpTransport(connection),
        recording.log,
        new_id=lambda: str(uuid4()),
        connection=connection,
    )
    return RecordedSession(target.name, session, recording, connection, remark)
