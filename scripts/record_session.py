"""Records a conversation with an agent as JSON Lines on stdout; tests and screenshots draw it."""

import argparse
import asyncio
import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence

from inspector.core.commands import FetchCard, FollowMode, SendTurn, Turn
from inspector.core.entries import Entry, Log
from inspector.core.saved.recording import decode_entry, encode_entry
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.net.http import HttpTransport
from inspector.settings import Connection
from inspector.views import log_views
from inspector.wire.json_values import Json, parse_json


def decode_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a recording.

    Raises:
        BadRecording: at the first line that is none.
    """
    for number, line in enumerate(lines, 1):
        yield decode_entry(parse_json(line.encode()).value, number)


async def record(target: str, texts: Sequence[str], slots: Mapping[str, Json]) -> Log:
    """Hold the conversation, each turn streamed; `slots` go with the first."""
    log = Log(time.perf_counter)
    session = Session(
        parse_target(target),
        HttpTransport(Connection()),
        log,
        new_id=lambda: str(uuid.uuid4()),
    )
    await session.run(FetchCard())
    for number, text in enumerate(texts):
        turn = Turn(
            text=text,
            slots=slots if number == 0 else {},
            context_id=_context_of(log),
            follow=FollowMode.STREAM,
        )
        await session.run(SendTurn(turn))
    await session.aclose()
    return log


def _context_of(log: Log) -> str | None:
    views = log_views.EMPTY
    for entry in log.entries:
        views = log_views.step(views, entry)
    rows = views.timeline.rows
    return rows[-1].context_id if rows else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="the agent's URL")
    parser.add_argument("text", nargs="+", help="what to say, turn by turn")
    parser.add_argument("--slots", type=json.loads, default={}, help="slots of the first turn")
    arguments = parser.parse_args()
    log = asyncio.run(record(arguments.target, arguments.text, arguments.slots))
    for entry in log.entries:
        print(encode_entry(entry))


if __name__ == "__main__":
    main()
