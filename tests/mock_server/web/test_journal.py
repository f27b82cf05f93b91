"""The journal is bounded, and reads answers of any kind."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from mock_server.web.journal import (
    KEPT_BYTES,
    KEPT_BYTES_EACH,
    KEPT_EXCHANGES,
    ExchangeOutcome,
    Journal,
    read_outcome,
)

pytestmark = pytest.mark.anyio

SCOPE: dict[str, object] = {"method": "POST", "path": "/", "query_string": b"", "headers": []}


def journal() -> Journal:
    return Journal(lambda: datetime(2026, 11, 20, tzinfo=UTC), lambda: 0.0)


async def record(kept: Journal, chunks: Sequence[bytes], answer: bytes = b"") -> None:
    exchange = kept.open(SCOPE)
    pending = [*chunks]

    async def receive() -> Message:
        return {"type": "http.request", "body": pending.pop(0), "more_body": bool(pending)}

    async def send(_: Message) -> None:
        pass

    receive_next, send_next = exchange.recording_receive(receive), exchange.recording_send(send)
    for _ in chunks:
        await receive_next()
    await send_next({"type": "http.response.start", "status": 200, "headers": []})
    await send_next({"type": "http.response.body", "body": answer})
    kept.close(exchange)


@pytest.mark.req("ADMIN-1")
async def test_number_is_bounded() -> None:
    kept = journal()
    for _ in range(KEPT_EXCHANGES + 5):
        await record(kept, [b"{}"])
    numbers = [exchange.number for exchange in kept]
    assert numbers == [*range(6, KEPT_EXCHANGES + 6)]


@pytest.mark.req("ADMIN-1")
async def test_bytes_are_bounded() -> None:
    kept = journal()
    for _ in range(KEPT_BYTES // KEPT_BYTES_EACH + 10):
        await record(kept, [b"x" * KEPT_BYTES_EACH], b"y" * 10)
    sizes = [len(exchange.body) + len(exchange.answer) for exchange in kept]
    assert KEPT_BYTES // 2 < sum(sizes) <= KEPT_BYTES


async def test_long_body_is_kept_in_part_and_a_long_answer_not_at_all() -> None:
    kept = journal()
    await record(kept, [b"x" * (KEPT_BYTES_EACH + 1)], b"y" * (KEPT_BYTES_EACH + 1))
    (exchange,) = kept
    assert (len(exchange.body), exchange.answer) == (KEPT_BYTES_EACH, b"")


async def test_long_body_is_bounded_while_it_comes() -> None:
    exchange = journal().open(SCOPE)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * 100_000, "more_body": True}

    receive_next = exchange.recording_receive(receive)
    for _ in range(10):
        await receive_next()
    assert len(exchange.body) == KEPT_BYTES_EACH


async def test_body_in_chunks_is_put_together() -> None:
    kept = journal()
    await record(kept, [b'{"method"', b': "tasks/get"', b"}"])
    (exchange,) = kept
    assert exchange.request().method == "tasks/get"


async def test_exchange_that_is_dropped_while_open_leaves_no_bytes() -> None:
    kept = journal()
    open_one = kept.open(SCOPE)
    kept.clear()
    open_one.body = b"x" * KEPT_BYTES_EACH
    kept.close(open_one)
    for _ in range(KEPT_BYTES // KEPT_BYTES_EACH):
        await record(kept, [b"x" * KEPT_BYTES_EACH])
    assert len([*kept]) == KEPT_BYTES // KEPT_BYTES_EACH


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (
            b'{"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required"}}}',
            ExchangeOutcome("t", "c", "input_required"),
        ),
        (
            b'{"result":{"taskId":"t","contextId":"c","status":{"state":"working"}}}',
            ExchangeOutcome("t", "c", "working"),
        ),
        (b'{"result":{"taskId":"t","contextId":"c","artifact":{}}}', ExchangeOutcome("t", "c")),
        (b'{"error":{"code":-32001}}', ExchangeOutcome(error=-32001)),
        (b'{"result":null}', ExchangeOutcome()),
        (b"Not Found", ExchangeOutcome()),
    ],
)
def test_answer_is_read(answer: bytes, outcome: ExchangeOutcome) -> None:
    assert read_outcome(answer) == outcome


@given(st.binary(max_size=40))
def test_any_answer_is_read(answer: bytes) -> None:
    assert isinstance(read_outcome(answer), ExchangeOutcome)
