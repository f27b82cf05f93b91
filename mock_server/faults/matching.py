"""Which requests and push notifications a fault is for, and where each effect can show."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from mock_server.dialogue.model import Json
from mock_server.dialogue.regular_expressions import compile_expression, search
from mock_server.faults.effects import STRICT, Effect, Reach
from mock_server.tasks.json_text import parse_json
from mock_server.tasks.task import TaskState

RPC_PATH = "/"


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """`method` is JSON-RPC's; names are in lower case in `headers`; None is what is left out."""

    verb: str
    path: str
    headers: Mapping[str, str]
    method: str | None = None
    context_id: str | None = None
    task_id: str | None = None
    message_id: str | None = None
    text: str | None = None


def read_request(
    verb: str, path: str, headers: Iterable[tuple[bytes, bytes]], body: bytes
) -> ReceivedRequest:
    """Read what is readable; a body that is not JSON gives nothing."""
    decoded = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    call = _mapping(_parsed(body) if verb == "POST" else None)
    params = _mapping(call.get("params"))
    message = _mapping(params.get("message"))
    return ReceivedRequest(
        verb=verb,
        path=path,
        headers=decoded,
        method=_text(call.get("method")),
        context_id=_text(message.get("contextId")) or _text(params.get("contextId")),
        task_id=_text(message.get("taskId")) or _text(params.get("taskId")) or _task_id(params),
        message_id=_text(message.get("messageId")),
        text=_spoken(message),
    )


def _parsed(body: bytes) -> Json:
    try:
        return parse_json(body)
    except ValueError:
        return None


def _task_id(params: Mapping[str, Json]) -> str | None:
    return None if "message" in params else _text(params.get("id"))


def _spoken(message: Mapping[str, Json]) -> str | None:
    parts = message.get("parts")
    if not isinstance(parts, list):
        return None
    texts = (_text(_mapping(part).get("text")) for part in parts)
    return "\n".join(text for text in texts if text is not None)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


PUSH_CRITERIA = frozenset({"context", "task", "state"})


def _checked(pattern: str) -> str:
    compile_expression(pattern)
    return pattern


class RequestCriteria(BaseModel):
    """What a request can be known by; all that is given must hold."""

    model_config = STRICT
    method: str | None = Field(default=None, description="JSON-RPC method; `*` stands for any text")
    path: str | None = Field(default=None, description="path of the URL; `*` stands for any text")
    context: str | None = Field(default=None, description="`contextId`, as the request names it")
    task: str | None = Field(default=None, description="task id, as the request names it")
    message: str | None = Field(default=None, description="`messageId`")
    text: Annotated[str, AfterValidator(_checked)] | None = Field(
        default=None, description="regular expression found in the user's text"
    )


class Match(RequestCriteria):
    """All that is given must hold; an empty matcher matches everything."""

    headers: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="header values by name; `*` stands for any text",
    )
    state: TaskState | None = Field(
        default=None, description="state of the task that a push notification carries"
    )


@dataclass(frozen=True, slots=True)
class Miss:
    """A criterion that did not hold."""

    criterion: str
    expected: str
    found: str | None


@dataclass(frozen=True, slots=True)
class OutgoingPush:
    """A push notification about to be sent."""

    task_id: str
    context_id: str
    state: TaskState


def criteria(match: Match) -> frozenset[str]:
    """The names of what `match` asks for."""
    return frozenset(name for name in Match.model_fields if getattr(match, name))


def misses(match: RequestCriteria, request: ReceivedRequest) -> tuple[Miss, ...]:
    """What keeps `request` from matching; empty if it does.

    Raises:
        SearchTooSlow: the regular expression takes too long.
    """
    wanted = (
        ("method", match.method, request.method, _is_like),
        ("path", match.path, request.path, _is_like),
        ("context", match.context, request.context_id, _is_same),
        ("task", match.task, request.task_id, _is_same),
        ("message", match.message, request.message_id, _is_same),
        ("text", match.text, request.text, _occurs),
    )
    failed = [
        Miss(name, expected, found)
        for name, expected, found, holds in wanted
        if expected is not None and (found is None or not holds(expected, found))
    ]
    return (*failed, *(_header_misses(match, request) if isinstance(match, Match) else ()))


def delivers(match: Match, delivery: OutgoingPush) -> bool:
    """Whether `match` is for this push notification."""
    return (
        match.context in (None, delivery.context_id)
        and match.task in (None, delivery.task_id)
        and match.state in (None, delivery.state)
    )


def _header_misses(match: Match, request: ReceivedRequest) -> Iterator[Miss]:
    for name, expected in match.headers.items():
        found = request.headers.get(name.lower())
        if found is None or not _is_like(expected, found):
            yield Miss(f"headers.{name}", expected, found)


def _is_like(expected: str, found: str) -> bool:
    return fnmatchcase(found, expected.replace("[", "[[]").replace("?", "[?]"))


def _is_same(expected: str, found: str) -> bool:
    return found == expected


def _occurs(expected: str, found: str) -> bool:
    return search(expected, found) is not None


TURN_METHODS = frozenset(
    {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
)  # fmt: skip
STREAM_METHODS = frozenset(
    {"message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask"}
)
CARD_PATHS = frozenset({"/.well-known/agent-card.json", "/.well-known/agent.json"})


def reaches(effect: Effect, request: ReceivedRequest) -> bool:
    """Whether `effect` can show in the answer to `request` at all."""
    match effect.reach:
        case Reach.ANY:
            return True
        case Reach.RPC:
            return request.path == RPC_PATH and request.verb == "POST"
        case Reach.STREAM:
            return request.method in STREAM_METHODS
        case Reach.TURN:
            return request.method in TURN_METHODS
        case Reach.CARD:
            return request.path in CARD_PATHS
        case Reach.PUSH:
            return False
