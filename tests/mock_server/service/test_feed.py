"""What goes on, heard by those who listen."""

from collections.abc import Mapping

import pytest

from mock_server.dialogue.model import Json
from mock_server.service.feed import PENDING, Feed, Happening

pytestmark = pytest.mark.anyio


@pytest.mark.req("ADMIN-2")
async def test_every_listener_hears_everything_in_order() -> None:
    feed = Feed()
    with feed.listen() as first, feed.listen() as second:
        for number in range(3):
            feed.publish("turn", lambda number=number: {"number": number})
        for listener in (first, second):
            heard = [await listener.next(5) for _ in range(3)]
            assert heard == [Happening("turn", {"number": number}) for number in range(3)]


async def test_nothing_is_made_for_nobody() -> None:
    made: list[str] = []

    def detail() -> Mapping[str, Json]:
        made.append("x")
        return {}

    feed = Feed()
    feed.publish("turn", detail)
    with feed.listen():
        pass
    feed.publish("turn", detail)
    assert made == []


async def test_slow_listener_loses_the_oldest_and_is_told() -> None:
    feed = Feed()
    with feed.listen() as listener:
        for number in range(PENDING + 2):
            feed.publish("turn", lambda number=number: {"number": number})
        assert await listener.next(5) == Happening("dropped", {"count": 2})
        assert await listener.next(5) == Happening("turn", {"number": 2})


async def test_silence_ends_after_a_while() -> None:
    with Feed().listen() as listener:
        assert await listener.next(0.01) is None


async def test_listeners_are_let_go_when_the_feed_closes() -> None:
    feed = Feed()
    with feed.listen() as listener:
        feed.publish("turn", lambda: {})
        feed.close()
        assert await listener.next(5) == Happening("turn", {})
        assert await listener.next(5) is None
        assert feed.is_closed
