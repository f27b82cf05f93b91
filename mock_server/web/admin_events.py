"""`/__admin/events`: what goes on, as server-sent events."""

from collections.abc import AsyncIterator

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mock_server.faults.effects import STRICT
from mock_server.service.feed import Feed, Happening
from mock_server.tasks.json_text import encode_json
from mock_server.web import sse
from mock_server.web.admin_answers import query_as


class EventQuery(BaseModel):
    """All events, or those of some kinds alone."""

    model_config = STRICT
    kinds: str | None = Field(
        default=None,
        description="of turn, fault, faults, reload, model and reset, those wanted, with commas",
    )

    @property
    def wanted(self) -> frozenset[str] | None:
        return None if self.kinds is None else frozenset(self.kinds.split(","))


class EventDesk:
    """The route `events`."""

    def __init__(self, feed: Feed, ping_seconds: float) -> None:
        self._feed = feed
        self._ping_seconds = ping_seconds

    async def stream(self, request: Request) -> Response:
        wanted = query_as(EventQuery, request).wanted
        return StreamingResponse(
            self._frames(wanted), headers=sse.HEADERS, media_type=sse.MEDIA_TYPE
        )

    async def _frames(self, wanted: frozenset[str] | None) -> AsyncIterator[bytes]:
        """The first comment says that from here on nothing is missed."""
        with self._feed.listen() as listener:
            yield b": listening\r\n\r\n"
            while not self._feed.is_closed:
                happening = await listener.next(self._ping_seconds)
                if happening and wanted is not None and happening.kind not in wanted:
                    continue
                if happening:
                    yield _frame(happening)
                elif not self._feed.is_closed:
                    yield b": ping\r\n\r\n"


def _frame(happening: Happening) -> bytes:
    kind = happening.kind.encode()
    return b"event: " + kind + b"\r\n" + sse.frame(encode_json(happening.detail))
