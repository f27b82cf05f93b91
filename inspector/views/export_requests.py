"""A request as something to paste and run elsewhere: for curl, for Python, as plain JSON.

What the log masks is named as a variable in its place, so that no export holds a secret and each
still runs once the variable is set.
"""

import base64
import json
import re
import shlex
from datetime import datetime, timedelta

from inspector.core.entries import FrameReceived, PushReceived, RequestSent
from inspector.core.secrets.redact import MASK
from inspector.views.exchanges import Exchange
from inspector.wire.tree import Json

# What a client writes itself, and what it must not be told twice.
OWN_HEADERS = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})

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
    """The request as a command line; a body that is no text goes by way of base64."""
    words = ["curl", *options, "-X", shlex.quote(request.method), shlex.quote(request.url)]
    for name, value in request.headers:
        if name.lower() in OWN_HEADERS:
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
        if name.lower() in OWN_HEADERS:
            continue
        is_secret = is_secret or value == MASK
        spelt = f"os.environ[{variable_of(name)!r}]" if value == MASK else repr(value)
        headers.append(f"    ({name!r}, {spelt}),\n")
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
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


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
