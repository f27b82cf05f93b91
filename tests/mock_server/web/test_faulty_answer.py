"""Answers under faults, as ASGI messages."""

import pytest
from starlette.responses import Response
from starlette.types import Message, Scope

from mock_server.faults.effects import Effect, SlowDribble, WrongContentType
from mock_server.faults.fault import Fired
from mock_server.faults.matching import ReceivedRequest
from mock_server.web.faulty_answer import FaultyAnswer
from mock_server.wire.v0_3 import V03

pytestmark = pytest.mark.anyio


async def messages(response: Response, effect: Effect) -> list[Message]:
    """What goes out for a request that is answered with `response`."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def sleep(_: float) -> None:
        pass

    request = ReceivedRequest("PUT", "/model", {})
    answer = FaultyAnswer(
        (Fired("f", effect, 0.5),), request, b"", codec=V03(), sleep=sleep, headers=tuple
    )
    scope: Scope = {"type": "http", "method": "PUT", "path": "/model", "headers": []}
    await answer(response, scope, receive, send)
    return sent


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize(
    "effect",
    [
        SlowDribble(kind="slow_dribble"),
        WrongContentType(kind="wrong_content_type", content_type="text/html"),
    ],
)
async def test_answer_without_a_body_has_no_length(status: int, effect: Effect) -> None:
    head, *rest = await messages(Response(status_code=status), effect)
    assert head["status"] == status
    assert b"content-length" not in dict(head["headers"])
    assert [message.get("body") for message in rest] == [b""]


@pytest.mark.req("ADMIN-1")
async def test_answer_with_a_body_has_its_length() -> None:
    head, *_ = await messages(Response(b"text"), SlowDribble(kind="slow_dribble"))
    assert dict(head["headers"])[b"content-length"] == b"4"
