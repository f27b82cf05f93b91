"""Request bodies, up to a limit."""

from starlette.types import Receive

# What is read past the limit and thrown away: a client that is refused while it still writes
# sees a reset instead of the answer.
DRAINED_BYTES = 64 * 1024 * 1024


class BodyTooLarge(Exception):
    """The body is longer than the limit."""


class ClientGone(Exception):
    """The client hung up before its request was complete."""


async def read_body(receive: Receive, limit_bytes: int) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: it is longer than `limit_bytes`, whether it said so or came in chunks.
        ClientGone: it never came to its end.
    """
    chunks: list[bytes] = []
    size_bytes = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size_bytes += len(chunk)
        if size_bytes <= limit_bytes:
            chunks.append(chunk)
        elif size_bytes > limit_bytes + DRAINED_BYTES:
            break
    if size_bytes > limit_bytes:
        raise BodyTooLarge
    return b"".join(chunks)
