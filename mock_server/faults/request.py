"""What can be said of a request from its bytes alone, whatever its protocol version."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import parse_json

RPC_PATH = "/"


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """`method` is JSON-RPC's; names are in lower case in `headers`; None is what was not said."""

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
    """Read what is readable; a body that is no JSON says nothing."""
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
