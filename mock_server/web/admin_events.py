"""`/__admin/events`: what goes on, as server-sent events."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mock_server.service.feed import Feed, Happening
from mock_server.tasks.json_text import encode_json
from mock_server.web import sse


class EventDesk:
    """The route `events`."""

    def __init__(self, feed: Feed, ping_seconds: float) -> None:
        self._feed = feed
        self._ping_seconds = ping_seconds

    async def stream(self, _: Request) -> Response:
        return StreamingResponse(self._frames(), headers=sse.HEADERS, media_type=sse.MEDIA_TYPE)

    async def _frames(self) -> AsyncIterator[bytes]:
        """The first comment says that from here on nothing is missed."""
        with self._feed.listen() as listener:
            yield b": listening\r\n\r\n"
            while not self._feed.is_closed:
                happening = await listener.next(self._ping_seconds)
                if happening:
                    yield _frame(happening)
                elif not self._feed.is_closed:
                    yield b": ping\r\n\r\n"


def _frame(happening: Happening) -> bytes:
    kind = happening.kind.encode()
    return b"event: " + kind + b"\r\n" + sse.frame(encode_json(happening.detail))
