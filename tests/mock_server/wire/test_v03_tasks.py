"""Tasks of the 0.3 wire, written and read back."""

import json
from datetime import UTC, datetime

import pytest
from a2a.compat.v0_3 import types
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.tasks.log import ArtifactUpdate, StatusUpdate
from mock_server.tasks.task import (
    Artifact,
    DataPart,
    FilePart,
    Message,
    Part,
    Role,
    Status,
    Task,
    TaskState,
    TextPart,
)
from mock_server.wire.v03_tasks import decode_task, encode_task, encode_update, with_history

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)

words = st.text(max_size=5)
metadata = st.none() | st.dictionaries(words, st.none() | st.booleans() | words, max_size=2)
filled = st.dictionaries(words, st.integers(-9, 9) | words, max_size=2)
parts: st.SearchStrategy[Part] = (
    st.builds(TextPart, words, metadata)
    | st.builds(DataPart, filled, metadata)
    | st.builds(FilePart, st.just({"uri": "http://x/y"}), metadata)
)
part_lists = st.lists(parts, max_size=3).map(tuple)
messages = st.builds(
    Message,
    words,
    st.sampled_from(Role),
    part_lists,
    st.none() | words,
    st.none() | words,
    metadata,
    st.none() | st.lists(words, max_size=2).map(tuple),
    st.none() | st.lists(words, max_size=2).map(tuple),
)
statuses = st.builds(
    Status,
    st.sampled_from(TaskState),
    st.none() | st.datetimes(timezones=st.just(UTC)),
    st.none() | messages,
)
artifacts = st.builds(Artifact, words, part_lists, st.none() | words)
tasks = st.builds(
    Task,
    words,
    words,
    statuses,
    st.lists(messages, max_size=2).map(tuple),
    st.lists(artifacts, max_size=2).map(tuple),
    filled,
)


@settings(max_examples=100)
@given(tasks)
def test_what_is_written_is_read_back(task: Task) -> None:
    assert decode_task(encode_task(task)) == task


@pytest.mark.req("HTTP-5a")
@settings(max_examples=100)
@given(tasks)
def test_bytes_are_those_that_the_sdks_models_write(task: Task) -> None:
    written = encode_task(task)
    model = types.Task.model_validate_json(written)
    assert json.loads(written) == model.model_dump(mode="json", exclude_none=True)
    assert [*json.loads(written)] == [*model.model_dump(mode="json", exclude_none=True)]


@pytest.mark.req("OUT-3", "OUT-5")
@pytest.mark.parametrize(
    ("state", "spelling"),
    [
        (TaskState.INPUT_REQUIRED, "input-required"),
        (TaskState.AUTH_REQUIRED, "auth-required"),
        (TaskState.CANCELED, "canceled"),
    ],
)
def test_status_update_is_spelt_as_on_the_wire(state: TaskState, spelling: str) -> None:
    update = json.loads(encode_update("t", "c", StatusUpdate(Status(state, NOW), is_final=True)))
    assert update == {
        "contextId": "c",
        "final": True,
        "kind": "status-update",
        "status": {"state": spelling, "timestamp": "2026-11-20T10:00:00.000000+00:00"},
        "taskId": "t",
    }


@pytest.mark.req("OUT-4")
@pytest.mark.parametrize(
    ("appends", "is_last", "flags"),
    [
        (False, False, {}),
        (True, False, {"append": True}),
        (True, True, {"append": True, "lastChunk": True}),
    ],
)
def test_artifact_update_says_append_and_last(
    appends: bool, is_last: bool, flags: dict[str, bool]
) -> None:
    artifact = Artifact("a", (TextPart("x"),), "explain")
    update = json.loads(encode_update("t", "c", ArtifactUpdate(artifact, appends, is_last)))
    shown = {"artifactId": "a", "name": "explain", "parts": [{"kind": "text", "text": "x"}]}
    rest = {"artifact": shown, "contextId": "c", "kind": "artifact-update", "taskId": "t"}
    assert update == {**rest, **flags}


@pytest.mark.req("TURN-9", "HTTP-5a")
@pytest.mark.parametrize(
    ("length", "kept"),
    [(None, "abc"), (-1, "abc"), (0, None), (1, "c"), (2, "bc"), (3, "abc"), (9, "abc")],
)
def test_history_is_cut_from_the_front(length: int | None, kept: str | None) -> None:
    history = tuple(Message(name, Role.USER, ()) for name in "abc")
    task = encode_task(Task("t", "c", Status(TaskState.WORKING), history))
    cut = json.loads(with_history(task, length))
    assert [*cut] == sorted(cut)
    if kept is None:
        assert "history" not in cut
    else:
        assert [message["messageId"] for message in cut["history"]] == [*kept]
