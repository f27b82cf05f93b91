"""A saved session in every format that it can be exported to."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from inspector.core.entries import Purpose
from inspector.core.saved.recording import SavedSession, encode_entry, encode_header, encode_name
from inspector.views.chat import ChatMessage
from inspector.views.data import SlotChange, SlotRow, TurnData
from inspector.views.exchanges import Exchange
from inspector.views.exports import curl, har, httpx_script
from inspector.views.log_views import Views, fold
from inspector.views.text import plain, plain_line
from inspector.wire.json_values import Json, encode_json
from inspector.wire.states import parse_state


def export(saved: SavedSession, form: str, version: str) -> bytes:
    """`saved` as one of FORMATS; `version` is that of a2a-inspect."""
    return FORMATS[form](saved, version)


def _har(saved: SavedSession, version: str) -> bytes:
    return encode_json(har(fold(saved.whole).exchanges, saved.header.started, version)) + b"\n"


def _jsonl(saved: SavedSession, _: str) -> bytes:
    """The file itself without what is unreadable in it."""
    lines = [encode_header(saved.header), *map(encode_entry, saved.entries)]
    lines += [encode_name(saved.name)] if saved.name else []
    return _encode("".join(f"{line}\n" for line in lines))


def _markdown(saved: SavedSession, _: str) -> bytes:
    title = saved.name or f"Session {saved.header.id}"
    return _encode(markdown(fold(saved.whole), saved.header.started, title, saved.header.target))


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
    for exchange in fold(saved.whole).exchanges:
        if exchange.purpose not in (None, Purpose.ADMIN) and exchange.request.method != "READ":
            yield exchange


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


# An agent's words stay words: no link, image, markup or table may come of them.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_LIST = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")
_CHANGES = {
    SlotChange.SAME: "",
    SlotChange.ADDED: "new",
    SlotChange.CHANGED: "changed",
    SlotChange.CLEARED: "cleared",
}


def markdown(views: Views, started: datetime, title: str, target: str) -> str:
    """The transcript of a log whose zero is `started`."""
    agent = plain_line(views.card.card.name) if views.card.card is not None else "agent"
    paragraphs = [
        f"# {_escape(title)}",
        f"{_escape(agent)} at `{_code(target)}`, {started:%Y-%m-%d %H:%M:%S %z}",
    ]
    turns = {turn.exchange: turn for turn in views.data.turns}
    last_of = {said.exchange: said.seq for said in views.chat.said if said.speaker != "you"}
    exchanges = {one.id: one for one in views.exchanges}
    for said in views.chat.said:
        paragraphs += _message(said, agent, started)
        if last_of.get(said.exchange) == said.seq:
            paragraphs += _data(turns[said.exchange]) if said.exchange in turns else ()
            paragraphs += _findings(exchanges[said.exchange]) if said.exchange in exchanges else ()
    if not views.chat.said:
        paragraphs.append("Nothing was said.")
    return "\n\n".join(paragraphs).rstrip() + "\n"


def _message(said: ChatMessage, agent: str, started: datetime) -> Iterator[str]:
    if said.is_apart:
        yield f"Context `{_code(said.context_id)}`:" if said.context_id else "A new context:"
    when = started + timedelta(milliseconds=said.at_ms)
    who = "You" if said.speaker == "you" else _escape(agent)
    state = f" · {_escape(parse_state(said.state) or plain_line(said.state))}" if said.state else ""
    yield f"## {when:%H:%M:%S} {who}{state}"
    if said.text:
        yield _quote("".join(said.pieces()))
    if said.offers:
        yield "\n".join(
            f"{offer.number}. {_escape(plain_line(offer.title))} `{_code(offer.payload)}`"
            for offer in said.offers
        )
    if said.slots:
        yield f"Slots as {', '.join(said.slot_shapes)}: {_pairs(said.slots)}"
    if said.problem:
        yield "\n".join(f"    {line}" for line in plain(said.problem.text).splitlines())


def _data(turn: TurnData) -> Iterator[str]:
    if turn.active_flow:
        yield f"Flow: `{_code(turn.active_flow)}`"
    changed = [row for row in turn.slots if row.change is not SlotChange.SAME]
    if changed:
        yield "\n".join(("| Slot | Value | |", "| --- | --- | --- |", *map(_row, changed)))
    if turn.persisted_slots:
        yield f"Persisted: {_pairs(turn.persisted_slots)}"
    if turn.reason:
        yield f"Reason: `{_code(turn.reason)}`"
    if turn.error_type:
        yield f"Error: `{_code(turn.error_type)}`"
    for artifact in turn.artifacts.rows:
        yield f"Artifact {_escape(plain_line(artifact.name or artifact.artifact_id))}:"
        if artifact.text:
            yield _quote(artifact.text)


def _findings(exchange: Exchange) -> Iterator[str]:
    lines = [
        f"- {one.severity}: {_escape(plain_line(one.message))} ({_escape(one.section)})"
        for one in exchange.findings
    ]
    if lines:
        yield "\n".join(lines)


def _row(row: SlotRow) -> str:
    value = _value(row.value)
    if row.change is not SlotChange.ADDED:
        value = f"{_value(row.previous)} → {value}"
    how = _CHANGES[row.change] + (", seeded" if row.is_seeded else "")
    return f"| {_escape(plain_line(row.name))} | {value} | {how} |"


def _pairs(slots: Mapping[str, Json]) -> str:
    return ", ".join(f"{_escape(plain_line(name))} = {_value(one)}" for name, one in slots.items())


def _value(value: Json) -> str:
    text = "none" if value is None else f"`{_code(json.dumps(value, ensure_ascii=False))}`"
    return text.replace("|", "\\|")


def _quote(text: str) -> str:
    # two spaces at its end keep a line a line
    return "\n".join(
        f"> {_LIST.sub(_keep_marker, _escape(line))}  " if line.strip() else ">"
        for line in plain(text).splitlines()
    )


def _keep_marker(found: re.Match[str]) -> str:
    """The start of a line, its dash or number escaped so that it does not start a list."""
    return f"{found[1]}{found[2][:-1]}\\{found[2][-1]}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _code(text: str) -> str:
    """`text` for a span of code, which knows no escapes."""
    return plain_line(text).replace("`", "'")
