"""What many things in one reply cost: artifacts, parts, files, history, skills, and findings.

    python -m benchmarks.counts [--sizes 1000 10000 100000] [--only TEXT]

Each reply is folded into all views, printed as the commands print it, and shown in the app, where
the newest is looked at and the panels are paged through. A key waits for the longest time that
the app did nothing else. Views and printing are processor time. Nothing is asserted.
"""

import argparse
import asyncio
import gc
import io
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime

from textual.pilot import Pilot

from benchmarks.log import Writer
from inspector.core.entries import Channel, Entry, Purpose
from inspector.headless.card import card_lines
from inspector.headless.output import answer_json, answer_lines, finding_line
from inspector.headless.terminal import Ink, print_json
from inspector.tui.app import InspectorApp
from inspector.tui.log_view import LogView
from inspector.tui.panels import Panels
from inspector.tui.workspace import Workspace
from inspector.views import log_views
from inspector.views.log_views import Views

SIZES = (1_000, 10_000, 100_000)
TICK_SECONDS = 0.005
TEXT_AT = "text {}"


def task(**more: object) -> dict[str, object]:
    status = {"state": "completed", "timestamp": "2026-11-21T00:00:00Z"}
    return {"kind": "task", "id": "task", "contextId": "context", "status": status, **more}


def said(parts: list[object]) -> dict[str, object]:
    message = {"kind": "message", "role": "agent", "messageId": "m", "parts": parts}
    return task(status={"state": "completed", "message": message})


def text(number: int) -> dict[str, object]:
    return {"kind": "text", "text": TEXT_AT.format(number)}


def datum(number: int) -> dict[str, object]:
    return {"kind": "data", "data": {"number": number}}


def message(number: int) -> dict[str, object]:
    parts = [text(number)]
    return {"kind": "message", "role": "agent", "messageId": f"m{number}", "parts": parts}


def artifacts(count: int) -> object:
    kinds = (text, datum)
    parts = [[kinds[n % 2](n)] for n in range(count)]
    return task(artifacts=[{"artifactId": f"a{n}", "parts": parts[n]} for n in range(count)])


def texts(count: int) -> object:
    return said([text(n) for n in range(count)])


def data(count: int) -> object:
    return said([datum(n) for n in range(count)])


def files(count: int) -> object:
    return said([{"kind": "file", "file": {"name": f"{n}", "bytes": "YQ=="}} for n in range(count)])


def history(count: int) -> object:
    return task(history=[message(n) for n in range(count)])


def broken(count: int) -> object:
    return task(artifacts=[0] * count)


def skills(count: int) -> object:
    offered = [
        {"id": f"s{n}", "name": f"skill {n}", "description": TEXT_AT.format(n), "tags": ["a"]}
        for n in range(count)
    ]
    return {
        "protocolVersion": "0.3.0",
        "name": "many",
        "description": "an agent with many skills",
        "version": "1",
        "url": "http://127.0.0.1:5005/",
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": offered,
    }


SHAPES: dict[str, Callable[[int], object]] = {
    "artifacts": artifacts,
    "text parts": texts,
    "DataParts": data,
    "files": files,
    "history": history,
    "findings": broken,
    "skills": skills,
}


def reply(shape: str, count: int) -> list[Entry]:
    """An exchange that brings so many of what `shape` names."""
    writer, content = Writer(), SHAPES[shape](count)
    number = writer.exchange()
    if shape == "skills":
        call = writer.call(number, Purpose.CARD, "", {})
        body = writer.frame(number, Channel.RESPONSE, None)
        bare = type(body)(body.seq, body.at_ms, number, body.channel, json.dumps(content).encode())
        return [call, writer.start(number, "application/json"), bare, writer.end(number)]
    asked = {"messageId": "m", "role": "user", "parts": [text(0)]}
    return [
        writer.call(number, Purpose.SEND, "message/send", {"message": asked}),
        writer.start(number, "application/json"),
        writer.frame(number, Channel.RESPONSE, content),
        writer.end(number),
    ]


@dataclass(slots=True)
class Wait:
    """The longest time, in seconds, that a task had to wait for its turn."""

    longest: float = 0.0

    async def watch(self) -> None:
        before = time.perf_counter()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.perf_counter()
            self.longest = max(self.longest, now - before - TICK_SECONDS)
            before = now


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds for all views, for what the commands print, until it is seen, and of a key's wait."""

    fold: float
    printed: float
    shown: float
    wait: float


@contextmanager
def timed(clock: Callable[[], float] = time.process_time) -> Generator[Callable[[], float]]:
    gc.collect()
    began = clock()
    yield lambda: clock() - began


def folded(entries: Sequence[Entry]) -> Views:
    return log_views.fold(entries)


def print_all(views: Views, shape: str) -> int:
    """Make the lines and the JSON of `card` or `send`; return how many lines there are."""
    ink, card = Ink(is_coloured=False), views.card.card
    if shape == "skills" and card is not None:
        return sum(1 for _ in card_lines(ink, card))
    exchange, turn = views.exchanges[-1], views.data.turns[-1]
    lines = sum(1 for _ in answer_lines(ink, exchange, tuple(views.chat.said)[-1:], turn))
    lines += sum(1 for finding in exchange.findings if finding_line(ink, finding))
    with redirect_stdout(io.StringIO()):
        print_json(answer_json(exchange, turn, tuple(exchange.findings)))
    return lines


async def shown(entries: Sequence[Entry]) -> tuple[float, float]:
    """Seconds until the main screen shows what came, and the longest wait until the last key."""
    app, wait = InspectorApp(), Wait()
    async with app.run_test(size=(160, 48)) as pilot:
        started = datetime(2026, 11, 21, tzinfo=UTC)
        screen = Workspace("a reply", None, started=started, now_ms=lambda: 0.0)
        await app.push_screen(screen)
        await pilot.pause()
        panels = screen.query_one(Panels)
        with timed(time.perf_counter) as elapsed:
            watching, over = asyncio.create_task(wait.watch()), asyncio.Event()

            def look(view: LogView) -> None:
                if any(not one.is_running for one in view.exchanges):
                    over.set()

            screen.watch(panels, "view", look, init=False)
            for entry in entries:
                screen.take(entry)
            await over.wait()
            seconds = elapsed()
        await _use(pilot, is_card=panels.view.card is not None)
        watching.cancel()
    return seconds, wait.longest


async def _use(pilot: Pilot[int], *, is_card: bool) -> None:
    """Look through everything: panels to their ends and back, what folds opened, the card."""
    await pilot.press("escape")
    for panel in ("1", "2", "3", "w"):
        await pilot.press(panel, "end", "pageup", "home", "pagedown", "down", "space", "j", "space")
    if is_card:
        await pilot.press("escape", "c", "end", "home", "slash", "9", "9", "enter", "n", "p", "p")


def measure(shape: str, count: int) -> Cost:
    entries = reply(shape, count)
    with timed() as elapsed:
        views = folded(entries)
        fold = elapsed()
    with timed() as elapsed:
        print_all(views, shape)
        printed = elapsed()
    del views
    seconds, wait = asyncio.run(shown(entries))
    return Cost(fold, printed, seconds, wait)


def row(name: str, cells: Iterable[str]) -> str:
    return f"{name:<32}" + "".join(f"{cell:>14}" for cell in cells)


def each(costs: Iterable[tuple[int, float]]) -> Iterator[str]:
    """What one item costs, of so many that cost so many seconds."""
    return (f"{seconds / count * 1e6:.1f} µs" for count, seconds in costs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what many things in one reply cost.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    sizes: list[int] = list(arguments.sizes)
    print(row("", (f"{size:,}" for size in sizes)))
    for shape in SHAPES:
        if arguments.only not in shape:
            continue
        costs = [(size, measure(shape, size)) for size in sizes]
        print(row(f"{shape}: views, each", each((size, cost.fold) for size, cost in costs)))
        print(row("  printed, each", each((size, cost.printed) for size, cost in costs)))
        print(row("  in the app, each", each((size, cost.shown) for size, cost in costs)))
        waits = (f"{cost.wait * 1e3:.0f} ms" for _, cost in costs)
        print(row("  longest wait of a key", waits), flush=True)


if __name__ == "__main__":
    main()
