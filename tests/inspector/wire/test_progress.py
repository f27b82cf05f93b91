"""The life of a task: what contradicts what came before."""

from typing import Any

import pytest

from inspector.wire.findings import Severity
from inspector.wire.progress import MOST_ARTIFACTS, Progress, advance, check_end
from inspector.wire.v0_3 import read_result, sections


def status(state: str, *, final: bool = False, task: str = "t") -> dict[str, Any]:
    return {
        "kind": "status-update",
        "taskId": task,
        "contextId": "c",
        "final": final,
        "status": {"state": state},
    }


def artifact(*, append: bool = False) -> dict[str, Any]:
    return {
        "kind": "artifact-update",
        "taskId": "t",
        "contextId": "c",
        "append": append,
        "artifact": {"artifactId": "a", "parts": []},
    }


def run(*results: dict[str, Any], start: Progress | None = None) -> tuple[Progress, list[str]]:
    progress, messages = start or Progress(), list[str]()
    for result in results:
        progress, found = advance(progress, read_result(result), sections)
        messages += [one.message for one in found]
    return progress, messages


def test_a_right_stream_has_no_findings() -> None:
    progress, messages = run(
        status("submitted"),
        status("working"),
        artifact(),
        artifact(append=True),
        status("completed", final=True),
    )
    assert messages == []
    assert check_end(progress, sections) == ()
    assert (progress.state, progress.task_id, progress.context_id) == ("completed", "t", "c")


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (
            (status("completed", final=True), status("completed", final=True)),
            "a status-update after the final update",
        ),
        (
            (status("working"), status("submitted")),
            "a task that is working cannot become submitted",
        ),
        (
            (status("completed"),),
            "the task is completed, so this update is the last, but `final` is not true",
        ),
        (
            (status("working"), status("working", task="u")),
            "`taskId` changed from 't' to 'u'",
        ),
        ((artifact(append=True),), "appends to artifact 'a', which no update has begun"),
    ],
)
@pytest.mark.req("TIME-1", "WIRE-0")
def test_each_contradiction_has_its_finding(results: tuple[Any, ...], message: str) -> None:
    _, messages = run(*results)
    assert messages == [message]


def test_a_terminal_state_that_changes_is_found() -> None:
    start = Progress(state="completed")
    _, messages = run(status("working"), start=start)
    assert messages == ["a task that is completed cannot become working"]


def test_a_stream_without_its_end_is_found() -> None:
    progress, _ = run(status("working"))
    [finding] = check_end(progress, sections)
    assert finding.message == (
        "the stream ended without a final update; the last state was working"
    )
    [finding] = check_end(Progress(), sections)
    assert finding.message == "the stream ended without a final update"


@pytest.mark.parametrize("state", ["input-required", "completed"])
def test_a_stream_that_ends_where_the_task_rests_lacks_only_final(state: str) -> None:
    progress, _ = run(status(state))
    [finding] = check_end(progress, sections)
    assert finding.severity is Severity.WARNING
    assert finding.message == f"the stream ended at {state}, but no update had `final`"


def test_a_resubscription_goes_on_with_artifacts() -> None:
    _, messages = run(artifact(append=True), start=Progress(is_continued=True))
    assert messages == []


def test_an_unknown_state_is_no_transition() -> None:
    progress, messages = run(status("working"), status("dancing"), status("completed", final=True))
    assert messages == []
    assert progress.state == "completed"


def test_nothing_is_appended_after_the_last_chunk() -> None:
    _, messages = run(
        artifact(), {**artifact(append=True), "lastChunk": True}, artifact(append=True)
    )
    assert messages == ["appends to artifact 'a' after its last chunk"]


def test_chunks_may_follow_the_task_that_a_resubscription_begins_with() -> None:
    task: dict[str, Any] = {
        "kind": "task",
        "id": "t",
        "artifacts": [{"artifactId": "a", "parts": []}],
    }
    _, messages = run(task, artifact(append=True), start=Progress(is_continued=True))
    assert messages == []


def test_countless_artifacts_are_read_on_as_begun_elsewhere() -> None:
    """An agent may name a new one with each update; what is kept of them stays small."""
    progress = Progress()
    for number in range(3 * MOST_ARTIFACTS):
        named: dict[str, Any] = {**artifact(), "artifact": {"artifactId": str(number), "parts": []}}
        progress, found = advance(progress, read_result(named), sections)
        assert found == ()
    assert len(progress.artifacts) <= MOST_ARTIFACTS
    _, messages = run(artifact(append=True), start=progress)
    assert messages == []
