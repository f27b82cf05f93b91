"""The notifier of a server, if its project has push on; only then is httpx imported."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from structlog.stdlib import get_logger

from mock_server.faults.tampering import PushHook, untouched
from mock_server.project.endpoints import A2AServer
from mock_server.push.guard import Guard
from mock_server.push.hosts import Host, parse_host
from mock_server.push.notifier import Notifier
from mock_server.push.policy import UrlPolicy
from mock_server.push.resolver import Resolver

LOCAL = (
    "push notifications may go to loopback addresses; a real server refuses them, and so should "
    "a mock that others can reach"
)

logger = get_logger("a2a_server")


@asynccontextmanager
async def open_notifier(
    server: A2AServer,
    *,
    opens_loopback: bool,
    sends_authorization: bool,
    tamper: PushHook = untouched,
) -> AsyncGenerator[Notifier | None]:
    """What posts to callbacks as `server` allows; None if push is off there."""
    if not server.push_notifications_enabled:
        yield None
        return
    from mock_server.push.delivery import Delivery

    if opens_loopback:
        logger.warning("a2a_mock.push.local", flag="--allow-local-push", text=LOCAL)
    allowed = server.push_notification_allowed_hosts
    policy = UrlPolicy(None if allowed is None else tuple(_hosts(allowed)), opens_loopback)
    guard = Guard(policy, Resolver())
    async with Notifier(
        guard, Delivery(), sends_authorization=sends_authorization, tamper=tamper
    ) as notifier:
        yield notifier


def _hosts(entries: Iterable[str]) -> Iterable[Host]:
    """The entries as hosts; one that is none admits nobody, and says so."""
    for entry in entries:
        try:
            yield parse_host(entry)
        except ValueError:
            logger.warning("a2a_mock.push.no_host", entry=entry, text="expected a bare hostname")
