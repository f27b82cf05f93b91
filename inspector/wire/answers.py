"""Whether a result is what its method returns at all, however faulty (A2A 0.3 §7)."""

from inspector.wire import jsonrpc
from inspector.wire.results import KINDS, read_result
from inspector.wire.schema import type_name
from inspector.wire.tree import Json, text_at

# A raw body may ask for what is not here.
_KINDS = {
    jsonrpc.MESSAGE_SEND: ("task", "message"),
    jsonrpc.MESSAGE_STREAM: KINDS,
    jsonrpc.TASKS_GET: ("task",),
    jsonrpc.TASKS_CANCEL: ("task",),
    jsonrpc.TASKS_RESUBSCRIBE: KINDS,
}
# A2A 1.0 wraps its results in these.
_WRAPPERS = frozenset({"task", "message", "statusUpdate", "artifactUpdate"})


def wrong_answer(method: str | None, result: Json) -> str:
    """What `result` is in the place of what `method` asks for; "" where it may be an answer."""
    kinds = _KINDS.get(method or "")
    if kinds is None:
        return ""
    expected = " or ".join(kinds)
    if not isinstance(result, dict):
        return f"{type_name(result)}, not with a {expected}"
    read = read_result(result)
    if read.kind not in kinds:
        kind = text_at(result, "kind")
        named = "an object without a kind" if kind is None else f"an object of kind {kind[:40]!r}"
        return f"{named}, not with a {expected}"
    if read.kind == "task" and read.state is None:
        return "a task that has no state"
    return ""


def is_wrapped(result: Json) -> bool:
    """Say whether `result` is one of A2A 1.0 (§3.2)."""
    return isinstance(result, dict) and not result.keys().isdisjoint(_WRAPPERS)
