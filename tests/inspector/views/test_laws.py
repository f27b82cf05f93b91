"""What every view promises: any log can be folded, and folding may stop and go on anywhere."""

import json
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.net.events import FailureKind
from inspector.views import card, chat, data, exchanges, log_views, reading, timeline
from inspector.wire.dialect import Ask

VIEWS: list[Any] = [card, chat, data, exchanges, timeline]

names = st.sampled_from(
    [
        "kind",
        "id",
        "taskId",
        "contextId",
        "status",
        "state",
        "message",
        "parts",
        "artifact",
        "artifacts",
        "artifactId",
        "text",
        "data",
        "slots",
        "append",
        "final",
        "url",
        "skills",
    ]
)
words = st.sampled_from(["task", "status-update", "artifact-update", "working", "completed", "t"])
trees: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=15,
)


def encode(result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "r", "result": result}).encode()


bodies = st.binary(max_size=30) | trees.map(encode) | trees.map(json.dumps).map(str.encode)
events = bodies.map(lambda body: b"data: " + body + b"\n\n") | st.binary(max_size=30)
ids = st.integers(1, 4)
times = st.floats(0, 1000)

entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(
        RequestSent,
        seq=st.just(0),
        at_ms=times,
        exchange=ids,
        purpose=st.sampled_from(Purpose),
        method=st.just("POST"),
        url=st.sampled_from(["http://a/", "nowhere", "file:///x"]),
        headers=st.just(()),
        content=bodies | trees.map(lambda p: json.dumps({"id": "r", "params": p}).encode()),
    ),
    st.builds(
        ResponseStarted,
        seq=st.just(0),
        at_ms=times,
        exchange=ids,
        status=st.sampled_from([200, 307, 401, 404, 409, 500]),
        http_version=st.just("HTTP/1.1"),
        headers=st.just((("Content-Type", "text/plain"),)),
    ),
    st.builds(
        FrameReceived,
        seq=st.just(0),
        at_ms=times,
        exchange=ids,
        channel=st.sampled_from(Channel),
        content=events | bodies,
    ),
    st.builds(ResponseEnded, seq=st.just(0), at_ms=times, exchange=ids),
    st.builds(
        Failed,
        seq=st.just(0),
        at_ms=times,
        exchange=ids,
        kind=st.sampled_from(FailureKind),
        message=st.text(max_size=5),
    ),
    st.builds(
        PushReceived,
        seq=st.just(0),
        at_ms=times,
        exchange=ids,
        method=st.just("POST"),
        url=st.just("http://127.0.0.1/"),
        headers=st.just(()),
        content=bodies | trees.map(json.dumps).map(str.encode),
        verdict=st.sampled_from(PushVerdict),
        status=st.sampled_from([None, 200, 401]),
    ),
)


def fold(step: Callable[[Any, Entry], Any], start: Any, log: list[Entry]) -> Any:
    return reduce(step, log, start)


@given(log=st.lists(entries, max_size=25), place=st.integers(0, 25))
@settings(max_examples=200)
@pytest.mark.req("CONN-5")
def test_any_log_folds_and_may_be_folded_in_two(log: list[Entry], place: int) -> None:
    prefix = fold(log_views.step, log_views.EMPTY, log[:place])
    assert fold(log_views.step, prefix, log[place:]) == fold(log_views.step, log_views.EMPTY, log)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
@given(log=st.lists(entries, max_size=25))
@settings(max_examples=30)
def test_a_view_alone_is_what_it_is_among_the_others(view: Any, log: list[Entry]) -> None:
    alone = reduce(view.step, reading.read_log(log), view.EMPTY)
    among = fold(log_views.step, log_views.EMPTY, log)
    assert alone == getattr(among, view.__name__.rpartition(".")[2])


@given(log=st.lists(entries, max_size=25))
@settings(max_examples=60)
def test_stepping_leaves_the_views_stepped_from_as_they_are(log: list[Entry]) -> None:
    """Both ways on give what they would alone."""
    views = log_views.EMPTY
    for entry in log:
        before = repr(views)
        after = log_views.step(views, entry)
        assert repr(views) == before
        assert log_views.step(views, entry) == after
        views = after


def test_keeping_what_was_read_is_not_needed() -> None:
    request = RequestSent(1, 0, 1, Purpose.SEND, "POST", "http://a/", (), b"{}")
    _, read = reading.step(reading.EMPTY, request)
    assert isinstance(read, reading.Asked)
    assert read.call.request.ask == Ask()
