"""Look-ups on threads that nobody has to wait for."""

import asyncio
import threading
from ipaddress import ip_address

import pytest

from mock_server.push.addresses import Address
from mock_server.push.resolver import MAX_LOOKUPS, Resolver, system_addresses

pytestmark = pytest.mark.anyio


async def test_machine_knows_itself() -> None:
    addresses = await Resolver()("localhost")
    assert addresses
    assert all(address.is_loopback for address in addresses)
    assert len({*addresses}) == len(addresses)


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize("name", ["nowhere.invalid", "a" * 70])
async def test_unknown_name_is_an_error(name: str) -> None:
    with pytest.raises(OSError, match=r".+"):
        await Resolver()(name)


def test_numbers_are_addresses_to_the_machine() -> None:
    assert system_addresses("127.1") == (ip_address("127.0.0.1"),)


@pytest.mark.req("PUSH-3")
async def test_hanging_lookups_hold_nobody_up_and_are_counted() -> None:
    let_go, left = threading.Event(), threading.Semaphore(0)

    def look_up(name: str) -> tuple[Address, ...]:
        if name == "slow":
            let_go.wait(60)
            left.release()
        return (ip_address("8.8.8.8"),)

    resolver = Resolver(look_up)
    hanging = [asyncio.create_task(resolver("slow")) for _ in range(MAX_LOOKUPS - 1)]
    await asyncio.sleep(0)
    assert await resolver("fast") == (ip_address("8.8.8.8"),)
    hanging.append(asyncio.create_task(resolver("slow")))
    await asyncio.sleep(0)
    with pytest.raises(OSError, match="too many"):
        await resolver("fast")
    for lookup in hanging[1:]:
        lookup.cancel()
    assert threading.active_count() > MAX_LOOKUPS
    let_go.set()
    assert await hanging[0] == (ip_address("8.8.8.8"),)
    for _ in hanging:
        assert await asyncio.to_thread(left.acquire, timeout=60)


def test_answer_that_comes_after_the_end_is_dropped() -> None:
    begun, let_go = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def look_up(_: str) -> tuple[Address, ...]:
        threads.append(threading.current_thread())
        begun.set()
        let_go.wait(60)
        return ()

    async def give_up() -> None:
        lookup = asyncio.create_task(Resolver(look_up)("slow"))
        await asyncio.to_thread(begun.wait, 60)
        lookup.cancel()

    asyncio.run(give_up())
    let_go.set()
    threads[0].join(60)
    assert not threads[0].is_alive()
