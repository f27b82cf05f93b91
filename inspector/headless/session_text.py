"""Saved sessions as JSON and as text: in a list, turn by turn, side by side."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from inspector.core.saved.recording import SavedSession
from inspector.core.saved.session_store import Skimmed
from inspector.headless.output import BOLD, CYAN, DIM, RED, YELLOW, Ink
from inspector.headless.prose import tell_data, tell_said, value_text
from inspector.views import log_views
from inspector.views.chat import Said
from inspector.views.data import SlotChange
from inspector.views.log_views import Views
from inspector.views.outcomes import ComparedTurns, Outcome, turns_of
from inspector.views.text import plain, plain_line
from inspector.wire.tree import Json

TITLE_WIDTH = 40
COLUMN_WIDTH = 44


def describe_session(session: Skimmed) -> dict[str, Json]:
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


def tell_line(ink: Ink, session: Skimmed) -> str:
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


def describe_turn(turn: Outcome) -> dict[str, Json]:
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


def describe_pair(pair: ComparedTurns) -> dict[str, Json]:
    return {
        "old": describe_turn(pair.old) if pair.old else None,
        "new": describe_turn(pair.new) if pair.new else None,
        "changes": [{"what": one.what, "old": one.old, "new": one.new} for one in pair.changes],
    }


def tell_compared(ink: Ink, old: str, new: str, compared: Sequence[ComparedTurns]) -> Iterator[str]:
    """The turns of two sessions side by side, and below each what is other."""
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


def called(saved: SavedSession) -> str:
    return saved.name or saved.header.id


def tell_session(ink: Ink, saved: SavedSession) -> Iterator[str]:
    """The conversation as it went, with wall-clock times."""
    header, views = saved.header, _fold(saved)
    name = f"  {ink(plain_line(saved.name), BOLD)}" if saved.name else ""
    yield f"{header.id}{name}  {plain_line(header.target)}  {header.started:%Y-%m-%d %H:%M:%S}"
    last_of = {said.exchange: said.seq for said in views.chat.said}
    turns = {turn.exchange: turn for turn in views.data.turns}
    for said in views.chat.said:
        when = header.started + timedelta(milliseconds=said.at_ms)
        yield ""
        yield from _tell_words(ink, said, f"{when:%H:%M:%S}")
        turn = turns.get(said.exchange)
        if turn is not None and last_of[said.exchange] == said.seq:
            changed = [row for row in turn.slots if row.change is not SlotChange.SAME]
            yield from tell_data(ink, turn, changed)
    if not views.chat.said:
        yield "nothing was said"


def _fold(saved: SavedSession) -> Views:
    views = log_views.EMPTY
    for entry in saved.whole:
        views = log_views.step(views, entry)
    return views


def _tell_words(ink: Ink, said: Said, when: str) -> Iterator[str]:
    if said.speaker != "you":
        yield ink(when, DIM)
        yield from tell_said(ink, said)
        yield from (f"  {ink(line, RED)}" for line in plain(said.problem).splitlines())
        return
    yield f"{ink(when, DIM)} {ink('you', CYAN)}"
    yield from (f"  {line}" for line in plain(said.text).splitlines())
    if said.slots:
        slots = "  ".join(f"{plain_line(k)}={value_text(v)}" for k, v in said.slots.items())
        yield ink(f"  {slots}  as {', '.join(said.slot_shapes)}", DIM)
