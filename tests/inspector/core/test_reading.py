"""Entries read in their order, the large ones once and beside everything else."""

import asyncio
import json
import threading
from collections.abc import Callable

import pytest

from inspector.core.decoding import HUGE_BYTES, LARGE_BYTES, InOrder, ReadLately, is_huge
from inspector.core.entries import Channel, Entry, FrameReceived

pytestmark = pytest.mark.req("CONN-5")


def frame(seq: int, size_bytes: int) -> FrameReceived:
    return FrameReceived(seq, 0.0, 1, Channel.RESPONSE, b"," * size_bytes)


@pytest.mark.anyio
async def test_huge_entry_is_read_in_a_thread_and_order_stays() -> None:
    read: list[tuple[int, bool]] = []
    taken: list[int] = []
    loop_thread = threading.get_ident()

    def read_one(entry: Entry) -> int:
        read.append((entry.seq, threading.get_ident() == loop_thread))
        return entry.seq

    entries = InOrder(read_one, taken.append)
    for seq in range(1, 1001):
        entries.put(frame(seq, HUGE_BYTES if seq in (3, 500) else 10))
    assert taken == [1, 2]
    await entries.settle()
    assert taken == list(range(1, 1001))
    assert [seq for seq, is_on_loop in read if not is_on_loop] == [3, 500]
    entries.put(frame(1001, 10))
    assert taken[-1] == 1001


@pytest.mark.anyio
async def test_loop_goes_on_while_a_huge_entry_is_read() -> None:
    is_free = threading.Event()
    entries = InOrder(lambda _: is_free.wait(60), lambda _: None)
    entries.put(frame(1, HUGE_BYTES))
    for _ in range(10):
        await asyncio.sleep(0)
    is_free.set()
    await entries.settle()


@pytest.mark.anyio
async def test_nothing_is_taken_after_the_end() -> None:
    taken: list[int] = []
    entries = InOrder(lambda entry: entry.seq, taken.append)
    entries.put(frame(1, HUGE_BYTES))
    entries.put(frame(2, 10))
    entries.close()
    with pytest.raises(asyncio.CancelledError):
        await entries.settle()
    assert taken == []


def test_one_long_text_is_read_at_once() -> None:
    assert not is_huge(FrameReceived(1, 0.0, 1, Channel.RESPONSE, b"x" * HUGE_BYTES))
    assert is_huge(frame(1, HUGE_BYTES))


def counted(calls: list[bytes], raw: bytes) -> Callable[[], object]:
    def read() -> object:
        calls.append(raw)
        return json.loads(raw)

    return read


def test_large_body_is_read_once_until_others_came() -> None:
    lately: ReadLately[object] = ReadLately()
    bodies = [json.dumps([number] * LARGE_BYTES).encode() for number in range(3)]
    calls: list[bytes] = []
    for raw in (bodies[0], bodies[0], bodies[1], bodies[0], bodies[2], bodies[0], bodies[1]):
        assert lately.get(("a", raw), counted(calls, raw)) == json.loads(raw)
    assert calls == [bodies[0], bodies[1], bodies[2], bodies[1]]


def test_body_that_cannot_be_read_raises_each_time() -> None:
    lately: ReadLately[object] = ReadLately()
    raw = b"?" * LARGE_BYTES
    for _ in range(2):
        with pytest.raises(json.JSONDecodeError):
            lately.get(("a", raw), counted([], raw))
