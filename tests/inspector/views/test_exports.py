"""A copied request says what was sent, and names secrets instead of holding them."""

import base64
import json
import shlex
from datetime import datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_session import decode_entries

from inspector.core.entries import Channel, Entry, Purpose, PushReceived, PushVerdict, RequestSent
from inspector.core.redaction import MASK
from inspector.net.events import FailureKind
from inspector.views import log_views
from inspector.views.exchanges import EMPTY, Exchange, step
from inspector.views.exports import (
    curl,
    entry_bytes,
    exchange_bytes,
    exchange_json,
    har,
    httpx_script,
    readable,
    received_bytes,
)
from inspector.views.reading import read_log
from inspector.wire.json_values import Json, at, list_at

if TYPE_CHECKING:
    from conftest import Script


STARTED = datetime.fromisoformat("2026-11-20T10:02:10+01:00")


def request(
    body: bytes = b"", headers: tuple[tuple[str, str], ...] = (), url: str = "http://x/"
) -> RequestSent:
    return RequestSent(1, 0, 1, Purpose.SEND, "POST", url, headers, body)


@pytest.mark.req("WIRE-1")
def test_curl_has_the_request_and_not_curls_own_headers() -> None:
    headers = (("Host", "x"), ("Content-Type", "application/json"))
    assert shlex.split(curl(request(b"{'}", headers))) == [
        *("curl", "-X", "POST", "http://x/"),
        *("-H", "Content-Type: application/json", "--data-raw", "{'}"),
    ]


@pytest.mark.req("WIRE-1")
@settings(max_examples=100)
@given(st.text(), st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_nothing_breaks_out_of_its_word(url: str, text: str) -> None:
    line = curl(request(text.encode(), url=url))
    body = ["--data-raw", text] if text else []
    assert shlex.split(line) == ["curl", "-X", "POST", url, *body]


def test_a_program_sets_no_header_of_its_client() -> None:
    script = httpx_script(request(b"{}", (("Host", "x"), ("X-Tenant", "north"))))
    assert "Host" not in script
    assert "('X-Tenant', 'north')" in script


def test_curl_sends_bytes_that_are_no_text_by_base64() -> None:
    assert curl(request(b"\xff\x00")) == (
        "echo /wA= | base64 -d | curl -X POST http://x/ --data-binary @-"
    )


def test_user_agent_is_exported_where_it_is_the_users_own() -> None:
    assert "ser-Agent" not in curl(request(headers=(("User-Agent", "a2a-inspect"),)))
    assert "-H 'User-Agent: probe'" in curl(request(headers=(("User-Agent", "probe"),)))


@pytest.mark.req("WIRE-1", "CONN-3")
def test_masked_header_becomes_a_variable() -> None:
    secret = request(headers=(("X-Api-Key", MASK),))
    assert curl(secret) == """curl -X POST http://x/ -H 'X-Api-Key: '"${X_API_KEY}\""""
    script = httpx_script(secret)
    assert "('X-Api-Key', os.environ['X_API_KEY'])" in script
    assert MASK not in script


@settings(max_examples=100)
@given(st.text(), st.binary(), st.lists(st.tuples(st.text(), st.text())).map(tuple))
def test_script_is_python_whatever_was_sent(
    url: str, body: bytes, headers: tuple[tuple[str, str], ...]
) -> None:
    assert compile(httpx_script(request(body, headers, url)), "script.py", "exec")


@pytest.mark.req("WIRE-1")
def test_json_has_request_response_and_frames(script: "Script") -> None:
    views = log_views.EMPTY
    for entry in script.send("hi", stream=True).respond().event({"kind": "x"}).end().entries:
        views = log_views.step(views, entry)
    described = exchange_json(views.exchanges[0], STARTED)
    assert json.loads(json.dumps(described)) == described
    assert described["at"] == "2026-11-20T10:02:10.000+01:00"
    assert described["elapsed_ms"] == 30.0
    assert described["error"] is None
    match described:
        case {
            "request": {"body": {"method": "message/stream"}},
            "response": {"status": 200},
            "frames": [{"channel": "sse", "raw": str(raw)}],
        }:
            assert raw.startswith("data: ")
        case _:
            pytest.fail(str(described))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [(b'{"a": 1}', {"a": 1}), (b"text", "text"), (b"\xff", {"base64": "/w=="}), (b"", "")],
)
def test_bytes_are_shown_as_what_they_are(raw: bytes, shown: object) -> None:
    assert readable(raw) == shown


LOG = Path(__file__).parents[1] / "tui" / "logs" / "transfer.jsonl"

# The fields that HAR 1.2 requires, and their types: http://www.softwareishard.com/blog/har-12-spec
NUMBER, TEXT, LIST, OBJECT = (int, float), str, list, dict
FIELDS = {
    "": {"startedDateTime": TEXT, "time": NUMBER, "request": OBJECT, "response": OBJECT}
    | {"cache": OBJECT, "timings": OBJECT},
    "request": {"method": TEXT, "url": TEXT, "httpVersion": TEXT, "cookies": LIST}
    | {"headers": LIST, "queryString": LIST, "headersSize": int, "bodySize": int},
    "response": {"status": int, "statusText": TEXT, "httpVersion": TEXT, "cookies": LIST}
    | {"headers": LIST, "content": OBJECT, "redirectURL": TEXT}
    | {"headersSize": int, "bodySize": int},
    "timings": {"send": NUMBER, "wait": NUMBER, "receive": NUMBER},
    "content": {"size": int, "mimeType": TEXT},
    "postData": {"mimeType": TEXT, "params": LIST, "text": TEXT},
}


def check_entry(entry: Json) -> None:
    """Assert that `entry` is one by the specification."""
    nodes = {
        "": entry,
        **{name: at(entry, name) for name in ("request", "response", "timings")},
        "content": at(entry, "response", "content"),
    }
    if at(entry, "request", "postData") is not None:
        nodes["postData"] = at(entry, "request", "postData")
    for name, node in nodes.items():
        for field, kind in FIELDS[name].items():
            assert isinstance(at(node, field), kind), f"{name}.{field}"
    for message in ("request", "response"):
        for pair in list_at(entry, message, "headers"):
            assert isinstance(pair, dict)
            assert set(pair) == {"name", "value"}
    timings = at(entry, "timings")
    assert isinstance(timings, dict)
    phases = [one for one in timings.values() if isinstance(one, NUMBER) and one >= 0]
    time = at(entry, "time")
    assert isinstance(time, NUMBER)
    assert abs(sum(phases) - time) < 0.01


def archive_of(entries: list[Entry]) -> list[Json]:
    views = reduce(log_views.step, entries, log_views.EMPTY)
    archive = har(views.exchanges, STARTED, "1.0")
    assert at(archive, "log", "version") == "1.2"
    assert at(archive, "log", "creator") == {"name": "a2a-inspect", "version": "1.0"}
    # JSON can hold it
    assert json.loads(json.dumps(archive)) == archive
    found = list_at(archive, "log", "entries")
    for entry in found:
        check_entry(entry)
    return found


@pytest.mark.req("WIRE-3")
def test_recorded_session_is_an_archive() -> None:
    with LOG.open(encoding="utf-8") as lines:
        entries = list(decode_entries(lines))
    found = archive_of(entries)
    assert len(found) == sum(isinstance(one, RequestSent) for one in entries)
    streams = [one for one in found if at(one, "_events") is not None]
    assert streams
    events = "".join(str(at(one, "data")) for one in list_at(streams[-1], "_events"))
    assert '"final"' in events
    for number, entry in enumerate(found):
        sent = [one for one in entries if isinstance(one, RequestSent)][number]
        started = STARTED + timedelta(milliseconds=sent.at_ms)
        assert at(entry, "startedDateTime") == started.isoformat(timespec="milliseconds")


def test_stream_is_told_event_by_event_and_as_a_whole(script: "Script") -> None:
    script.send("hi", stream=True).respond(media_type="text/event-stream")
    script.frame(b": still here\n\n", Channel.SSE).frame(b"id: 7\ndata: x\n\n", Channel.SSE).end()
    (entry,) = archive_of(script.entries)
    assert at(entry, "response", "content", "text") == ": still here\n\nid: 7\ndata: x\n\n"
    assert [at(one, "data") for one in list_at(entry, "_events")] == [None, "x"]
    assert at(entry, "_events", 1, "id") == "7"
    assert at(entry, "_events", 0, "comments") == ["still here"]


def test_bytes_that_are_no_text_are_kept(script: "Script") -> None:
    (entry,) = archive_of(script.send("hi").respond().frame(b"\xff\x00").end().entries)
    content = at(entry, "response", "content")
    assert isinstance(content, dict)
    assert content["encoding"] == "base64"
    assert base64.b64decode(str(content["text"])) == b"\xff\x00"


def test_failure_without_a_response_is_status_0(script: "Script") -> None:
    (entry,) = archive_of(script.send("hi").fail(FailureKind.CONNECT, "refused").entries)
    assert at(entry, "response", "status") == 0
    assert at(entry, "_error") == "connect: refused"


def test_notification_is_a_request_that_we_answered() -> None:
    headers = (("content-type", "application/json"),)
    url = "http://127.0.0.1:1/push?a=1&b="
    push = PushReceived(1, 5, 1, "POST", url, headers, b"{}", PushVerdict.UNKNOWN_TASK, 404)
    (entry,) = archive_of([push])
    assert at(entry, "response", "status") == 404
    assert at(entry, "response", "statusText") == "Not Found"
    assert "unknown-task" in str(at(entry, "comment"))
    assert at(entry, "request", "queryString") == [
        {"name": "a", "value": "1"},
        {"name": "b", "value": ""},
    ]


def test_card_file_is_no_http() -> None:
    read = RequestSent(1, 0, 1, Purpose.CARD, "READ", "file:///card.json", (), b"")
    assert archive_of([read]) == []


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
