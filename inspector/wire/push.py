"""A push notification's body: the bare task in A2A 0.3, a StreamResponse in 1.0."""

from dataclasses import dataclass

from inspector.wire.findings import Finding, Severity
from inspector.wire.results import Result, read_result
from inspector.wire.tree import Json, at, parse_json
from inspector.wire.v0_3 import SCHEMA
from inspector.wire.validate import check_status

PUSH = "A2A 0.3 §9.5"
STREAM_RESPONSE = "A2A 1.0 §4.3.3"

# The members of a StreamResponse, and the kind of A2A 0.3 that each is.
_PAYLOADS = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}


@dataclass(frozen=True, slots=True)
class PushBody:
    """`result` is None where `problem` says why; `findings` are those of the body by itself."""

    result: Result | None
    problem: str = ""
    findings: tuple[Finding, ...] = ()


def read_push(body: bytes) -> PushBody:
    """Read `body` as what it is; never raises."""
    parsed = parse_json(body)
    value, problem = parsed.value, parsed.problem
    if not problem and not isinstance(value, dict):
        problem = "a notification must be an object"
    if problem:
        return PushBody(None, problem, (Finding(Severity.ERROR, PUSH, "$", problem),))
    for name, kind in _PAYLOADS.items():
        if isinstance(payload := at(value, name), dict) and "kind" not in payload:
            return PushBody(read_result({**payload, "kind": kind}), "", (_newer(name),))
    found = SCHEMA.check(value, "Task") + check_status(value, "$")
    return PushBody(read_result(value), "", found)


def _newer(name: str) -> Finding:
    text = f"a StreamResponse of A2A 1.0 with `{name}`; A2A 0.3 sends the bare task"
    return Finding(Severity.HINT, STREAM_RESPONSE, f"$.{name}", text)


def registers_push(params: Json) -> bool:
    """Say whether a message's params ask for notifications (A2A 0.3 §7.1.2)."""
    return at(params, "configuration", "pushNotificationConfig") is not None
