"""What is written in one step of the event loop goes out as one."""

import asyncio

import pytest

from mock_server.web.joined_writes import JoinedWrites

pytestmark = pytest.mark.anyio


class Wire(asyncio.Transport):
    """What comes of a transport."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.seen.append(bytes(data))

    def close(self) -> None:
        self.seen.append("closed")

    def abort(self) -> None:
        self.seen.append("aborted")


async def test_head_and_body_go_out_together_and_the_next_answer_by_itself() -> None:
    wire = Wire()
    joined = JoinedWrites(wire)
    for written in (b"head ", b"body", b""):
        joined.write(written)
    assert wire.seen == []
    await asyncio.sleep(0)
    joined.write(b"next")
    await asyncio.sleep(0)
    assert wire.seen == [b"head body", b"next"]


@pytest.mark.parametrize("end", ["closed", "aborted"])
async def test_what_was_written_goes_out_before_the_end(end: str) -> None:
    wire = Wire()
    joined = JoinedWrites(wire)
    joined.write(b"head ")
    joined.write(b"half a bo")
    (joined.close if end == "closed" else joined.abort)()
    await asyncio.sleep(0)
    assert wire.seen == [b"head half a bo", end]
