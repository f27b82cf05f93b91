"""Artifacts that grow, and what of them is read again when somebody looks."""

from functools import reduce
from typing import TYPE_CHECKING, Any

from inspector.core.decoding import Source
from inspector.core.entries import Channel, FrameReceived
from inspector.views.data import EMPTY, ArtifactRow, step
from inspector.views.reading import read_log
from inspector.wire.dialect import Part
from inspector.wire.json_values import Json

if TYPE_CHECKING:
    from conftest import Script


def raw(parts: tuple[Part, ...]) -> list[Json]:
    return [part.raw for part in parts]


def artifacts(script: "Script") -> list[ArtifactRow]:
    return list(reduce(step, read_log(script.entries), EMPTY).turns[-1].artifacts)


def test_the_end_of_a_text_is_read_without_its_beginning(script: "Script") -> None:
    script.send("x", stream=True)
    for number in range(10):
        script.event(script.chunk(str(number), append=number > 0))
    [row] = artifacts(script)
    assert row.newest(3) == ("789", False)
    assert row.newest(10) == ("0123456789", True)
    assert row.newest(99) == ("0123456789", True)


def test_equal_logs_have_equal_artifacts(script: "Script") -> None:
    script.send("x", stream=True).event(script.chunk("1", append=False))
    first, second = (reduce(step, read_log(script.entries), EMPTY).turns[-1] for _ in range(2))
    assert first.artifacts == second.artifacts
    assert hash(first.artifacts) == hash(second.artifacts)


def test_parts_that_are_no_text_are_found_apart(script: "Script") -> None:
    parts: list[Any] = [
        {"kind": "text", "text": "a"},
        {"kind": "data", "data": {"n": 1}},
        {"kind": "file", "file": {"uri": "http://a/"}},
    ]
    script.send("x").reply(script.task(artifacts=[{"artifactId": "a", "parts": parts}]))
    [row] = artifacts(script)
    assert row.text == "a"
    assert raw(row.parts) == parts
    assert raw(row.other_parts(9)) == parts[1:]
    assert raw(row.other_parts(1)) == [parts[1]]


def test_artifacts_are_told_apart_and_keep_their_order(script: "Script") -> None:
    both = [{"artifactId": name, "parts": [{"kind": "text", "text": name}]} for name in "ba"]
    script.send("x", stream=True).event(script.task("working", artifacts=both))
    script.event(script.chunk("!", append=True))
    rows = artifacts(script)
    assert [(row.artifact_id, row.text) for row in rows] == [("b", "b"), ("a", "a!")]
    assert [part for row in rows for part in raw(row.parts)] == [
        {"kind": "text", "text": text} for text in ("b", "a", "!")
    ]


def test_a_whole_artifact_takes_the_place_of_another_text(script: "Script") -> None:
    script.send("x", stream=True).event(script.chunk("old", append=False)).end()
    whole = {"artifactId": "a", "parts": [{"kind": "text", "text": "new"}]}
    script.poll(script.task("completed", artifacts=[whole]))
    [row] = artifacts(script)
    assert (row.text, row.chunks, row.is_complete) == ("new", 1, True)


def test_bytes_that_are_no_reply_have_no_result() -> None:
    assert Source(FrameReceived(1, 0, 1, Channel.RESPONSE, b"nonsense")).result is None
