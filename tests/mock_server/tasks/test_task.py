"""A task is the fold of its updates."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.errors import IllegalTransition
from mock_server.tasks.task import (
    TERMINAL_STATES,
    Artifact,
    ArtifactUpdate,
    Message,
    Role,
    Status,
    StatusUpdate,
    Task,
    TaskState,
    TextPart,
    Update,
    apply,
    submitted,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
HELLO = Message("m1", Role.USER, (TextPart("hello"),))
TASK = submitted("t1", "c1", HELLO)


def said(text: str) -> Message:
    return Message(text, Role.AGENT, (TextPart(text),), "c1", "t1")


def chunk(text: str, *, appends: bool = False, artifact_id: str = "a1") -> ArtifactUpdate:
    return ArtifactUpdate(Artifact(artifact_id, (TextPart(text),)), appends)


@pytest.mark.req("OUT-5")
def test_submitted_task_holds_the_users_message() -> None:
    assert TASK.status == Status(TaskState.SUBMITTED)
    assert TASK.history == (replace(HELLO, task_id="t1", context_id="c1"),)


@pytest.mark.req("TURN-2")
def test_task_names_the_one_that_the_message_followed() -> None:
    assert submitted("t2", "c1", replace(HELLO, task_id="t1")).metadata == {"previousTaskId": "t1"}
    assert TASK.metadata == {}


@pytest.mark.req("OUT-5")
def test_replaced_status_message_moves_to_the_history() -> None:
    asked = apply(TASK, StatusUpdate(Status(TaskState.INPUT_REQUIRED, NOW, said("which?"))))
    canceled = apply(asked, StatusUpdate(Status(TaskState.CANCELED, NOW, said("done"))))
    assert asked.history == TASK.history
    assert canceled.history == (*TASK.history, said("which?"))
    assert canceled.status.message == said("done")


@pytest.mark.req("OUT-4")
def test_appended_chunks_assemble_one_artifact() -> None:
    updates = [chunk("Your "), chunk("fee", appends=True), chunk("other", artifact_id="a2")]
    task = TASK
    for update in updates:
        task = apply(task, update)
    assert task.artifacts == (
        Artifact("a1", (TextPart("Your "), TextPart("fee"))),
        Artifact("a2", (TextPart("other"),)),
    )


def test_chunk_that_does_not_append_begins_anew() -> None:
    task = apply(apply(TASK, chunk("old")), chunk("new"))
    assert task.artifacts == (Artifact("a1", (TextPart("new"),)),)


@pytest.mark.parametrize("state", sorted(TERMINAL_STATES))
def test_terminal_task_takes_no_update(state: TaskState) -> None:
    over = apply(TASK, StatusUpdate(Status(state, NOW), is_final=True))
    with pytest.raises(IllegalTransition) as caught:
        apply(over, StatusUpdate(Status(TaskState.WORKING, NOW)))
    assert (caught.value.task_id, caught.value.state) == ("t1", state)


open_states = st.sampled_from([TaskState.WORKING, TaskState.INPUT_REQUIRED])
messages = st.one_of(st.none(), st.text(max_size=3).map(said))
updates = st.one_of(
    st.builds(StatusUpdate, st.builds(Status, open_states, st.just(NOW), messages)),
    st.builds(
        chunk, st.text(max_size=3), appends=st.booleans(), artifact_id=st.sampled_from(["a", "b"])
    ),
)


@settings(max_examples=100)
@given(st.lists(updates, max_size=8))
def test_no_status_message_is_lost(log: list[Update]) -> None:
    task: Task = TASK
    for update in log:
        task = apply(task, update)
    spoken = [u.status.message for u in log if isinstance(u, StatusUpdate) and u.status.message]
    shown = [*task.history[1:], *([task.status.message] if task.status.message else [])]
    assert shown == spoken
