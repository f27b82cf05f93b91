"""The timeline: rows of tasks, their updates, and what was odd."""

from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import Channel, Purpose
from inspector.net.events import FailureKind
from inspector.views.problems import problem_of
from inspector.wire.findings import Severity

if TYPE_CHECKING:
    from conftest import Script


@pytest.mark.req("TIME-1")
def test_a_stream_is_a_row_of_updates(script: "Script") -> None:
    script.send("send 50", stream=True).respond(media_type="text/event-stream")
    script.event(script.task("submitted"))
    script.frame(b": ping\n\n", Channel.SSE)
    script.event(script.update("working"))
    script.event(script.chunk("fee", append=False))
    script.event(script.update("completed", "done", final=True)).end()
    [row] = script.views.timeline.rows
    assert (row.title, row.task_id, row.context_id) == ("send 50", "t", "c")
    assert [one.kind for one in row.updates] == [
        "task",
        "status-update",
        "artifact-update",
        "status-update",
    ]
    assert [one.state for one in row.updates] == ["submitted", "working", None, "completed"]
    assert [one.delta_ms for one in row.updates] == [20, 20, 10, 10]
    assert [one.text for one in row.updates] == ["", "", "fee", "done"]
    assert [one.is_final for one in row.updates] == [False, False, False, True]
    assert {one.channel for one in row.updates} == {Channel.SSE}
    assert [one.findings for one in row.updates] == [()] * 4
    assert (row.state, row.elapsed_ms) == ("completed", 70)


def test_a_get_and_a_cancel_go_on_in_the_row_of_their_task(script: "Script") -> None:
    script.send("x").reply(script.task("working"))
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).reply(script.task("working"))
    script.request(Purpose.CANCEL, "tasks/cancel", {"id": "t"}).reply(script.task("canceled"))
    view = script.views.timeline
    [row] = view.rows
    assert [one.state for one in row.updates] == ["working", "working", "canceled"]
    assert row.state == "canceled"
    assert row.elapsed_ms == 30
    assert view.row_of_call == {}


def test_a_task_unknown_to_the_log_gets_its_own_row(script: "Script") -> None:
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).reply(script.task("working"))
    [row] = script.views.timeline.rows
    assert (row.title, row.task_id, row.state) == ("get t", "t", "working")


def test_a_turn_is_in_its_row_before_any_answer(script: "Script") -> None:
    script.send("hello", contextId="c7")
    [row] = script.views.timeline.rows
    assert (row.title, row.context_id, row.message_id) == ("hello", "c7", "m")
    assert (row.task_id, row.state, row.elapsed_ms) == (None, None, None)


def test_a_terminal_state_that_changed_is_marked(script: "Script") -> None:
    script.send("x").reply(script.task("completed"))
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).reply(script.task("working"))
    [row] = script.views.timeline.rows
    assert [one.message for one in row.updates[-1].findings] == [
        "a task that is completed cannot become working"
    ]


def test_a_stream_without_its_end_is_marked(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    script.event(script.update("working")).end()
    [row] = script.views.timeline.rows
    last = row.updates[-1]
    assert last.kind == "error"
    assert "without a final update" in last.text
    assert len(last.findings) == 1


def test_a_stream_that_ends_where_the_task_rests_is_no_error(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    script.event(script.update("input-required")).end()
    [row] = script.views.timeline.rows
    [update] = row.updates
    assert [one.severity for one in update.findings] == [Severity.WARNING]
    [exchange] = script.views.exchanges
    assert problem_of(exchange) is None


@pytest.mark.parametrize("stream", [True, False])
def test_what_broke_off_is_marked(script: "Script", stream: bool) -> None:
    script.send("x", stream=stream).fail(FailureKind.TIMEOUT, "no end within 1 s")
    [row] = script.views.timeline.rows
    assert row.updates[-1].text == "timeout: no end within 1 s"
    assert row.elapsed_ms == 10


def test_errors_are_updates(script: "Script") -> None:
    error = b'{"jsonrpc":"2.0","id":"r","error":{"code":-32001,"message":"Task not found"}}'
    script.send("x").respond().frame(error).end()
    script.send("x").respond(500).frame(b"<html>").end()
    script.send("x").respond(204).end()
    first, second, third = script.views.timeline.rows
    assert first.updates[-1].text == "-32001 Task not found"
    assert second.updates[-1].text.startswith("HTTP 500: not JSON")
    assert third.updates[-1].text == "HTTP 204 without a reply"


def test_thousands_of_updates_stay_cheap(script: "Script") -> None:
    """Each step may touch one path of the row's tree, never copy all updates before it."""
    script.send("x", stream=True)
    for number in range(3000):
        script.event(script.chunk(str(number), append=number > 0))
    [row] = script.views.timeline.rows
    assert len(row.updates) == 3000
    assert row.updates[2999].text == "2999"
