"""`/__admin/events`: what goes on, as server-sent events."""

from collections.abc import AsyncIterator

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mock_server.faults.effects import STRICT
from mock_server.service.feed import DROPPED, KINDS, Feed, Happening
from mock_server.tasks.json_text import encode_json
from mock_server.web import sse
from mock_server.web.admin_answers import query_as


class EventQuery(BaseModel):
    """All events, or those of some kinds alone."""

    model_config = STRICT
    kinds: str | None = Field(
        default=None,
        description=f"of {', '.join(KINDS)} those wanted, with commas",
    )

    @field_validator("kinds")
    @classmethod
    def _is_known(cls, kinds: str | None) -> str | None:
        unknown = () if kinds is None else sorted({*kinds.split(",")} - {*KINDS})
        if unknown:
            raise PydanticCustomError(
                "kinds",
                "{unknown} is no kind of event; expected some of {kinds}, with commas",
                {"unknown": repr(unknown[0]), "kinds": ", ".join(KINDS)},
            )
        return kinds

    @property
    def wanted(self) -> frozenset[str] | None:
        """None for all; those that were too many to be told are told of in any case."""
        return None if self.kinds is None else frozenset({*self.kinds.split(","), DROPPED})


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
