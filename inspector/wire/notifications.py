"""Push notifications: what a body says of a task (A2A 0.3 §9.5, 1.0 §4.3.3).

A2A 0.3 posts the bare Task; A2A 1.0 a StreamResponse, an object around one of four results.
"""

from dataclasses import dataclass

from inspector.wire.findings import Finding, Severity
from inspector.wire.results import Result, read_result
from inspector.wire.tree import Json, at, parse_json, text_at
from inspector.wire.v0_3 import SCHEMA
from inspector.wire.validate import check_status

PUSH = "A2A 0.3 §9.5"
STREAM_RESPONSE = "A2A 1.0 §4.3.3"

# The members of a StreamResponse, and the kind of A2A 0.3 that each is.
_WRAPPERS = {
    "task": "task",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
    "message": "message",
}


@dataclass(frozen=True, slots=True)
class Notification:
    """`problem` says why the body is no notification; otherwise `result` is there.

    `wrapper` is the member of a StreamResponse that held the result, "" for a bare one.
    """

    value: Json
    result: Result | None = None
    problem: str = ""
    wrapper: str = ""


def read_notification(body: bytes) -> Notification:
    """Read `body` leniently; never raises."""
    parsed = parse_json(body)
    if parsed.problem:
        return Notification(None, problem=parsed.problem)
    if not isinstance(parsed.value, dict):
        return Notification(parsed.value, problem="a notification must be a JSON object")
    wrapper, payload = _unwrap(parsed.value)
    result = read_result(payload)
    if result.task_id is None:
        return Notification(parsed.value, problem="the body names no task")
    return Notification(parsed.value, result, wrapper=wrapper)


def check_notification(notification: Notification) -> tuple[Finding, ...]:
    """What is wrong with a notification by itself."""
    if notification.problem:
        return (Finding(Severity.ERROR, PUSH, "$", notification.problem),)
    if not notification.wrapper:
        return SCHEMA.check(notification.value, "Task") + check_status(notification.value, "$")
    name = notification.wrapper
    text = f"a StreamResponse of A2A 1.0 with `{name}`; A2A 0.3 sends the bare task"
    return (Finding(Severity.HINT, STREAM_RESPONSE, f"$.{name}", text),)


def asks_for_notifications(params: Json) -> bool:
    """Say whether a message's params register a callback (A2A 0.3 §7.1.2)."""
    return at(params, "configuration", "pushNotificationConfig") is not None


def callback_of(params: Json) -> str:
    """What tells the callback that a message's params register from others; "" without one."""
    return callback_name(text_at(params, "configuration", "pushNotificationConfig", "url") or "")


def callback_name(url: str) -> str:
    """The last segment of a callback's path, which stays through tunnels and proxies."""
    return url.partition("?")[0].rpartition("/")[2]


def _unwrap(value: dict[str, Json]) -> tuple[str, Json]:
    """The payload, with its kind where a StreamResponse names that by its member alone."""
    wrapped = [
        (name, {"kind": kind, **payload})
        for name, kind in _WRAPPERS.items()
        if isinstance(payload := value.get(name), dict)
    ]
    return wrapped[0] if len(wrapped) == 1 and "id" not in value else ("", value)
