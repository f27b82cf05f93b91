"""A saved session in the formats of `sessions export`."""

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version

from inspector.core.entries import Purpose
from inspector.core.session_files import SavedSession
from inspector.views import together
from inspector.views.exchanges import Exchange
from inspector.views.export_har import har
from inspector.views.export_markdown import markdown
from inspector.views.export_requests import curl, httpx_script
from inspector.views.text import plain_line
from inspector.views.together import Views
from inspector.wire.tree import encode_json


def _har(saved: SavedSession) -> bytes:
    archive = har(_views(saved).exchanges, saved.header.started, version("a2a-inspect"))
    return encode_json(archive) + b"\n"


def _jsonl(saved: SavedSession) -> bytes:
    """The file itself, its torn end left out."""
    content = saved.path.read_bytes()
    return content[: len(content) - saved.torn_bytes]


def _markdown(saved: SavedSession) -> bytes:
    title = saved.name or f"Session {saved.header.id}"
    return _encode(markdown(_views(saved), saved.header.started, title, saved.header.target))


def _curl(saved: SavedSession) -> bytes:
    lines = ["#!/bin/sh"]
    for exchange in _asked(saved):
        method = exchange.rpc_method or exchange.request.method
        lines += ["", f"# {exchange.id}  {plain_line(method)}"]
        lines.append(curl(exchange.request))
    return _encode("\n".join(lines) + "\n")


def _httpx(saved: SavedSession) -> bytes:
    return _encode("\n\n".join(httpx_script(one.request) for one in _asked(saved)))


def _asked(saved: SavedSession) -> Iterator[Exchange]:
    """What we asked the agent over HTTP: no notification, no card file."""
    for exchange in _views(saved).exchanges:
        if exchange.purpose not in (None, Purpose.ADMIN) and exchange.request.method != "READ":
            yield exchange


def _views(saved: SavedSession) -> Views:
    views = together.EMPTY
    for entry in saved.whole:
        views = together.step(views, entry)
    return views


def _encode(text: str) -> bytes:
    return text.encode(errors="replace")


FORMATS: Mapping[str, Callable[[SavedSession], bytes]] = {
    "har": _har,
    "jsonl": _jsonl,
    "md": _markdown,
    "curl": _curl,
    "httpx": _httpx,
}
