"""Why an exchange brought no answer, told so that somebody can act on it (inspector.md CLI-5)."""

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

from inspector.core.entries import Failed, FailureKind, Purpose
from inspector.views.exchanges import Exchange, header
from inspector.views.refusals import refusal_of
from inspector.views.remedies import (
    Remedy,
    remedy_of_early_end,
    remedy_of_error,
    remedy_of_failure,
    remedy_of_status,
)
from inspector.wire.answers import is_wrapped, wrong_answer
from inspector.wire.jsonrpc import RpcError
from inspector.wire.tree import Json, parse_json


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
    if exchange.is_stream and exchange.progress.is_final:
        return None
    if found := wrong_answer(exchange.rpc_method, reply.result):
        return _of_wrong_answer(exchange, reply.result, found)
    return _of_early_end(exchange) if exchange.is_stream else None


_KINDS: dict[FailureKind, ProblemKind] = {
    FailureKind.CONNECT: ProblemKind.UNREACHABLE,
    FailureKind.TLS: ProblemKind.UNREACHABLE,
    FailureKind.TIMEOUT: ProblemKind.TIMED_OUT,
    FailureKind.PROTOCOL: ProblemKind.NOT_A2A,
    FailureKind.DISCONNECTED: ProblemKind.UNREACHABLE,
    FailureKind.STOPPED: ProblemKind.STOPPED,
}


def _of_failure(exchange: Exchange, failure: Failed) -> Problem:
    remedy = remedy_of_failure(exchange, failure.kind)
    return Problem(
        kind=_KINDS[failure.kind],
        what=f"{exchange.request.method} {exchange.request.url}: {failure.message}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=remedy.cause,
        hint=remedy.hint,
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
    remedy = (
        _of_refusal(exchange)
        or remedy_of_status(_status(exchange) or 0)
        or remedy_of_error(exchange, error.code)
    )
    return Problem(
        kind=ProblemKind.REFUSED,
        what=f"the agent answers with error {error.code}: {error.message}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=remedy.cause,
        hint=remedy.hint,
    )


def _of_status(exchange: Exchange, status: int) -> Problem:
    known = _of_refusal(exchange) or remedy_of_status(status)
    if known is None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        known = Remedy("the agent, or a proxy before it, has failed", "look at the agent's log")
    remedy = known or _of_redirect(exchange, status)
    return Problem(
        kind=ProblemKind.NOT_A2A if known is None else ProblemKind.REFUSED,
        what=f"{exchange.request.method} {exchange.request.url} answers HTTP {status}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=remedy.cause,
        hint=remedy.hint,
    )


def _of_redirect(exchange: Exchange, status: int) -> Remedy:
    """A redirect that was not followed; another status that A2A does not know says nothing."""
    if status >= HTTPStatus.BAD_REQUEST:
        return Remedy("", "")
    location = header(exchange.response, "location") if exchange.response else ""
    return Remedy(
        f"it redirects to {location!r}, which is another origin or would lose the message",
        "name the address it redirects to as the target, if you trust it",
    )


def _of_refusal(exchange: Exchange) -> Remedy | None:
    refusal = refusal_of(exchange)
    return None if refusal is None else Remedy(refusal.cause, refusal.hint)


def _of_nonsense(exchange: Exchange, problem: str) -> Problem:
    return Problem(
        kind=ProblemKind.NOT_A2A,
        what=f"{exchange.request.url} answers, but not in JSON-RPC: {problem}",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause="the card's url leads to something that is no A2A agent",
        hint="a2a-inspect card TARGET shows the url",
    )


def _of_wrong_answer(exchange: Exchange, result: Json, found: str) -> Problem:
    """JSON-RPC it is, but what it holds is no answer to the method."""
    cause = "the server speaks JSON-RPC, but not A2A 0.3"
    if is_wrapped(result):
        cause = "the agent answers as A2A 1.0 does, and was asked in 0.3"
    return Problem(
        kind=ProblemKind.NOT_A2A,
        what=f"{exchange.request.url} answers {exchange.rpc_method} with {found}",
        outstanding="",
        last_seen=_last_seen(exchange),
        cause=cause,
        hint="--json shows the whole reply, a2a-inspect card TARGET --validate what it offers",
    )


def _of_early_end(exchange: Exchange) -> Problem:
    remedy = remedy_of_early_end(exchange)
    return Problem(
        kind=ProblemKind.NOT_A2A,
        what="the stream ended without a final update",
        outstanding=_outstanding(exchange),
        last_seen=_last_seen(exchange),
        cause=remedy.cause,
        hint=remedy.hint,
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
