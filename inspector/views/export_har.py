"""Exchanges as an HTTP Archive, version 1.2 (the W3C draft's fields), for browsers and proxies.

An SSE stream is the text of its response, and event by event in `_events`.
"""

import base64
from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from inspector.core.entries import Channel, FrameReceived, Headers, PushReceived
from inspector.views.exchanges import Exchange, header
from inspector.views.export_requests import iso_time
from inspector.wire.sse import parse_event
from inspector.wire.tree import Json

UNKNOWN = -1
HTTP_SCHEMES = ("http", "https")


def har(exchanges: Iterable[Exchange], started: datetime, version: str) -> dict[str, Json]:
    """The archive; `started` is the zero of the log, `version` that of a2a-inspect.

    A card that was read from a file is no exchange of HTTP and is left out.
    """
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "a2a-inspect", "version": version},
            "entries": [
                har_entry(one, started)
                for one in exchanges
                if urlsplit(one.request.url).scheme in HTTP_SCHEMES
            ],
        }
    }


def har_entry(exchange: Exchange, started: datetime) -> dict[str, Json]:
    request = exchange.request
    entry: dict[str, Json] = {
        "startedDateTime": iso_time(started, request.at_ms),
        "time": round(exchange.total_ms or 0, 3),
        "request": _request(exchange),
        "response": _pushed(request) if isinstance(request, PushReceived) else _response(exchange),
        "cache": {},
        "timings": _timings(exchange),
    }
    if exchange.failure is not None:
        entry["_error"] = f"{exchange.failure.kind}: {exchange.failure.message}"
    if events := [_event(frame, started) for frame in exchange.frames if _is_event(frame)]:
        entry["_events"] = list(events)
    if isinstance(request, PushReceived):
        entry["comment"] = f"a push notification to a2a-inspect: {request.verdict}"
    return entry


def _request(exchange: Exchange) -> dict[str, Json]:
    request = exchange.request
    version = exchange.response.http_version if exchange.response else "HTTP/1.1"
    described: dict[str, Json] = {
        "method": request.method,
        "url": request.url,
        "httpVersion": version,
        "cookies": [],
        "headers": _pairs(request.headers),
        "queryString": _pairs(parse_qsl(urlsplit(request.url).query, keep_blank_values=True)),
        "headersSize": UNKNOWN,
        "bodySize": len(request.body),
    }
    if request.body:
        named = (value for name, value in request.headers if name.lower() == "content-type")
        text, _ = _spell(request.body)
        described["postData"] = {"mimeType": next(named, ""), "params": [], "text": text}
    return described


def _response(exchange: Exchange) -> dict[str, Json]:
    response = exchange.response
    raw = b"".join(frame.raw for frame in exchange.frames)
    text, encoding = _spell(raw)
    content: dict[str, Json] = {
        "size": len(raw),
        "mimeType": header(response, "content-type") if response else "",
        "text": text,
    }
    if encoding:
        content["encoding"] = encoding
    return _answer(
        status=response.status if response else 0,
        version=response.http_version if response else "",
        headers=response.headers if response else (),
        content=content,
        location=header(response, "location") if response else "",
    )


def _pushed(push: PushReceived) -> dict[str, Json]:
    """What the receiver answered; it never sends a body that matters."""
    content: dict[str, Json] = {"size": 0, "mimeType": ""}
    return _answer(push.status or 0, "HTTP/1.1", (), content, "")


def _answer(
    status: int, version: str, headers: Headers, content: dict[str, Json], location: str
) -> dict[str, Json]:
    known = {one.value: one.phrase for one in HTTPStatus}
    return {
        "status": status,
        "statusText": known.get(status, ""),
        "httpVersion": version,
        "cookies": [],
        "headers": _pairs(headers),
        "content": content,
        "redirectURL": location,
        "headersSize": UNKNOWN,
        "bodySize": content["size"],
    }


def _timings(exchange: Exchange) -> dict[str, Json]:
    """`send` is in `wait`: the log does not tell when the last byte of a request had gone."""
    total, first = exchange.total_ms or 0, exchange.first_byte_ms
    wait = total if first is None else first
    connect = exchange.connect_ms
    return {
        "blocked": UNKNOWN,
        "dns": UNKNOWN,
        "connect": UNKNOWN if connect is None else round(connect, 3),
        "send": 0,
        "wait": round(max(0.0, wait - (connect or 0)), 3),
        "receive": round(max(0.0, total - wait), 3),
        "ssl": UNKNOWN,
    }


def _is_event(frame: FrameReceived) -> bool:
    return frame.channel is Channel.SSE


def _event(frame: FrameReceived, started: datetime) -> dict[str, Json]:
    event = parse_event(frame.raw)
    data = None if event.data is None else event.data.decode(errors="replace")
    return {
        "time": iso_time(started, frame.at_ms),
        "event": event.event,
        "id": event.id,
        "data": data,
        "comments": list(event.comments),
    }


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in pairs]


def _spell(raw: bytes) -> tuple[str, str]:
    """`raw` as text, and the encoding that HAR names where it had to be encoded."""
    try:
        return raw.decode(), ""
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode(), "base64"
