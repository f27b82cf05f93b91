"""Logs to fold, written by hand as a session would write them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.net.events import FailureKind
from inspector.views import log_views
from inspector.views.log_views import Views


class Script:
    """Writes the log of a session, 10 ms between entries."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._exchange = 0
        self._last_exchange = 0
        self._waited_ms = 0.0

    def _next(self) -> tuple[int, float]:
        return len(self.entries) + 1, len(self.entries) * 10.0 + self._waited_ms

    @property
    def views(self) -> Views:
        """The views of the log so far."""
        return log_views.fold(self.entries)

    @property
    def now_ms(self) -> float:
        return self._next()[1]

    def wait(self, ms: float) -> "Script":
        self._waited_ms += ms
        return self

    def on(self, exchange: int) -> "Script":
        """Go on with an exchange that began before."""
        self._exchange = exchange
        return self

    def begin(self) -> int:
        self._last_exchange += 1
        return self._last_exchange

    def push(
        self,
        body: Any,
        verdict: PushVerdict = PushVerdict.ACCEPTED,
        status: int | None = 200,
        url: str = "http://127.0.0.1:9/",
    ) -> "Script":
        """A notification; the exchange under way stays the one to go on with."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.entries.append(
            PushReceived(*self._next(), self.begin(), "POST", url, (), raw, verdict, status)
        )
        return self

    def poll(self, result: Any) -> "Script":
        self.request(Purpose.POLL, "tasks/get", {"id": result["id"]}).respond()
        envelope = {"jsonrpc": "2.0", "id": "r", "result": result}
        return self.frame(json.dumps(envelope).encode(), Channel.POLL).end()

    def request(
        self, purpose: Purpose, method: str, params: Any, *, is_replay: bool = False
    ) -> "Script":
        self._exchange = self.begin()
        envelope = {"jsonrpc": "2.0", "id": "r", "method": method, "params": params}
        body = b"" if purpose is Purpose.CARD else json.dumps(envelope).encode()
        self.entries.append(
            RequestSent(
                *self._next(),
                self._exchange,
                purpose,
                "POST",
                "http://a/",
                (),
                body,
                is_replay=is_replay,
            )
        )
        return self

    def send(
        self, text: str, *, stream: bool = False, is_replay: bool = False, **message: Any
    ) -> "Script":
        parts = [{"kind": "text", "text": text}]
        params = {"message": {"messageId": "m", "role": "user", "parts": parts, **message}}
        if stream:
            return self.request(Purpose.STREAM, "message/stream", params, is_replay=is_replay)
        return self.request(Purpose.SEND, "message/send", params, is_replay=is_replay)

    def respond(self, status: int = 200, media_type: str = "application/json") -> "Script":
        headers = (("content-type", media_type),)
        self.entries.append(
            ResponseStarted(*self._next(), self._exchange, status, "HTTP/1.1", headers)
        )
        return self

    def frame(self, raw: bytes, channel: Channel = Channel.RESPONSE) -> "Script":
        self.entries.append(FrameReceived(*self._next(), self._exchange, channel, raw))
        return self

    def result(self, result: Any) -> "Script":
        return self.frame(json.dumps({"jsonrpc": "2.0", "id": "r", "result": result}).encode())

    def event(self, result: Any) -> "Script":
        envelope = json.dumps({"jsonrpc": "2.0", "id": "r", "result": result})
        return self.frame(f"data: {envelope}\n\n".encode(), Channel.SSE)

    def end(self) -> "Script":
        self.entries.append(ResponseEnded(*self._next(), self._exchange))
        return self

    def fail(self, kind: FailureKind, message: str = "broken") -> "Script":
        self.entries.append(Failed(*self._next(), self._exchange, kind, message))
        return self

    def reply(self, result: Any) -> "Script":
        return self.respond().result(result).end()

    @staticmethod
    def task(state: str = "completed", text: str = "", **more: Any) -> dict[str, Any]:
        """A task whose status message says `text` and holds `data`, if given."""
        data = more.pop("data", None)
        parts: list[Any] = [{"kind": "text", "text": text}] if text else []
        parts += [{"kind": "data", "data": data}] if data is not None else []
        status: dict[str, Any] = {"state": state}
        if (time := more.pop("time", None)) is not None:
            status["timestamp"] = f"2026-11-21T10:00:{time:06.3f}Z"
        if parts:
            ids = {"messageId": f"m-{text}", "taskId": more.get("id", "t"), "contextId": "c"}
            status["message"] = {"kind": "message", "role": "agent", "parts": parts, **ids}
        return {"kind": "task", "id": "t", "contextId": "c", "status": status, **more}

    @staticmethod
    def update(state: str, text: str = "", *, final: bool = False, **more: Any) -> dict[str, Any]:
        task = Script.task(state, text, **more)
        return {
            "kind": "status-update",
            "taskId": "t",
            "contextId": "c",
            "final": final,
            "status": task["status"],
        }

    @staticmethod
    def chunk(text: str, *, append: bool = True, last: bool = False) -> dict[str, Any]:
        parts = [{"kind": "text", "text": text}]
        return {
            "kind": "artifact-update",
            "taskId": "t",
            "contextId": "c",
            "artifact": {"artifactId": "a", "name": "fee", "parts": parts},
            "append": append,
            "lastChunk": last,
        }


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture(scope="session")
def new_script() -> Callable[[], Script]:
    """For laws, each example of which writes a log of its own."""
    return Script
