"""URLs whose host is a name: looked up, within a time, at every check."""

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

import pytest

from mock_server.errors import PushRefused
from mock_server.push.addresses import Address
from mock_server.push.guard import Guard
from mock_server.push.policy import NOT_PUBLIC, UrlPolicy

pytestmark = pytest.mark.anyio

PUBLIC = ip_address("8.8.8.8")


def names(**addresses: str) -> Callable[[str], Awaitable[tuple[Address, ...]]]:
    """A resolver that knows `addresses` and no more."""

    async def resolve(name: str) -> tuple[Address, ...]:
        if name not in addresses:
            raise OSError("nodename nor servname provided")
        return tuple(ip_address(address) for address in addresses[name].split())

    return resolve


async def hang(_: str) -> tuple[Address, ...]:
    await asyncio.Event().wait()
    return ()


async def refusal(guard: Guard, url: str) -> PushRefused:
    with pytest.raises(PushRefused) as caught:
        await guard.check(url)
    return caught.value


@pytest.mark.req("PUSH-3")
async def test_name_with_public_addresses_is_taken_with_all_of_them() -> None:
    guard = Guard(UrlPolicy(), names(hooks="8.8.8.8 2606:4700::1"))
    destination = await guard.check("https://Hooks./x")
    assert destination.target.host == "hooks"
    assert destination.addresses == (PUBLIC, ip_address("2606:4700::1"))


@pytest.mark.req("PUSH-3")
async def test_literal_address_is_not_looked_up() -> None:
    assert (await Guard(UrlPolicy(), hang).check("http://8.8.8.8/")).addresses == (PUBLIC,)


@pytest.mark.req("PUSH-3")
async def test_client_cannot_tell_why_a_name_is_refused() -> None:
    known = names(localhost="127.0.0.1", intra="10.0.0.1", mixed="8.8.8.8 ::1", empty="")
    guard = Guard(UrlPolicy(), known)
    refusals = [
        await refusal(guard, f"http://{name}/")
        for name in ("localhost", "intra", "mixed", "empty", "unknown")
    ]
    refusals.append(await refusal(Guard(UrlPolicy(), hang, dns_seconds=0.01), "http://slow/"))
    assert {refused.reason for refused in refusals} == {NOT_PUBLIC}
    assert len({refused.detail for refused in refusals}) == 5


@pytest.mark.req("PUSH-5")
async def test_local_push_opens_names_of_loopback() -> None:
    guard = Guard(UrlPolicy(opens_loopback=True), names(localhost="::1 127.0.0.1", lan="10.0.0.1"))
    assert len((await guard.check("http://localhost/")).addresses) == 2
    assert (await refusal(guard, "http://lan/")).reason == NOT_PUBLIC


@pytest.mark.req("PUSH-3")
async def test_host_that_is_not_allowed_is_not_looked_up() -> None:
    guard = Guard(UrlPolicy(("example.com",)), hang)
    assert "allowed" in (await refusal(guard, "http://example.org/")).reason
