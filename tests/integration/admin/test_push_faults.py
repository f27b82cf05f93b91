"""Faults of push notifications as a callback host sees them."""

import json
from typing import TYPE_CHECKING

import pytest

from mock_server.dialogue.model import Json

if TYPE_CHECKING:
    from tests.conftest import CallbackHost, Hosting, Posted
    from tests.integration.conftest import Mock, Serving


pytestmark = pytest.mark.anyio

TOKEN = "x-a2a-notification-token"


async def ask(mock: "Mock", host: "CallbackHost", message_id: str = "m1") -> None:
    """A turn that asks for push notifications, and comes to its end."""
    config = {"pushNotificationConfig": {"url": host.url, "token": "right"}}
    task = await mock.send("send money", message_id, context=None, configuration=config)
    assert task["status"]["state"] == "input-required"


def states(posted: list["Posted"]) -> list[str]:
    return [json.loads(one.body)["status"]["state"] for one in posted]


@pytest.mark.req("ADMIN-1")
async def test_push_notification_is_lost(serving: "Serving", callback_host: "Hosting") -> None:
    async with callback_host() as host, serving(pushes=True) as mock:
        await mock.arm({"effect": "push_lost", "match": {"state": "working"}})
        await ask(mock, host)
        assert states(await host.wait_for(2)) == ["submitted", "input-required"]


@pytest.mark.req("ADMIN-1")
async def test_push_notification_is_late(serving: "Serving", callback_host: "Hosting") -> None:
    async with callback_host() as host, serving(pushes=True) as mock:
        effect: Json = {"kind": "push_late", "seconds": 4, "jitter_seconds": 1}
        await mock.arm({"effect": effect, "match": {"state": "working"}})
        await ask(mock, host)
        assert states(await host.wait_for(3)) == ["submitted", "working", "input-required"]
        (late,) = mock.slept
        assert 4 <= late < 5


@pytest.mark.req("ADMIN-1")
async def test_push_notification_is_duplicated(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    async with callback_host() as host, serving(pushes=True) as mock:
        effect: Json = {"kind": "push_duplicated", "times": 3}
        await mock.arm({"effect": effect, "match": {"state": "working"}})
        await ask(mock, host)
        posted = await host.wait_for(5)
        assert states(posted) == ["submitted", *["working"] * 3, "input-required"]


@pytest.mark.req("ADMIN-1")
async def test_push_notifications_are_reordered(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    async with callback_host() as host, serving(pushes=True) as mock:
        await mock.arm({"effect": "push_reordered", "count": 1})
        await ask(mock, host)
        assert states(await host.wait_for(3)) == ["working", "submitted", "input-required"]


@pytest.mark.req("ADMIN-1")
async def test_push_notification_has_a_wrong_token(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    async with callback_host() as host, serving(pushes=True) as mock:
        await mock.arm({"effect": "push_wrong_token", "match": {"state": "working"}})
        await ask(mock, host)
        tokens = [one.headers[TOKEN] for one in await host.wait_for(3)]
        assert tokens == ["right", "wrong-token", "right"]


@pytest.mark.req("ADMIN-1")
async def test_count_of_a_push_fault_is_of_notifications(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    async with callback_host() as host, serving(pushes=True) as mock:
        (fault,) = await mock.arm({"effect": "push_lost", "count": 2})
        await ask(mock, host)
        await ask(mock, host, "m2")
        posted = await host.wait_for(4)
        assert states(posted) == ["input-required", "submitted", "working", "input-required"]
        assert (await mock.admin(f"faults/{fault}")).json()["remaining"] == 0
