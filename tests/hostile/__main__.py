"""Every hostile agent against the commands, the app and `listen`.

    python -m tests.hostile [WORD] [--only commands|app|listen]

WORD chooses agents by name. What must never be: a traceback, a control character, the secret, a
hang, an exit status that no page knows, JSON that is none; and in the app, the loop busy for more
than half a second of processor time between two chances for a key. The exit status is 1 where one
of these was seen. It takes half an hour; `tests/inspector/tui/test_hostile.py` holds what it found.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import sys
import tempfile
import time
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from textual.pilot import Pilot

from inspector.settings import Connection
from inspector.tui.app import InspectorApp
from tests.hostile.agents import (
    CARDS,
    NOTIFICATIONS,
    SECRET,
    TURNS,
    Answer,
    Asked,
    good_card,
    result,
    task,
)

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 4
PATIENCE_SECONDS = 60
LONGEST_WAIT_SECONDS = 0.5
AT_ONCE = 2
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# docs/reference/a2a-inspect.md
STATUSES = range(6)
INTERRUPTED = 130
TOKEN = "HOSTILE_TOKEN"
OF_CARDS = {
    "card": ("card", "{url}"),
    "card --json": ("card", "{url}", "--json"),
    "send": ("send", "{url}", "hello"),
}
OF_TURNS = {
    "send": ("send", "{url}", "hello"),
    "send --json": ("send", "{url}", "hello", "--json"),
    "send --stream": ("send", "{url}", "hello", "--stream"),
    "send --stream --json": ("send", "{url}", "hello", "--stream", "--json"),
    "tasks get": ("tasks", "get", "{url}", "t"),
}
# Through all panels and screens, and back.
KEYS = (
    *(("escape", str(panel)) for panel in range(1, 5)),
    *(("w",), ("p",), ("end",), ("pageup",)),
    *(("escape", "c"), ("end",), ("escape", "P"), ("escape",), ("?",), ("escape",)),
)


@dataclass
class Verdict:
    """What one run came to; `problems` are what must never be."""

    agent: str
    program: str
    seconds: float = 0.0
    status: int | None = None
    note: str = ""
    problems: list[str] = field(default_factory=list[str])

    def find(self, *problems: str) -> None:
        self.problems += [one for one in problems if one not in self.problems]

    def __str__(self) -> str:
        told = f"✗ {', '.join(self.problems)}" if self.problems else "✓"
        status = "" if self.status is None else self.status
        return (
            f"{self.agent:<32} {self.program:<20} {status!s:>3} {self.seconds:5.1f} s  "
            f"{told}  {self.note!r}"
        )


# The agents' side


async def _pieces(wire: bytes | Iterator[bytes] | AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if isinstance(wire, bytes):
        yield wire
    elif isinstance(wire, Iterator):
        for piece in wire:
            yield piece
    else:
        async for piece in wire:
            yield piece


@asynccontextmanager
async def serving(card: Answer, turn: Answer) -> AsyncGenerator[str]:
    """The URL of an agent that answers GET with `card` and all else with `turn`."""
    serving: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in map(_split, lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = first.split(" ", 2)
        asked = Asked(method, path, headers, body, origin)
        async for piece in _pieces((card if method == "GET" else turn)(asked)):
            writer.write(piece)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        current = asyncio.current_task()
        assert current is not None
        serving.add(current)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await answer(reader, writer)
        writer.close()
        serving.discard(current)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield origin
    finally:
        server.close()
        for one in tuple(serving):
            one.cancel()


def _split(line: str) -> tuple[str, str, str]:
    return line.partition(":")


# What must never be


def problems_of(text: str) -> Iterator[str]:
    """What `text`, written to a terminal, must not hold."""
    if "Traceback (most recent call last)" in text:
        yield "traceback"
    obeyed = {one for one in text if unicodedata.category(one) in ("Cc", "Cs")} - {"\n", "\t"}
    if obeyed:
        yield f"control characters {sorted(map(ord, obeyed))}"
    if DIRECTIONS & set(text):
        yield "turns the direction of reading"
    if SECRET in text:
        yield "the secret"


def problems_of_files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and SECRET.encode() in path.read_bytes():
            yield f"the secret in {path.name}"


def problems_of_json(out: bytes) -> Iterator[str]:
    """What is not JSON of `out`: one value, or one a line."""

    def refuse(name: str) -> float:
        raise ValueError(name)

    for text in out.splitlines() if out.count(b"\n{") else filter(None, [out.strip()]):
        try:
            json.loads(text, parse_constant=refuse)
        except ValueError as error:
            yield f"no JSON: {error}"


# The programs


def environment(home: Path) -> dict[str, str]:
    folders = {name: str(home) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    return {**os.environ, **folders, TOKEN: SECRET, "NO_COLOR": "1", "COLUMNS": "100"}


async def start(home: Path, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "inspector", *words, "--token-env", TOKEN),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(home),
        cwd=ROOT,
        limit=1 << 28,
    )


async def run_command(agent: str, program: str, words: tuple[str, ...], url: str) -> Verdict:
    verdict = Verdict(agent, program)
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        given = (word.format(url=url) for word in words)
        process = await start(Path(folder), *given, "--timeout", str(TIMEOUT_SECONDS))
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                out, err = await process.communicate()
        except TimeoutError:
            process.kill()
            out, err = await process.communicate()
            verdict.find("hangs")
        verdict.seconds, verdict.status = time.monotonic() - began, process.returncode
        if verdict.status not in STATUSES:
            verdict.find("exit status")
        verdict.find(*problems_of((out + err).decode(errors="surrogateescape")))
        verdict.find(*problems_of_files(Path(folder)))
        if "--json" in words:
            verdict.find(*problems_of_json(out))
        verdict.note = (err or out).decode(errors="replace").strip().partition("\n")[0][:90]
    return verdict


async def run_listen(*flags: str) -> Verdict:
    """Post every notification with the right token, a wrong one and one of control characters."""
    verdict, statuses = Verdict("notifications", f"listen {' '.join(flags)}"), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        process = await start(Path(folder), "listen", *flags)
        assert process.stdout is not None
        found = re.search(r"http://[\w.:/-]+", (await process.stdout.readline()).decode())
        assert found is not None
        began = time.monotonic()
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS, trust_env=False) as client:
            for content in NOTIFICATIONS.values():
                for token in (SECRET, "wrong", "\x1b[2J"):
                    headers = [(b"X-A2A-Notification-Token", token.encode()), (b"X", b"\x9b5n")]
                    try:
                        answer = await client.post(found[0], content=content, headers=headers)
                        statuses.append(str(answer.status_code))
                    except httpx.HTTPError as error:
                        statuses.append(type(error).__name__)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
        verdict.seconds, verdict.status = time.monotonic() - began, process.returncode
        if verdict.status not in (0, INTERRUPTED):
            verdict.find("exit status")
        verdict.find(*problems_of((out + err).decode(errors="surrogateescape")))
        if flags:
            verdict.find(*problems_of_json(out))
    verdict.note = " ".join(statuses)
    return verdict


def screen_of(pilot: Pilot[int]) -> str:
    # Textual tells nobody else what it draws; its own screenshots read this too
    compositor = pilot.app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    return "\n".join(strip.text for strip in compositor.render_strips())


async def run_app(agent: str, url: str) -> Verdict:
    """Connect, send a turn, walk through all panels and screens, and watch the loop meanwhile."""
    verdict, stage = Verdict(agent, "app"), "start"
    longest = (0.0, stage)

    async def watch() -> None:
        nonlocal longest
        while True:
            # processor time, so that a busy machine is not taken for a busy app
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, (time.thread_time() - before, stage))
            await asyncio.sleep(0.005)

    async def look(pilot: Pilot[int], times: int) -> None:
        for _ in range(times):
            await pilot.pause(0.05)
            verdict.find(*problems_of(screen_of(pilot)))

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(environment(Path(folder)))
        connection = Connection(
            headers=(("Authorization", f"Bearer {SECRET}"),),
            secrets=(SECRET,),
            timeout_seconds=TIMEOUT_SECONDS,
        )
        app = InspectorApp(f"{url}/", connection=connection)
        try:
            async with (
                asyncio.timeout(PATIENCE_SECONDS),
                app.run_test(size=(120, 36)) as pilot,
            ):
                watching = asyncio.create_task(watch())
                stage = "connect"
                await look(pilot, 30)
                stage = "send"
                await pilot.press("escape", "i", *"hello", "enter")
                await look(pilot, 60)
                for keys in KEYS:
                    stage = " ".join(keys)
                    await pilot.press(*keys)
                    await look(pilot, 1)
                stage = "end"
                watching.cancel()
        except TimeoutError:
            verdict.find(f"hangs at {stage}")
        except Exception as error:  # whatever it is, it is what this looks for
            verdict.find(f"{type(error).__name__} at {stage}: {error}"[:200])
        verdict.find(*problems_of_files(Path(folder)))
    verdict.seconds = time.monotonic() - began
    verdict.note = f"busy for {longest[0] * 1000:.0f} ms at {longest[1]}"
    if longest[0] > LONGEST_WAIT_SECONDS:
        verdict.find("keys wait")
    return verdict


async def run_all(word: str, only: str | None) -> AsyncIterator[Verdict]:
    slots = asyncio.Semaphore(AT_ONCE)

    async def run(agent: str, program: str, words: tuple[str, ...], url: str) -> Verdict:
        async with slots:
            return await run_command(agent, program, words, url)

    agents = {name: (answer, result(task()), OF_CARDS) for name, answer in CARDS.items()}
    agents |= {name: (good_card, answer, OF_TURNS) for name, answer in TURNS.items()}
    for name, (card, turn, programs) in agents.items():
        if word not in name:
            continue
        async with serving(card, turn) as url:
            if only in (None, "commands"):
                runs = [run(name, program, words, url) for program, words in programs.items()]
                for verdict in await asyncio.gather(*runs):
                    yield verdict
            if only in (None, "app"):
                yield await run_app(name, url)
    if only in (None, "listen") and not word:
        yield await run_listen()
        yield await run_listen("--json")


async def main() -> int:
    parser = argparse.ArgumentParser(description="Hostile agents against a2a-inspect.")
    parser.add_argument("word", nargs="?", default="", help="only agents with this in their name")
    parser.add_argument("--only", choices=("commands", "app", "listen"))
    options = parser.parse_args()
    runs = bad = 0
    async for verdict in run_all(options.word, options.only):
        runs, bad = runs + 1, bad + bool(verdict.problems)
        print(verdict, flush=True)
    print(f"{len(CARDS) + len(TURNS)} agents, {runs} runs, {bad} with problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
