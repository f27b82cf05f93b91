"""What is wrong with one reply taken by itself: envelope, schema, ids and times."""

import json

from inspector.wire.findings import Finding, Severity
from inspector.wire.jsonrpc import Reply, Request
from inspector.wire.timestamps import is_timestamp
from inspector.wire.tree import Json, at, object_at, text_at
from inspector.wire.v0_3 import RESULT_TYPES, SCHEMA

ENVELOPE = "A2A 0.3 §6.11.2"
STATUS = "A2A 0.3 §6.2"
SHOWN_CHARACTERS = 80
STREAMING = "A2A 0.3 §3.3.1"


def check_reply(reply: Reply, request: Request) -> tuple[Finding, ...]:
    """Every problem of `reply` as an answer to `request`."""
    if reply.problem:
        return (Finding(Severity.ERROR, ENVELOPE, "$", reply.problem),)
    found = _check_envelope(reply, request)
    if reply.error is not None:
        return found + SCHEMA.check(at(reply.envelope, "error"), "JSONRPCError", "$.error")
    type_ = RESULT_TYPES.get(request.method or "")
    if type_ is None:
        return found
    return found + SCHEMA.check(reply.result, type_, "$.result") + check_status(reply.result)


def check_termination(is_terminated: bool) -> tuple[Finding, ...]:
    if is_terminated:
        return ()
    return (Finding(Severity.ERROR, STREAMING, "$", "the stream ended inside an event"),)


def _check_envelope(reply: Reply, request: Request) -> tuple[Finding, ...]:
    found: list[Finding] = []
    envelope = object_at(reply.envelope)
    if reply.warning:
        found.append(Finding(Severity.ERROR, ENVELOPE, "$", reply.warning))
    if (version := envelope.get("jsonrpc")) != "2.0":
        text = f"expected '2.0', found {version!r}" if version else "`jsonrpc` is missing: '2.0'"
        found.append(Finding(Severity.ERROR, ENVELOPE, "$.jsonrpc", text))
    if "id" not in envelope:
        found.append(
            Finding(Severity.ERROR, ENVELOPE, "$.id", f"`id` is missing: {_shown(request.id)}")
        )
    elif envelope["id"] != request.id:
        text = f"the request's id is {_shown(request.id)}, this is {_shown(envelope['id'])}"
        found.append(Finding(Severity.ERROR, ENVELOPE, "$.id", text))
    if "error" in envelope and envelope.get("result") is not None:
        found.append(Finding(Severity.ERROR, ENVELOPE, "$", "both `result` and `error`"))
    return tuple(found)


def _shown(id: Json) -> str:
    return repr(id[:SHOWN_CHARACTERS]) if isinstance(id, str) else json.dumps(id)[:SHOWN_CHARACTERS]


def check_status(result: Json, path: str = "$.result") -> tuple[Finding, ...]:
    """The status' timestamp, and that its message belongs to the task."""
    found: list[Finding] = []
    path = f"{path}.status"
    time = text_at(result, "status", "timestamp")
    if time is not None and not is_timestamp(time):
        text = f"expected an ISO 8601 date and time with its zone, found {time[:40]!r}"
        found.append(Finding(Severity.WARNING, STATUS, f"{path}.timestamp", text))
    message = object_at(result, "status", "message")
    task_id = text_at(result, "id") or text_at(result, "taskId")
    for name, expected in (("taskId", task_id), ("contextId", text_at(result, "contextId"))):
        value = message.get(name)
        if isinstance(value, str) and expected is not None and value != expected:
            text = f"the task has {expected!r}, its message {value[:80]!r}"
            found.append(Finding(Severity.ERROR, STATUS, f"{path}.message.{name}", text))
    if message.get("role") == "user":
        text = "a status message is the agent's, this one says 'user'"
        found.append(Finding(Severity.WARNING, STATUS, f"{path}.message.role", text))
    return tuple(found)
