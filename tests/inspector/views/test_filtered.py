"""What a filter lets through, at once and as the log grows."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.entries import Channel, Entry, Purpose, PushVerdict
from inspector.net.events import FailureKind
from inspector.views import log_views
from inspector.views.filtered import (
    FilteredExchanges,
    FilteredTimeline,
    filter_exchanges,
    filter_timeline,
)
from inspector.views.filters import Filter, JsonPath, parse_filter, parse_path, values_at
from inspector.views.log_views import Views
from inspector.wire.json_values import Json

if TYPE_CHECKING:
    from conftest import Script


def fold(entries: list[Entry]) -> Views:
    views = log_views.EMPTY
    for entry in entries:
        views = log_views.step(views, entry)
    return views


def parsed(text: str) -> Filter:
    found = parse_filter(text)
    assert isinstance(found, Filter)
    return found


@pytest.fixture
def log(script: "Script") -> list[Entry]:
    """1 a stream, 2 its push, 3 a forged one, 4 a refused send, 5 a poll, 6 broken, 7 open."""
    script.send("send 50 to Joe", stream=True).respond(media_type="text/event-stream")
    script.event(script.update("working", "Grüße"))
    script.push(script.task("working", "Grüße"))
    script.push(script.task("completed"), PushVerdict.FORGED, 401)
    script.event(script.update("completed", "Done.", final=True)).end()
    error = b'{"jsonrpc":"2.0","id":"r","error":{"code":-32600,"message":"no"}}'
    script.send("again", contextId="c9").respond(409).frame(error).end()
    script.poll(script.task("completed", "Done."))
    script.send("slow").fail(FailureKind.TIMEOUT, "no end within 1 s")
    script.send("hello").respond()
    return script.entries


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [1, 2, 3, 4, 5, 6, 7]),
        ("state:TASK_STATE_COMPLETED", [1, 3, 5]),
        ("state:comp", [1, 3, 5]),
        ("state:working,input-required", [2]),
        ("task:t", [1, 2, 3, 5]),
        ("task:x", []),
        ("context:c9", [4]),
        ("status:err", [3, 4, 6]),
        ("status:ok", [1, 2, 5]),
        ("status:open", [7]),
        ("status:4", [3, 4]),
        ("status:200 !lane:push", [1, 5, 7]),
        ("method:stream", [1]),
        ("method:send", [4, 6, 7]),
        ("method:push", [2, 3]),
        ("lane:push", [2, 3]),
        ("lane:poll", [5]),
        ("lane:sse", [1]),
        ("finding:forged", [3]),
        ("finding:error", [3]),
        ("joe", [1]),
        ("!joe !done state:completed", [3]),
        ("grüße", [1, 2]),
        ('"no end"', [6]),
        ("text/event-stream", [1]),
        ("127.0.0.1:9", [2, 3]),
        (".status.state=working", [1, 2]),
        (".status.state!=working", [3, 4, 5, 6, 7]),
        (".result.status.message.parts[0].text=Done.", [1, 5]),
        (".message.parts[].text~JOE", [1]),
        (".error.code=-32600", [4]),
        (".error", [4]),
        (".message.contextId", [4]),
        (".method=tasks/get", [5]),
    ],
)
@pytest.mark.req("WIRE-2")
def test_exchanges(log: list[Entry], text: str, ids: list[int]) -> None:
    filtered = filter_exchanges(None, parsed(text), fold(log).exchanges)
    assert [one.id for one in filtered.items] == ids


ROWS: list[tuple[str, list[tuple[str, list[str]]]]] = [
    ("state:working", [("send 50 to Joe", ["sse", "push"])]),
    ("joe lane:poll", [("send 50 to Joe", ["poll"])]),
    ("slow", [("slow", ["response"])]),
    ("status:err !joe", [("again", ["response"]), ("slow", ["response"])]),
    ("status:err joe", [("send 50 to Joe", ["push"])]),
    ("status:ok !lane:sse", [("send 50 to Joe", ["push", "poll"])]),
    ("status:open", [("hello", [])]),
    ("status:409", [("again", ["response"])]),
    ("method:tasks/get", [("send 50 to Joe", ["poll"])]),
    ("finding:forged", [("send 50 to Joe", ["push"])]),
    ("context:c9", [("again", ["response"])]),
    ("task:t lane:push !forged", [("send 50 to Joe", ["push"])]),
    (".status.state=completed", [("send 50 to Joe", ["push", "sse", "poll"])]),
    (".message.contextId=c9", [("again", [])]),
    ("nothing", []),
]


@pytest.mark.parametrize(("text", "rows"), ROWS)
@pytest.mark.req("WIRE-2")
def test_updates(log: list[Entry], text: str, rows: list[tuple[str, list[str]]]) -> None:
    views = fold(log)
    filtered = filter_timeline(None, parsed(text), views.timeline, views.exchanges)
    shown = [(row.title, [one.channel.value for one in row.updates]) for row in filtered.items]
    assert shown == rows


TEXTS = [
    "state:working",
    "!state:working",
    "status:open",
    "status:err",
    "!done",
    "done",
    ".status.state=completed",
    "lane:push",
    "task:t !lane:push",
    "finding:gap",
]


@given(st.data())
@settings(max_examples=60)
def test_filtering_as_it_grows_is_filtering_the_whole(
    new_script: "Callable[[], Script]", data: st.DataObject
) -> None:
    script = new_script()
    kinds = st.sampled_from(["send", "stream", "event", "end", "push", "poll", "fail", "final"])
    filter_ = parsed(data.draw(st.sampled_from(TEXTS)))
    views = log_views.EMPTY
    wire: FilteredExchanges | None = None
    tasks: FilteredTimeline | None = None
    for kind in data.draw(st.lists(kinds, max_size=25)):
        known = len(script.entries)
        _write(script, kind, data.draw(st.integers(1, 4)))
        for entry in script.entries[known:]:
            views = log_views.step(views, entry)
        wire = filter_exchanges(wire, filter_, views.exchanges)
        tasks = filter_timeline(tasks, filter_, views.timeline, views.exchanges)
        assert wire == filter_exchanges(None, filter_, views.exchanges)
        again = filter_timeline(None, filter_, views.timeline, views.exchanges)
        assert tasks.items == again.items


def _write(script: "Script", kind: str, number: int) -> None:
    task = f"t{number}"
    match kind:
        case "send" | "stream":
            script.send(f"{kind} {number}", stream=kind == "stream")
        case "event":
            script.on(number).event({**script.update("working", "one moment"), "taskId": task})
        case "final":
            done = script.update("completed", "Done.", final=True)
            script.wait(20_000).on(number).event({**done, "taskId": task})
        case "end":
            script.on(number).end()
        case "fail":
            script.on(number).fail(FailureKind.DISCONNECTED)
        case "push":
            script.push(script.task("working", "Done.", id=task))
        case _:
            script.poll(script.task("completed", "Done.", id=task))


def test_another_filter_starts_anew(log: list[Entry]) -> None:
    exchanges = fold(log).exchanges
    before = filter_exchanges(None, parsed("joe"), exchanges)
    assert [one.id for one in filter_exchanges(before, parsed("slow"), exchanges).items] == [6]


def test_what_stands_is_not_asked_again(log: list[Entry]) -> None:
    """An exchange that did not change is the very one that was chosen before."""
    views = fold(log)
    before = filter_exchanges(None, parsed("task:t"), views.exchanges)
    after = filter_exchanges(before, parsed("task:t"), views.exchanges)
    assert list(after.items.changes(before.items)) == []


# Paths

TREE: Json = {"a": [{"b": 1}, {"b": 2}, 3], "result": {"c": None}, "x y": True}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (".", [TREE, {"c": None}]),
        (".a[1].b", [2]),
        (".a[].b", [1, 2]),
        (".a[9]", []),
        (".a.b", []),
        ('["x y"]', [True]),
        (".c", [None]),
        (".result.c", [None]),
        (".nothing", []),
    ],
)
def test_paths_lead_to_values(text: str, values: list[Json]) -> None:
    path = parse_path(text)
    assert isinstance(path, JsonPath)
    assert list(values_at(TREE, path)) == values


def test_a_path_may_begin_in_a_list() -> None:
    path = parse_path("[1].b")
    assert isinstance(path, JsonPath)
    assert list(values_at([0, {"b": 5}], path)) == [5]


def test_a_negated_text_holds_until_it_comes(script: "Script") -> None:
    script.send("x", stream=True).event(script.update("working"))
    before = filter_exchanges(None, parsed("!Done"), fold(script.entries).exchanges)
    assert len(before.items) == 1
    script.event(script.update("completed", "Done.", final=True))
    after = filter_exchanges(before, parsed("!Done"), fold(script.entries).exchanges)
    assert len(after.items) == 0


def test_lanes_of_exchanges_are_those_of_their_updates(script: "Script") -> None:
    script.request(Purpose.CARD, "", None).respond().frame(b"{}", Channel.RESPONSE).end()
    exchanges = fold(script.entries).exchanges
    assert len(filter_exchanges(None, parsed("lane:response"), exchanges).items) == 1
