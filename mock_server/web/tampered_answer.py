"""An answer on its way out, changed by faults."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.types import Message, Receive, Scope, Send

from mock_server.faults.documents import tampered_document
from mock_server.faults.effects import ConnectionReset, Effect, SlowDribble, WrongContentType
from mock_server.faults.streams import END, Bytes, Cut, Step, StreamTampering
from mock_server.web import connection

Sleep: TypeAlias = Callable[[float], Awaitable[None]]

STREAM = b"text/event-stream"


class TamperedAnswer:
    """An answer on its way out; the head of a document is held back until its length is known."""

    def __init__(
        self,
        effects: tuple[Effect, ...],
        sleep: Sleep,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        self._effects = effects
        self._stream = StreamTampering(effects)
        self._sleep = sleep
        self._scope = scope
        self._receive = receive
        self._send = send
        self._head: Message = {}
        self._unsent = b""
        self._is_over = False

    async def take(self, message: Message) -> None:
        """One ASGI message of the application."""
        if self._is_over:
            return
        if message["type"] == "http.response.start":
            self._head = message
            if _is_stream(message):
                await self._begin(None)
            return
        self._unsent += message.get("body", b"")
        has_ended = not message.get("more_body", False)
        if _is_stream(self._head):
            await self._pass_frames(has_ended=has_ended)
        elif has_ended:
            await self._send_document()

    async def _pass_frames(self, *, has_ended: bool) -> None:
        while END in self._unsent:
            frame, _, self._unsent = self._unsent.partition(END)
            for step in self._stream.frame(frame + END):
                await self._do(step)
        if has_ended and not self._is_over:
            for step in self._stream.end():
                await self._do(step)
        if has_ended and not self._is_over:
            await self._finish()

    async def _do(self, step: Step) -> None:
        if isinstance(step, Bytes):
            await self._write(step.content)
            return
        self._is_over = True
        match step.how:
            case "reset":
                await connection.reset(self._scope, self._receive)
            case "cut":
                await connection.close(self._scope, self._receive)
            case _:
                await self._finish()

    async def _send_document(self) -> None:
        document = tampered_document(self._unsent, self._effects)
        await self._begin(len(document))
        is_cut = any(isinstance(e, ConnectionReset) and e.when == "during" for e in self._effects)
        if is_cut:
            await self._write(document[: len(document) // 2])
            await self._do(Cut("reset"))
            return
        await self._write(document)
        await self._finish()

    async def _begin(self, length: int | None) -> None:
        lies = [e.content_type for e in self._effects if isinstance(e, WrongContentType)]
        replaced = {b"content-length", b"content-type"} if lies else {b"content-length"}
        headers = [pair for pair in self._head["headers"] if pair[0] not in replaced]
        if lies:
            headers.append((b"content-type", lies[-1].encode()))
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        await self._send({**self._head, "headers": headers})

    async def _write(self, content: bytes) -> None:
        slow = next((e for e in self._effects if isinstance(e, SlowDribble)), None)
        if slow is None:
            await self._send({"type": "http.response.body", "body": content, "more_body": True})
            return
        for start in range(0, len(content), slow.size_bytes):
            if start:
                await self._sleep(slow.pause_seconds)
            piece = content[start : start + slow.size_bytes]
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _finish(self) -> None:
        self._is_over = True
        await self._send({"type": "http.response.body", "body": b""})


def _is_stream(head: Message) -> bool:
    return any(name == b"content-type" and STREAM in value for name, value in head["headers"])
