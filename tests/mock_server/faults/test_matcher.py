"""Which requests a fault is for."""

import pytest

from mock_server.faults.matcher import Delivery, Match, Miss, delivers, misses
from mock_server.faults.request import ReceivedRequest
from mock_server.tasks.task import TaskState

REQUEST = ReceivedRequest(
    verb="POST",
    path="/",
    headers={"x-tenant": "acme-2"},
    method="message/send",
    context_id="c1",
    task_id="t1",
    message_id="m1",
    text="Send 50 € to Joe",
)


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    "match",
    [
        Match(),
        Match(method="message/send"),
        Match(method="message/*"),
        Match(path="/"),
        Match(context="c1", task="t1", message="m1"),
        Match(text="(?i)send \\d+"),
        Match(headers={"X-Tenant": "acme-*"}),
    ],
)
def test_request_matches(match: Match) -> None:
    assert misses(match, REQUEST) == ()


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("match", "miss"),
    [
        (Match(method="message/stream"), Miss("method", "message/stream", "message/send")),
        (Match(path="/.well-known/*"), Miss("path", "/.well-known/*", "/")),
        (Match(context="c*"), Miss("context", "c*", "c1")),
        (Match(task="t2"), Miss("task", "t2", "t1")),
        (Match(message="m2"), Miss("message", "m2", "m1")),
        (Match(text="^balance"), Miss("text", "^balance", "Send 50 € to Joe")),
        (Match(headers={"x-tenant": "other"}), Miss("headers.x-tenant", "other", "acme-2")),
        (Match(headers={"x-user": "*"}), Miss("headers.x-user", "*", None)),
        (Match(method="message/sen?"), Miss("method", "message/sen?", "message/send")),
        (Match(method="message/[s]end"), Miss("method", "message/[s]end", "message/send")),
    ],
)
def test_miss_says_what_was_found(match: Match, miss: Miss) -> None:
    assert misses(match, REQUEST) == (miss,)


def test_what_a_request_did_not_say_is_a_miss() -> None:
    silent = ReceivedRequest(verb="GET", path="/status", headers={})
    assert misses(Match(method="*", text=""), silent) == (
        Miss("method", "*", None),
        Miss("text", "", None),
    )


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("match", "is_for_it"),
    [
        (Match(), True),
        (Match(context="c1", task="t1", state=TaskState.COMPLETED), True),
        (Match(state=TaskState.WORKING), False),
        (Match(context="c2"), False),
        (Match(task="t2"), False),
    ],
)
def test_push_notification_is_matched_by_its_task(match: Match, is_for_it: bool) -> None:
    assert delivers(match, Delivery("t1", "c1", TaskState.COMPLETED)) is is_for_it
