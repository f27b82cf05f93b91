"""The folder of saved sessions: recording, finding, naming, summarizing and deleting them."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

from inspector.core.bodies import Body, BodyMemory, Place, ReadBody
from inspector.core.entries import (
    ASIDE,
    Entry,
    Failed,
    Log,
    PushReceived,
    RequestSent,
    ResponseEnded,
    WithBody,
)
from inspector.core.redaction import Redactor
from inspector.core.saved.quota import DEFAULT_MB, MEGABYTE
from inspector.core.saved.recording import (
    BadRecording,
    SavedSession,
    SessionHeader,
    cut_off,
    decode_entry,
    encode_entry,
    encode_header,
    encode_name,
    read_body,
    read_header,
)
from inspector.errors import UsageError
from inspector.wire.json_values import parse_json, text_at

SUFFIX = ".jsonl"
LAST = "last"
LONGEST_NAME = 80
MOST_SESSIONS = 500
# What a line about deleted sessions names
MOST_NAMED = 3
MOST_CONTINUED_BYTES = 16 * 1024**2
FLUSH_SECONDS = 0.1
MOST_WAITING_BYTES = 1024**2
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_NAME_LINE = b'{"name": '


class SessionWriter:
    """Takes entries and writes whole lines: at the end of each exchange, and soon otherwise.

    Without a `file` one is opened when the conversation begins: a card alone is none. Where the
    disk refuses, `problem` says why, `warn` is called with it once, nothing more is written, and
    `remove` is called if the file has nothing yet. Bodies learn their places, which `read_body`
    reads.
    """

    def __init__(
        self,
        open_file: Callable[[], int],
        first_lines: Iterable[str],
        warn: Callable[[str], None],
        file: int | None = None,
        *,
        read_body: ReadBody | None = None,
        remove: Callable[[], None] = lambda: None,
    ) -> None:
        self.problem = ""
        self._open_file = open_file
        self._warn = warn
        self._read_body = read_body
        self._remove = remove
        self._lines = [f"{line}\n".encode() for line in first_lines]
        self._waiting_bytes = 0
        self._bodies: list[tuple[int, Body]] = []
        self._file = file
        self._timer: asyncio.TimerHandle | None = None
        self._has_begun = self._has_content = file is not None
        self._is_closed = False

    def take(self, entry: Entry) -> None:
        """Subscribe this to a log. Call it where an event loop runs."""
        if self.problem or self._is_closed:
            return
        if isinstance(entry, WithBody) and isinstance(entry.content, Body):
            self._bodies.append((len(self._lines), entry.content))
        self._lines.append(f"{encode_entry(entry)}\n".encode())
        self._waiting_bytes += len(self._lines[-1])
        self._has_begun = self._has_begun or _is_of_conversation(entry)
        if not self._has_begun:
            return
        is_end = isinstance(entry, ResponseEnded | Failed | PushReceived)
        if is_end or self._waiting_bytes > MOST_WAITING_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Hand all lines to the system, which keeps them even if this process is killed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.problem or not self._lines or not self._has_begun:
            return
        lines = b"".join(self._lines)
        try:
            if self._file is None:
                self._file = self._open_file()
            while lines:
                lines = lines[os.write(self._file, lines) :]
        except OSError as error:
            self._give_up(error)
            return
        self._has_content = True
        self._place_bodies(self._file)
        self._forget_lines()

    def close(self) -> None:
        """Write what is left; a session in which nothing was said leaves no file."""
        if self._timer is not None:
            self.flush()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        # an exchange that ends only now has nowhere to go
        self._is_closed = True
        self._forget_lines()

    def _place_bodies(self, file: int) -> None:
        """Tell each body where its line is; a name given elsewhere may stand before the lines."""
        if self._read_body is None or not self._bodies:
            return
        bodies = dict(self._bodies)
        offset = os.lseek(file, 0, os.SEEK_CUR) - sum(map(len, self._lines))
        for number, line in enumerate(self._lines):
            if number in bodies:
                bodies[number].save(Place(self._read_body, offset, len(line)))
            offset += len(line)

    def _forget_lines(self) -> None:
        self._lines.clear()
        self._bodies.clear()
        self._waiting_bytes = 0

    def _give_up(self, error: OSError) -> None:
        where = f"{error.filename}: " if error.filename else ""
        self.problem = f"this session is not saved: {where}{error.strerror}"
        self._forget_lines()
        if self._file is not None and not self._has_content:
            os.close(self._file)
            self._file = None
            # a full disk still has the name of the file
            with suppress(OSError):
                self._remove()
        self._warn(self.problem)


def _is_of_conversation(entry: Entry) -> bool:
    if isinstance(entry, RequestSent):
        return entry.purpose not in ASIDE
    return isinstance(entry, PushReceived)


@dataclass(frozen=True, slots=True)
class Recording:
    """A log and its file, if it has one. `started` is the wall clock at the log's zero.

    `make_room` deletes old sessions where what this one has taken is too much.
    """

    log: Log
    started: datetime
    writer: SessionWriter | None = None
    path: Path | None = None
    make_room: Callable[[], None] = lambda: None

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def record(
    folder: Path,
    target: str,
    *,
    id: str,
    now: datetime,
    clock: Callable[[], float],
    warn: Callable[[str], None],
    most_bytes: int | None = DEFAULT_MB * MEGABYTE,
) -> Recording:
    """Begin a session on `target` that saves itself below `folder`.

    Its file and folder are made when the conversation begins. Old sessions make room for it: all
    together take `most_bytes`, None for any number. `warn` is called with what was deleted, and
    once with the reason why the session is not saved after all.
    """
    make_room(folder, warn, MOST_SESSIONS - 1, most_bytes)
    header = SessionHeader(id, Redactor().url(target), now, _product())
    path = folder / file_name(header)
    writer = SessionWriter(
        partial(_create, path),
        (encode_header(header),),
        warn,
        read_body=partial(read_body, path),
        remove=partial(path.unlink, missing_ok=True),
    )
    log = Log(clock, memory=BodyMemory(flush=writer.flush, warn=warn))
    log.subscribe(writer.take)
    tidy = partial(make_room, folder, warn, MOST_SESSIONS, most_bytes, path)
    return Recording(log, now, writer, path, tidy)


def record_again(
    saved: SavedSession, *, now: datetime, clock: Callable[[], float], warn: Callable[[str], None]
) -> Recording:
    """Go on with `saved`: its log has what was recorded, and its file gets what follows.

    Raises:
        UsageError: the session is open in another a2a-inspect.
    """
    writer = append_writer(saved, warn)
    log = replayed(saved, now=now, clock=clock)
    log.memory.flush, log.memory.warn = writer.flush, warn
    log.subscribe(writer.take)
    return Recording(log, saved.header.started, writer, saved.path)


def replayed(saved: SavedSession, *, now: datetime, clock: Callable[[], float]) -> Log:
    """The log of `saved`, whose times go on as the wall clock did; never backwards."""
    entries = saved.whole
    passed = (now - saved.header.started).total_seconds()
    last = entries[-1].at_ms / 1000 if entries else 0.0
    return Log(clock, entries, max(passed, last), memory=saved.memory)


def file_name(header: SessionHeader) -> str:
    """The name of a session's file: names sort as the sessions began."""
    return f"{_stamp(header.started)}-{header.id}{SUFFIX}"


def _stamp(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment:%Y%m%dT%H%M%S}{moment.microsecond // 1000:03}Z"


def session_paths(folder: Path) -> list[Path]:
    """Every session of `folder`, the newest first; anything but a file, as a FIFO, is left out."""
    found = (path for path in folder.glob(f"*-*{SUFFIX}") if os.path.isfile(path))
    return sorted(found, reverse=True)


def find_session(folder: Path, word: str) -> Path:
    """Return the session that `word` means: a file, `last`, a name, or the beginning of an id.

    Raises:
        UsageError: none is meant, or more than one.
    """
    if word.endswith(SUFFIX):
        return _existing(Path(word))
    paths = session_paths(folder)
    if not word:
        raise UsageError("the session's name is empty", "is a variable unset? last is the newest")
    if word == LAST:
        if not paths:
            raise UsageError(f"no session is saved in {folder}", "a2a-inspect send makes one")
        return paths[0]
    found = [path for path in paths if read_name(path) == word]
    found = found or [path for path in paths if id_of(path).startswith(word)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(id_of(path) for path in found[:5])
        raise UsageError(f"{word!r} could be any of {len(found)} sessions", f"one of {ids}")
    if os.sep in word or os.path.isfile(word):
        return _existing(Path(word))
    raise UsageError(f"no session is named {word!r}", "a2a-inspect sessions list shows all")


def find_conversation(folder: Path, target: str, context_id: str) -> Path | None:
    """Return the newest session with `target` in which the context was spoken of.

    One of more than MOST_CONTINUED_BYTES is passed over: to go on with it, all of it is read.
    """
    # a body stands in a line as text, its quotes escaped once more
    value = re.escape(json.dumps(json.dumps(context_id))[1:-1]).encode()
    names_context = re.compile(rb'\\"contextId\\":\s*' + value)
    shown_target = Redactor().url(target)
    for path in session_paths(folder):
        with suppress(OSError, UsageError):
            if path.stat().st_size > MOST_CONTINUED_BYTES:
                continue
            if read_header(path).target == shown_target and names_context.search(path.read_bytes()):
                return path
    return None


def _existing(path: Path) -> Path:
    if os.path.isfile(path):
        return path
    if os.path.isdir(path):
        found = "it is a folder"
    else:
        found = "it is not a file" if os.path.exists(path) else "no such file"
    raise UsageError(f"{path}: {found}", "name a session's file, its id or its name")


def id_of(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def read_name(path: Path) -> str:
    """The name given last; "" for a session without one, or that cannot be read."""
    found = b""
    try:
        with path.open("rb") as lines:
            for line in lines:
                found = line if line.startswith(_NAME_LINE) else found
    except OSError:
        return ""
    return text_at(parse_json(found).value, "name") or ""


def name_session(path: Path, name: str) -> None:
    """Give the session a name, or take it away with "".

    Raises:
        UsageError: a name that could be taken for something else, or a file that refuses it.
    """
    if name == LAST or not name.isprintable() or len(name) > LONGEST_NAME:
        raise UsageError(
            f"{name[:LONGEST_NAME]!r} cannot be a session's name",
            f"up to {LONGEST_NAME} printable characters, and not {LAST!r}",
        )
    try:
        with path.open("rb+") as file:
            size_bytes = file.seek(0, os.SEEK_END)
            file.seek(max(0, size_bytes - 1))
            # a torn end would swallow the line; the line end makes it a line of its own, left out
            line_end = "" if file.read() == b"\n" else "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line_end}{encode_name(name)}\n")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def delete_session(path: Path) -> None:
    """Delete the session's file.

    Raises:
        UsageError: it is open in an a2a-inspect, or the system refuses.
    """
    try:
        if is_open(path):
            raise UsageError(f"session {id_of(path)} is open in an a2a-inspect", "close it first")
        path.unlink()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def is_open(path: Path) -> bool:
    """Say whether a process records this session now."""
    file = os.open(path, os.O_RDONLY)
    try:
        return not lock(file)
    finally:
        os.close(file)


def make_room(
    folder: Path,
    warn: Callable[[str], None],
    most: int = MOST_SESSIONS,
    most_bytes: int | None = None,
    stays: Path | None = None,
) -> None:
    """Delete the oldest sessions beyond `most`, and beyond `most_bytes`; `warn` says which.

    The newest stays, as those do that are open or have a name.
    """
    sizes: dict[Path, int] = {}
    for path in _selected(folder, most, None, most_bytes):
        if path != stays:
            with suppress(FileNotFoundError):
                sizes[path] = path.stat().st_size
    deleted = delete_free(sizes)
    if not deleted:
        return
    size_mb = sum(sizes[path] for path in deleted) / MEGABYTE
    ids = ", ".join(id_of(path) for path in deleted[:MOST_NAMED])
    shown = f"{ids}, …" if len(deleted) > MOST_NAMED else ids
    count = f"{len(deleted)} old session" + ("" if len(deleted) == 1 else "s")
    room = "" if most_bytes is None else f" and {most_bytes // MEGABYTE} MB"
    warn(f"deleted {count} of {size_mb:.1f} MB ({shown}): at most {most} sessions{room} are kept")


def prune(
    folder: Path,
    *,
    keep: int | None = None,
    before: datetime | None = None,
    most_bytes: int | None = None,
    named_too: bool = False,
) -> list[Path]:
    """Delete the sessions that `prunable` returns for the same limits, and return them."""
    return delete_free(_selected(folder, keep, before, most_bytes), named_too=named_too)


def delete_free(paths: Iterable[Path], *, named_too: bool = False) -> list[Path]:
    """Delete those of `paths` that may go as `prunable` says, and return them."""
    return [path for path in paths if _delete_if_free(path, named_too)]


def prunable(
    folder: Path,
    *,
    keep: int | None = None,
    before: datetime | None = None,
    most_bytes: int | None = None,
    named_too: bool = False,
) -> list[Path]:
    """Return the sessions beyond the `keep` newest, and those begun `before`.

    Of what is left the oldest go until it is no more than `most_bytes`. A session with a name goes
    only with `named_too`; one that is being recorded stays.
    """
    found = _selected(folder, keep, before, most_bytes)
    return [path for path in found if _may_go(path, named_too)]


def _selected(
    folder: Path, keep: int | None, before: datetime | None, most_bytes: int | None
) -> list[Path]:
    paths = session_paths(folder)
    selected = set(paths[keep:]) if keep is not None else set[Path]()
    if before is not None:
        selected |= {path for path in paths if path.name < _stamp(before)}
    if most_bytes is not None:
        selected |= set(_beyond(paths, most_bytes))
    return [path for path in paths if path in selected]


def _beyond(paths: Iterable[Path], most_bytes: int) -> Iterator[Path]:
    """Those that, with the newer ones, take more than `most_bytes`; never the newest."""
    total = 0
    for number, path in enumerate(paths):
        with suppress(FileNotFoundError):
            total += path.stat().st_size
        if total > most_bytes and number:
            yield path


def _may_go(path: Path, named_too: bool) -> bool:
    try:
        return not (read_name(path) and not named_too) and not is_open(path)
    except OSError:
        # another process was faster
        return False


def _delete_if_free(path: Path, named_too: bool) -> bool:
    """Delete `path` if it may be; False where it stays."""
    if not _may_go(path, named_too):
        return False
    try:
        path.unlink()
    except OSError:
        # another process was faster, or the folder is not ours to change
        return False
    return True


def _product() -> str:
    from importlib.metadata import version

    return version("a2a-inspect")


def append_writer(saved: SavedSession, warn: Callable[[str], None]) -> SessionWriter:
    """A writer that goes on with `saved`; the torn end of the file is cut off first.

    Raises:
        UsageError: the session is open in another a2a-inspect.
    """
    endings = [encode_entry(ending) for ending in cut_off(saved.entries)]
    open_file = partial(os.open, saved.path, os.O_WRONLY | os.O_APPEND)
    again = partial(read_body, saved.path)
    try:
        file = open_file()
    except OSError:
        # it can be looked at all the same; the first entry reports that it cannot be written
        return SessionWriter(open_file, endings, warn, read_body=again)
    if not lock(file):
        os.close(file)
        raise UsageError(
            f"session {saved.header.id} is open in another a2a-inspect",
            "close it there, or read it by: a2a-inspect sessions show",
        )
    if saved.torn_bytes:
        os.ftruncate(file, os.fstat(file).st_size - saved.torn_bytes)
    return SessionWriter(open_file, endings, warn, file, read_body=again)


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


def replace_file(path: Path, content: bytes) -> None:
    """Write a private file whole or not at all: another process may read it now."""
    make_private_folder(path.parent)
    # created 0600, as every temporary file is
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def _create(path: Path) -> int:
    make_private_folder(path.parent)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    lock(file)
    return file


# As `recording.encode_entry` writes the beginning of a line.
_LINE = re.compile(rb'\{"entry": "(\w+)", "seq": \d+, "at_ms": [^,]+, "exchange": (\d+)')


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session's requests, how each ended, and of each only the last frame."""

    path: Path
    header: SessionHeader
    name: str
    entries: tuple[Entry, ...]
    size_bytes: int


def summarize(path: Path) -> SessionSummary:
    """Read a session for a list; lines that cannot be read are left out.

    Raises:
        UsageError: the file cannot be read, or is not a session.
    """
    header = read_header(path)
    try:
        return _summarize(path, header)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _summarize(path: Path, header: SessionHeader) -> SessionSummary:
    kept: dict[tuple[bytes, bytes] | int, bytes] = {}
    size_bytes = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            size_bytes += len(line)
            found = _LINE.match(line)
            if found is None or found[1] == b"ResponseStarted":
                continue
            key = (found[1], found[2]) if found[1] == b"FrameReceived" else number
            # the place of a frame is that of the newest
            kept.pop(key, None)
            kept[key] = line
    entries = tuple(entry for line in kept.values() if (entry := _decode(line)) is not None)
    return SessionSummary(path, header, read_name(path), entries, size_bytes)


def _decode(line: bytes) -> Entry | None:
    try:
        return decode_entry(parse_json(line).value, 0)
    except BadRecording:
        return None
