"""A copied request says what was sent, and names secrets instead of holding them."""

import json
import shlex
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.entries import Purpose, RequestSent
from inspector.core.redaction import MASK
from inspector.views import log_views
from inspector.views.exports import curl, exchange_json, httpx_script, readable

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
