"""Every way of not getting an answer is told with its cause and a way on."""

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import Channel, Purpose, RequestSent, ResponseStarted
from inspector.net.events import FailureKind
from inspector.views.exchanges import EMPTY, step
from inspector.views.problems import (
    Problem,
    ProblemKind,
    RefusalKind,
    Remedy,
    problem_of,
    refusal_of,
    remedy_of_missing_push,
)
from inspector.views.reading import read_log
from inspector.wire.json_values import Json

if TYPE_CHECKING:
    from conftest import Script


ERROR = b'{"jsonrpc":"2.0","id":"r","error":{"code":%d,"message":"no"}}'


def problem(script: "Script") -> Problem | None:
    return problem_of(reduce(step, read_log(script.entries), EMPTY)[-1])


def test_an_answer_is_no_problem(script: "Script") -> None:
    assert problem(script.send("x")) is None
    assert problem(script.respond().result(script.task("failed")).end()) is None


@pytest.mark.parametrize("kind", FailureKind)
@pytest.mark.req("CLI-5")
def test_each_failure_says_what_was_outstanding(script: "Script", kind: FailureKind) -> None:
    found = problem(script.send("x").fail(kind, "broken"))
    assert found is not None
    assert found.what == "POST http://a/: broken"
    assert found.outstanding == "the answer to message/send, for 10 ms"
    assert found.last_seen == "nothing"
    assert found.hint
    assert [name for name, _ in found.details][-1] == "try"


def test_the_last_thing_seen_is_told(script: "Script") -> None:
    script.send("x").respond(202)
    script.fail(FailureKind.TIMEOUT)
    found = problem(script)
    assert found is not None
    assert found.last_seen == "HTTP 202 at 10 ms"
    script.send("x").respond().frame(b"<html>").fail(FailureKind.DISCONNECTED)
    found = problem(script)
    assert found is not None
    assert found.last_seen == "6 bytes at 20 ms: '<html>'"


@pytest.mark.parametrize(
    ("code", "status", "cause"),
    [
        (-32700, 200, "cannot read the body as JSON"),
        (-32601, 200, "another protocol version"),
        (-32001, 200, "has forgotten it"),
        (-32002, 200, "already ended"),
        (-32600, 409, "still being worked on"),
        (-32000, 401, "no credentials were sent"),
        (-32603, 200, ""),
    ],
)
def test_errors_are_refusals(script: "Script", code: int, status: int, cause: str) -> None:
    found = problem(script.send("x").respond(status).frame(ERROR % code).end())
    assert found is not None
    assert found.kind is ProblemKind.REFUSED
    assert found.what == f"the agent answers with error {code}: no"
    assert cause in found.cause
    assert bool(found.cause) == bool(cause)


def test_error_without_a_code_is_told_as_such(script: "Script") -> None:
    found = problem(script.send("x").respond().frame(ERROR.replace(b"%d", b'"x"')).end())
    assert found is not None
    assert found.what == "the agent answers with an error without a code: no"


@pytest.mark.parametrize(
    ("status", "kind", "cause"),
    [
        (401, ProblemKind.REFUSED, "no credentials were sent"),
        (403, ProblemKind.REFUSED, "without credentials this is not allowed"),
        (404, ProblemKind.REFUSED, "does not lead to the agent"),
        (500, ProblemKind.REFUSED, "has failed"),
        (302, ProblemKind.NOT_A2A, "it redirects to ''"),
        (418, ProblemKind.NOT_A2A, ""),
    ],
)
def test_http_refusals(script: "Script", status: int, kind: ProblemKind, cause: str) -> None:
    found = problem(script.send("x").respond(status, "text/html").frame(b"<p>").end())
    assert found is not None
    assert (found.kind, found.what) == (kind, f"POST http://a/ answers HTTP {status}")
    assert cause in found.cause


@pytest.mark.parametrize(
    ("status", "body", "kind", "what"),
    [
        (401, b"", ProblemKind.REFUSED, "POST http://a/ answers HTTP 401"),
        (404, b"", ProblemKind.NOT_A2A, "no agent card: http://a/ answers HTTP 404"),
        (200, b"<p>", ProblemKind.NOT_A2A, "no agent card at http://a/: not JSON"),
        (200, b"[]", ProblemKind.NOT_A2A, "no agent card at http://a/: not an object"),
        (200, b"", ProblemKind.NOT_A2A, "no agent card at http://a/: not JSON"),
    ],
)
def test_cards(script: "Script", status: int, body: bytes, kind: ProblemKind, what: str) -> None:
    script.request(Purpose.CARD, "", None).respond(status)
    found = problem((script.frame(body) if body else script).end())
    assert found is not None
    assert found.kind is kind
    assert found.what.startswith(what)


def test_a_card_is_no_problem(script: "Script") -> None:
    assert problem(script.request(Purpose.CARD, "", None).respond().frame(b"{}").end()) is None


def test_what_is_no_reply_is_not_a2a(script: "Script") -> None:
    found = problem(script.send("x").respond().frame(b"<p>").end())
    assert found is not None
    assert found.kind is ProblemKind.NOT_A2A
    assert "not in JSON-RPC: not JSON" in found.what
    found = problem(script.send("x").respond().end())
    assert found is not None
    assert found.what.endswith("the reply is empty")


@pytest.mark.parametrize(
    ("result", "what"),
    [
        (None, "answers message/send with null, not with a task or message"),
        (5, "with number, not with"),
        ({}, "an object without a kind"),
        ({"kind": "task", "id": "t"}, "a task that has no state"),
    ],
)
@pytest.mark.req("CLI-1", "CONN-5")
def test_a_result_of_something_else_is_not_a2a(script: "Script", result: Json, what: str) -> None:
    found = problem(script.send("x").respond().result(result).end())
    assert found is not None
    assert found.kind is ProblemKind.NOT_A2A
    assert what in found.what
    assert "JSON-RPC, but not A2A 0.3" in found.cause


def test_an_answer_of_a_later_version_is_named_as_such(script: "Script") -> None:
    found = problem(script.send("x").respond().result({"task": script.task("completed")}).end())
    assert found is not None
    assert "A2A 1.0" in found.cause


def test_only_known_methods_have_wrong_answers(script: "Script") -> None:
    script.request(Purpose.SEND, "agent/other", {}).respond().result(None).end()
    assert problem(script) is None


@pytest.mark.parametrize("kind", [FailureKind.TIMEOUT, FailureKind.DISCONNECTED])
def test_a_card_is_advised_to_no_task(script: "Script", kind: FailureKind) -> None:
    found = problem(script.request(Purpose.CARD, "", None).fail(kind))
    assert found is not None
    assert "task" not in found.hint
    assert "--stream" not in found.hint


def test_a_task_is_advised_to_be_looked_at(script: "Script") -> None:
    found = problem(
        script.request(Purpose.GET, "tasks/get", {"id": "t9"}).fail(FailureKind.TIMEOUT)
    )
    assert found is not None
    assert "a2a-inspect tasks get TARGET t9" in found.hint


@pytest.mark.parametrize("kind", [FailureKind.TIMEOUT, FailureKind.DISCONNECTED])
def test_a_stream_is_advised_to_go_on(script: "Script", kind: FailureKind) -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    found = problem(script.event(script.update("working")).fail(kind))
    assert found is not None
    assert "a2a-inspect tasks resubscribe TARGET t" in found.hint
    assert "--stream" not in found.hint


def test_a_stream_that_came_to_its_end_is_no_problem(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    assert problem(script.event(script.update("completed", final=True)).end()) is None


@pytest.mark.req("TIME-1")
def test_a_stream_that_ends_too_early_is_a_problem(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    script.event(script.update("working")).frame(b"data: {", Channel.SSE).end()
    found = problem(script)
    assert found is not None
    assert found.what == "the stream ended without a final update"
    assert found.last_seen == "state working at 30 ms"
    assert "resubscribe" in found.hint


VALID, EXPIRED = "*** (JWT, expires in 42 s)", "*** (JWT, expired 3 s ago)"


def refusal(script: "Script", status: int, *sent: str, challenge: str = "Bearer") -> Remedy | None:
    """What is made of an answer to a call with the masked header values `sent`."""
    script.send("x").respond(status).end()
    for index, entry in enumerate(script.entries):
        if isinstance(entry, RequestSent):
            headers = tuple((f"X-{number}", value) for number, value in enumerate(sent))
            script.entries[index] = replace(entry, headers=headers)
        elif isinstance(entry, ResponseStarted):
            script.entries[index] = replace(entry, headers=(("WWW-Authenticate", challenge),))
    exchange = reduce(step, read_log(script.entries), EMPTY)[-1]
    found = refusal_of(exchange)
    if found is not None:
        told = problem_of(exchange)
        assert told is not None
        assert (told.cause, told.hint) == (found.cause, found.hint)
    return found


@pytest.mark.parametrize(
    ("status", "sent", "challenge", "told"),
    [
        (
            401,
            (),
            "Bearer",
            (RefusalKind.MISSING, "no credentials were sent; the agent wants Bear"),
        ),
        (401, ("text/plain",), "", (RefusalKind.MISSING, "the agent wants some")),
        (401, ("***",), "Bearer", (RefusalKind.WRONG, "does not accept these credentials")),
        (401, (VALID,), "Bearer", (RefusalKind.WRONG, "another key, issuer or audience")),
        (401, (EXPIRED,), "Bearer", (RefusalKind.EXPIRED, "expired 3 s before it was sent")),
        (401, ("***", EXPIRED), "Bearer", (RefusalKind.EXPIRED, "expired 3 s before")),
        (
            401,
            (VALID,),
            'Bearer error="invalid_token", error_description="The token expired"',
            (RefusalKind.EXPIRED, "the token expired; it says 'The token expired'"),
        ),
        (
            401,
            ("***",),
            'Bearer error_description="unknown key"',
            (RefusalKind.WRONG, "it says 'unknown key'"),
        ),
        (403, (), "", (RefusalKind.FORBIDDEN, "without credentials this is not allowed")),
        (403, (VALID,), "", (RefusalKind.FORBIDDEN, "but they may not do this")),
    ],
)
@pytest.mark.req("CONN-3", "CLI-5")
def test_each_refusal_is_told_apart(
    script: "Script",
    status: int,
    sent: tuple[str, ...],
    challenge: str,
    told: tuple[RefusalKind, str],
) -> None:
    found = refusal(script, status, *sent, challenge=challenge)
    assert found is not None
    kind, cause = told
    assert found.kind is kind
    assert cause in found.cause
    assert found.hint


@pytest.mark.parametrize("status", [200, 404, 409, 500])
def test_another_status_is_no_refusal_of_the_caller(script: "Script", status: int) -> None:
    assert refusal(script, status) is None


def test_no_answer_is_no_refusal(script: "Script") -> None:
    script.send("x")
    assert refusal_of(reduce(step, read_log(script.entries), EMPTY)[-1]) is None


PUSHES: Json = {"capabilities": {"pushNotifications": True}}
HERE, THERE = "http://127.0.0.1:4040/", "https://agent.test/"


@pytest.mark.req("PUSHRX-3", "CLI-5")
@pytest.mark.parametrize(
    ("card", "agent", "callback", "cause", "hint"),
    [
        (None, HERE, HERE, "the card says", "push_notifications_enabled"),
        ({"capabilities": {}}, THERE, THERE, "the card says", "push_notifications_enabled"),
        (PUSHES, THERE, HERE, "its own machine", "--public-url"),
        (PUSHES, "http://localhost:5005/", HERE, "refuse callbacks to loopback", "--allow-local"),
        (PUSHES, THERE, "https://tunnel.test/x", "cannot reach it", "curl -i -d '{}' https://tun"),
    ],
)
def test_the_likeliest_cause_is_named(
    card: Json, agent: str, callback: str, cause: str, hint: str
) -> None:
    remedy = remedy_of_missing_push(card, agent, callback)
    assert cause in remedy.cause
    assert hint in remedy.hint
