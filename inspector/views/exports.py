"""A request as something to paste and run elsewhere: for curl, for Python, as plain JSON.

What the log masks is named as a variable in its place, so that no export holds a secret and each
still runs once the variable is set.
"""

import base64
import re
import shlex
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from urllib.parse import parse_qsl

from inspector.core.entries import Channel, FrameReceived, Headers, PushReceived, RequestSent
from inspector.core.redaction import MASK
from inspector.net.events import is_written_by_transport
from inspector.views.exchanges import Exchange
from inspector.views.filtered import frame_at
from inspector.views.reads import header
from inspector.wire.json_values import Json, parse_json
from inspector.wire.sse import parse_event
from inspector.wire.urls import parts_of

_PYTHON = """\
{imports}

method, url = {method!r}, {url!r}
headers = {headers}
body = {body}

with (
    httpx.Client(timeout=None) as client,
    client.stream(method, url, headers=headers, content=body) as response,
):
    print(response.status_code, response.reason_phrase, file=sys.stderr)
    for text in response.iter_text():
        print(text, end="", flush=True)
"""


def curl(request: RequestSent | PushReceived, *options: str) -> str:
    """The request as a command line; a body that is not text is passed as base64."""
    words = ["curl", *options, "-X", shlex.quote(request.method), shlex.quote(request.url)]
    for name, value in request.headers:
        if is_written_by_transport(name, value):
            continue
        if value == MASK:
            words += ["-H", f'{shlex.quote(name + ": ")}"${{{variable_of(name)}}}"']
        else:
            words += ["-H", shlex.quote(f"{name}: {value}")]
    text = _text(request.body)
    if text is None:
        encoded = base64.b64encode(request.body).decode()
        return " ".join([f"echo {encoded} | base64 -d |", *words, "--data-binary", "@-"])
    if request.body:
        words += ["--data-raw", shlex.quote(text)]
    return " ".join(words)


def httpx_script(request: RequestSent | PushReceived) -> str:
    """The request as a Python program that prints what comes, as it comes."""
    headers: list[str] = []
    is_secret = False
    for name, value in request.headers:
        if is_written_by_transport(name, value):
            continue
        is_secret = is_secret or value == MASK
        written = f"os.environ[{variable_of(name)!r}]" if value == MASK else repr(value)
        headers.append(f"    ({name!r}, {written}),\n")
    text = _text(request.body)
    imports = ["import os"] * is_secret + ["import sys", "", "import httpx"]
    return _PYTHON.format(
        method=request.method,
        url=request.url,
        imports="\n".join(imports),
        headers="[\n" + "".join(headers) + "]" if headers else "[]",
        body=repr(request.body) if text is None else f"{text!r}.encode()",
    )


def exchange_json(exchange: Exchange, started: datetime) -> dict[str, Json]:
    """The exchange with everything that came of it; `started` is the zero of its log."""
    request, response = exchange.request, exchange.response
    return {
        "exchange": exchange.id,
        "at": iso_time(started, request.at_ms),
        "request": {
            "method": request.method,
            "url": request.url,
            "headers": [[name, value] for name, value in request.headers],
            "body": readable(request.body),
        },
        "response": response
        and {
            "status": response.status,
            "http_version": response.http_version,
            "headers": [[name, value] for name, value in response.headers],
        },
        "frames": [_frame(exchange, frame) for frame in exchange.frames],
        "error": exchange.failure and exchange.failure.message,
        "elapsed_ms": None if exchange.total_ms is None else round(exchange.total_ms, 1),
    }


def variable_of(header: str) -> str:
    """The environment variable that stands for a masked header: `X-Api-Key` is X_API_KEY."""
    return re.sub(r"\W", "_", header).upper()


def iso_time(started: datetime, at_ms: float) -> str:
    return (started + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds")


def readable(raw: bytes) -> Json:
    """`raw` as the JSON that it is, else as text, else as base64."""
    text = _text(raw)
    if text is None:
        return {"base64": base64.b64encode(raw).decode()}
    parsed = parse_json(raw)
    return text if parsed.problem or parsed.warning else parsed.value


def _frame(exchange: Exchange, frame: FrameReceived) -> dict[str, Json]:
    return {
        "at_ms": round(frame.at_ms - exchange.request.at_ms, 1),
        "channel": frame.channel.value,
        "raw": readable(frame.raw),
    }


def _text(raw: bytes) -> str | None:
    """`raw` as text that a command line can hold; None where it is not."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


UNKNOWN = -1
HTTP_SCHEMES = ("http", "https")


def har(exchanges: Iterable[Exchange], started: datetime, version: str) -> dict[str, Json]:
    """The archive; `started` is the zero of the log, `version` that of a2a-inspect.

    A card that was read from a file is left out: no HTTP was exchanged.
    """
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "a2a-inspect", "version": version},
            "entries": [
                har_entry(one, started)
                for one in exchanges
                if parts_of(one.request.url).scheme in HTTP_SCHEMES
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
    if events := [
        _event(frame, started) for frame in exchange.frames if frame.channel is Channel.SSE
    ]:
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
        "queryString": _pairs(parse_qsl(parts_of(request.url).query, keep_blank_values=True)),
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
    """`send` is in `wait`: the log does not say when the last byte of a request had gone."""
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


def entry_bytes(exchange: Exchange, seq: int) -> bytes:
    """The body or frame that the entry `seq` brought; of any other entry the request's body."""
    frame = frame_at(exchange, seq)
    return exchange.request.body if frame is None else frame.raw


def exchange_bytes(exchange: Exchange) -> bytes:
    """The request and all that came of it, heads included; credentials are masked in the log."""
    return b"".join(_parts(exchange))


def received_bytes(exchange: Exchange) -> bytes:
    """What the other side sent: the body of the answer, or of its own request."""
    if not isinstance(exchange.request, RequestSent):
        return exchange.request.body
    return b"".join(frame.raw for frame in exchange.frames)


def _parts(exchange: Exchange) -> Iterator[bytes]:
    request, response = exchange.request, exchange.response
    yield _head(f"{request.method} {request.url}", request.headers)
    yield request.body + b"\n\n"
    if response is not None:
        yield _head(f"{response.http_version} {response.status}", response.headers)
    for frame in exchange.frames:
        yield frame.raw
    if exchange.failure is not None:
        yield f"\n{exchange.failure.kind}: {exchange.failure.message}\n".encode(errors="replace")


def _head(first: str, headers: Headers) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\n".join(lines).encode(errors="replace")
