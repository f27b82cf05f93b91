"""Push notifications: what a body says of a task (A2A 0.3 §9.5, 1.0 §4.3.3).

A2A 0.3 posts the bare Task; A2A 1.0 a StreamResponse, an object around one of four results.
"""

from dataclasses import dataclass

from inspector.wire.results import Result, read_result
from inspector.wire.tree import Json, parse_json

_WRAPPERS = ("task", "statusUpdate", "artifactUpdate", "message")


@dataclass(frozen=True, slots=True)
class Notification:
    """`problem` says why the body is no notification; otherwise `result` is there."""

    value: Json
    result: Result | None = None
    problem: str = ""


def read_notification(body: bytes) -> Notification:
    """Read `body` leniently; never raises."""
    parsed = parse_json(body)
    if parsed.problem:
        return Notification(None, problem=parsed.problem)
    if not isinstance(parsed.value, dict):
        return Notification(parsed.value, problem="a notification must be a JSON object")
    result = read_result(_unwrap(parsed.value))
    if result.task_id is None:
        return Notification(parsed.value, problem="the body names no task")
    return Notification(parsed.value, result)


def _unwrap(value: dict[str, Json]) -> Json:
    wrapped = [value[name] for name in _WRAPPERS if isinstance(value.get(name), dict)]
    return wrapped[0] if len(wrapped) == 1 and "id" not in value else value
