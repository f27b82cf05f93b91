"""Why an exchange brought no answer, told so that somebody can act on it (inspector.md CLI-5)."""

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

from inspector.core.entries import Failed, FailureKind, Purpose
from inspector.views.exchanges import Exchange, header
from inspector.views.refusals import refusal_of
from inspector.wire.jsonrpc import METHOD_NOT_FOUND, TASK_NOT_CANCELABLE, TASK_NOT_FOUND, RpcError
from inspector.wire.tree import parse_json


class ProblemKind(StrEnum):
    UNREACHABLE = "unreachable"
    NOT_A2A = "not-a2a"
    REFUSED = "refused"
    TIMED_OUT = "timed-out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Problem:
    """`what` happened, what was `outstanding`, the last thing seen, the likely cause, a way on."""

    kind: ProblemKind
    what: str
    outstanding: str
    last_seen: str
    cause: str
    hint: str

    @property
    def details(self) -> tuple[tuple[str, str], ...]:
        """The lines under the first, those that say something."""
        lines = (
            ("outstanding", self.outstanding),
            ("last seen", self.last_seen),
            ("likely", self.cause),
            ("try", self.hint),
        )
        return tuple(line for line in lines if line[1])


def problem_of(exchange: Exchange) -> Problem | None:
    """What went wrong in `exchange`; None for one that brought an answer or still runs."""
    if exchange.failure is not None:
        return _of_failure(exchange, exchange.failure)
    if exchange.total_ms is None:
        return None
    if exchange.purpose is Purpose.CARD:
        return _of_card(exchange)
    reply = exchange.last_reply
    if reply is not None and reply.error is not None:
        return _of_error(exchange, reply.error)
    if (status := _status(exchange)) is not None and status >= HTTPStatus.MULTIPLE_CHOICES:
        return _of_status(exchange, status)
    if reply is None or reply.problem:
        return _of_nonsense(exchange, reply.problem if reply else "the reply is empty")
    if exchange.is_stream and not exchange.progress.is_final:
        return _of_early_end(exchange)
    return None


# What each way of breaking off means, and the next thing to do.
_FAILURES: dict[FailureKind, tuple[ProblemKind, str, str]] = {
    FailureKind.CONNECT: (
        ProblemKind.UNREACHABLE,
        "nothing listens there, or the name or port is wrong",
        "check that the agent runs and the address is right: curl -i {url}",
    ),
    FailureKind.TLS: (
        ProblemKind.UNREACHABLE,
        "the certificate is not trusted here, the agent wants one, or the port has no TLS",
        "--cacert FILE to trust one of your own, --client-cert FILE to show one, else http://",
    ),
    FailureKind.TIMEOUT: (
        ProblemKind.TIMED_OUT,
        "the agent still works, or hangs",
        "a longer --timeout, or --stream to see how far it comes",
    ),
    FailureKind.PROTOCOL: (
        ProblemKind.NOT_A2A,
        "the server does not speak HTTP as A2A needs it",
        "curl -i {url} shows what it sends",
    ),
    FailureKind.DISCONNECTED: (
        ProblemKind.UNREACHABLE,
        "the server crashed, restarted or gave up; a proxy may cut long replies",
        "look at the agent's log; a task that went on: a2a-inspect tasks get",
    ),
    FailureKind.STOPPED: (ProblemKind.STOPPED, "", "a2a-inspect tasks get shows how it went on"),
}

_ERRORS: dict[int, tuple[str, str]] = {
    METHOD_NOT_FOUND: (
        "the agent speaks another protocol version, or lacks this method",
        "a2a-inspect card TARGET --validate shows what it offers",
    ),
    TASK_NOT_FOUND: (
        "the task id is wrong, or the agent has forgotten it, as after a restart",
        "check the id; a2a-inspect send prints it as taskId",
    ),
    TASK_NOT_CANCELABLE: (
        "the task has already ended, or a later turn took its place",
        "a2a-inspect tasks get shows its state",
    ),
}

_STATUSES: dict[int, tuple[str, str]] = {
    HTTPStatus.NOT_FOUND: (
        "the card's url does not lead to the agent",
        "a2a-inspect card TARGET shows the url",
    ),
    HTTPStatus.CONFLICT: (
        "the same message is still being worked on",
        "wait, or send it with another --message-id",
    ),
}


def _of_failure(exchange: Exchange, failure: Failed) -> Problem:
    kind, cause, hint = _FAILURES[failure.kind]
    return Problem(
        kind=kind,
        what=f"{exchange.request.method} {exchange.request.url}: {failure.message}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=cause,
        hint=hint.format(url=exchange.request.url),
    )


def _of_card(exchange: Exchange) -> Problem | None:
    url, status = exchange.request.url, _status(exchange)
    if status is not None and status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _of_status(exchange, status)
    if status is not None and status != HTTPStatus.OK:
        return _no_card(exchange, f"no agent card: {url} answers HTTP {status}")
    parsed = parse_json(exchange.frames[0].raw if exchange.frames else b"")
    if not isinstance(parsed.value, dict):
        return _no_card(exchange, f"no agent card at {url}: {parsed.problem or 'not an object'}")
    return None


def _no_card(exchange: Exchange, what: str) -> Problem:
    return Problem(
        kind=ProblemKind.NOT_A2A,
        what=what,
        outstanding="",
        last_seen=_last_seen(exchange),
        cause="an A2A agent publishes a card; this server is something else, or keeps it elsewhere",
        hint="name the card's own URL or a card file as the target",
    )


def _of_error(exchange: Exchange, error: RpcError) -> Problem:
    cause, hint = _ERRORS.get(error.code or 0, ("", "--json shows the whole reply"))
    cause, hint = _of_refusal(exchange) or _STATUSES.get(_status(exchange) or 0, (cause, hint))
    return Problem(
        kind=ProblemKind.REFUSED,
        what=f"the agent answers with error {error.code}: {error.message}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=cause,
        hint=hint,
    )


def _of_status(exchange: Exchange, status: int) -> Problem:
    refusal = _of_refusal(exchange)
    cause, hint = refusal or _STATUSES.get(status, ("", ""))
    is_server_error = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if status < HTTPStatus.BAD_REQUEST:
        location = header(exchange.response, "location") if exchange.response else ""
        cause = f"it redirects to {location!r}, which is another origin or would lose the message"
        hint = "name the address it redirects to as the target, if you trust it"
    elif is_server_error and not cause:
        cause, hint = "the agent, or a proxy before it, has failed", "look at the agent's log"
    refuses = refusal is not None or status in _STATUSES or is_server_error
    return Problem(
        kind=ProblemKind.REFUSED if refuses else ProblemKind.NOT_A2A,
        what=f"{exchange.request.method} {exchange.request.url} answers HTTP {status}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=cause,
        hint=hint,
    )


def _of_refusal(exchange: Exchange) -> tuple[str, str] | None:
    refusal = refusal_of(exchange)
    return None if refusal is None else (refusal.cause, refusal.hint)


def _of_nonsense(exchange: Exchange, problem: str) -> Problem:
    return Problem(
        kind=ProblemKind.NOT_A2A,
        what=f"{exchange.request.url} answers, but not in JSON-RPC: {problem}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause="the card's url leads to something that is no A2A agent",
        hint="a2a-inspect card TARGET shows the url",
    )


def _of_early_end(exchange: Exchange) -> Problem:
    return Problem(
        kind=ProblemKind.NOT_A2A,
        what="the stream ended without a final update",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause="the agent forgot it, or something on the way closed the stream too early",
        hint="a2a-inspect tasks resubscribe TARGET TASK_ID goes on; tasks get shows where it is",
    )


def _status(exchange: Exchange) -> int | None:
    return exchange.response.status if exchange.response else None


def _outstanding(exchange: Exchange) -> str:
    is_card = exchange.purpose is Purpose.CARD
    asked = exchange.rpc_method or "a body without a method"
    what = "the agent's card" if is_card else f"the answer to {asked}"
    task = exchange.progress.task_id
    since = f", for {exchange.total_ms:.0f} ms" if exchange.total_ms is not None else ""
    return f"{what}{f' of task {task}' if task else ''}{since}"


def _last_seen(exchange: Exchange) -> str:
    if exchange.frames:
        frame = exchange.frames[-1]
        since_ms = frame.at_ms - exchange.request.at_ms
        if exchange.progress.state:
            return f"state {exchange.progress.state} at {since_ms:.0f} ms"
        start = frame.raw[:60].decode(errors="replace")
        return f"{len(frame.raw)} bytes at {since_ms:.0f} ms: {start!r}"
    if exchange.response is not None:
        return f"HTTP {exchange.response.status} at {exchange.first_byte_ms or 0:.0f} ms"
    return "nothing"
