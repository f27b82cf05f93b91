"""Live replay: runs told apart from the conversation, and what each comparison finds."""

from typing import TYPE_CHECKING, Any

import pytest

from inspector.core.entries import Purpose
from inspector.core.live_replay import CONTEXT_PREFIX
from inspector.net.events import FailureKind
from inspector.views import reading
from inspector.views.live import LiveView, compare_last
from inspector.views.outcomes import Change

if TYPE_CHECKING:
    from tests.inspector.views.conftest import Script

FIRST, SECOND = f"{CONTEXT_PREFIX}1", f"{CONTEXT_PREFIX}2"


def live(script: "Script") -> LiveView:
    return script.views.live


def say(script: "Script", text: str, context: str, **task: Any) -> None:
    """One whole turn; `task` is what its reply tells."""
    data = {"state": "x", "active_flow": task.pop("flow", None), "slots": task.pop("slots", {})}
    state, answer = task.pop("state", "input-required"), task.pop("answer", "To whom?")
    name = f"{context}-{len(script.entries)}"
    reply = script.task(state, answer, data=data, id=name, contextId=context)
    is_replay = context in (FIRST, SECOND)
    script.send(text, contextId=context, is_replay=is_replay).reply(reply)


def changes(script: "Script", *, to_first: bool = False) -> list[tuple[Change, ...]]:
    return [turn.changes for turn in compare_last(live(script), to_first=to_first)]


@pytest.mark.req("LIVE-1")
def test_without_a_replay_there_is_nothing_to_compare(script: "Script") -> None:
    say(script, "hi", "c")
    assert compare_last(live(script)) == ()


@pytest.mark.req("LIVE-1")
def test_what_differs_is_told_old_beside_new(script: "Script") -> None:
    say(script, "hi", "c", flow="transfer", slots={"a": 1, "b": None, "c": "x"})
    say(script, "hi", FIRST, state="completed", answer="Done.", slots={"a": 2, "d": True, "c": "x"})
    assert changes(script) == [
        (
            Change("state", "input-required", "completed"),
            Change("flow", "transfer", "none"),
            Change("text", "To whom?", "Done."),
            Change("slot a", "1", "2"),
            Change("slot d", "none", "true"),
        )
    ]


@pytest.mark.req("LIVE-1")
def test_ids_and_times_make_no_difference(script: "Script") -> None:
    old = "Task t-1 of c, 3b241101-e2bb-4255-8caf-4136c566a962, 2026-11-21T10:00:00.5Z"
    new = f"Task t-2 of {FIRST}, 6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b, 2026-11-22T11:30:00+01:00"
    slots = ({"id": "3b241101-e2bb-4255-8caf-4136c566a962"},)
    slots += ({"id": "6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b"},)
    for text, context, task_id, told in (
        (old, "c", "t-1", slots[0]),
        (new, FIRST, "t-2", slots[1]),
    ):
        data = {"state": "x", "slots": told}
        reply = script.task("completed", text, id=task_id, contextId=context, data=data)
        script.send("hi", contextId=context, is_replay=context == FIRST).reply(reply)
    assert changes(script) == [()]


@pytest.mark.req("LIVE-1")
def test_transitions_differ_where_the_way_was_another(script: "Script") -> None:
    for context, states in (("c", ("submitted", "working")), (FIRST, ("working", "working"))):
        script.send("hi", stream=True, contextId=context, is_replay=context == FIRST).respond()
        for state in (*states, "completed"):
            update = {**script.update(state, final=state == "completed"), "contextId": context}
            script.event({**update, "taskId": f"task of {context}"})
        script.end()
    assert changes(script) == [(Change("transitions", "submitted → working", "working"),)]


@pytest.mark.req("LIVE-1")
def test_run_is_compared_with_the_one_before_or_with_the_first(script: "Script") -> None:
    say(script, "hi", "c", answer="A")
    say(script, "hi", FIRST, answer="B")
    say(script, "hi", SECOND, answer="B")
    assert changes(script) == [()]
    assert changes(script, to_first=True) == [(Change("text", "A", "B"),)]


@pytest.mark.req("LIVE-1")
def test_run_that_was_broken_off_is_passed_over(script: "Script") -> None:
    say(script, "hi", "c", answer="A")
    say(script, "bye", "c", answer="Z")
    say(script, "hi", FIRST, answer="B")
    script.send("bye", contextId=FIRST, is_replay=True).fail(FailureKind.STOPPED)
    say(script, "hi", SECOND, answer="B")
    say(script, "bye", SECOND, answer="Y")
    assert changes(script) == [(), (Change("text", "Z", "Y"),)]


@pytest.mark.req("LIVE-1")
def test_turns_to_come_and_turns_under_way_show_nothing_yet(script: "Script") -> None:
    say(script, "hi", "c")
    say(script, "bye", "c")
    script.send("hi", contextId=FIRST, is_replay=True)
    first, second = compare_last(live(script))
    assert (first.old.title, first.changes) == ("hi", ())
    assert first.new is not None
    assert not first.new.is_over
    assert second.new is None


@pytest.mark.req("LIVE-1")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"jsonrpc":"2.0","id":"r","error":{"code":-32603,"message":"x"}}', "-32603 x"),
        (b"oops", "HTTP 200: not JSON: Expecting value at line 1 column 1"),
    ],
)
def test_answer_that_fails_is_told(script: "Script", body: bytes, told: str) -> None:
    say(script, "hi", "c")
    script.send("hi", contextId=FIRST, is_replay=True).respond().frame(body).end()
    assert changes(script) == [(Change("answer", "came", told),)]


@pytest.mark.req("LIVE-1")
def test_replay_is_no_part_of_the_conversation(script: "Script") -> None:
    say(script, "hi", "c", answer="A")
    before = script.views
    say(script, "hi", FIRST, answer="B")
    script.request(Purpose.CANCEL, "tasks/cancel", {"id": "t"}, is_replay=True)
    after = script.views
    assert (after.chat.said, after.timeline.rows) == (before.chat.said, before.timeline.rows)
    assert after.data.turns == before.data.turns
    assert len(after.exchanges) == len(before.exchanges) + 2
    assert after.exchanges.newest == before.exchanges.newest
    assert not after.exchanges.running
    assert [one.id for one in after.exchanges.up_to(None)] == [1]
    assert [one.id for one in after.exchanges.up_to(2)] == [2]


@pytest.mark.req("LIVE-1")
def test_turn_of_the_user_in_the_context_of_a_replay_is_the_users(script: "Script") -> None:
    say(script, "hi", "c", answer="A")
    say(script, "hi", FIRST, answer="B")
    script.send("and now?", contextId=FIRST).reply(script.task("completed", "C"))
    assert [said.text for said in script.views.chat.said] == ["hi", "A", "and now?", "C"]


@pytest.mark.req("LIVE-1")
def test_another_conversation_has_runs_of_its_own(script: "Script") -> None:
    say(script, "hi", "c", answer="A")
    say(script, "hi", FIRST, answer="B")
    say(script, "hello", "d", answer="C")
    say(script, "hello", SECOND, answer="D")
    (turn,) = compare_last(live(script))
    assert (turn.old.title, turn.changes) == ("hello", (Change("text", "C", "D"),))


@pytest.mark.req("LIVE-1")
def test_turn_learns_its_context_and_more_of_its_task_later(script: "Script") -> None:
    script.send("hi").reply(script.task("working"))
    script.poll(script.task("completed", "Done."))
    script.poll(script.task("canceled"))
    script.poll(script.task("completed", id="of another"))
    script.send("hi", contextId=FIRST, is_replay=True).respond()
    script.event({**script.chunk("Do", append=False), "contextId": FIRST, "taskId": "u"})
    script.event({**script.chunk("ne."), "contextId": FIRST, "taskId": "u"})
    update = {**script.update("completed", final=True), "contextId": FIRST, "taskId": "u"}
    script.event(update).end()
    script.push(script.task("completed"))
    assert changes(script) == [(Change("transitions", "working", ""),)]


def test_view_folds_reads_of_a_whole_log(script: "Script") -> None:
    say(script, "hi", "c")
    script.request(Purpose.CARD, "", {}).respond().frame(b"{}").end()
    assert len(list(reading.read_log(script.entries))) == 8
    assert live(script).newest == 1
