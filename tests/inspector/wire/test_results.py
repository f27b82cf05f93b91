"""Results are read as what they are, or as what they look like."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.results import read_result

STATUS: dict[str, Any] = {
    "state": "input-required",
    "message": {"messageId": "m", "parts": [{"text": "hi"}]},
}


@pytest.mark.parametrize(
    ("result", "kind", "is_final"),
    [
        ({"kind": "task", "id": "t", "status": STATUS}, "task", True),
        ({"id": "t", "status": STATUS}, "task", True),
        ({"kind": "task", "id": "t", "status": {"state": "working"}}, "task", False),
        ({"kind": "status-update", "taskId": "t", "status": STATUS}, "status-update", False),
        ({"taskId": "t", "status": STATUS, "final": True}, "status-update", True),
        ({"kind": "message", "parts": []}, "message", True),
        ({"parts": []}, "message", True),
        ({"artifact": {"artifactId": "a"}}, "artifact-update", False),
        ({"kind": "party"}, "party", False),
        (None, "unknown", False),
    ],
)
def test_kinds(result: Any, kind: str, is_final: bool) -> None:
    read = read_result(result)
    assert (read.kind, read.is_final) == (kind, is_final)


def test_a_status_carries_its_message() -> None:
    read = read_result({"kind": "task", "id": "t", "contextId": "c", "status": STATUS})
    assert (read.task_id, read.context_id, read.message_id) == ("t", "c", "m")
    assert read.parts == ({"text": "hi"},)


def test_artifacts_of_a_task_are_whole() -> None:
    artifact: Any = {"artifactId": "a", "name": "n", "parts": [{"text": "x"}]}
    [read] = read_result({"kind": "task", "artifacts": [artifact]}).artifacts
    assert (read.artifact_id, read.name, read.is_append, read.is_last) == ("a", "n", False, True)


WORDS = st.sampled_from(["kind", "task", "status", "state", "message", "artifacts", "parts", "id"])
TEXTS = WORDS | st.text(max_size=3)


@given(
    st.recursive(
        st.none() | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=5),
        max_leaves=20,
    )
)
def test_anything_can_be_read(result: Any) -> None:
    assert read_result(result).kind
