"""Bytes as they passed the wire."""

from functools import reduce
from typing import TYPE_CHECKING

from inspector.net.events import FailureKind
from inspector.views.exchanges import EMPTY, Exchange, step
from inspector.views.exports import entry_bytes, exchange_bytes, received_bytes
from inspector.views.reading import read_log

if TYPE_CHECKING:
    from conftest import Script


def last(script: "Script") -> Exchange:
    return reduce(step, read_log(script.entries), EMPTY)[-1]


def test_an_exchange_is_its_request_and_all_that_came_of_it(script: "Script") -> None:
    script.send("x").respond(media_type="text/plain").frame(b"\xff1").frame(b"2")
    exchange = last(script.fail(FailureKind.DISCONNECTED, "gone"))
    request = exchange.request.body
    assert exchange_bytes(exchange) == (
        b"POST http://a/\n\n" + request + b"\n\nHTTP/1.1 200\ncontent-type: text/plain\n\n"
        b"\xff12\ndisconnected: gone\n"
    )
    assert received_bytes(exchange) == b"\xff12"


def test_an_entry_is_its_frame_or_the_request(script: "Script") -> None:
    exchange = last(script.send("x").respond().frame(b"1").frame(b"2"))
    assert [entry_bytes(exchange, seq) for seq in (3, 4)] == [b"1", b"2"]
    assert entry_bytes(exchange, 1) == exchange.request.body


def test_a_notification_is_what_came(script: "Script") -> None:
    exchange = last(script.push(script.task()))
    assert received_bytes(exchange) == exchange.request.body
    assert exchange_bytes(exchange).startswith(b"POST http://127.0.0.1:9/\n\n{")
