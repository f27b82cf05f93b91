"""Slots, their changes, and artifacts as they grow."""

import base64
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.decoding import Source
from inspector.core.entries import Channel, FrameReceived, Purpose
from inspector.net.events import FailureKind
from inspector.views.data import (
    EMPTY,
    ArtifactRow,
    SlotChange,
    SlotRow,
    compare,
    step,
)
from inspector.views.reading import read_log
from inspector.wire.dialect import File, Part, files
from inspector.wire.json_values import Json, parse_json
from inspector.wire.v0_3 import (
    _read_part,  # pyright: ignore[reportPrivateUsage]: it is counted, not called
    read_result,
)

if TYPE_CHECKING:
    from conftest import Script


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({}, {"a": 1}, SlotChange.ADDED),
        ({"a": None}, {"a": 1}, SlotChange.ADDED),
        ({"a": 1}, {"a": 1}, SlotChange.SAME),
        ({"a": 1}, {"a": 2}, SlotChange.CHANGED),
        ({"a": 1}, {"a": True}, SlotChange.CHANGED),
        ({"a": 1}, {"a": None}, SlotChange.CLEARED),
        ({"a": 1}, {}, SlotChange.CLEARED),
    ],
)
@pytest.mark.req("DATA-1")
def test_changes(before: Any, after: Any, change: SlotChange) -> None:
    [row] = compare(before, after, {})
    assert row.change is change
    assert row.previous == before.get("a")


def test_a_seeded_value_is_marked_only_where_it_stayed() -> None:
    rows = compare({}, {"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert [row.is_seeded for row in rows] == [True, False]


@pytest.mark.req("DATA-1")
def test_each_turn_is_compared_with_the_one_before(script: "Script") -> None:
    first = {"state": "input_required", "active_flow": "transfer", "slots": {"amount": 50}}
    second = {
        "state": "completed",
        "slots": {"recipient": "Joe"},
        "persisted_slots": {"recipient": "Joe"},
    }
    script.send("x", metadata={"slots": {"amount": 50}}).reply(script.task(data=first))
    script.send("Joe").reply(script.task(data=second))
    one, two = script.views.data.turns
    assert one.slots == (SlotRow("amount", 50, None, SlotChange.ADDED, is_seeded=True),)
    assert one.active_flow == "transfer"
    assert two.slots == (
        SlotRow("recipient", "Joe", None, SlotChange.ADDED),
        SlotRow("amount", None, 50, SlotChange.CLEARED),
    )
    assert two.persisted_slots == {"recipient": "Joe"}
    assert two.active_flow is None
    assert two.parts == (second,)


def test_contexts_are_told_apart(script: "Script") -> None:
    script.send("x").reply(script.task(data={"slots": {"a": 1}}))
    script.send("x").reply(script.task(data={"slots": {"a": 2}}, contextId="other"))
    assert script.views.data.turns[1].slots[0].change is SlotChange.ADDED


def test_nothing_is_new_in_a_conversation_that_nobody_saw_begin(script: "Script") -> None:
    script.send("x", contextId="old").reply(script.task(data={"slots": {"a": 1}}, contextId="old"))
    script.send("y", contextId="old").reply(script.task(data={"slots": {"a": 2}}, contextId="old"))
    changes = [turn.slots[0].change for turn in script.views.data.turns]
    assert changes == [SlotChange.SAME, SlotChange.CHANGED]


def test_failures_are_told(script: "Script") -> None:
    told = {"error_type": "internal", "error_info": {"action": "a"}, "reason": "r"}
    script.send("x").reply(script.task("failed", data=told))
    [turn] = script.views.data.turns
    assert (turn.error_type, turn.error_info, turn.reason) == ("internal", {"action": "a"}, "r")


def test_a_turn_without_slots_keeps_those_known(script: "Script") -> None:
    script.send("x").reply(script.task(data={"slots": {"a": 1}}))
    script.send("x").reply(script.task("working"))
    [row] = script.views.data.turns[1].slots
    assert (row.value, row.change) == (1, SlotChange.SAME)


@pytest.mark.req("TIME-1")
def test_an_artifact_grows_chunk_by_chunk(script: "Script") -> None:
    script.send("x", stream=True)
    script.event(script.chunk("1", append=False))
    script.event(script.chunk("2")).event(script.chunk("3", last=True))
    [artifact] = script.views.data.turns[-1].artifacts.rows
    assert (artifact.name, artifact.text, artifact.chunks) == ("fee", "123", 3)
    assert artifact.is_complete
    assert len(list(artifact.parts)) == 3
    script.event(script.chunk("new", append=False)).end()
    [artifact] = script.views.data.turns[-1].artifacts.rows
    assert (artifact.text, artifact.chunks, artifact.is_complete) == ("new", 1, False)


def test_an_update_without_slots_leaves_those_of_its_turn(script: "Script") -> None:
    script.send("x", stream=True).event(script.task("working", data={"slots": {"a": 1}}))
    script.event(script.update("completed", "done", final=True)).end()
    [turn] = script.views.data.turns
    assert (turn.slots[0].change, turn.state) == (SlotChange.ADDED, "completed")


def test_a_broken_exchange_leaves_nothing_open(script: "Script") -> None:
    script.send("x").fail(FailureKind.CONNECT)
    assert script.views.data == EMPTY


@pytest.mark.req("PUSHRX-1")
def test_a_notification_of_another_task_is_of_the_turn_that_asked_for_it(script: "Script") -> None:
    config = {"pushNotificationConfig": {"url": "http://127.0.0.1:9/hook-1"}}
    message = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}
    params = {"message": message, "configuration": config}
    script.request(Purpose.STREAM, "message/stream", params)
    script.event(script.update("working"))
    other = script.task("working", id="t2", data={"slots": {"amount": 50}})
    script.push(other, url="http://127.0.0.1:9/hook-1")
    [turn] = script.views.data.turns
    assert [row.name for row in turn.slots] == ["amount"]


def raw(parts: Iterable[Part]) -> list[Json]:
    return [part.raw for part in parts]


def artifacts(script: "Script") -> list[ArtifactRow]:
    return list(reduce(step, read_log(script.entries), EMPTY).turns[-1].artifacts.rows)


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


def calls_of(function: Callable[..., object], run: Callable[[], object]) -> int:
    """How often `run` calls `function`."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is function.__code__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


def many_artifacts(count: int) -> list[Json]:
    return [
        {"artifactId": f"a{number}", "parts": [{"kind": "data", "data": {"number": number}}]}
        for number in range(count)
    ]


@pytest.mark.req("CONN-5")
def test_artifacts_of_a_reply_are_read_by_parsing_it_once(script: "Script") -> None:
    script.send("hi").reply(script.task(artifacts=many_artifacts(300)))
    rows: list[ArtifactRow] = []
    read: list[Json] = []

    def look() -> None:
        rows.extend(script.views.data.turns[0].artifacts.rows)
        read.extend(part.data for row in rows for part in (*row.parts, *row.other_parts(1)))

    # the request and the reply
    assert calls_of(parse_json, look) <= 3
    assert read == [{"number": number} for number in range(300) for _ in range(2)]


@pytest.mark.req("CONN-5")
def test_each_artifact_of_a_reply_costs_the_same(
    script: "Script", new_script: Callable[[], "Script"]
) -> None:
    def parts_read(one: "Script", count: int) -> int:
        one.send("hi").reply(one.task(artifacts=many_artifacts(count)))
        rows = one.views.data.turns[0].artifacts.rows
        return calls_of(_read_part, lambda: [row.other_parts(1) for row in rows])

    assert parts_read(new_script(), 400) <= 2 * parts_read(script, 200)


def test_bytes_that_are_no_reply_have_no_result() -> None:
    assert Source(FrameReceived(1, 0, 1, Channel.RESPONSE, b"nonsense")).result is None


@pytest.mark.req("DATA-2")
@pytest.mark.parametrize(
    ("part", "file"),
    [
        (
            {"kind": "file", "file": {"name": "a.png", "mimeType": "image/png", "bytes": "AAEC"}},
            File("a.png", "image/png", "AAEC"),
        ),
        (
            {"kind": "file", "file": {"uri": "https://x/a"}},
            File(None, None, uri="https://x/a"),
        ),
        (
            {"raw": "AA==", "filename": "b", "mediaType": "text/plain"},
            File("b", "text/plain", "AA=="),
        ),
        ({"url": "https://x/c", "filename": "c"}, File("c", None, uri="https://x/c")),
        ({"kind": "text", "text": "no file"}, None),
        ({"kind": "file", "file": 3}, None),
        (None, None),
    ],
)
def test_file_is_known_in_both_spellings(part: Json, file: File | None) -> None:
    message: Json = {"kind": "message", "parts": [part]}
    assert files(read_result(message).parts) == (() if file is None else (file,))


@pytest.mark.req("DATA-2")
@given(st.binary(max_size=100))
def test_size_is_that_of_the_content(content: bytes) -> None:
    file = File("f", "", base64.b64encode(content).decode())
    assert file.content() == content
    assert file.size_bytes == len(content)


def test_content_that_is_no_base64_is_said() -> None:
    with pytest.raises(ValueError, match="the file 'f' is not Base64"):
        File("f", "", "###").content()


@pytest.mark.req("DATA-2", "TUI-5")
@given(st.text(max_size=40))
def test_name_for_this_machine_leads_nowhere_else(name: str) -> None:
    safe = File(name, "").safe_name
    assert safe
    assert safe.isascii()
    assert "/" not in safe
    assert not safe.startswith(".")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\y.txt", "y.txt"),
        (".bashrc", "bashrc"),
        ("", "unnamed"),
    ],
)
def test_safe_name_of(name: str, safe: str) -> None:
    assert File(name, "").safe_name == safe
