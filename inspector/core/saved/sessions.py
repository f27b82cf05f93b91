"""The folder of saved sessions: how one is begun, found again, named, thrown away."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from inspector.core.log import Log
from inspector.core.saved.session_files import (
    SavedSession,
    SessionHeader,
    encode_name,
)
from inspector.core.saved.session_writer import SessionWriter, append_writer, lock, new_writer
from inspector.core.secrets.redact import Redactor
from inspector.errors import UsageError
from inspector.folders import sessions_folder
from inspector.wire.tree import parse_json, text_at

SUFFIX = ".jsonl"
LAST = "last"
LONGEST_NAME = 80
MOST_SESSIONS = 500
MOST_BYTES = 1024**3
_NAME_LINE = b'\n{"name": '


@dataclass(frozen=True, slots=True)
class Recording:
    """A log and its file, if it has one. `started` is the wall clock at the log's zero."""

    log: Log
    started: datetime
    writer: SessionWriter | None = None
    path: Path | None = None

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def record(
    target: str, *, is_saved: bool, clock: Callable[[], float], tell: Callable[[str], None]
) -> Recording:
    """Begin a session now; one that is saved goes to the user's folder of sessions.

    `tell` is called at most once: with the reason why the session is not saved after all.
    """
    now = datetime.now().astimezone()
    if not is_saved:
        return Recording(Log(clock), now)
    id = token_hex(4)
    return record_new(sessions_folder(), target, id=id, now=now, clock=clock, tell=tell)


def record_new(
    folder: Path,
    target: str,
    *,
    id: str,
    now: datetime,
    clock: Callable[[], float],
    tell: Callable[[str], None],
) -> Recording:
    """Begin a session on `target` that saves itself below `folder`; old ones make room for it."""
    prune(folder, keep=MOST_SESSIONS - 1, most_bytes=MOST_BYTES)
    header = SessionHeader(id, Redactor().url(target), now, _product())
    path = folder / file_name(header)
    writer = new_writer(path, header, tell)
    log = Log(clock)
    log.subscribe(writer.take)
    return Recording(log, now, writer, path)


def record_again(
    saved: SavedSession,
    *,
    now: datetime,
    clock: Callable[[], float],
    tell: Callable[[str], None],
) -> Recording:
    """Go on with `saved`: its log holds what was recorded, and its file takes what comes.

    Raises:
        UsageError: the session is open in another a2a-inspect.
    """
    writer = append_writer(saved, tell)
    log = replayed(saved, now=now, clock=clock)
    log.subscribe(writer.take)
    return Recording(log, saved.header.started, writer, saved.path)


def replayed(saved: SavedSession, *, now: datetime, clock: Callable[[], float]) -> Log:
    """The log of `saved`, whose times go on as the wall clock did; never backwards."""
    entries = saved.whole
    passed = (now - saved.header.started).total_seconds()
    last = entries[-1].at_ms / 1000 if entries else 0.0
    return Log(clock, entries, max(passed, last))


def file_name(header: SessionHeader) -> str:
    """The name of a session's file: names sort as the sessions began."""
    return f"{_stamp(header.started)}-{header.id}{SUFFIX}"


def _stamp(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment:%Y%m%dT%H%M%S}{moment.microsecond // 1000:03}Z"


def session_paths(folder: Path) -> list[Path]:
    """Every session of `folder`, the newest first."""
    return sorted(folder.glob(f"*-*{SUFFIX}"), reverse=True)


def find_session(folder: Path, word: str) -> Path:
    """Return the session that `word` means: a file, `last`, a name, or the beginning of an id.

    Raises:
        UsageError: none is meant, or more than one.
    """
    if word.endswith(SUFFIX):
        return _existing(Path(word))
    paths = session_paths(folder)
    if not word:
        raise UsageError("the session is named by ''", "is a variable unset? last is the newest")
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
    if os.sep in word or Path(word).is_file():
        return _existing(Path(word))
    raise UsageError(f"no session is called {word!r}", "a2a-inspect sessions list shows all")


def _existing(path: Path) -> Path:
    if path.is_file():
        return path
    found = "this is a folder" if path.is_dir() else "there is no such file"
    raise UsageError(f"{path}: {found}", "name a session's file, its id or its name")


def id_of(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def read_name(path: Path) -> str:
    """The name given last; "" for a session without one, or that cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return ""
    start = content.rfind(_NAME_LINE) + 1
    if not start:
        return ""
    line = content[start : content.find(b"\n", start)]
    return text_at(parse_json(line).value, "name") or ""


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
        # a torn end would swallow the line; the line end makes of it a line of its own, left out
        line_end = "" if path.read_bytes().endswith(b"\n") else "\n"
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


def prune(
    folder: Path,
    *,
    keep: int | None = None,
    before: datetime | None = None,
    most_bytes: int | None = None,
    named_too: bool = False,
) -> list[Path]:
    """Delete the sessions beyond the `keep` newest, those begun `before`, and return them.

    Of what is left the oldest go until it is no more than `most_bytes`. A session with a name goes
    only with `named_too`; one that is being recorded stays.
    """
    paths = session_paths(folder)
    doomed = set(paths[keep:]) if keep is not None else set[Path]()
    if before is not None:
        doomed |= {path for path in paths if path.name < _stamp(before)}
    if most_bytes is not None:
        doomed |= set(_beyond(paths, most_bytes))
    return [path for path in paths if path in doomed and _may_go(path, named_too)]


def _beyond(paths: Iterable[Path], most_bytes: int) -> Iterator[Path]:
    """Those after which the newer ones already fill `most_bytes`."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
        if total > most_bytes:
            yield path


def _may_go(path: Path, named_too: bool) -> bool:
    """Delete `path` if it may be; False where it stays."""
    try:
        if (read_name(path) and not named_too) or is_open(path):
            return False
        path.unlink()
    except OSError:
        # another process was faster, or the folder is not ours to change
        return False
    return True


def _product() -> str:
    from importlib.metadata import version

    return version("a2a-inspect")
