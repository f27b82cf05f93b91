"""Push notifications as they are printed, as JSON and for people."""

from collections.abc import Iterator
from http import HTTPStatus

from inspector.core.entries import Failed, Purpose, PushReceived, PushVerdict
from inspector.headless.prose import tell_finding
from inspector.headless.report import describe_finding
from inspector.headless.terminal import BOLD, DIM, GREEN, RED, Ink, milliseconds
from inspector.views.reads import Began, Over, Pushed, Read
from inspector.views.text import plain_line
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json
from inspector.wire.v0_3 import read_notification

SIGNS = {PushVerdict.ACCEPTED: ("✓", GREEN)}


def describe_push(pushed: Pushed) -> dict[str, Json]:
    """One notification of `listen`, with what a single update has everywhere else."""
    entry, result = pushed.entry, pushed.result
    return {
        **describe_update(entry, began_ms=0),
        "verdict": entry.verdict.value,
        "status": entry.status,
        "taskId": result.task_id if result else None,
        "contextId": result.context_id if result else None,
        "findings": [describe_finding(finding) for finding in findings_of(pushed)],
    }


def describe_update(entry: PushReceived, began_ms: float) -> dict[str, Json]:
    """A notification as one update among those of the other channels."""
    notification = read_notification(entry.body)
    result = notification.result if entry.verdict is PushVerdict.ACCEPTED else None
    text = entry.body.decode(errors="replace")
    return {
        "at_ms": round(entry.at_ms - began_ms, 1),
        "channel": "push",
        "kind": result.kind if result else "error",
        "state": result.state if result else None,
        "final": result.is_final if result else False,
        "raw": text if notification.value is None else notification.value,
    }


def findings_of(pushed: Pushed) -> tuple[Finding, ...]:
    """What deserves a word where no turn is at hand to compare with.

    The body of a request that was refused was not read, so nothing can be said of it.
    """
    findings = tuple(one for one in pushed.findings if one.severity is not Severity.HINT)
    return findings[:1] if pushed.entry.verdict is PushVerdict.REFUSED else findings


def tell_push(ink: Ink, pushed: Pushed) -> Iterator[str]:
    """`✓ accepted  ◐ input-required  task ab12  200`, and below it what is wrong."""
    entry, result = pushed.entry, pushed.result
    sign, style = SIGNS.get(entry.verdict, ("✗", RED))
    words = [f"{milliseconds(entry.at_ms):>8}", ink(f"{sign} {entry.verdict}", style)]
    if result is not None and result.state:
        words.append(ink.state(plain_line(result.state)))
    if result is not None and result.task_id:
        words.append(f"task {ink(plain_line(result.task_id), BOLD)}")
    words.append(ink(_answered(entry.status), DIM))
    yield "  ".join(words)
    yield from (f"          {tell_finding(ink, finding)}" for finding in findings_of(pushed))


def _answered(status: int | None) -> str:
    if status is None:
        return "not answered"
    known = {one.value: one.phrase for one in HTTPStatus}
    return f"answered {int(status)} {known.get(status, '')}".rstrip()


def tell_forward(read: Read) -> str:
    """What became of a notification that was handed on; nothing for other exchanges."""
    match read:
        case Began(entry, call) if call.purpose is Purpose.FORWARD:
            return f"handed on: HTTP {entry.status}"
        case Over(Failed(message=message), call) if call.purpose is Purpose.FORWARD:
            return f"not handed on: {message}"
        case _:
            return ""
