"""Turns over a real socket: order, repeats, reservations and time (server.md TURN)."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from mock_server.actions.runner import Paused, Progress
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState

if TYPE_CHECKING:
    from tests.integration.conftest import Mock, Serving


pytestmark = pytest.mark.anyio

MANY = 50


def state_of(task: dict[str, Any]) -> str:
    return task["status"]["state"]


def said(task: dict[str, Any]) -> str:
    parts = task["status"]["message"]["parts"]
    return "".join(part["text"] for part in parts if part["kind"] == "text")


def data_of(task: dict[str, Any]) -> dict[str, Any]:
    return task["status"]["message"]["parts"][-1]["data"]


@pytest.mark.req("TURN-5")
async def test_of_many_simultaneous_sends_exactly_one_runs(serving: "Serving") -> None:
    ran: list[str] = []

    def act(name: str, _: DialogueState, __: str) -> Iterator[Progress]:
        ran.append(name)
        yield Paused(1)
        yield ActionResult()

    async with serving(run_action=act) as mock:
        body = mock.turn("check the account")
        sends = [asyncio.create_task(mock.post(body)) for _ in range(MANY)]
        answers = asyncio.as_completed(sends)
        for _ in range(MANY - 1):
            refused = await next(answers)
            assert refused.status_code == 409
            assert refused.headers["retry-after"] == "1"
            assert refused.json()["error"]["data"]["reason"] == "message_in_flight"
        mock.let_go.set()
        assert (await next(answers)).status_code == 200
        assert ran == ["action_check"]


@dataclass
class Overlaps:
    """Which contexts act, and what was ever seen of two turns at once."""

    acting: set[str] = field(default_factory=set[str])
    most_at_once: int = 0
    is_any: bool = False
    order: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def act(self, _: str, state: DialogueState, __: str) -> Iterator[Progress]:
        context = str(state.user_metadata["context"])
        self.is_any |= context in self.acting
        self.acting.add(context)
        self.order[context].append(state.user_text)
        self.most_at_once = max(self.most_at_once, len(self.acting))
        yield Paused(1)
        self.acting.discard(context)
        yield ActionResult()


@pytest.mark.req("TURN-4")
async def test_a_contexts_turns_never_overlap_while_many_contexts_run(serving: "Serving") -> None:
    overlaps = Overlaps()
    texts = ["check the account", "/StartFlow(check_account)", "check account"]
    async with serving(run_action=overlaps.act) as mock:
        contexts = [f"c{number}" for number in range(MANY)]
        begun = [
            await mock.send(
                text,
                context=context,
                fields={"metadata": {"context": context}},
                configuration={"blocking": False},
            )
            for text in texts
            for context in contexts
        ]
        assert overlaps.acting == set(contexts)
        mock.let_go.set()
        await asyncio.gather(*(mock.wait(task) for task in begun[-MANY:]))
        tasks = await asyncio.gather(*map(mock.get, begun))
    assert {state_of(task) for task in tasks} == {"completed"}
    assert overlaps.most_at_once == MANY
    assert not overlaps.is_any
    assert overlaps.order == dict.fromkeys(contexts, texts)


@pytest.mark.req("TURN-3", "TURN-6")
async def test_no_time_frees_a_context_that_waits_for_its_answer(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        asked = await mock.send("send money")
        assert mock.timers == []
        mock.pass_time(10_000_000)
        assert state_of(await mock.get(asked)) == "input-required"
        assert data_of(await mock.send("send money", context="c2"))["error_type"] == "context_limit"
        assert said(await mock.send("Joe")) == "Sent to Joe."
        assert state_of(await mock.send("send money", context="c3")) == "input-required"


@pytest.mark.req("TURN-3", "TURN-6", "TURN-10")
async def test_cancel_frees_the_context(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        asked = await mock.send("send money")
        canceled = await mock.call("tasks/cancel", id=asked["id"])
        assert data_of(canceled["result"])["reason"] == "orchestrator"
        assert state_of(await mock.send("send money", context="c2")) == "input-required"


@pytest.mark.req("TURN-6", "LOG-1")
async def test_context_past_the_cap_fails_and_the_others_go_on(
    serving: "Serving", caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(max_contexts=2) as mock:
        await mock.send("send money", context="c1")
        running = await mock.start("check the account", "c2")
        refused = await mock.send("send money", context="c3")
        assert state_of(refused) == "failed"
        assert data_of(refused)["error_type"] == "context_limit"
        assert data_of(refused)["error_info"] == {}
        assert await mock.get(refused) == refused
        assert "a2a_server.rasa_a2a_agent_executor.execute.context_limit" in caplog.text
        assert said(await mock.send("Joe", context="c1")) == "Sent to Joe."
        mock.let_go.set()
        await mock.wait(running)
        assert said(await mock.get(running)) == "All is well."


@pytest.mark.req("TURN-6")
async def test_cap_of_zero_admits_all(serving: "Serving") -> None:
    async with serving(max_contexts=0) as mock:
        tasks = [await mock.send("send money", context=f"c{number}") for number in range(20)]
        assert {state_of(task) for task in tasks} == {"input-required"}


@pytest.mark.req("TURN-6")
async def test_free_context_still_remembers_its_dialogue(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        slots = {"slots": {"recipient": "Joe"}}
        told = await mock.send("hm", fields={"metadata": slots})
        assert state_of(told) == "rejected"
        held = await mock.send("send money", context="c2")
        await mock.call("tasks/cancel", id=held["id"])
        assert said(await mock.send("send money")) == "Sent to Joe."


@pytest.mark.req("TURN-5a", "TURN-6")
async def test_context_limit_is_not_remembered_as_the_answer(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        held = await mock.send("send money", context="c1")
        refused = await mock.send("send money", context="c2")
        stream = await mock.say("send money", method="message/stream", context="c2")
        events = stream.text
        assert events.count("data: ") == 1
        assert '"state":"failed"' in events
        await mock.call("tasks/cancel", id=held["id"])
        retried = await mock.send("send money", context="c2")
        assert retried["id"] != refused["id"]
        assert state_of(retried) == "input-required"


@pytest.mark.req("TURN-5a")
async def test_replayed_stream_is_the_last_event_alone(mock: "Mock") -> None:
    mock.let_go.set()
    body = mock.turn("explain the fees", method="message/stream")
    first = (await mock.post(body)).text.rstrip().split("\r\n\r\n")
    again = (await mock.post(body)).text.rstrip().split("\r\n\r\n")
    assert len(first) == 4
    assert again == first[-1:]
    assert json.loads(again[0].removeprefix("data: "))["result"]["final"] is True


@pytest.mark.req("TURN-5", "TURN-2a")
async def test_replay_is_the_answer_as_it_was_given(serving: "Serving") -> None:
    async with serving(replay_seconds=60) as mock:
        asked = await mock.send("send money")
        canceled = (await mock.call("tasks/cancel", id=asked["id"]))["result"]
        assert await mock.send("send money") == asked
        assert await mock.get(asked) == canceled
        mock.pass_time(60)
        assert (await mock.send("send money"))["id"] != asked["id"]


@pytest.mark.req("TURN-7", "LOG-1")
async def test_turn_that_takes_too_long_is_cancelled(
    serving: "Serving", caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(timeout_seconds=30) as mock:
        sending = asyncio.create_task(mock.send("check the account"))
        await mock.paused.wait()
        mock.pass_time(29.9)
        await asyncio.sleep(0)
        assert not sending.done()
        mock.pass_time(0.1)
        canceled = await sending
        assert state_of(canceled) == "canceled"
        assert data_of(canceled)["reason"] == "timeout"
        assert data_of(canceled)["active_flow"] is None
        assert "a2a_server.rasa_a2a_agent_executor.task_timeout" in caplog.text
        assert (await mock.call("tasks/cancel", id=canceled["id"]))["error"]["code"] == -32002
        assert said(await mock.send("send money")) == "To whom?"


@pytest.mark.req("TURN-7")
async def test_time_counts_from_the_start_of_each_task(serving: "Serving") -> None:
    async with serving(timeout_seconds=30) as mock:
        first = await mock.start("check the account")
        mock.pass_time(20)
        queued = await mock.send("check account", configuration={"blocking": False})
        other = await mock.start("check the account", "c2")
        mock.paused.clear()
        mock.pass_time(10)
        assert data_of(await mock.get(first))["reason"] == "timeout"
        await mock.paused.wait()
        mock.pass_time(19.9)
        assert state_of(await mock.get(other)) == "working"
        mock.pass_time(0.1)
        assert data_of(await mock.get(other))["reason"] == "timeout"
        assert state_of(await mock.get(queued)) == "working"
        mock.pass_time(10)
        assert data_of(await mock.get(queued))["reason"] == "timeout"


@pytest.mark.req("TURN-7")
async def test_timeout_cancels_the_flow_with_its_slots(serving: "Serving") -> None:
    async with serving(timeout_seconds=30) as mock:
        asked = await mock.send("send money")
        slow = await mock.start("/StartFlow(check_account)")
        mock.pass_time(30)
        assert data_of(await mock.get(slow))["active_flow"] is None
        assert state_of(await mock.get(asked)) == "input-required"
        assert state_of(await mock.send("Joe")) == "rejected"


@pytest.mark.req("TURN-7")
async def test_timer_ends_with_its_turn(serving: "Serving") -> None:
    async with serving(timeout_seconds=30) as mock:
        slow = await mock.start("check the account")
        assert len(mock.timers) == 1
        await mock.call("tasks/cancel", id=slow["id"])
        await mock.send("send money", context="c2")
        assert mock.timers == []


@pytest.mark.req("TURN-7")
async def test_timeout_of_zero_never_comes(serving: "Serving") -> None:
    async with serving(timeout_seconds=0) as mock:
        slow = await mock.start("check the account")
        assert mock.timers == []
        mock.let_go.set()
        await mock.wait(slow)
        assert state_of(await mock.get(slow)) == "completed"
