"""`a2a-inspect sessions`: list, show, name, export, compare, delete and prune what was saved."""

import argparse
import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from inspector.core.saved.recording import SavedSession, read_session
from inspector.core.saved.session_store import (
    Skimmed,
    delete_session,
    find_session,
    id_of,
    name_session,
    prune,
    session_paths,
    skim,
)
from inspector.errors import UsageError
from inspector.folders import sessions_folder
from inspector.headless.output import ink_for
from inspector.headless.printing import (
    print_bytes,
    print_json,
    print_notice,
    print_text,
)
from inspector.headless.session_text import (
    called,
    describe_pair,
    describe_session,
    describe_turn,
    tell_compared,
    tell_line,
    tell_session,
)
from inspector.views.outcomes import compare_sessions, turns_of
from inspector.views.session_exports import export
from inspector.wire.tree import Json

EXIT_OK = 0
EXIT_DIFFERENT = 1


def run(arguments: argparse.Namespace) -> int:
    return _ACTIONS[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    skimmed = _skim_all()
    if arguments.json:
        for one in skimmed:
            print_json(describe_session(one))
        return EXIT_OK
    ink = ink_for(sys.stdout)
    for one in skimmed:
        print_text(tell_line(ink, one))
    if not skimmed:
        print_notice(f"no session is saved in {sessions_folder()}")
    return EXIT_OK


def _skim_all() -> list[Skimmed]:
    """Every session that can be read, newest first; what cannot is told on stderr."""
    skimmed: list[Skimmed] = []
    for path in session_paths(sessions_folder()):
        try:
            skimmed.append(skim(path))
        except UsageError as error:
            print_notice(error.text)
    return skimmed


def _show(arguments: argparse.Namespace) -> int:
    saved = _read(arguments.session)
    if arguments.json:
        turns: list[Json] = [describe_turn(turn) for turn in turns_of(saved.whole)]
        print_json({**describe_session(skim(saved.path)), "turns": turns, "damage": saved.damage})
        return EXIT_OK
    print_text(*tell_session(ink_for(sys.stdout), saved))
    return EXIT_OK


def _name(arguments: argparse.Namespace) -> int:
    path = find_session(sessions_folder(), arguments.session)
    name_session(path, arguments.name)
    if arguments.json:
        print_json(describe_session(skim(path)))
    return EXIT_OK


def _export(arguments: argparse.Namespace) -> int:
    saved = _read(arguments.session)
    content = export(saved, arguments.format, version("a2a-inspect"))
    if arguments.output is None:
        print_bytes(content)
        return EXIT_OK
    try:
        arguments.output.write_bytes(content)
    except OSError as error:
        raise UsageError(f"--output {arguments.output}: {error.strerror}") from error
    if arguments.json:
        print_json({"path": str(arguments.output), "size_bytes": len(content)})
    return EXIT_OK


def _compare(arguments: argparse.Namespace) -> int:
    """Exit 1 where the sessions differ, as diff does."""
    old, new = _read(arguments.session), _read(arguments.other)
    compared = compare_sessions(turns_of(old.whole), turns_of(new.whole))
    is_same = not any(pair.changes for pair in compared)
    if arguments.json:
        print_json({"same": is_same, "turns": [describe_pair(pair) for pair in compared]})
    else:
        ink = ink_for(sys.stdout)
        print_text(*tell_compared(ink, called(old), called(new), compared))
    return EXIT_OK if is_same else EXIT_DIFFERENT


def _delete(arguments: argparse.Namespace) -> int:
    folder = sessions_folder()
    paths = [find_session(folder, word) for word in arguments.sessions]
    for path in dict.fromkeys(paths):
        delete_session(path)
    _tell_deleted(list(dict.fromkeys(paths)), arguments)
    return EXIT_OK


def _prune(arguments: argparse.Namespace) -> int:
    if arguments.keep is None and arguments.older_than is None:
        raise UsageError("nothing says what may go", "--keep N, --older-than DAYS, or both")
    before = None
    if arguments.older_than is not None:
        before = datetime.now().astimezone() - timedelta(days=arguments.older_than)
    deleted = prune(
        sessions_folder(), keep=arguments.keep, before=before, named_too=arguments.named_too
    )
    _tell_deleted(deleted, arguments)
    return EXIT_OK


def _tell_deleted(paths: list[Path], arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json({"deleted": [id_of(path) for path in paths]})
    else:
        print_text(*(f"deleted {id_of(path)}" for path in paths))


def _read(word: str) -> SavedSession:
    saved = read_session(find_session(sessions_folder(), word))
    if saved.damage:
        print_notice(saved.damage)
    return saved


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "show": _show,
    "name": _name,
    "export": _export,
    "compare": _compare,
    "delete": _delete,
    "prune": _prune,
}
