"""Which task of a context waits for the user, and what a message there does by default."""

from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import Purpose
from inspector.views.waiting import Waiting

if TYPE_CHECKING:
    from tests.inspector.views.conftest import Script

RASA = {"state": "input_required", "active_flow": None}


def waiting(script: "Script") -> Waiting:
    return script.views.waiting


@pytest.mark.req("HERO-6")
@pytest.mark.parametrize("state", ["input-required", "auth-required"])
def test_task_that_waits_is_continued_where_the_agent_is_plain(
    script: "Script", state: str
) -> None:
    script.send("hi").reply(script.task(state, "Which?", data={"state": "x"}))
    assert waiting(script).task_in("c") == "t"
    assert waiting(script).continued_in("c") == "t"
    assert waiting(script).task_in("another") is None
    assert waiting(script).task_in(None) is None


@pytest.mark.req("HERO-6")
def test_rasa_is_known_by_its_data_part_and_begins_anew(script: "Script") -> None:
    script.send("hi").reply(script.task("input-required", "Which?", data=RASA))
    assert waiting(script).is_rasa
    assert waiting(script).task_in("c") == "t"
    assert waiting(script).continued_in("c") is None


@pytest.mark.req("HERO-6")
@pytest.mark.parametrize("data", [{"state": "x"}, {"active_flow": "a"}, ["state"], "state"])
def test_other_data_is_not_rasas(script: "Script", data: object) -> None:
    script.send("hi").reply(script.task("input-required", "Which?", data=data))
    assert not waiting(script).is_rasa


@pytest.mark.req("HERO-6")
def test_task_waits_until_any_channel_reports_that_it_goes_on(script: "Script") -> None:
    script.send("hi", stream=True).respond(media_type="text/event-stream")
    script.event(script.update("working")).event(script.chunk("a"))
    assert waiting(script).task_in("c") is None
    script.event(script.update("input-required", final=True)).end()
    assert waiting(script).task_in("c") == "t"
    before = waiting(script)
    script.poll(script.task("input-required"))
    assert waiting(script) is not before
    script.push(script.task("completed"))
    assert waiting(script).task_in("c") is None


@pytest.mark.req("HERO-6")
def test_newer_task_of_the_context_takes_the_place_of_the_one_before(script: "Script") -> None:
    script.send("hi").reply(script.task("input-required"))
    script.send("other").reply(script.task("input-required", id="t2"))
    assert waiting(script).task_in("c") == "t2"
    script.poll(script.task("input-required"))
    assert waiting(script).task_in("c") == "t2"
    script.send("more").reply(script.task("completed", id="t3"))
    assert waiting(script).task_in("c") is None


@pytest.mark.req("HERO-6")
def test_message_without_a_task_and_an_error_leave_the_task_waiting(script: "Script") -> None:
    script.send("hi").reply(script.task("input-required"))
    parts = [{"kind": "text", "text": "hm"}]
    ids = {"messageId": "m", "contextId": "c"}
    script.send("hm").reply({"kind": "message", "role": "agent", "parts": parts, **ids})
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).respond()
    script.frame(b'{"jsonrpc":"2.0","id":"r","error":{"code":-32001,"message":"x"}}').end()
    script.push(b"oops")
    assert waiting(script).task_in("c") == "t"


@pytest.mark.req("HERO-6", "LIVE-1")
def test_replay_leaves_the_conversations_task_waiting(script: "Script") -> None:
    script.send("hi").reply(script.task("input-required"))
    script.send("hi", is_replay=True, contextId="r").reply(
        script.task("input-required", id="u", contextId="r")
    )
    assert waiting(script).task_in("c") == "t"
    assert waiting(script).task_in("r") is None
