"""A saved session in every format that it can be exported to."""

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from inspector.core.entries import Purpose
from inspector.core.saved.recording import encode_entry
from inspector.core.saved.session_files import SavedSession, encode_header, encode_name
from inspector.views import together
from inspector.views.exchanges import Exchange
from inspector.views.export_har import har
from inspector.views.export_markdown import markdown
from inspector.views.export_requests import curl, httpx_script
from inspector.views.text import plain_line
from inspector.views.together import Views
from inspector.wire.tree import encode_json


def export(saved: SavedSession, form: str, version: str) -> bytes:
    """`saved` as one of FORMATS; `version` is that of a2a-inspect."""
    return FORMATS[form](saved, version)


def _har(saved: SavedSession, version: str) -> bytes:
    return encode_json(har(_views(saved).exchanges, saved.header.started, version)) + b"\n"


def _jsonl(saved: SavedSession, _: str) -> bytes:
    """The file itself without what is unreadable in it."""
    lines = [encode_header(saved.header), *map(encode_entry, saved.entries)]
    lines += [encode_name(saved.name)] if saved.name else []
    return _encode("".join(f"{line}\n" for line in lines))


def _markdown(saved: SavedSession, _: str) -> bytes:
    title = saved.name or f"Session {saved.header.id}"
    return _encode(markdown(_views(saved), saved.header.started, title, saved.header.target))


def _curl(saved: SavedSession, _: str) -> bytes:
    lines = ["#!/bin/sh"]
    for exchange in _asked(saved):
        method = exchange.rpc_method or exchange.request.method
        lines += ["", f"# {exchange.id}  {plain_line(method)}"]
        lines += [curl(exchange.request, "-sS"), "echo"]
    return _encode("\n".join(lines) + "\n")


def _httpx(saved: SavedSession, _: str) -> bytes:
    return _encode("\n\n".join(httpx_script(one.request) for one in _asked(saved)))


def _asked(saved: SavedSession) -> Iterator[Exchange]:
    """What we asked the agent over HTTP: no notification, no card file, no mock's admin API."""
    for exchange in _views(saved).exchanges:
        if exchange.purpose not in (None, Purpose.ADMIN) and exchange.request.method != "READ":
            yield exchange


def _views(saved: SavedSession) -> Views:
    return reduce(together.step, saved.whole, together.EMPTY)


def _encode(text: str) -> bytes:
    return text.encode(errors="replace")


FORMATS: Mapping[str, Callable[[SavedSession, str], bytes]] = {
    "har": _har,
    "jsonl": _jsonl,
    "md": _markdown,
    "curl": _curl,
    "httpx": _httpx,
}
SUFFIXES = {".har": "har", ".jsonl": "jsonl", ".md": "md", ".sh": "curl", ".py": "httpx"}
