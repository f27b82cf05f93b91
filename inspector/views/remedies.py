"""The likely cause of an exchange without an answer, and what to try next (inspector.md CLI-5)."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import assert_never

from inspector.core.entries import ASIDE, FailureKind
from inspector.views.exchanges import Exchange
from inspector.wire import jsonrpc


@dataclass(frozen=True, slots=True)
class Remedy:
    """Either may be empty. A hint may name commands, whose TARGET only the user knows."""

    cause: str
    hint: str


def remedy_of_failure(exchange: Exchange, kind: FailureKind) -> Remedy:
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


def remedy_of_error(exchange: Exchange, code: int | None) -> Remedy:
    """What a JSON-RPC error of this code says (A2A 0.3 §8)."""
    cause, hint = _ERRORS.get(code or 0, ("", "--json shows the whole reply"))
    return Remedy(cause, hint.format(task=exchange.task_id or "TASK_ID"))


def remedy_of_status(status: int) -> Remedy | None:
    """What an HTTP status says that has a meaning for A2A."""
    known = _STATUSES.get(status)
    return None if known is None else Remedy(*known)


def remedy_of_early_end(exchange: Exchange) -> Remedy:
    return Remedy(
        "the agent forgot it, or something on the way closed the stream too early",
        _way_to_the_task(exchange) or "look at the agent's log",
    )


def _remedy_of_silence(exchange: Exchange) -> Remedy:
    if exchange.purpose in ASIDE:
        return Remedy(
            "the server hangs, or something on the way swallows the request",
            f"a longer --timeout, or {_curl(exchange)} to see whether it answers at all",
        )
    if exchange.rpc_method == jsonrpc.MESSAGE_SEND:
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
        is_sent = exchange.rpc_method == jsonrpc.MESSAGE_SEND
        return "--stream or --no-blocking tells the task's id at once" if is_sent else ""
    if exchange.is_stream:
        return f"a2a-inspect tasks resubscribe TARGET {task} goes on, tasks get shows where it is"
    return f"a2a-inspect tasks get TARGET {task} shows where it is"


def _curl(exchange: Exchange) -> str:
    return f"curl -i {exchange.request.url}"


_ERRORS: dict[int, tuple[str, str]] = {
    jsonrpc.PARSE_ERROR: (
        "the body is no JSON for the agent",
        "look at what went out: a2a-inspect sessions export last --format curl",
    ),
    jsonrpc.METHOD_NOT_FOUND: (
        "the agent speaks another protocol version, or lacks this method",
        "a2a-inspect card TARGET --validate shows what it offers",
    ),
    jsonrpc.TASK_NOT_FOUND: (
        "the task id is wrong, or the agent has forgotten it, as after a restart",
        "check the id; a2a-inspect send prints it as taskId",
    ),
    jsonrpc.TASK_NOT_CANCELABLE: (
        "the task has already ended, or a later turn took its place",
        "a2a-inspect tasks get TARGET {task} shows its state",
    ),
    jsonrpc.PUSH_NOT_SUPPORTED: (
        "the agent sends no push notifications",
        "--poll or --stream follows the task as well",
    ),
    jsonrpc.UNSUPPORTED_OPERATION: (
        "the agent cannot do this at all, or not with this task now",
        "a2a-inspect card TARGET shows what it can",
    ),
    jsonrpc.CONTENT_TYPE_NOT_SUPPORTED: (
        "the agent takes or gives none of the media types of this message",
        "--accept MODE asks for others; a2a-inspect card TARGET shows what it takes and gives",
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
