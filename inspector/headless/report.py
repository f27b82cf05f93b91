"""The JSON that the commands print, in the shapes of `cli.md`."""

from collections.abc import Iterable

from inspector.core.entries import FrameReceived
from inspector.views.data import ArtifactRow, TurnData
from inspector.views.exchanges import Exchange, reply_of
from inspector.wire.findings import Finding
from inspector.wire.json_values import Json, text_at
from inspector.wire.v0_3 import Reply, read_request, read_result, texts

TRANSPORT = "jsonrpc"
PROTOCOL = "0.3"


def describe_answer(
    exchange: Exchange, turn: TurnData | None, findings: Iterable[Finding]
) -> dict[str, Json]:
    """One object for the whole exchange; `task` is the last result as received."""
    reply = exchange.last_reply
    params = read_request(exchange.request.body).params
    error = object_of_error(reply)
    answer: dict[str, Json] = {
        "contextId": exchange.progress.context_id,
        "taskId": exchange.progress.task_id,
        "messageId": text_at(params, "message", "messageId"),
        "state": state_of(exchange),
        "text": list(_said(exchange)),
        "data": list(turn.parts) if turn else [],
        "artifacts": [_artifact(row) for row in turn.artifacts] if turn else [],
        "transport": TRANSPORT,
        "protocol": PROTOCOL,
        "elapsed_ms": round(exchange.total_ms or 0, 1),
        "findings": [describe_finding(finding) for finding in findings],
        "task": reply.result if reply else None,
    }
    return answer if error is None else {**answer, "error": error}


def describe_frame(frame: FrameReceived, began_ms: float) -> dict[str, Json] | None:
    """One update as it came, its time since `began_ms`; None for an event without data."""
    reply = reply_of(frame)
    if reply is None:
        return None
    is_result = not reply.problem and reply.error is None
    result = read_result(reply.result)
    return {
        "at_ms": round(frame.at_ms - began_ms, 1),
        "channel": frame.channel.value,
        "kind": result.kind if is_result else "error",
        "state": result.state if is_result else None,
        "final": result.is_final if is_result else True,
        "raw": frame.raw.decode(errors="replace") if reply.problem else reply.envelope,
    }


def describe_finding(finding: Finding) -> dict[str, Json]:
    return {
        "severity": finding.severity.value,
        "section": finding.section,
        "path": finding.path,
        "message": finding.message,
    }


def state_of(exchange: Exchange) -> str | None:
    """The last state that the exchange told, in the wire's spelling."""
    for frame in reversed(exchange.frames):
        reply = reply_of(frame)
        if reply is not None and (state := read_result(reply.result).state) is not None:
            return state
    return None


def object_of_error(reply: Reply | None) -> Json:
    if reply is None or reply.error is None:
        return None
    return {"code": reply.error.code, "message": reply.error.message, "data": reply.error.data}


def _said(exchange: Exchange) -> tuple[str, ...]:
    """The texts of the last message; a stream's artifact chunks are no message."""
    for frame in reversed(exchange.frames):
        reply = reply_of(frame)
        if reply is not None and (said := texts(read_result(reply.result).parts)):
            return said
    return ()


def _artifact(row: ArtifactRow) -> dict[str, Json]:
    return {"artifactId": row.artifact_id, "name": row.name, "parts": list(row.parts)}
