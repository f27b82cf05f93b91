"""The wire view: times, sizes and findings of each exchange."""

from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import Channel, Purpose
from inspector.views.exchanges import EMPTY, find

if TYPE_CHECKING:
    from conftest import Script


@pytest.mark.req("WIRE-1")
def test_times_and_sizes(script: "Script") -> None:
    script.send("x").respond().result(script.task()).end()
    [exchange] = script.views.exchanges
    assert exchange.rpc_method == "message/send"
    assert (exchange.first_byte_ms, exchange.total_ms) == (10, 30)
    assert exchange.size_bytes == len(exchange.frames[0].raw)
    assert list(exchange.findings) == []
    assert exchange.last_reply is not None


def test_a_card_has_no_method_and_is_no_reply(script: "Script") -> None:
    script.request(Purpose.CARD, "", None).respond().frame(b"{}").end()
    [exchange] = script.views.exchanges
    assert exchange.rpc_method is None
    assert list(exchange.findings) == []


@pytest.mark.req("WIRE-0")
def test_findings_are_gathered(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/plain")
    script.frame(b"data: <html>\n", Channel.SSE).end()
    [exchange] = script.views.exchanges
    assert [one.message for one in exchange.findings] == [
        "content type 'text/plain', expected text/event-stream or application/json",
        "the stream ended inside an event",
        "not JSON: Expecting value at line 1 column 1",
        "the stream ended without a final update",
    ]


def test_an_empty_stream_is_found(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream").end()
    [exchange] = script.views.exchanges
    assert [one.message for one in exchange.findings] == ["the stream held no event"]


def test_an_error_ends_a_stream(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    error = b'{"jsonrpc":"2.0","id":"r","error":{"code":-32001,"message":"m"}}'
    script.frame(b"data: " + error + b"\n\n", Channel.SSE).end()
    [exchange] = script.views.exchanges
    assert list(exchange.findings) == []


def test_equal_logs_have_equal_exchanges(script: "Script") -> None:
    assert hash(script.views.exchanges) == hash(EMPTY)
    script.send("x").reply(script.task())
    first = script.views.exchanges
    assert script.views.exchanges == first
    script.send("y")
    assert script.views.exchanges != first
    assert first != [*first]
    assert first[:1] == (first[0],)


def test_exchanges_are_found_by_number(script: "Script") -> None:
    script.send("x").send("y")
    view = script.views.exchanges
    second = find(view, 2)
    assert second is not None
    assert second.id == 2
    assert find(view, 3) is None


def test_no_wire_but_the_status_is_checked_of_an_http_error(script: "Script") -> None:
    script.send("x", stream=True).respond(401, "text/html").end()
    [exchange] = script.views.exchanges
    assert list(exchange.findings) == []


def test_a_frame_that_cannot_be_read_hides_no_reply(script: "Script") -> None:
    script.send("x", stream=True).event(script.update("working"))
    script.frame(b": ping\n\n", Channel.SSE).frame(b"data: {\n\n", Channel.SSE)
    [exchange] = script.views.exchanges
    assert exchange.last_reply is not None
    assert exchange.last_reply.problem == ""
