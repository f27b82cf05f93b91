"""Events, as their subscribers get them."""

from collections.abc import Mapping

import pytest

from mock_server.dialogue.model import Json
from mock_server.service.events import PENDING, EventBus, ServerEvent

pytestmark = pytest.mark.anyio


@pytest.mark.req("ADMIN-2")
async def test_every_subscriber_gets_every_event_in_order() -> None:
    events = EventBus()
    with events.subscribe() as first, events.subscribe() as second:
        for number in range(3):
            events.publish("turn", lambda number=number: {"number": number})
        for subscriber in (first, second):
            got = [await subscriber.next(5) for _ in range(3)]
            assert got == [ServerEvent("turn", {"number": number}) for number in range(3)]


async def test_event_without_subscribers_is_not_made() -> None:
    made: list[str] = []

    def detail() -> Mapping[str, Json]:
        made.append("x")
        return {}

    events = EventBus()
    events.publish("turn", detail)
    with events.subscribe():
        pass
    events.publish("turn", detail)
    assert made == []


@pytest.mark.req("ADMIN-2", "RELOAD-1")
async def test_event_that_stands_is_told_to_newcomers_until_the_next_of_its_kind() -> None:
    events = EventBus()
    events.publish("reload", lambda: {"outcome": "failed"}, stands=True)
    events.publish("turn", lambda: {})
    for _ in range(2):
        with events.subscribe() as newcomer:
            assert await newcomer.next(5) == ServerEvent("reload", {"outcome": "failed"})
            assert await newcomer.next(0.01) is None
    events.publish("reload", lambda: {"outcome": "reloaded"})
    with events.subscribe() as newcomer:
        assert await newcomer.next(0.01) is None


async def test_slow_subscriber_loses_the_oldest_and_learns_how_many() -> None:
    events = EventBus()
    with events.subscribe() as subscriber:
        for number in range(PENDING + 2):
            events.publish("turn", lambda number=number: {"number": number})
        assert await subscriber.next(5) == ServerEvent("dropped", {"count": 2})
        assert await subscriber.next(5) == ServerEvent("turn", {"number": 2})


async def test_silence_ends_after_a_while() -> None:
    with EventBus().subscribe() as subscriber:
        assert await subscriber.next(0.01) is None


async def test_subscribers_wake_when_the_bus_closes() -> None:
    events = EventBus()
    with events.subscribe() as subscriber:
        events.publish("turn", lambda: {})
        events.close()
        assert await subscriber.next(5) == ServerEvent("turn", {})
        assert await subscriber.next(5) is None
        assert events.is_closed
