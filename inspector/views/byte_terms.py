"""Whether bytes of an exchange hold what a term of a filter seeks.

They are parsed only where they could.
"""

import json

from inspector.core.entries import Channel, FrameReceived, PushReceived, RequestSent
from inspector.views.exchanges import Exchange
from inspector.views.filters import PathTerm, TextTerm
from inspector.views.json_paths import may_hold, values_at
from inspector.wire.sse import parse_event
from inspector.wire.tree import Json, parse_json


def is_in_request(term: PathTerm | TextTerm, request: RequestSent | PushReceived) -> bool:
    if isinstance(term, PathTerm):
        return is_in_json(term, request.body)
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers)
    head = f"{request.method} {request.url}\n{headers}".lower()
    return term.text in head or _is_in_raw(term, request.body)


def is_in_frame(term: PathTerm | TextTerm, frame: FrameReceived) -> bool:
    if isinstance(term, TextTerm):
        return _is_in_raw(term, frame.raw)
    if not may_hold(frame.raw, term.path):
        return False
    body = frame.raw
    if frame.channel is Channel.SSE:
        body = parse_event(frame.raw).data or b""
    return is_in_json(term, body)


def is_in_outcome(term: TextTerm, exchange: Exchange) -> bool:
    response, failure = exchange.response, exchange.failure
    headers = response.headers if response is not None else ()
    words = [f"{name}: {value}" for name, value in headers]
    words += [failure.message] if failure is not None else []
    return term.text in "\n".join(words).lower()


def _is_in_raw(term: TextTerm, raw: bytes) -> bool:
    lower = raw.lower()
    escaped = json.dumps(term.text)[1:-1]
    return term.text.encode(errors="replace") in lower or escaped.encode() in lower


def is_in_json(term: PathTerm, raw: bytes) -> bool:
    if not may_hold(raw, term.path):
        return False
    found = values_at(parse_json(raw).value, term.path)
    return any(_is_value(term, value) for value in found)


def _is_value(term: PathTerm, value: Json) -> bool:
    if not term.sign:
        return value is not None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text == term.value if term.sign == "=" else term.value.lower() in text.lower()
