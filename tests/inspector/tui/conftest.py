"""A scripted agent on a real socket, and screens compared with how they were drawn before."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sized
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeAlias

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from textual._context import active_app
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.tui.app import InspectorApp
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.workspace import Workspace
from inspector.wire.json_values import Json

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.01
SHOWN = (120, 36)
Size: TypeAlias = tuple[int, int]


@dataclass
class Agent:
    """Asks for an account, streams a fee, and completes when it is told one.

    `gate` holds every stream after `working`; `requests` are the bodies as received,
    `cards` counts how often the card was fetched.
    """

    url: str
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    canceled: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    cards: int = 0
    stop: Callable[[], None] = lambda: None
    is_gone: Callable[[], bool] = lambda: False

    def card(self) -> Json:
        return {
            "name": "bank",
            "description": "Moves money.",
            "url": self.url,
            "version": "1.0.0",
            "protocolVersion": "0.3.0",
            "preferredTransport": "JSONRPC",
            "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [
                {
                    "id": "transfer_money",
                    "name": "transfer money",
                    "description": "Send money to somebody.",
                    "tags": ["flow"],
                }
            ],
        }

    def slots(self) -> dict[str, Json]:
        """Return what the turns so far have seeded."""
        slots: dict[str, Json] = {}
        for request in self.requests:
            match request:
                case {"params": {"message": {"metadata": {"slots": dict(seeded)}}}}:
                    slots |= seeded
                case _:
                    pass
        return slots

    def status(self, state: str, text: str = "") -> dict[str, Json]:
        parts: list[Json] = [{"kind": "text", "text": text}] if text else []
        data: Json = {
            "state": state.replace("-", "_"),
            "active_flow": "transfer_money",
            "slots": self.slots(),
        }
        parts.append({"kind": "data", "data": data})
        message: Json = {"kind": "message", "role": "agent", "messageId": "m", "parts": parts}
        status: dict[str, Json] = {"state": state, "timestamp": "2026-11-20T10:00:00+00:00"}
        return status | ({"message": message} if text else {})

    def task(self, state: str, text: str) -> Json:
        return {"kind": "task", "id": "t-1", "contextId": "c-1", "status": self.status(state, text)}

    def update(self, state: str, text: str = "", *, final: bool = False) -> Json:
        return {
            "kind": "status-update",
            "taskId": "t-1",
            "contextId": "c-1",
            "status": self.status(state, text),
            "final": final,
        }

    async def answer(self, request: Request) -> Response:
        body: dict[str, Json] = json.loads(await request.body())
        self.requests.append(body)
        match body["method"]:
            case "message/stream":
                return StreamingResponse(self.stream(body), media_type="text/event-stream")
            case "tasks/cancel":
                self.canceled.set()
                return JSONResponse(self.reply(body, self.task("canceled", "Stopped.")))
            case _:
                question = "Which account?\n1: checking (/SetSlots(account=checking))"
                return JSONResponse(self.reply(body, self.task("input-required", question)))

    async def stream(self, body: dict[str, Json]) -> AsyncIterator[bytes]:
        yield self.event(body, self.update("working"))
        waits = {
            asyncio.ensure_future(self.gate.wait()),
            asyncio.ensure_future(self.canceled.wait()),
        }
        _, open_waits = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in open_waits:
            wait.cancel()
        if self.canceled.is_set():
            yield self.event(body, self.update("canceled", "Stopped.", final=True))
        else:
            yield self.event(body, self.update("input-required", "Which account?", final=True))

    def reply(self, body: dict[str, Json], answer: Json) -> Json:
        return {"jsonrpc": "2.0", "id": body["id"], "result": answer}

    def event(self, body: dict[str, Json], answer: Json) -> bytes:
        return f"data: {json.dumps(self.reply(body, answer))}\n\n".encode()


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        agent = Agent(f"http://127.0.0.1:{listener.getsockname()[1]}/")

        async def card(request: Request) -> Response:
            agent.cards += 1
            return JSONResponse(agent.card())

        routes = [
            Route("/.well-known/agent-card.json", card),
            Route("/", agent.answer, methods=["POST"]),
        ]
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning"))

        def stop() -> None:
            server.should_exit = server.force_exit = True

        agent.stop = stop
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        agent.is_gone = serving.done
        yield agent
        stop()
        agent.gate.set()
        await serving


async def settle(*_: float) -> None:
    """Let the app go on until nothing is left to handle or to draw.

    What comes from a socket, a thread or another process is waited for with `until`.
    """
    app = active_app.get()
    # asyncio tells nobody else whether it has something left to do
    left: Sized = vars(asyncio.get_running_loop())["_ready"]
    deadline = monotonic() + PATIENCE_SECONDS
    while monotonic() < deadline:
        await asyncio.sleep(0)
        if left:
            continue
        if app.is_running:
            # as Textual's own pilot does: draw now what else waits for the next frame
            app.screen._on_timer_update()  # pyright: ignore[reportPrivateUsage]
        if not left:
            return


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is done when the app has nothing left to do.

    Textual itself waits until the processor rests: 40 ms a key, and long on a loaded machine.
    """
    monkeypatch.setattr("textual.app.wait_for_idle", settle)
    monkeypatch.setattr("textual.pilot.wait_for_idle", settle)


@dataclass(frozen=True, slots=True)
class Until:
    """Lets the app run until a condition holds."""

    async def __call__(self, pilot: Pilot[int], holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                # time for sockets, threads and other processes
                await asyncio.sleep(POLL_SECONDS)
                await settle()

    async def connected(self, pilot: Pilot[int]) -> None:
        """Wait until the app shows the agent's card."""

        def has_card() -> bool:
            screen = pilot.app.screen
            return isinstance(screen, Workspace) and bool(screen.view.card)

        await self(pilot, has_card)


@pytest.fixture
def until() -> Until:
    return Until()


Drawn: TypeAlias = Callable[[Pilot[int]], dict[str, str]]


@pytest.fixture
def drawn() -> Drawn:
    """Return what reads all that conversation, timeline and wire show, in sight or not."""

    def read(pilot: Pilot[int]) -> dict[str, str]:
        screen = pilot.app.screen
        return {
            name: "\n".join(block.plain for block in screen.query_one(name, BlockList).blocks)
            for name in ("#conversation", "#timeline", "#exchanges")
        }

    return read


@pytest.fixture(autouse=True)
def home_of_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's files nor the terminal that the tests run in change what is drawn."""
    for folder in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{folder}_HOME", str(tmp_path / folder.lower()))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("NO_COLOR", raising=False)


Arrange: TypeAlias = Callable[[Pilot[int]], Awaitable[None]]
Cell: TypeAlias = tuple[str, str]


class SnapCompare(Protocol):
    """The fixture of pytest-textual-snapshot, as far as it is used here."""

    def __call__(self, app: InspectorApp, *, terminal_size: Size, run_before: Arrange) -> bool: ...


class DrawnAsBefore(Protocol):
    """Compares the screen to which `arrange` brings the app with the test's snapshot."""

    def __call__(
        self, arrange: Arrange, *, size: Size = SHOWN, theme: str = "calm-dark"
    ) -> None: ...


@pytest.fixture
def drawn_as_before(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> DrawnAsBefore:
    """Return what compares a screen with its snapshot; a test calls it once.

    `--snapshot-update` draws it anew; where it differs, `snapshot_report.html` shows both.
    A notice stays until the screen is drawn.
    """
    monkeypatch.setattr("inspector.tui.notice_line.NOTICE_SECONDS", PATIENCE_SECONDS)

    def compare(arrange: Arrange, *, size: Size = SHOWN, theme: str = "calm-dark") -> None:
        async def arrange_still(pilot: Pilot[int]) -> None:
            await arrange(pilot)
            for written in pilot.app.screen.query(Input):
                written.cursor_blink = False

        app = InspectorApp()
        app.animation_level = "none"
        app.theme = theme
        assert snap_compare(app, terminal_size=size, run_before=arrange_still)

    return compare


@pytest.fixture
def screen_text() -> Callable[[Pilot[int]], str]:
    """Return what reads the screen line by line, as it is drawn."""

    def read(pilot: Pilot[int]) -> str:
        return "\n".join("".join(letter for letter, _ in row) for row in cells_of(pilot.app))

    return read


def cells_of(app: App[int]) -> list[list[Cell]]:
    """Return each letter on the screen with its style, row by row."""
    # Textual tells nobody else what it draws; its own screenshots read this too
    compositor = app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    # which screens shine through from below
    compositor.render_update(  # pyright: ignore[reportUnknownMemberType] # of any screen
        full=True,
        screen_stack=app._background_screens,  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    )
    strips = compositor.render_strips()
    return [
        [(letter, str(segment.style or "")) for segment in strip for letter in segment.text]
        for strip in strips
    ]
