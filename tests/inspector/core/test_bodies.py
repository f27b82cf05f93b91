"""The newest bodies are in memory; older ones are read again from a file, or cut."""

from functools import partial

import pytest

from inspector.core.bodies import HOW_TO_KEEP, START_BYTES, Body, BodyMemory, Place
from inspector.core.decoding import Source
from inspector.core.entries import Channel, FrameReceived, Log, is_cut, size_of


def hold_in_file(memory: BodyMemory, contents: list[bytes]) -> list[Body]:
    """Bodies of `contents`, each with a place in a file that has them all."""
    file = b"".join(contents)
    offset, bodies = 0, list[Body]()
    for content in contents:
        place = Place(lambda start, length: file[start : start + length], offset, len(content))
        bodies.append(memory.hold(content, place))
        offset += len(content)
    return bodies


@pytest.mark.req("SESS-1")
def test_older_bodies_are_read_again_from_their_place() -> None:
    memory = BodyMemory(most_bytes=2500, warn=pytest.fail)
    contents = [bytes([number]) * 1000 for number in range(9)]
    bodies = hold_in_file(memory, contents)
    assert memory.held_bytes == sum(one.held_bytes for one in bodies) == 2000
    assert [one.read() for one in bodies] == contents
    assert sum(one.held_bytes for one in bodies) == 2000
    assert not any(one.is_cut for one in bodies)


def test_body_without_a_place_is_cut_and_says_so() -> None:
    warnings: list[str] = []
    memory = BodyMemory(most_bytes=2500, warn=warnings.append)
    bodies = [memory.hold(b"x" * 1000) for _ in range(5)]
    assert [one.held_bytes for one in bodies] == [START_BYTES] * 3 + [1000] * 2
    assert [one.is_cut for one in bodies] == [True] * 3 + [False] * 2
    assert memory.cut_bytes == 3 * (1000 - START_BYTES)
    assert memory.problem == f"0.0 MiB are cut: {warnings[0]}"
    assert len(warnings) == 1
    assert warnings[0].endswith(HOW_TO_KEEP)


def test_newest_body_stays_whatever_its_size() -> None:
    memory = BodyMemory(most_bytes=10)
    first, second = memory.hold(b"x" * 1000), memory.hold(b"y" * 1000)
    assert (first.is_cut, second.is_cut) == (True, False)


def test_body_is_cut_where_its_file_is_gone() -> None:
    memory = BodyMemory(most_bytes=10)
    body = memory.hold(b"x" * 1000, Place(lambda _, __: None, 0, 1000))
    memory.hold(b"y")
    assert not body.is_cut
    assert body.read() == b""
    assert body.is_cut


def test_what_still_waits_to_be_written_is_written_first() -> None:
    def flush() -> None:
        for body in bodies:
            body.save(Place(lambda _, __: b"x" * 1000, 0, 1000))

    memory = BodyMemory(most_bytes=1500, flush=flush, warn=pytest.fail)
    bodies = [memory.hold(b"x" * 1000)]
    memory.hold(b"y" * 1000)
    assert (bodies[0].held_bytes, bodies[0].read()) == (0, b"x" * 1000)


def test_body_equals_its_bytes_wherever_they_are() -> None:
    memory = BodyMemory(most_bytes=10)
    [body, _] = hold_in_file(memory, [b"x" * 1000, b"y" * 1000])
    assert body.held_bytes == 0
    assert body == Body(b"x" * 1000) == b"x" * 1000
    assert hash(body) == hash(b"x" * 1000)
    assert (body == "x", body == b"") == (False, False)
    assert repr(Body(b"x")) == "Body(b'x')"


def test_reply_that_was_cut_reads_as_one_that_says_so() -> None:
    log = Log(lambda: 0, memory=BodyMemory(most_bytes=10))
    body = log.memory.hold(b'{"result": {"kind": "task", "id": "t"}}' + b" " * 1000)
    frame = log.append(partial(FrameReceived, exchange=1, channel=Channel.RESPONSE, content=body))
    before = Source(frame).result
    log.memory.hold(b"{}")
    after = Source(frame).reply
    assert (is_cut(frame), size_of(frame)) == (True, 1039)
    assert before is not None
    assert before.task_id == "t"
    assert after is not None
    assert after.problem == f"cut: {START_BYTES} of 1039 bytes are kept"
