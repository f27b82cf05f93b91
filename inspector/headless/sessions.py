"""`a2a-inspect sessions`: list, show, name, export, compare, delete and prune what was saved."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from inspector.core.saved.recording import SavedSession, read_session
from inspector.core.saved.session_store import (
    SessionSummary,
    delete_free,
    delete_session,
    find_session,
    id_of,
    name_session,
    prunable,
    session_paths,
    summarize,
)
from inspector.errors import EXIT_OK, EXIT_UNEXPECTED, UsageError
from inspector.folders import sessions_folder
from inspector.headless.options import SessionsOptions
from inspector.headless.output import data_lines, said_lines, value_text
from inspector.headless.terminal import (
    BOLD,
    CYAN,
    DIM,
    RED,
    YELLOW,
    Ink,
    ask,
    can_ask,
    ink_for,
    print_aside,
    print_bytes,
    print_json,
    print_lines,
    print_notice,
    print_text,
)
from inspector.views.chat import ChatMessage
from inspector.views.data import SlotChange
from inspector.views.log_views import fold
from inspector.views.outcomes import Outcome, TurnPair, compare_sessions, turns_of
from inspector.views.session_exports import export
from inspector.views.text import plain, plain_line
from inspector.wire.json_values import Json


def run(options: SessionsOptions) -> int:
    return _ACTIONS[options.action](options)


def _list(options: SessionsOptions) -> int:
    summaries = _summaries()
    if options.json:
        for one in summaries:
            print_json(_session_json(one))
        return EXIT_OK
    ink = ink_for(sys.stdout)
    for one in summaries:
        print_text(_session_line(ink, one))
    if not summaries:
        print_notice(f"no session is saved in {sessions_folder()}")
    return EXIT_OK


def _summaries() -> list[SessionSummary]:
    """Every session that can be read, newest first; the others are reported on stderr."""
    summaries: list[SessionSummary] = []
    for path in session_paths(sessions_folder()):
        try:
            summaries.append(summarize(path))
        except UsageError as error:
            print_notice(error.text)
    return summaries


def _show(options: SessionsOptions) -> int:
    saved = _read(options.session)
    if options.json:
        turns: list[Json] = [_turn_json(turn) for turn in turns_of(saved.whole)]
        print_json({**_session_json(summarize(saved.path)), "turns": turns, "damage": saved.damage})
        return EXIT_OK
    print_lines(_session_lines(ink_for(sys.stdout), saved))
    return EXIT_OK


def _name(options: SessionsOptions) -> int:
    path = find_session(sessions_folder(), options.session)
    name_session(path, options.name)
    if options.json:
        print_json(_session_json(summarize(path)))
    return EXIT_OK


def _export(options: SessionsOptions) -> int:
    saved = _read(options.session)
    content = export(saved, options.format, version("a2a-inspect"))
    if options.output is None:
        print_bytes(content)
        return EXIT_OK
    try:
        options.output.write_bytes(content)
    except OSError as error:
        raise UsageError(f"--output {options.output}: {error.strerror}") from error
    if options.json:
        print_json({"path": str(options.output), "size_bytes": len(content)})
    return EXIT_OK


def _compare(options: SessionsOptions) -> int:
    """Exit 1 where the sessions differ, as diff does."""
    old, new = _read(options.session), _read(options.other)
    compared = compare_sessions(turns_of(old.whole), turns_of(new.whole))
    is_same = not any(pair.changes for pair in compared)
    if options.json:
        print_json({"same": is_same, "turns": [_pair_json(pair) for pair in compared]})
    else:
        ink = ink_for(sys.stdout)
        print_text(*_compared_lines(ink, _called(old), _called(new), compared))
    return EXIT_OK if is_same else EXIT_UNEXPECTED


def _delete(options: SessionsOptions) -> int:
    folder = sessions_folder()
    paths = [find_session(folder, word) for word in options.sessions]
    for path in dict.fromkeys(paths):
        delete_session(path)
    _print_deleted(list(dict.fromkeys(paths)), options)
    return EXIT_OK


def _prune(options: SessionsOptions) -> int:
    if options.keep is None and options.older_than is None:
        raise UsageError("prune needs a limit", "--keep N, --older-than DAYS, or both")
    before = None
    if options.older_than is not None:
        before = datetime.now().astimezone() - timedelta(days=options.older_than)
    folder, keep, named_too = sessions_folder(), options.keep, options.named_too
    paths = prunable(folder, keep=keep, before=before, named_too=named_too)
    if paths and not options.yes and not _is_agreed(paths):
        print_notice("nothing was deleted")
        paths = []
    _print_deleted(delete_free(paths, named_too=named_too), options)
    return EXIT_OK


def _is_agreed(paths: Sequence[Path]) -> bool:
    """List the sessions and ask whether they may go.

    Raises:
        UsageError: there is no terminal to ask at.
    """
    count = f"{len(paths)} session" + ("" if len(paths) == 1 else "s")
    if not can_ask():
        raise UsageError(f"{count} would be deleted", "--yes deletes without asking")
    print_aside(*(_line_to_delete(path) for path in paths))
    return ask(f"Delete {count}? [y/N] ") in ("y", "yes")


def _line_to_delete(path: Path) -> str:
    try:
        return _session_line(ink_for(sys.stderr), summarize(path))
    except UsageError as error:
        return error.text


def _print_deleted(paths: list[Path], options: SessionsOptions) -> None:
    if options.json:
        print_json({"deleted": [id_of(path) for path in paths]})
    else:
        print_text(*(f"deleted {id_of(path)}" for path in paths))


def _read(word: str) -> SavedSession:
    saved = read_session(find_session(sessions_folder(), word))
    if saved.damage:
        print_notice(saved.damage)
    return saved


_ACTIONS: Mapping[str, Callable[[SessionsOptions], int]] = {
    "list": _list,
    "show": _show,
    "name": _name,
    "export": _export,
    "compare": _compare,
    "delete": _delete,
    "prune": _prune,
}


TITLE_WIDTH = 40
COLUMN_WIDTH = 44


def _session_json(session: SessionSummary) -> dict[str, Json]:
    turns = turns_of(session.entries)
    return {
        "id": session.header.id,
        "name": session.name,
        "target": session.header.target,
        "started": session.header.started.isoformat(timespec="milliseconds"),
        "product": session.header.product,
        "turns": len(turns),
        "states": [turn.state for turn in turns],
        "first": turns[0].title if turns else "",
        "size_bytes": session.size_bytes,
        "path": str(session.path),
    }


def _session_line(ink: Ink, session: SessionSummary) -> str:
    turns = turns_of(session.entries)
    name = ink(plain_line(session.name), BOLD) + "  " if session.name else ""
    title = plain_line(turns[0].title, TITLE_WIDTH) if turns else "no turn"
    last = ink.state(plain_line(turns[-1].state)) if turns and turns[-1].state else ""
    when = session.header.started.astimezone().strftime("%Y-%m-%d %H:%M")
    count = f"{len(turns)} turn" + ("" if len(turns) == 1 else "s")
    where = plain_line(session.header.target)
    return "  ".join(
        [session.header.id, ink(when, DIM), where, name + title, ink(count, DIM), last]
    ).rstrip()


def _turn_json(turn: Outcome) -> dict[str, Json]:
    return {
        "text": turn.title,
        "contextId": turn.context_id,
        "taskId": turn.task_id,
        "messageId": turn.message_id,
        "states": list(turn.states),
        "state": turn.state,
        "said": turn.said,
        "slots": dict(turn.slots),
        "active_flow": turn.active_flow,
        "problem": turn.problem,
    }


def _pair_json(pair: TurnPair) -> dict[str, Json]:
    return {
        "old": _turn_json(pair.old) if pair.old else None,
        "new": _turn_json(pair.new) if pair.new else None,
        "changes": [{"what": one.what, "old": one.old, "new": one.new} for one in pair.changes],
    }


def _compared_lines(ink: Ink, old: str, new: str, compared: Sequence[TurnPair]) -> Iterator[str]:
    """The turns of two sessions side by side, and below each what changed."""
    yield ink(_columns("", old, new), BOLD)
    for pair in compared:
        yield _columns("~" if pair.changes else "=", _in_short(pair.old), _in_short(pair.new))
        for one in pair.changes:
            before, after = ink(plain_line(one.old), RED), ink(plain_line(one.new), YELLOW)
            yield f"    {one.what}: {before} → {after}"


def _columns(sign: str, left: str, right: str) -> str:
    left = plain_line(left, COLUMN_WIDTH)
    return f"{sign:<2}{left:<{COLUMN_WIDTH}}  {plain_line(right, COLUMN_WIDTH)}".rstrip()


def _in_short(turn: Outcome | None) -> str:
    if turn is None:
        return "\N{EN DASH}"
    return f"{turn.title}: {turn.state or turn.problem or 'no answer'}"


def _called(saved: SavedSession) -> str:
    return saved.name or saved.header.id


def _session_lines(ink: Ink, saved: SavedSession) -> Iterator[str]:
    """The conversation as it went, with wall-clock times."""
    header, views = saved.header, fold(saved.whole)
    name = f"  {ink(plain_line(saved.name), BOLD)}" if saved.name else ""
    yield f"{header.id}{name}  {plain_line(header.target)}  {header.started:%Y-%m-%d %H:%M:%S}"
    last_of = {said.exchange: said.seq for said in views.chat.said}
    turns = {turn.exchange: turn for turn in views.data.turns}
    for said in views.chat.said:
        when = header.started + timedelta(milliseconds=said.at_ms)
        yield ""
        if said.is_apart:
            name = said.context_id
            words = "new context" if name is None else f"context {plain_line(name)}"
            yield from (ink(f"── {words} ──", DIM), "")
        yield from _word_lines(ink, said, f"{when:%H:%M:%S}")
        turn = turns.get(said.exchange)
        if turn is not None and last_of[said.exchange] == said.seq:
            changed = [row for row in turn.slots if row.change is not SlotChange.SAME]
            yield from data_lines(ink, turn, changed)
    if not views.chat.said:
        yield "nothing was said"


def _word_lines(ink: Ink, said: ChatMessage, when: str) -> Iterator[str]:
    if said.speaker != "you":
        yield ink(when, DIM)
        yield from said_lines(ink, said)
        problem = said.problem.text if said.problem is not None else ""
        yield from (f"  {ink(line, RED)}" for line in plain(problem).splitlines())
        return
    yield f"{ink(when, DIM)} {ink('you', CYAN)}"
    yield from (f"  {line}" for line in plain(said.text).splitlines())
    if said.slots:
        slots = "  ".join(f"{plain_line(k)}={value_text(v)}" for k, v in said.slots.items())
        yield ink(f"  {slots}  as {', '.join(said.slot_shapes)}", DIM)
