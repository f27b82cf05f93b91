"""The check that a callback URL passes at its registration and before each post (PUSH-3)."""

import asyncio
from dataclasses import dataclass

from mock_server.errors import PushRefused
from mock_server.push.addresses import Address
from mock_server.push.policy import NOT_PUBLIC, Target, UrlPolicy, admit, parse_target
from mock_server.push.resolver import Resolve

DNS_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Destination:
    """Where to connect to: one of `addresses`, and nowhere that a second look-up might lead."""

    target: Target
    addresses: tuple[Address, ...]


class Guard:
    """`policy` with a resolver."""

    def __init__(
        self, policy: UrlPolicy, resolve: Resolve, *, dns_seconds: float = DNS_SECONDS
    ) -> None:
        self._policy = policy
        self._resolve = resolve
        self._dns_seconds = dns_seconds

    async def check(self, url: str) -> Destination:
        """Return where `url` leads.

        Raises:
            PushRefused: it leads where no callback may be, or nowhere within the time for DNS.
        """
        target = parse_target(url, self._policy)
        if not isinstance(target.host, str):
            return Destination(target, (target.host,))
        return Destination(target, admit(await self._addresses(target.host), self._policy))

    async def _addresses(self, name: str) -> tuple[Address, ...]:
        try:
            async with asyncio.timeout(self._dns_seconds):
                return await self._resolve(name)
        except TimeoutError:
            raise PushRefused(NOT_PUBLIC, "the name was not resolved in time") from None
        except OSError:
            raise PushRefused(NOT_PUBLIC, "the name cannot be resolved") from None
