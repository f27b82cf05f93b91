"""One task followed by several lanes at once: one row, one truth, and what contradicts it."""

from typing import TYPE_CHECKING, Any

import pytest

from inspector.core.entries import Channel, Purpose, PushVerdict
from inspector.views.channels import missing_pushes
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Severity

if TYPE_CHECKING:
    from conftest import Script


PUSH = {"configuration": {"pushNotificationConfig": {"url": "http://127.0.0.1:9/"}}}


def the_row(script: "Script") -> TaskRow:
    [row] = script.views.timeline.rows
    return row


def told(update: Update) -> tuple[str, str | None]:
    return update.channel.value, update.state


def findings(script: "Script") -> list[str]:
    """The messages of all findings in the timeline, in order."""
    rows = script.views.timeline.rows
    return [one.message for row in rows for update in row.updates for one in update.findings]


def stream(script: "Script", *events: dict[str, Any]) -> "Script":
    script.send("x", stream=True).respond(media_type="text/event-stream")
    for event in events:
        script.event(event)
    return script


@pytest.mark.req("TIME-1")
def test_four_lanes_are_one_row_with_one_truth(script: "Script") -> None:
    script.send("pay").respond().result(script.task("working", time=1))
    script.request(Purpose.RESUBSCRIBE, "tasks/resubscribe", {"id": "t"})
    script.respond(media_type="text/event-stream").event(script.update("working", time=1))
    script.push(script.task("working", time=1))
    script.poll(script.task("working", time=1))
    script.push(script.task("completed", "Done.", time=2))
    script.on(2).event(script.update("completed", "Done.", final=True, time=2)).end()
    script.on(1).end()
    script.poll(script.task("completed", "Done.", time=2))
    views = script.views
    row = the_row(script)
    assert [told(update) for update in row.updates] == [
        ("response", "working"),
        ("sse", "working"),
        ("push", "working"),
        ("poll", "working"),
        ("push", "completed"),
        ("sse", "completed"),
        ("poll", "completed"),
    ]
    assert row.channels == set(Channel)
    assert row.state == "completed"
    assert findings(script) == []
    assert [one.text for one in views.chat.said] == ["pay", "Done."]
    assert len(views.data.turns) == 1
    assert views.data.turns[0].state == "completed"


def test_an_update_is_found_in_its_exchange(script: "Script") -> None:
    stream(script, script.update("working")).push(script.task("working"))
    views = script.views
    [sse, push] = the_row(script).updates
    assert (sse.exchange, push.exchange) == (1, 2)
    assert views.data.turn_of_exchange == {1: 0, 2: 0}
    exchange = views.exchanges[-1]
    assert exchange.push is not None
    assert (exchange.id, exchange.purpose, exchange.is_running) == (2, None, False)
    assert views.exchanges.running == (views.exchanges[0],)


@pytest.mark.req("TIME-1")
def test_identical_polls_are_one_update(script: "Script") -> None:
    script.send("x").reply(script.task("submitted"))
    for _ in range(12):
        script.poll(script.task("working"))
    last_ms = script.now_ms - 20
    script.poll(script.task("completed", "Done."))
    script.poll(script.task("completed", "Done."))
    _, working, completed = the_row(script).updates
    assert (told(working), working.attempts) == (("poll", "working"), 12)
    assert working.last_ms == last_ms
    assert (told(completed), completed.attempts) == (("poll", "completed"), 2)
    assert completed.delta_ms == 40


def test_polls_that_fail_alike_are_one_update(script: "Script") -> None:
    script.send("x").reply(script.task("working"))
    for _ in range(3):
        script.request(Purpose.POLL, "tasks/get", {"id": "t"}).respond()
        error = b'{"jsonrpc":"2.0","id":"r","error":{"code":-32001,"message":"Task not found"}}'
        script.frame(error, Channel.POLL).end()
    last = the_row(script).updates[-1]
    assert (last.text, last.attempts) == ("-32001 Task not found", 3)


def test_a_poll_after_another_lane_counts_on(script: "Script") -> None:
    stream(script, script.update("working"))
    script.poll(script.task("working"))
    script.on(1).event(script.chunk("a", append=False))
    script.poll(script.task("working"))
    assert [update.attempts for update in the_row(script).updates] == [1, 2, 1]


# Notifications


@pytest.mark.parametrize(
    ("verdict", "status", "message"),
    [
        (PushVerdict.FORGED, 401, "forged: its token is missing or wrong; answered with 401"),
        (
            PushVerdict.UNKNOWN_TASK,
            404,
            "unknown task: nobody here asked for notifications of it; answered with 404",
        ),
        (
            PushVerdict.REFUSED,
            None,
            "refused by the receiver's own rules; answered with the connection was dropped",
        ),
    ],
)
@pytest.mark.req("PUSHRX-1")
def test_a_refused_notification_is_shown_and_changes_nothing(
    script: "Script", verdict: PushVerdict, status: int | None, message: str
) -> None:
    stream(script, script.update("working"))
    script.push(script.task("completed", "Mine now."), verdict, status)
    views = script.views
    [_, push] = the_row(script).updates
    assert (push.kind, push.state) == ("error", None)
    assert push.text == f"{verdict} notification (completed)"
    assert push.findings[0].message == message
    assert push.findings[0].severity is Severity.ERROR
    assert the_row(script).state == "working"
    assert views.exchanges[-1].worst is Severity.ERROR
    assert [one.text for one in views.chat.said] == ["x"]
    assert views.data.turns[0].state == "working"


def test_what_is_no_notification_has_a_row_of_its_own(script: "Script") -> None:
    script.push(b"<html>", PushVerdict.BAD_BODY, 400)
    script.push({"kind": "task"}, PushVerdict.BAD_BODY, 400)
    row = the_row(script)
    assert row.title == "notifications of no task"
    assert [update.text for update in row.updates] == ["bad-body notification"] * 2
    assert [one.message for one in row.updates[1].findings] == [
        "bad body: no notification can be read from it; answered with 400",
        "the body names no task",
    ]


def test_a_notification_of_a_task_that_no_turn_began_is_followed(script: "Script") -> None:
    """As `a2a-inspect listen` sees it, which sends nothing itself."""
    script.push(script.task("working", data={"slots": {"a": 1}}))
    script.push(script.task("completed", "Done.", data={"slots": {"a": 2}}))
    views = script.views
    row = the_row(script)
    assert (row.title, row.task_id, row.context_id, row.state) == ("push t", "t", "c", "completed")
    assert findings(script) == ["no turn in this log began this task"]
    [turn] = views.data.turns
    assert turn.slots[0].value == 2
    assert [one.text for one in views.chat.said] == ["Done."]


@pytest.mark.req("TIME-1", "PUSHRX-1")
def test_a_notification_before_the_answer_belongs_to_the_turn(script: "Script") -> None:
    """An agent that works for long pushes while the blocking request waits for its reply."""
    for turn, (task_id, callback) in enumerate((("t1", "one"), ("t2", "two"))):
        url = f"https://tunnel.test/a2a/{callback}"
        config = {"configuration": {"pushNotificationConfig": {"url": url}}}
        message: dict[str, Any] = {"messageId": f"m{turn}", "role": "user", "parts": []}
        script.request(Purpose.SEND, "message/send", {"message": message, **config})
        for state in ("submitted", "working"):
            pushed = script.task(state, data={"slots": {"a": 1}}, id=task_id)
            script.push(pushed, url=f"http://127.0.0.1:9/{callback}?x=/y")
        script.on(1 + 3 * turn)
        script.reply(script.task("completed", "Done.", data={"slots": {"a": 2}}, id=task_id))
    views = script.views
    assert [row.task_id for row in views.timeline.rows] == ["t1", "t2"]
    for row in views.timeline.rows:
        assert [told(update) for update in row.updates] == [
            ("push", "submitted"),
            ("push", "working"),
            ("response", "completed"),
        ]
        assert (row.state, row.elapsed_ms) == ("completed", 50)
    assert findings(script) == []
    assert [(turn.exchange, turn.slots[0].value) for turn in views.data.turns] == [(1, 2), (4, 2)]
    missing = missing_pushes(views.readings.reports, script.now_ms + 1000, 100)
    assert [one.state for one in missing] == ["completed", "completed"]


@pytest.mark.req("PUSHRX-3")
def test_a_notification_that_comes_again_is_a_duplicate(script: "Script") -> None:
    stream(script, script.update("working", time=1))
    script.push(script.task("working", time=1))
    script.push(script.task("working", time=1))
    assert findings(script) == ["duplicate: the same notification of working came 10 ms before"]


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize("times", [(1.0, 2.0), (None, None)])
def test_a_notification_that_others_overtook_is_reordered(
    script: "Script", times: tuple[float | None, float | None]
) -> None:
    script.push(script.task("completed", time=times[1]))
    script.push(script.task("working", time=times[0]))
    assert findings(script)[1:] == [
        "reordered: working is older than completed, which was pushed before"
    ]
    assert the_row(script).state == "completed"


@pytest.mark.req("PUSHRX-3")
def test_a_notification_behind_another_lane_is_late(script: "Script") -> None:
    stream(script, script.update("working"), script.update("completed", final=True))
    script.wait(5000).push(script.task("working"))
    [finding] = the_row(script).updates[-1].findings
    assert finding.message == "late by 5010 ms: sse reported completed first"
    assert finding.severity is Severity.WARNING
    assert the_row(script).state == "completed"


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize("waited_ms", [0, 900])
def test_a_notification_a_little_behind_another_lane_is_no_finding(
    script: "Script", waited_ms: float
) -> None:
    stream(script, script.update("working"), script.update("completed", final=True))
    script.wait(waited_ms).push(script.task("working"))
    assert findings(script) == []
    assert the_row(script).state == "completed"


@pytest.mark.req("PUSHRX-3")
def test_the_last_notification_may_be_late_too(script: "Script") -> None:
    stream(script, script.update("completed", final=True))
    script.push(script.task("completed"))
    script.wait(3000).push(script.task("completed", id="t", metadata={"again": True}))
    assert findings(script) == ["late by 3020 ms: sse reported completed first"]


@pytest.mark.req("TIME-1")
def test_a_notification_may_disagree_with_the_stream(script: "Script") -> None:
    stream(script, script.update("failed", final=True))
    script.push(script.task("completed"))
    [finding] = the_row(script).updates[-1].findings
    assert finding.message == "push says completed, sse said failed"
    assert finding.severity is Severity.ERROR


@pytest.mark.req("TIME-1")
def test_a_stream_may_disagree_with_a_notification(script: "Script") -> None:
    stream(script, script.update("working")).push(script.task("completed"))
    script.event(script.update("failed", final=True)).end()
    assert findings(script) == ["sse says failed, push said completed"]


def test_one_moment_has_one_state_and_one_message(script: "Script") -> None:
    stream(script, script.update("working", "a", time=1))
    script.event(script.update("input-required", "b", time=2))
    script.push(script.task("working", "other", time=1))
    script.push(script.task("completed", "b", time=2))
    [message, state] = [update.findings for update in the_row(script).updates[2:]]
    assert [one.message for one in state] == ["push says completed, sse said input-required"]
    assert message[-1].message == "the notification of working brings another message than the sse"


def test_a_notification_of_another_context_is_found(script: "Script") -> None:
    stream(script, script.update("working")).push(script.task("working", contextId="other"))
    assert findings(script) == ["the task is of context 'c', this says 'other'"]


def test_a_notification_may_tell_what_cannot_be(script: "Script") -> None:
    stream(script, script.update("working", time=1))
    script.push(script.task("submitted", time=2))
    assert findings(script) == ["a task that is working cannot become submitted"]


def test_a_stream_behind_a_notification_is_no_fault(script: "Script") -> None:
    stream(script, script.update("submitted"))
    script.push(script.task("completed", "Done."))
    script.event(script.update("working", "one moment"))
    script.event(script.update("completed", "Done.", final=True)).end()
    views = script.views
    assert findings(script) == []
    assert the_row(script).state == "completed"
    assert [one.text for one in views.chat.said] == ["x", "Done.", "one moment"]


def test_what_a_stream_is_bringing_no_notification_replaces(script: "Script") -> None:
    stream(script, script.chunk("1", append=False))
    whole = {"artifactId": "a", "name": "fee", "parts": [{"kind": "text", "text": "123"}]}
    script.push(script.task("completed", artifacts=[whole]))
    script.event(script.chunk("2")).event(script.chunk("3", last=True)).end()
    script.push(script.task("completed", artifacts=[whole], metadata={"again": True}))
    [artifact] = script.views.data.turns[0].artifacts.rows
    assert (artifact.text, artifact.chunks, artifact.is_complete) == ("123", 3, True)


def test_a_newer_notification_is_shown_for_what_it_is(script: "Script") -> None:
    status = {"state": "TASK_STATE_COMPLETED", "message": {"parts": [{"text": "Done."}]}}
    stream(script, script.update("working"))
    script.push({"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}})
    script.push({"artifactUpdate": script.chunk("1", append=False)})
    script.push({"artifactUpdate": script.chunk("2")})
    row = the_row(script)
    assert [update.kind for update in row.updates] == [
        "status-update",
        "status-update",
        "artifact-update",
        "artifact-update",
    ]
    assert row.updates[1].findings[0].message == (
        "a StreamResponse of A2A 1.0 with `statusUpdate`; A2A 0.3 sends the bare task"
    )
    assert script.views.data.turns[0].artifacts.rows[0].text == "12"


# Missing notifications


@pytest.mark.req("PUSHRX-3")
def test_a_notification_that_was_due_is_missing_until_it_comes(script: "Script") -> None:
    message: dict[str, Any] = {"messageId": "m", "role": "user", "parts": []}
    script.request(Purpose.SEND, "message/send", {"message": message, **PUSH})
    script.reply(script.task("completed"))
    lives = script.views.readings.reports
    assert missing_pushes(lives, now_ms=1019, patience_ms=1000) == ()
    [missing] = missing_pushes(lives, now_ms=1020, patience_ms=1000)
    assert (missing.task_id, missing.exchange, missing.state) == ("t", 1, "completed")
    assert (missing.channel, missing.reported_ms, missing.since_ms) == (Channel.RESPONSE, 20, 1000)
    script.push(script.task("completed"))
    assert missing_pushes(script.views.readings.reports, 9999, 0) == ()


def test_nothing_is_due_that_was_pushed_before_or_not_asked_for(script: "Script") -> None:
    script.send("x").reply(script.task("completed"))
    assert missing_pushes(script.views.readings.reports, 9999, 0) == ()
    message: dict[str, Any] = {"messageId": "m2", "role": "user", "parts": []}
    script.request(Purpose.SEND, "message/send", {"message": message, **PUSH})
    script.push(script.task("working", id="u")).push(script.task("completed", id="u"))
    script.reply(script.task("completed", id="u"))
    assert missing_pushes(script.views.readings.reports, 9999, 0) == ()


@pytest.mark.parametrize("ends", [False, True])
def test_notifications_may_be_asked_for_later_and_no_longer(script: "Script", ends: bool) -> None:
    stream(script, script.update("working"))
    config = {"taskId": "t", "pushNotificationConfig": {"url": "http://127.0.0.1:9/"}}
    script.request(Purpose.GET, "tasks/pushNotificationConfig/set", config).reply(config)
    if ends:
        params = {"id": "t", "pushNotificationConfigId": "t"}
        script.request(Purpose.GET, "tasks/pushNotificationConfig/delete", params).reply(None)
    script.on(1).event(script.update("input-required", final=True)).end()
    missing = missing_pushes(script.views.readings.reports, 9999, 0)
    assert [one.state for one in missing] == ([] if ends else ["input-required"])
    assert [update.kind for update in the_row(script).updates][1] == "push-config"


# Ids


@pytest.mark.req("TIME-1")
def test_one_task_id_in_two_contexts_is_a_duplicate(script: "Script") -> None:
    script.send("x").reply(script.task("working"))
    script.send("y").reply(script.task("working", contextId="d"))
    assert findings(script) == ["duplicate task id: a turn of context 'c' has it, too"]


@pytest.mark.req("TIME-1")
def test_the_id_of_an_ended_task_is_not_used_again(script: "Script") -> None:
    script.send("x").reply(script.task("completed"))
    script.send("y", messageId="n").reply(script.task("working"))
    assert (
        findings(script)[0] == "duplicate task id: it is that of a turn before, which is completed"
    )


def test_a_replayed_message_may_have_the_task_it_had(script: "Script") -> None:
    script.send("x").reply(script.task("completed"))
    script.send("x").reply(script.task("completed"))
    assert findings(script) == []


def test_a_turn_goes_on_with_a_waiting_task(script: "Script") -> None:
    script.send("x").reply(script.task("input-required", "Which?"))
    script.send("y", messageId="n", taskId="t").reply(script.task("working", "Which?"))
    assert findings(script) == []
    views = script.views
    assert [one.text for one in views.chat.said] == ["x", "Which?", "y", "Which?"]
    assert views.timeline.row_of_task["t"] == 1


def test_the_task_that_was_asked_for_is_the_one_to_come(script: "Script") -> None:
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).reply(script.task("working", id="u"))
    assert findings(script) == ["asked for task 't', this is of 'u'"]


# Time


@pytest.mark.req("TIME-1")
def test_a_silent_agent_leaves_a_gap(script: "Script") -> None:
    stream(script, script.update("working"))
    script.wait(12_000).event(script.update("input-required", final=True)).end()
    script.wait(60_000).poll(script.task("input-required"))
    assert findings(script) == ["a gap: nothing was heard of the task for 12.0 s"]


@pytest.mark.req("TIME-1")
def test_time_does_not_run_backwards(script: "Script") -> None:
    stream(script, script.update("working", time=3.5), script.update("working", time=3))
    assert findings(script) == ["the timestamp lies 500 ms before that of the update before"]
