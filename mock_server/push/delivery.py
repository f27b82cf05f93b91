"""One POST to one callback, over a connection to an address that was checked.

The request names the address and carries the host's name beside it, for the Host header and for
TLS. Each post has a transport of its own: a pooled connection is known by its address alone, and
would be shared by all names there. A bare transport follows no redirect, keeps no cookie, asks no
proxy and logs no URL.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from mock_server.errors import PostFailed
from mock_server.push.policy import Destination, written

MAX_ATTEMPTS = 3
USER_AGENT = "a2a-mock"


@dataclass(frozen=True, slots=True)
class Times:
    """`connect_seconds` is for all addresses of a host together (PUSH-4)."""

    connect_seconds: float = 5.0
    overall_seconds: float = 30.0


class Delivery:
    """Callbacks must prove their names to `trust`; without it, to the usual authorities."""

    def __init__(self, times: Times | None = None, trust: ssl.SSLContext | None = None) -> None:
        self._times = times or Times()
        self._trust = trust or httpx.create_ssl_context()

    async def __call__(
        self, destination: Destination, headers: Mapping[str, str], body: bytes
    ) -> None:
        """Post `body`.

        Raises:
            PostFailed: it was not accepted; any status but 2xx counts, redirects included.
        """
        try:
            async with asyncio.timeout(self._times.overall_seconds):
                status = await self._post(destination, headers, body)
        except TimeoutError:
            raise PostFailed("no answer in time") from None
        if not httpx.codes.is_success(status):
            raise PostFailed(f"status {status}")

    async def _post(self, destination: Destination, headers: Mapping[str, str], body: bytes) -> int:
        """The status of the first address that a connection can be made to."""
        tried = destination.addresses[:MAX_ATTEMPTS]
        reason = ""
        for address in tried:
            request = self._request(destination, written(address), headers, body, len(tried))
            try:
                return await self._status(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                reason = f"{type(error).__name__} {error}".rstrip()
            except httpx.TransportError as error:
                # Its text may quote a header.
                raise PostFailed(type(error).__name__) from None
        raise PostFailed(reason)

    def _request(
        self,
        destination: Destination,
        address: str,
        headers: Mapping[str, str],
        body: bytes,
        attempts: int,
    ) -> httpx.Request:
        target, times = destination.target, self._times
        timeout = httpx.Timeout(times.overall_seconds, connect=times.connect_seconds / attempts)
        return httpx.Request(
            "POST",
            f"{target.scheme}://{address}:{target.port}{target.path}",
            headers={**headers, "Host": target.authority, "User-Agent": USER_AGENT},
            content=body,
            extensions={"timeout": timeout.as_dict(), "sni_hostname": str(target.host)},
        )

    async def _status(self, request: httpx.Request) -> int:
        async with httpx.AsyncHTTPTransport(verify=self._trust) as transport:
            response = await transport.handle_async_request(request)
            await response.aclose()
            return response.status_code
