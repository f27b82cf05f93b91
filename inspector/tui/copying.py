"""A turn or an exchange in a form to paste: a command line, curl, Python, JSON, HAR."""

import base64
import json
import shlex
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.core.entries import Purpose
from inspector.tui.drawing import styles
from inspector.tui.key_line import QUIT, quit_key
from inspector.views.exchanges import Exchange
from inspector.views.exports import curl, exchange_json, har, har_entry, httpx_script
from inspector.wire.dialect import Part
from inspector.wire.endpoints import DEFAULT
from inspector.wire.json_values import Json, encode_json

# What a shell takes as one argument without complaint; a larger file is named instead.
_MOST_ARGUMENT_BYTES = 4096
_TASK_ACTIONS = {
    Purpose.GET: "get",
    Purpose.POLL: "get",
    Purpose.CANCEL: "cancel",
    Purpose.RESUBSCRIBE: "resubscribe",
}


def send_command(target: str, turn: Turn, *, is_rasa: bool = False) -> str:
    """Return the `a2a-inspect send` that sends `turn`.

    To any agent but a Rasa one `send` continues the task that waits in a context, unless told not
    to.
    """
    pipe, said = "", [turn.text]
    if turn.raw is not None:
        pipe, said = f"{_raw_pipe(turn.raw)} | ", ["--raw", "-"]
    elif turn.text.startswith("-"):
        # a dash begins a flag, or is stdin itself
        pipe, said = f"printf %s {shlex.quote(turn.text)} | ", ["-"]
    return pipe + shlex.join(_words(target, turn, said, is_rasa=is_rasa))


def task_command(target: str, purpose: Purpose, task_id: str, context_id: str | None) -> str | None:
    """Return the `a2a-inspect tasks` that asks the same; None where `purpose` is about no task."""
    action = _TASK_ACTIONS.get(purpose)
    if action is None:
        return None
    words = ["a2a-inspect", "tasks", action, target, task_id]
    return shlex.join(words + (["--context", context_id] if context_id else []))


def _words(target: str, turn: Turn, said: list[str], *, is_rasa: bool) -> list[str]:
    words = ["a2a-inspect", "send", target, *said]
    if turn.raw is None:
        words += _content(turn)
        if turn.context_id and not turn.task_id and not is_rasa:
            words.append("--new-task")
    for name, value in turn.headers:
        words += ["--header", f"{name}: {value}"]
    return words + list(_ways(turn))


def _content(turn: Turn) -> Iterator[str]:
    """The flags of what the message holds."""
    for name, value in turn.slots.items():
        yield from ("--slot", f"{name}={json.dumps(value, ensure_ascii=False)}")
    if turn.slots and turn.slot_shapes != (SlotShape.METADATA,):
        yield from (word for shape in turn.slot_shapes for word in ("--slots-as", shape.value))
    for name, value in turn.metadata.items():
        yield from ("--metadata", f"{name}={json.dumps(value, ensure_ascii=False)}")
    for part in turn.parts:
        yield from ("--part", _part(part))
    ids = {"--context": turn.context_id, "--message-id": turn.message_id, "--task": turn.task_id}
    for flag, id in ids.items():
        if id:
            yield from (flag, id)
    if turn.history_length is not None:
        yield from ("--history-length", str(turn.history_length))
    for mode in turn.accepted_output_modes:
        yield from ("--accept", mode)


def _ways(turn: Turn) -> Iterator[str]:
    match turn.follow:
        case FollowMode.STREAM:
            yield "--stream"
        case FollowMode.NO_BLOCKING:
            yield "--no-blocking"
        case FollowMode.BLOCKING:
            pass
    flags = {Also.SUBSCRIBE: "--resubscribe", Also.POLL: "--poll", Also.PUSH: "--push"}
    yield from (flag for way, flag in flags.items() if way in turn.also)


def _part(part: Part) -> str:
    encoded = encode_json(DEFAULT.write_part(part))
    if len(encoded) <= _MOST_ARGUMENT_BYTES:
        return encoded.decode()
    return (part.file.name if part.file else None) or "part.json"


def _raw_pipe(raw: bytes) -> str:
    try:
        return f"printf %s {shlex.quote(raw.decode())}"
    except UnicodeDecodeError:
        return f"printf %s {base64.b64encode(raw).decode()} | base64 -d"


FORMS = {"c": "curl", "p": "Python", "j": "JSON", "h": "HAR entry", "a": "HAR archive"}


class CopyMenu(ModalScreen[str | None]):
    """Dismisses with the form that was chosen."""

    CSS_PATH = "copying.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,C", "dismiss(None)", "Back", show=False),
        QUIT,
        *(Binding(key, f"dismiss('{form}')", form, show=False) for key, form in FORMS.items()),
    ]

    def compose(self) -> ComposeResult:
        yield Static("", id="forms")

    def on_mount(self) -> None:
        line = Content.styled(" copy as ", styles.DIM)
        for key, form in FORMS.items():
            entry = Content.assemble(" ", (key, f"{styles.KEY} bold"), " ", form, " ")
            line += styles.clickable(entry, f"screen.dismiss('{form}')")
        forms = self.query_one(Static)
        forms.auto_links = False
        forms.update(line + Content.styled(f"  Esc back  {quit_key(self)} quit", styles.DIM))


def exchange_as(form: str, exchange: Exchange, started: datetime) -> str:
    """Return `exchange` in one of FORMS; `started` is the zero of its log."""
    match form:
        case "curl":
            return curl(exchange.request)
        case "Python":
            return httpx_script(exchange.request)
        case "JSON":
            return _pretty(exchange_json(exchange, started))
        case "HAR entry":
            return _pretty(har_entry(exchange, started))
        case _:
            return _pretty(har((exchange,), started, version("a2a-inspect")))


def _pretty(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
