"""What a long log costs: an entry more, memory, a filter, a frame and a page, beside a short one.

    python -m benchmarks.log [--few 1000] [--entries 100000] [--more 1000] [--rounds 5]

The log is made up: turns that are streamed with an artifact, polled and pushed, each in a context
of a few turns, with bodies of the size that Rasa's have. Costs are processor time, and both sizes
take turns, so that what else the machine does hits both. Nothing is asserted.
"""

import argparse
import asyncio
import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from itertools import count, islice
from statistics import median

from textual.pilot import Pilot

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.tui.app import InspectorApp
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.panels import Panels
from inspector.tui.workspace import Workspace
from inspector.views import log_views
from inspector.views.filtered import filter_exchanges, filter_timeline
from inspector.views.filters import Filter, parse_filter
from inspector.views.log_views import Views

FEW, MANY = 1_000, 100_000
ROUNDS = 5
APPENDED = 1_000
FRAMES_A_ROUND = 12
LISTS = ("timeline", "exchanges")
PAGES_A_ROUND = 5
TURNS_IN_CONTEXT = 8
MOST_BYTES_AN_ENTRY = 1_500
STATES = ("submitted", "working", "input-required", "completed")
FILTERS = ("state:input-required", "recipient", ".status.state=completed", "status:err !lane:push")
HEADERS = (("content-type", "application/json"), ("content-length", "812"), ("date", "today"))


class Writer:
    """Numbers and times entries as a session does."""

    def __init__(self) -> None:
        self._seq = count(1)
        self._exchange = count(1)

    def next(self) -> tuple[int, float]:
        seq = next(self._seq)
        return seq, seq * 7.5

    def exchange(self) -> int:
        return next(self._exchange)

    def call(self, number: int, purpose: Purpose, method: str, params: object) -> RequestSent:
        envelope = {"jsonrpc": "2.0", "id": f"r-{number}", "method": method, "params": params}
        body = json.dumps(envelope).encode()
        url = "http://127.0.0.1:5005/"
        return RequestSent(*self.next(), number, purpose, "POST", url, HEADERS, body)

    def start(self, number: int, media_type: str) -> ResponseStarted:
        headers = (("content-type", media_type), *HEADERS[1:])
        return ResponseStarted(*self.next(), number, 200, "HTTP/1.1", headers, 1.25)

    def frame(self, number: int, channel: Channel, result: object) -> FrameReceived:
        raw = json.dumps({"jsonrpc": "2.0", "id": f"r-{number}", "result": result}).encode()
        if channel is Channel.SSE:
            raw = b"data: " + raw + b"\r\n\r\n"
        return FrameReceived(*self.next(), number, channel, raw)

    def end(self, number: int) -> ResponseEnded:
        return ResponseEnded(*self.next(), number)

    def push(self, body: object) -> PushReceived:
        raw = json.dumps(body).encode()
        url = "http://127.0.0.1:9999/push"
        verdict = PushVerdict.ACCEPTED
        return PushReceived(*self.next(), self.exchange(), "POST", url, HEADERS, raw, verdict, 200)


def conversation() -> Iterator[Entry]:
    """Entries without end: 15 for each turn."""
    writer = Writer()
    for turn in count():
        yield from _turn(writer, turn)


def _turn(writer: Writer, turn: int) -> Iterator[Entry]:
    number, task, context = (
        writer.exchange(),
        f"task-{turn:08}",
        f"context-{turn // TURNS_IN_CONTEXT}",
    )
    ids = {"taskId": task, "contextId": context}
    parts = [{"kind": "text", "text": f"send {turn} to Joe"}]
    message = {"messageId": f"m-{turn}", "role": "user", "parts": parts, "contextId": context}
    yield writer.call(number, Purpose.STREAM, "message/stream", {"message": message})
    yield writer.start(number, "text/event-stream")
    yield _event(writer, number, turn, ids, "submitted")
    yield _event(writer, number, turn, ids, "working")
    for piece in range(3):
        text = {"kind": "text", "text": f"piece {piece} of what this costs\n"}
        artifact = {"artifactId": f"a-{turn}", "name": "fee", "parts": [text]}
        chunk = {"kind": "artifact-update", **ids, "artifact": artifact, "append": piece > 0}
        yield writer.frame(number, Channel.SSE, {**chunk, "lastChunk": piece == 2})
    poll = writer.exchange()
    yield writer.call(poll, Purpose.POLL, "tasks/get", {"id": task})
    yield writer.start(poll, "application/json")
    yield writer.frame(poll, Channel.POLL, _task(turn, ids, "working"))
    yield writer.end(poll)
    state = "input-required" if turn % 2 else "completed"
    yield writer.push(_task(turn, ids, state))
    yield _event(writer, number, turn, ids, state)
    yield writer.end(number)


def _status(turn: int, ids: dict[str, str], state: str) -> dict[str, object]:
    at = datetime.fromtimestamp(turn + STATES.index(state) / 10, UTC).isoformat()
    status: dict[str, object] = {"state": state, "timestamp": at}
    if state in ("submitted", "working"):
        return status
    slots = {"amount": turn, "recipient": "Joe", "account": None, "vip": turn % 3 == 0}
    told = {"state": state, "active_flow": "transfer_money", "slots": slots}
    parts = [
        {"kind": "text", "text": f"Transfer {turn} is under way."},
        {"kind": "data", "data": told},
    ]
    message = {"kind": "message", "role": "agent", "messageId": f"a-{turn}", "parts": parts}
    return {**status, "message": {**message, **ids}}


def _task(turn: int, ids: dict[str, str], state: str) -> dict[str, object]:
    head = {"kind": "task", "id": ids["taskId"], "contextId": ids["contextId"]}
    return {**head, "status": _status(turn, ids, state)}


def _event(
    writer: Writer, number: int, turn: int, ids: dict[str, str], state: str
) -> FrameReceived:
    final = state not in ("submitted", "working")
    event = {"kind": "status-update", **ids, "status": _status(turn, ids, state), "final": final}
    return writer.frame(number, Channel.SSE, event)


def one_stream() -> Iterator[Entry]:
    """One stream without end, as of an agent that writes a long text."""
    writer = Writer()
    ids = {"taskId": "task", "contextId": "context"}
    parts = [{"kind": "text", "text": "write a book"}]
    message = {"messageId": "m", "role": "user", "parts": parts, "contextId": "context"}
    number = writer.exchange()
    yield writer.call(number, Purpose.STREAM, "message/stream", {"message": message})
    yield writer.start(number, "text/event-stream")
    for piece in count():
        text = {"kind": "text", "text": f"word {piece} "}
        artifact = {"artifactId": "book", "name": "book", "parts": [text]}
        chunk = {"kind": "artifact-update", **ids, "artifact": artifact, "append": piece > 0}
        yield writer.frame(number, Channel.SSE, chunk)


SHAPES: dict[str, Callable[[], Iterator[Entry]]] = {
    "many turns": conversation,
    "one stream": one_stream,
}


@dataclass(frozen=True, slots=True)
class Sized:
    """A log with its views, and the entries that come next."""

    entries: list[Entry]
    views: Views
    coming: list[Entry]


def sized(shape: Callable[[], Iterator[Entry]], entries: int, more: int) -> Sized:
    log = shape()
    known = list(islice(log, entries))
    views = reduce(log_views.step, known, log_views.EMPTY)
    return Sized(known, views, list(islice(log, more)))


@dataclass(frozen=True, slots=True)
class Row:
    """`few` and `many` are costs in `unit` at the two sizes."""

    what: str
    few: float
    many: float
    unit: str

    @property
    def ratio(self) -> float:
        return self.many / self.few


def by_turns(
    few: Callable[[], float], many: Callable[[], float], rounds: int
) -> tuple[float, float]:
    """The least of several rounds each; the garbage of one is not collected in the other's time."""
    costs: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for sample, measured in zip((few, many), costs, strict=True):
            gc.collect()
            measured.append(sample())
    return min(costs[0]), min(costs[1])


def appending(log: Sized) -> float:
    """Microseconds of an entry more, in all views."""
    views = log.views
    start = time.process_time()
    for entry in log.coming:
        views = log_views.step(views, entry)
    return (time.process_time() - start) / len(log.coming) * 1e6


def filtering(log: Sized, filter_: Filter) -> float:
    """Microseconds for each entry of a filter over all of them."""
    views = log.views
    start = time.process_time()
    filter_exchanges(None, filter_, views.exchanges)
    filter_timeline(None, filter_, views.timeline, views.exchanges)
    return (time.process_time() - start) / len(log.entries) * 1e6


def refiltering(log: Sized, filter_: Filter) -> float:
    """Microseconds of an entry more under a filter."""
    views = log.views
    wire = filter_exchanges(None, filter_, views.exchanges)
    tasks = filter_timeline(None, filter_, views.timeline, views.exchanges)
    gc.collect()
    cost = 0.0
    for entry in log.coming:
        views = log_views.step(views, entry)
        start = time.process_time()
        wire = filter_exchanges(wire, filter_, views.exchanges)
        tasks = filter_timeline(tasks, filter_, views.timeline, views.exchanges)
        cost += time.process_time() - start
    return cost / len(log.coming) * 1e6


def parsed(text: str) -> Filter:
    found = parse_filter(text)
    assert isinstance(found, Filter)
    return found


# Memory


def memory(shape: Callable[[], Iterator[Entry]], entries: int) -> float:
    """Bytes that an entry keeps besides those it came in: entries, views, everything."""
    log = shape()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept: list[Entry] = []
    views = log_views.EMPTY
    for entry in islice(log, entries):
        kept.append(entry)
        views = log_views.step(views, entry)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before - sum(map(_raw_bytes, kept))) / len(kept)


def _raw_bytes(entry: Entry) -> int:
    match entry:
        case RequestSent() | PushReceived():
            return len(entry.body)
        case FrameReceived():
            return len(entry.raw)
        case _:
            return 0


# The screen


@dataclass(frozen=True, slots=True)
class Screened:
    """Milliseconds of a frame with an entry more, and of a page up."""

    frame: float
    page: float


async def screened(log: Sized, rounds: int) -> Screened:
    """The whole main screen with the wire opened, as large as a terminal may be."""
    app = InspectorApp()
    async with app.run_test(size=(160, 48)) as pilot:
        started = datetime(2026, 11, 21, tzinfo=UTC)
        screen = Workspace("a log", None, started=started, now_ms=lambda: 0.0)
        await app.push_screen(screen)
        await pilot.pause()
        screen.query_one(Panels).go_to("wire")
        frames = [await _frame(pilot, screen, log.views)]
        views = log.views
        for entry in log.coming[: FRAMES_A_ROUND * rounds]:
            views = log_views.step(views, entry)
            frames.append(await _frame(pilot, screen, views))
        pages = [
            await _page(pilot, screen, name)
            for name in LISTS
            for _ in range(PAGES_A_ROUND * rounds)
        ]
        return Screened(median(frames) * 1e3, median(pages) * 1e3)


async def _page(pilot: Pilot[int], screen: Workspace, name: str) -> float:
    shown = screen.query_one(f"#{name}", BlockList)
    if shown.cursor == 0:
        # a short list is at its top after a few pages, where there is nothing to draw
        shown.action_move_to_end()
        await pilot.pause()
    start = time.process_time()
    shown.action_page(-1)
    await pilot.pause()
    return time.process_time() - start


async def _frame(pilot: Pilot[int], screen: Workspace, views: Views) -> float:
    start = time.process_time()
    screen.panels.show_views(views)
    await pilot.pause()
    return time.process_time() - start


# Everything


def measure(name: str, sizes: tuple[int, int], more: int, rounds: int) -> Iterator[Row]:
    """What both sizes cost, and what `more` entries beyond them do."""
    few, many = (sized(SHAPES[name], size, more) for size in sizes)

    def compared(what: str, unit: str, cost: Callable[[Sized], float]) -> Row:
        return Row(what, *by_turns(lambda: cost(few), lambda: cost(many), rounds), unit)

    yield compared("an entry more", "µs", appending)
    for text in FILTERS:
        found = parsed(text)
        yield compared(
            f"filtered by {text}, an entry", "µs", lambda log, f=found: filtering(log, f)
        )
        yield compared("… and an entry more", "µs", lambda log, f=found: refiltering(log, f))
    small, large = asyncio.run(screened(few, rounds)), asyncio.run(screened(many, rounds))
    yield Row("a frame with an entry more", small.frame, large.frame, "ms")
    yield Row("a page up", small.page, large.page, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what a long log costs.")
    parser.add_argument("--few", type=int, default=FEW)
    parser.add_argument("--entries", type=int, default=MANY)
    parser.add_argument("--more", type=int, default=APPENDED)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    few: int = arguments.few
    entries: int = arguments.entries
    for name, shape in SHAPES.items():
        print(f"{name}")
        print(f"{'':<52}{few:>10,}{entries:>10,}  ratio")
        for row in measure(name, (few, entries), arguments.more, arguments.rounds):
            costs = f"{row.few:>7.1f} {row.unit}{row.many:>7.1f} {row.unit}"
            print(f"{row.what:<52}{costs}{row.ratio:>7.2f}", flush=True)
        print(f"memory above the raw bytes: {memory(shape, entries):.0f} B an entry\n")


if __name__ == "__main__":
    main()
