"""Bodies are read to their end, or given up."""

from collections.abc import Iterator

import pytest
from starlette.types import Message, Receive

from mock_server.web.body import DRAINED_BYTES, BodyTooLarge, ClientGone, read_body

pytestmark = pytest.mark.anyio


def client(*chunks: bytes, then: Message | None = None) -> tuple[Receive, Iterator[Message]]:
    """A client that sends `chunks`, and what it has not sent yet."""
    end = then or {"type": "http.request", "body": b"", "more_body": False}
    left = iter(
        [*({"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks), end]
    )

    async def receive() -> Message:
        return next(left)

    return receive, left


async def test_chunks_are_joined() -> None:
    receive, _ = client(b"ab", b"c")
    assert await read_body(receive, 3) == b"abc"


@pytest.mark.req("HTTP-5")
async def test_oversized_body_is_read_to_its_end() -> None:
    receive, left = client(b"ab", b"cd", b"ef")
    with pytest.raises(BodyTooLarge):
        await read_body(receive, 3)
    assert next(left, None) is None


@pytest.mark.req("HTTP-5")
async def test_endless_body_is_given_up() -> None:
    huge = b" " * (DRAINED_BYTES // 2)
    receive, left = client(huge, huge, huge, huge)
    with pytest.raises(BodyTooLarge):
        await read_body(receive, 3)
    assert next(left, None) is not None


async def test_client_that_hangs_up_has_no_body() -> None:
    receive, _ = client(b"ab", then={"type": "http.disconnect"})
    with pytest.raises(ClientGone):
        await read_body(receive, 3)
