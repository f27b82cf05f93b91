"""The verdict on a notification, from its token and its body alone."""

import json

import pytest

from inspector.core.entries import PushVerdict
from inspector.core.push_verification import (
    MAX_REGISTRATIONS,
    MAX_STRANGE_BYTES,
    Registration,
    Registrations,
)

BODY = json.dumps({"id": "t", "kind": "task", "status": {"state": "working"}}).encode()


def registrations(
    *tokens: str, task_id: str | None = "t", is_for_any: bool = False
) -> Registrations:
    made = Registrations()
    for token in tokens:
        made.add(Registration("http://me/", token, lambda _: None, is_for_any, task_id))
    return made


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("token", "body", "verdict"),
    [
        ("right", BODY, PushVerdict.ACCEPTED),
        ("other", BODY, PushVerdict.ACCEPTED),
        ("wrong", BODY, PushVerdict.FORGED),
        ("", BODY, PushVerdict.FORGED),
        ("wröng\udc80", BODY, PushVerdict.FORGED),
        (None, BODY, PushVerdict.FORGED),
        (None, BODY.replace(b'"t"', b'"x"'), PushVerdict.UNKNOWN_TASK),
        ("right", BODY.replace(b'"t"', b'"x"'), PushVerdict.UNKNOWN_TASK),
        ("right", b"nonsense", PushVerdict.BAD_BODY),
        ("right", b"[]", PushVerdict.BAD_BODY),
        ("right", b'{"status": {"state": "working"}}', PushVerdict.BAD_BODY),
        ("right", b"\xff", PushVerdict.BAD_BODY),
        ("wrong", b"nonsense", PushVerdict.FORGED),
    ],
)
def test_the_verdict(token: str | None, body: bytes, verdict: PushVerdict) -> None:
    judgement = registrations("right", "other").judge(token, body)
    assert judgement.verdict is verdict
    assert bool(judgement.reason) is (verdict is not PushVerdict.ACCEPTED)


def test_a_new_token_is_for_any_task() -> None:
    fresh = registrations("right", task_id=None)
    assert fresh.judge("right", BODY).verdict is PushVerdict.ACCEPTED
    assert fresh.judge(None, BODY).verdict is PushVerdict.UNKNOWN_TASK


def test_where_any_task_is_expected_a_token_must_come() -> None:
    listening = registrations("right", task_id="another", is_for_any=True)
    assert listening.judge("right", BODY).verdict is PushVerdict.ACCEPTED
    assert listening.judge(None, BODY).verdict is PushVerdict.FORGED


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    "body",
    [
        {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
        {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": []}}},
        {"message": {"taskId": "t", "messageId": "m", "parts": []}},
        {"kind": "status-update", "taskId": "t", "status": {"state": "working"}},
    ],
)
def test_both_versions_are_read(body: object) -> None:
    judgement = registrations("right").judge("right", json.dumps(body).encode())
    assert judgement.verdict is PushVerdict.ACCEPTED


@pytest.mark.req("PUSHRX-3")
def test_megabytes_without_a_token_are_not_read() -> None:
    large = BODY + b" " * MAX_STRANGE_BYTES + b"!"
    assert registrations("right").judge(None, large).verdict is PushVerdict.FORGED
    assert registrations("right").judge("right", large).verdict is PushVerdict.BAD_BODY


def test_the_oldest_is_forgotten_at_last() -> None:
    many = registrations(*(f"token-{number}" for number in range(MAX_REGISTRATIONS + 1)))
    assert many.judge("token-0", BODY).verdict is PushVerdict.FORGED
    assert many.judge("token-1", BODY).verdict is PushVerdict.ACCEPTED


def test_a_token_is_not_shown() -> None:
    assert "right" not in repr(Registration("http://me/", "right", lambda _: None))
