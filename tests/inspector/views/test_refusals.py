"""What a refusal means is read from what went out and what the agent says."""

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import RequestSent, ResponseStarted
from inspector.views.exchanges import EMPTY, step
from inspector.views.problems import Refusal, RefusalKind, problem_of, refusal_of
from inspector.views.reading import read_log

if TYPE_CHECKING:
    from conftest import Script

VALID, EXPIRED = "*** (JWT, expires in 42 s)", "*** (JWT, expired 3 s ago)"


def refusal(script: "Script", status: int, *sent: str, challenge: str = "Bearer") -> Refusal | None:
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
