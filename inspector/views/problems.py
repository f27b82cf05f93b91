"""Why an exchange brought no answer, in words that somebody can act on (inspector.md CLI-5)."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from http import HTTPStatus
from typing import assert_never

from inspector.core.decoding import read_json
from inspector.core.entries import ASIDE, Failed, FailureKind, Purpose, is_cut, size_of
from inspector.views.exchanges import Exchange
from inspector.views.reads import header
from inspector.wire.dialect import AgentError, ErrorReason, Operation, Reply
from inspector.wire.json_values import Json, at
from inspector.wire.states import is_resting
from inspector.wire.tokens import Shown, read_mask
from inspector.wire.urls import is_loopback


class RefusalKind(StrEnum):
    MISSING = "missing"
    WRONG = "wrong"
    EXPIRED = "expired"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Either text may be empty. A hint may name commands, whose TARGET only the user knows.

    `kind` says how the agent refused the caller, where it did.
    """

    cause: str
    hint: str
    kind: RefusalKind | None = None


class ProblemKind(StrEnum):
    UNREACHABLE = "unreachable"
    NOT_A2A = "not-a2a"
    REFUSED = "refused"
    TIMED_OUT = "timed-out"
    STOPPED = "stopped"


class WayOn(StrEnum):
    """What the app offers to do about a problem, beside sending again."""

    CREDENTIALS = "credentials"
    FOLLOW = "follow"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class Problem:
    """`what` happened, what was `outstanding`, the last thing seen, the likely cause, a way on."""

    kind: ProblemKind
    what: str
    outstanding: str
    last_seen: str
    cause: str
    hint: str
    ways_on: tuple[WayOn, ...] = ()

    @property
    def text(self) -> str:
        """All of it, a line each, as the command line and exports show it."""
        return "\n".join((self.what, *(f"{name}: {text}" for name, text in self.details)))

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
    if exchange.total_ms is None or exchange.is_redirect:
        return None
    if exchange.purpose is Purpose.CARD:
        return _of_card(exchange)
    reply = exchange.last_reply
    if reply is not None and reply.error is not None:
        return _of_error(exchange, reply.error)
    if (status := _status(exchange)) is not None and status >= HTTPStatus.MULTIPLE_CHOICES:
        return _of_status(exchange, status)
    if exchange.answer is not None and is_cut(exchange.answer.entry):
        return None
    if reply is None or reply.problem:
        return _of_nonsense(exchange, reply.problem if reply else "the reply is empty")
    progress = exchange.progress
    if exchange.is_stream and (progress.is_final or is_resting(progress.state)):
        return None
    dialect, operation = exchange.reader.dialect, exchange.reader.operation
    if found := dialect.wrong_answer(reply, operation):
        return _of_wrong_answer(exchange, reply, found)
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
    remedy = _remedy_of_failure(exchange, failure.kind)
    what = f"{exchange.request.method} {exchange.request.url}: {failure.message}"
    return _problem(exchange, _KINDS[failure.kind], what, remedy)


def _of_card(exchange: Exchange) -> Problem | None:
    url, status = exchange.request.url, _status(exchange)
    if status is not None and status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _of_status(exchange, status)
    if status is not None and status != HTTPStatus.OK:
        return _no_card(exchange, f"no agent card: {url} answers HTTP {status}")
    parsed = read_json(exchange.frames[0].raw if exchange.frames else b"")
    if not isinstance(parsed.value, dict) and not any(map(is_cut, exchange.frames[:1])):
        return _no_card(exchange, f"no agent card at {url}: {parsed.problem or 'not an object'}")
    return None


def _no_card(exchange: Exchange, what: str) -> Problem:
    return _problem(
        exchange,
        ProblemKind.NOT_A2A,
        what,
        Remedy(
            "an A2A agent publishes a card; this server is something else, or keeps it elsewhere",
            "name the card's own URL or a card file as the target",
        ),
        is_outstanding=False,
    )


def _of_error(exchange: Exchange, error: AgentError) -> Problem:
    remedy = (
        refusal_of(exchange)
        or _STATUSES.get(_status(exchange) or 0)
        or _remedy_of_error(exchange, error.reason)
    )
    what = f"the agent answers with {error.name}: {error.message}"
    return _problem(exchange, ProblemKind.REFUSED, what, remedy)


def _of_status(exchange: Exchange, status: int) -> Problem:
    known = refusal_of(exchange) or _STATUSES.get(status)
    if known is None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        known = Remedy("the agent, or a proxy before it, has failed", "look at the agent's log")
    remedy = known or _of_redirect(exchange, status)
    what = f"{exchange.request.method} {exchange.request.url} answers HTTP {status}"
    kind = ProblemKind.NOT_A2A if known is None else ProblemKind.REFUSED
    return _problem(exchange, kind, what, remedy)


def _of_redirect(exchange: Exchange, status: int) -> Remedy:
    """A redirect that was not followed; a status that A2A does not know explains nothing."""
    if status >= HTTPStatus.BAD_REQUEST:
        return Remedy("", "")
    location = header(exchange.response, "location") if exchange.response else ""
    return Remedy(
        f"it redirects to {location!r}, which is another origin or would lose the message",
        "name the address it redirects to as the target, if you trust it",
    )


def _of_nonsense(exchange: Exchange, problem: str) -> Problem:
    binding = exchange.reader.dialect.binding
    what = f"{exchange.request.url} answers, but not in {binding.label}: {problem}"
    remedy = Remedy(
        "the card's url leads to something that is not an A2A agent",
        "a2a-inspect card TARGET shows the url",
    )
    return _problem(exchange, ProblemKind.NOT_A2A, what, remedy)


def _of_wrong_answer(exchange: Exchange, reply: Reply, found: str) -> Problem:
    """It is a reply, but what it holds does not answer what was asked."""
    what = f"{exchange.request.url} answers {exchange.rpc_method} with {found}"
    remedy = Remedy(
        exchange.reader.dialect.cause_of_wrong_answer(reply),
        "--json shows the whole reply, a2a-inspect card TARGET --validate what it offers",
    )
    return _problem(exchange, ProblemKind.NOT_A2A, what, remedy, is_outstanding=False)


def _of_early_end(exchange: Exchange) -> Problem:
    remedy = Remedy(
        "the agent forgot it, or something on the way closed the stream too early",
        _way_to_the_task(exchange) or "look at the agent's log",
    )
    what = "the stream ended without a final update"
    return _problem(exchange, ProblemKind.NOT_A2A, what, remedy)


def _problem(
    exchange: Exchange, kind: ProblemKind, what: str, remedy: Remedy, *, is_outstanding: bool = True
) -> Problem:
    return Problem(
        kind=kind,
        what=what,
        outstanding=_outstanding(exchange) if is_outstanding else "",
        last_seen=_last_seen(exchange),
        cause=remedy.cause,
        hint=remedy.hint,
        ways_on=_ways_on(exchange),
    )


def _ways_on(exchange: Exchange) -> tuple[WayOn, ...]:
    if refusal_of(exchange) is not None:
        return (WayOn.CREDENTIALS,)
    if exchange.purpose in ASIDE or exchange.task_id is None:
        return ()
    return (WayOn.FOLLOW, WayOn.TASK) if exchange.is_stream else (WayOn.TASK,)


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
        return f"{size_of(frame)} bytes at {since_ms:.0f} ms: {start!r}"
    if exchange.response is not None:
        return f"HTTP {exchange.response.status} at {exchange.first_byte_ms or 0:.0f} ms"
    return "nothing"


def _remedy_of_failure(exchange: Exchange, kind: FailureKind) -> Remedy:
    """What breaking off in this way means for what was asked."""
    match kind:
        case FailureKind.CONNECT:
            return Remedy(
                "nothing listens there, or the name or port is wrong",
                f"check that the agent runs and the address is right: {_curl(exchange)}",
            )
        case FailureKind.TLS:
            return Remedy(
                "the certificate is not trusted here, the agent wants one, or the port has no TLS",
                "--cacert FILE to trust one of your own, --client-cert FILE to show one, "
                "else http://",
            )
        case FailureKind.TIMEOUT:
            return _remedy_of_silence(exchange)
        case FailureKind.PROTOCOL:
            return Remedy(
                "the server does not speak HTTP as A2A needs it",
                f"{_curl(exchange)} shows what it sends",
            )
        case FailureKind.DISCONNECTED:
            return Remedy(
                "the server crashed, restarted or gave up; a proxy may cut long replies",
                "; ".join(filter(None, ("look at the agent's log", _way_to_the_task(exchange)))),
            )
        case FailureKind.STOPPED:
            return Remedy("", _way_to_the_task(exchange))
        case _:
            assert_never(kind)


def _remedy_of_error(exchange: Exchange, reason: ErrorReason | None) -> Remedy:
    known = _ERRORS.get(reason) if reason is not None else None
    remedy = known or Remedy("", "--json shows the whole reply")
    return replace(remedy, hint=remedy.hint.format(task=exchange.task_id or "TASK_ID"))


def _remedy_of_silence(exchange: Exchange) -> Remedy:
    if exchange.purpose in ASIDE:
        return Remedy(
            "the server hangs, or something on the way swallows the request",
            f"a longer --timeout, or {_curl(exchange)} to see whether it answers at all",
        )
    if exchange.reader.operation is Operation.SEND:
        hint = "a longer --timeout, or --stream to see how far it comes"
    else:
        way = _way_to_the_task(exchange) or "the agent's log shows what it does"
        hint = f"a longer --timeout; {way}"
    return Remedy("the agent still works, or hangs", hint)


def _way_to_the_task(exchange: Exchange) -> str:
    """How to see what became of the task; "" where the exchange was about none."""
    task = exchange.task_id
    if exchange.purpose in ASIDE:
        return ""
    if task is None:
        is_sent = exchange.reader.operation is Operation.SEND
        return "--stream or --no-blocking shows the task's id at once" if is_sent else ""
    if exchange.is_stream:
        return f"a2a-inspect tasks resubscribe TARGET {task} goes on, tasks get shows where it is"
    return f"a2a-inspect tasks get TARGET {task} shows where it is"


def _curl(exchange: Exchange) -> str:
    return f"curl -i {exchange.request.url}"


_ERRORS: dict[ErrorReason, Remedy] = {
    ErrorReason.PARSE_ERROR: Remedy(
        "the agent cannot read the body as JSON",
        "look at what went out: a2a-inspect sessions export last --format curl",
    ),
    ErrorReason.METHOD_NOT_FOUND: Remedy(
        "the agent speaks another protocol version, or lacks this method",
        "a2a-inspect card TARGET --validate shows what it offers",
    ),
    ErrorReason.TASK_NOT_FOUND: Remedy(
        "the task id is wrong, or the agent has forgotten it, as after a restart",
        "check the id; a2a-inspect send prints it as taskId",
    ),
    ErrorReason.TASK_NOT_CANCELABLE: Remedy(
        "the task has already ended, or a later turn took its place",
        "a2a-inspect tasks get TARGET {task} shows its state",
    ),
    ErrorReason.PUSH_NOT_SUPPORTED: Remedy(
        "the agent sends no push notifications",
        "--poll or --stream follows the task as well",
    ),
    ErrorReason.UNSUPPORTED_OPERATION: Remedy(
        "the agent cannot do this at all, or not with this task now",
        "a2a-inspect card TARGET shows what it can",
    ),
    ErrorReason.CONTENT_TYPE_NOT_SUPPORTED: Remedy(
        "the agent takes or gives none of the media types of this message",
        "--accept MODE asks for others; a2a-inspect card TARGET shows what it takes and gives",
    ),
}

_STATUSES: dict[int, Remedy] = {
    HTTPStatus.NOT_FOUND: Remedy(
        "the card's url does not lead to the agent",
        "a2a-inspect card TARGET shows the url",
    ),
    HTTPStatus.CONFLICT: Remedy(
        "the same message is still being worked on",
        "wait, or send it with another --message-id",
    ),
}


_DESCRIPTION = re.compile(r'error_description="([^"]*)"')


def refusal_of(exchange: Exchange) -> Remedy | None:
    """Why the agent answered 401 or 403; None where it did not.

    Whether a token had expired when it went out is known from its own `exp`, whatever the agent
    says; RFC 6750 §3 has its words.
    """
    if exchange.response is None:
        return None
    shown, said = _shown(exchange), _description(exchange)
    match exchange.response.status:
        case HTTPStatus.UNAUTHORIZED if shown is None:
            return _missing(exchange)
        case HTTPStatus.UNAUTHORIZED if shown is Shown.EXPIRED or "expired" in said.lower():
            return _expired(exchange, said)
        case HTTPStatus.UNAUTHORIZED:
            return _wrong(shown, said)
        case HTTPStatus.FORBIDDEN:
            return _forbidden(shown, said)
        case _:
            return None


def _missing(exchange: Exchange) -> Remedy:
    wanted = _challenge(exchange).partition(" ")[0]
    return Remedy(
        f"no credentials were sent; the agent wants {wanted or 'some'}",
        "--token-env VAR, --api-key-env VAR or --jwt-alg ALG; in the app, K asks for them",
        RefusalKind.MISSING,
    )


def _expired(exchange: Exchange, said: str) -> Remedy:
    ago = re.search(r"expired (\d+) s ago", " ".join(_masked(exchange)))
    cause = f"the token had expired {ago[1]} s before it was sent" if ago else "the token expired"
    return Remedy(
        cause + _quote(said),
        "a new one: a2a-inspect token makes one; in the app, K renews it, then r resends",
        RefusalKind.EXPIRED,
    )


def _wrong(shown: Shown | None, said: str) -> Remedy:
    if shown is Shown.TOKEN:
        cause = "the agent does not accept this token: another key, issuer or audience, or no exp"
    else:
        cause = "the agent does not accept these credentials"
    return Remedy(
        cause + _quote(said),
        "compare key, iss and aud with what the agent expects; in the app, K takes another one",
        RefusalKind.WRONG,
    )


def _forbidden(shown: Shown | None, said: str) -> Remedy:
    if shown is None:
        cause = "without credentials this is not allowed"
    else:
        cause = "the agent knows these credentials, but they may not do this"
    return Remedy(
        cause + _quote(said),
        "credentials with other rights: --token-env VAR; in the app, K takes them",
        RefusalKind.FORBIDDEN,
    )


def _shown(exchange: Exchange) -> Shown | None:
    """What the request showed; of several masked headers, the one that says most."""
    found = [shown for value in _masked(exchange) if (shown := read_mask(value))]
    return max(found, key=list(Shown).index, default=None)


def _masked(exchange: Exchange) -> list[str]:
    return [value for name, value in exchange.request.headers if name.lower() != "cookie"]


def _challenge(exchange: Exchange) -> str:
    return header(exchange.response, "www-authenticate") if exchange.response else ""


def _description(exchange: Exchange) -> str:
    found = _DESCRIPTION.search(_challenge(exchange))
    return found[1] if found else ""


def _quote(said: str) -> str:
    return f"; it says {said!r}" if said else ""


_TUNNEL = "--public-url URL, with a tunnel from there to this port"


def remedy_of_missing_push(card: Json, agent_url: str, callback_url: str) -> Remedy:
    """Why an agent with `card` did not post to `callback_url`, or refused to (PUSHRX-3)."""
    if at(card, "capabilities", "pushNotifications") is not True:
        return Remedy(
            "the card says that the agent sends no push notifications",
            "turn them on at the agent; a2a-mock: push_notifications_enabled in endpoints.yml",
        )
    if is_loopback(callback_url) and not is_loopback(agent_url):
        return Remedy(
            f"{callback_url} leads the agent to its own machine, not to this one", _TUNNEL
        )
    if is_loopback(callback_url):
        return Remedy(
            "patched servers refuse callbacks to loopback addresses, as Rasa's does",
            f"a2a-mock serve --allow-local-push, or {_TUNNEL}",
        )
    return Remedy(
        "the agent cannot reach it, or its rules for callbacks forbid the host",
        f"from the agent's machine: curl -i -d '{{}}' {callback_url}, which answers 400 or 401",
    )
