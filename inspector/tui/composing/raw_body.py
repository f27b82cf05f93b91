"""The turn's whole request body as text to edit, which goes out byte for byte."""

import json

from textual.widgets import TextArea

from inspector.core.commands import FollowMode, Turn
from inspector.core.entries import Purpose, RequestSent
from inspector.core.requests import compose_params, read_sent_turn
from inspector.wire.json_values import parse_json
from inspector.wire.v0_3 import (
    MESSAGE_SEND,
    MESSAGE_STREAM,
    TASKS_RESUBSCRIBE,
    encode_request,
    read_request,
)

_STREAMS = (MESSAGE_STREAM, TASKS_RESUBSCRIBE)


class RawBody(TextArea):
    """Enter begins a new line here; undo reaches back to the body as it was composed."""

    def __init__(self) -> None:
        super().__init__(id="raw-body", compact=True, show_line_numbers=True, tab_behavior="focus")
        self._written = ("", b"")

    def write(self, body: bytes) -> None:
        """Show `body`, of which what is no UTF-8 or no line feed is only seen approximately."""
        self.replace(body.decode(errors="replace"), (0, 0), self.document.end)
        self.move_cursor((0, 0))
        self._written = (self.text, body)

    @property
    def body(self) -> bytes:
        """The bytes as they were given as long as nobody has edited them, else the text's."""
        text, body = self._written
        return body if self.text == text else self.text.encode(errors="replace")


def body_of(turn: Turn, id: str, message_id: str) -> bytes:
    """Return the request body of `turn`, indented for reading."""
    if turn.raw is not None:
        return turn.raw
    method = MESSAGE_STREAM if turn.follow is FollowMode.STREAM else MESSAGE_SEND
    body = encode_request(id, method, compose_params(turn, message_id))
    return json.dumps(parse_json(body).value, indent=2, ensure_ascii=False).encode()


def follow_of(body: bytes, otherwise: FollowMode) -> FollowMode:
    """Return how a raw body is followed: by its method, where it has one."""
    method = read_request(body).method
    if method is None:
        return otherwise
    if method in _STREAMS:
        return FollowMode.STREAM
    return FollowMode.BLOCKING if otherwise is FollowMode.STREAM else otherwise


def fields_of(body: bytes) -> Turn | None:
    """Return the turn that `body` is, whatever its layout; None where fields cannot say it."""
    request = read_request(body)
    if not isinstance(request.id, str) or request.method not in (MESSAGE_SEND, MESSAGE_STREAM):
        return None
    is_stream = request.method == MESSAGE_STREAM
    compact = encode_request(request.id, request.method, request.params)
    if parse_json(compact).value != parse_json(body).value:
        return None
    purpose = Purpose.STREAM if is_stream else Purpose.SEND
    turn = read_sent_turn(RequestSent(0, 0, 0, purpose, "POST", "", (), compact))
    return None if turn.raw is not None else turn
