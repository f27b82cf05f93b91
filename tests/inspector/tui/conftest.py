"""A scripted agent on a real socket, whose stream waits until the test lets it go on."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from textual.pilot import Pilot

from inspector.core.commands import Json

PATIENCE_SECONDS = 10.0


@dataclass
class Agent:
    """Asks for an account, streams a fee, and completes when it is told one.

    `gate` holds every stream after `working`; `requests` are the bodies as received.
    """

    url: str
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    canceled: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    stop: Callable[[], None] = lambda: None

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
        yield agent
        stop()
        agent.gate.set()
        await serving


@pytest.fixture
def until() -> Callable[..., object]:
    """Return a coroutine function that lets the app run until a condition holds."""

    async def wait(pilot: Pilot[int], holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                await pilot.pause()

    return wait
