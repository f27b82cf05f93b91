"""Appends a log to its file as it grows: nothing that was over is lost, and nobody waits for it."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from inspector.core.entries import Entry, Failed, PushReceived, ResponseEnded
from inspector.core.saved.recording import encode_entry
from inspector.core.saved.session_files import SavedSession, SessionHeader, cut_off, encode_header
from inspector.errors import UsageError

FLUSH_SECONDS = 0.1
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class SessionWriter:
    """Takes entries and writes whole lines: at the end of each exchange, and soon otherwise.

    Without a `file` one is opened with the first entry. Where the disk refuses, `problem` says
    why, `tell` is called with it once, and nothing more is written.
    """

    def __init__(
        self,
        open_file: Callable[[], int],
        first_lines: Iterable[str],
        tell: Callable[[str], None],
        file: int | None = None,
    ) -> None:
        self.problem = ""
        self._open_file = open_file
        self._tell = tell
        self._lines = list(first_lines)
        self._file = file
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def take(self, entry: Entry) -> None:
        """Subscribe this to a log. Call it where an event loop runs."""
        if self.problem or self._is_closed:
            return
        self._lines.append(encode_entry(entry))
        if isinstance(entry, ResponseEnded | Failed | PushReceived):
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Hand all lines to the system, which keeps them even if this process is killed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.problem or not self._lines:
            return
        lines = "".join(f"{line}\n" for line in self._lines).encode()
        self._lines.clear()
        try:
            if self._file is None:
                self._file = self._open_file()
            while lines:
                lines = lines[os.write(self._file, lines) :]
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Write what is left; a session to which nothing came leaves no line."""
        if self._timer is not None:
            self.flush()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        # an exchange that ends only now has nowhere to go
        self._is_closed = True
        self._lines.clear()

    def _give_up(self, error: OSError) -> None:
        where = f"{error.filename}: " if error.filename else ""
        self.problem = f"this session is not saved: {where}{error.strerror}"
        self._lines.clear()
        self._tell(self.problem)


def new_writer(path: Path, header: SessionHeader, tell: Callable[[str], None]) -> SessionWriter:
    """A writer for a session that begins; its file and folder are made with the first entry."""
    return SessionWriter(partial(_create, path), (encode_header(header),), tell)


def append_writer(saved: SavedSession, tell: Callable[[str], None]) -> SessionWriter:
    """A writer that goes on with `saved`; the torn end of the file is cut off first.

    Raises:
        UsageError: the session is open in another a2a-inspect.
    """
    endings = [encode_entry(ending) for ending in cut_off(saved.entries)]
    open_file = partial(os.open, saved.path, os.O_WRONLY | os.O_APPEND)
    try:
        file = open_file()
    except OSError:
        # it can be looked at all the same; the first entry tells that it cannot be written
        return SessionWriter(open_file, endings, tell)
    if not lock(file):
        os.close(file)
        raise UsageError(
            f"session {saved.header.id} is open in another a2a-inspect",
            "close it there, or read it by: a2a-inspect sessions show",
        )
    if saved.torn_bytes:
        os.ftruncate(file, os.fstat(file).st_size - saved.torn_bytes)
    return SessionWriter(open_file, endings, tell, file)


def lock(file: int) -> bool:
    """Take the file for this process until it is closed; False if another process has it."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def make_private_folder(folder: Path) -> None:
    folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    folder.chmod(PRIVATE_FOLDER)


def _create(path: Path) -> int:
    make_private_folder(path.parent)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    lock(file)
    return file
