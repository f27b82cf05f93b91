"""The archive has the structure of HAR 1.2 and every byte of the log."""

import base64
import json
from datetime import datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import Channel, Entry, Purpose, PushReceived, PushVerdict, RequestSent
from inspector.core.saved.recording import decode_entries
from inspector.net.events import FailureKind
from inspector.views import log_views
from inspector.views.exports import har
from inspector.wire.json_values import Json, at, list_at

if TYPE_CHECKING:
    from conftest import Script

STARTED = datetime.fromisoformat("2026-11-20T10:02:10+01:00")
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
