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


def call(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def message(text: str, context: str = "c1", message_id: str | None = None) -> dict[str, object]:
    return {
        "messageId": message_id or f"{context}: {text}",
        "contextId": context,
        "role": "user",
        "parts": [{"kind": "text", "text": text}],
        "metadata": {"context": context},
    }


@dataclass
class Client:
    """A client of the mock that reads tasks."""

    mock: "Mock"

    async def say(self, text: str, context: str = "c1", **more: Any) -> dict[str, Any]:
        body = call("message/send", message=message(text, context), **more)
        return (await self.mock.client.post("/", json=body)).json()["result"]

    async def start(self, text: str, context: str = "c1") -> dict[str, Any]:
        """Begin a turn that pauses."""
        self.mock.paused.clear()
        begun = await self.say(text, context, configuration={"blocking": False})
        await self.mock.paused.wait()
        return begun

    async def answer(self, method: str, task: dict[str, Any]) -> dict[str, Any]:
        return (await self.mock.client.post("/", json=call(method, id=task["id"]))).json()

    async def get(self, task: dict[str, Any]) -> dict[str, Any]:
        return (await self.answer("tasks/get", task))["result"]

    async def wait(self, task: dict[str, Any]) -> None:
        await self.mock.client.post("/", json=call("tasks/resubscribe", id=task["id"]))


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
        body = call("message/send", message=message("check the account"))
        sends = [asyncio.create_task(mock.client.post("/", json=body)) for _ in range(MANY)]
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
        client = Client(mock)
        contexts = [f"c{number}" for number in range(MANY)]
        begun = [
            await client.say(text, context, configuration={"blocking": False})
            for text in texts
            for context in contexts
        ]
        assert overlaps.acting == set(contexts)
        mock.let_go.set()
        await asyncio.gather(*(client.wait(task) for task in begun[-MANY:]))
        tasks = await asyncio.gather(*map(client.get, begun))
    assert {state_of(task) for task in tasks} == {"completed"}
    assert overlaps.most_at_once == MANY
    assert not overlaps.is_any
    assert overlaps.order == dict.fromkeys(contexts, texts)


@pytest.mark.req("TURN-3", "TURN-6")
async def test_no_time_frees_a_context_that_waits_for_its_answer(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        client = Client(mock)
        asked = await client.say("send money")
        assert mock.timers == []
        mock.pass_time(10_000_000)
        assert state_of(await client.get(asked)) == "input-required"
        assert data_of(await client.say("send money", "c2"))["error_type"] == "context_limit"
        assert said(await client.say("Joe")) == "Sent to Joe."
        assert state_of(await client.say("send money", "c3")) == "input-required"


@pytest.mark.req("TURN-3", "TURN-6", "TURN-10")
async def test_cancel_frees_the_context(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        client = Client(mock)
        canceled = await client.answer("tasks/cancel", await client.say("send money"))
        assert data_of(canceled["result"])["reason"] == "orchestrator"
        assert state_of(await client.say("send money", "c2")) == "input-required"


@pytest.mark.req("TURN-6", "LOG-1")
async def test_context_past_the_cap_fails_and_the_others_go_on(
    serving: "Serving", caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(max_contexts=2) as mock:
        client = Client(mock)
        await client.say("send money", "c1")
        running = await client.start("check the account", "c2")
        refused = await client.say("send money", "c3")
        assert state_of(refused) == "failed"
        assert data_of(refused)["error_type"] == "context_limit"
        assert data_of(refused)["error_info"] == {}
        assert await client.get(refused) == refused
        assert "a2a_server.rasa_a2a_agent_executor.execute.context_limit" in caplog.text
        assert said(await client.say("Joe", "c1")) == "Sent to Joe."
        mock.let_go.set()
        await client.wait(running)
        assert said(await client.get(running)) == "All is well."


@pytest.mark.req("TURN-6")
async def test_cap_of_zero_admits_all(serving: "Serving") -> None:
    async with serving(max_contexts=0) as mock:
        client = Client(mock)
        tasks = [await client.say("send money", f"c{number}") for number in range(20)]
        assert {state_of(task) for task in tasks} == {"input-required"}


@pytest.mark.req("TURN-6")
async def test_free_context_still_remembers_its_dialogue(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        client = Client(mock)
        slots = {"slots": {"recipient": "Joe"}}
        body = call("message/send", message={**message("hm"), "metadata": slots})
        told = (await mock.client.post("/", json=body)).json()["result"]
        assert state_of(told) == "rejected"
        held = await client.say("send money", "c2")
        await client.answer("tasks/cancel", held)
        assert said(await client.say("send money")) == "Sent to Joe."


@pytest.mark.req("TURN-5a", "TURN-6")
async def test_context_limit_is_not_remembered_as_the_answer(serving: "Serving") -> None:
    async with serving(max_contexts=1) as mock:
        client = Client(mock)
        held = await client.say("send money", "c1")
        refused = await client.say("send money", "c2")
        stream = call("message/stream", message=message("send money", "c2"))
        events = (await mock.client.post("/", json=stream)).text
        assert events.count("data: ") == 1
        assert '"state":"failed"' in events
        await client.answer("tasks/cancel", held)
        retried = await client.say("send money", "c2")
        assert retried["id"] != refused["id"]
        assert state_of(retried) == "input-required"


@pytest.mark.req("TURN-5a")
async def test_replayed_stream_is_the_last_event_alone(serving: "Serving") -> None:
    async with serving() as mock:
        mock.let_go.set()
        body = call("message/stream", message=message("explain the fees"))
        first = (await mock.client.post("/", json=body)).text.rstrip().split("\r\n\r\n")
        again = (await mock.client.post("/", json=body)).text.rstrip().split("\r\n\r\n")
        assert len(first) == 4
        assert again == first[-1:]
        assert json.loads(again[0].removeprefix("data: "))["result"]["final"] is True


@pytest.mark.req("TURN-5", "TURN-2a")
async def test_replay_is_the_answer_as_it_was_given(serving: "Serving") -> None:
    async with serving(replay_seconds=60) as mock:
        client = Client(mock)
        asked = await client.say("send money")
        canceled = (await client.answer("tasks/cancel", asked))["result"]
        assert await client.say("send money") == asked
        assert await client.get(asked) == canceled
        mock.pass_time(60)
        assert (await client.say("send money"))["id"] != asked["id"]


@pytest.mark.req("TURN-7", "LOG-1")
async def test_turn_that_takes_too_long_is_cancelled(
    serving: "Serving", caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(timeout_seconds=30) as mock:
        client = Client(mock)
        sending = asyncio.create_task(client.say("check the account"))
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
        assert (await client.answer("tasks/cancel", canceled))["error"]["code"] == -32002
        assert said(await client.say("send money")) == "To whom?"


@pytest.mark.req("TURN-7")
async def test_time_counts_from_the_start_of_each_task(serving: "Serving") -> None:
    async with serving(timeout_seconds=30) as mock:
        client = Client(mock)
        first = await client.start("check the account")
        mock.pass_time(20)
        queued = await client.say("check account", configuration={"blocking": False})
        other = await client.start("check the account", "c2")
        mock.paused.clear()
        mock.pass_time(10)
        assert data_of(await client.get(first))["reason"] == "timeout"
        await mock.paused.wait()
        mock.pass_time(19.9)
        assert state_of(await client.get(other)) == "working"
        mock.pass_time(0.1)
        assert data_of(await client.get(other))["reason"] == "timeout"
        assert state_of(await client.get(queued)) == "working"
        mock.pass_time(10)
        assert data_of(await client.get(queued))["reason"] == "timeout"


@pytest.mark.req("TURN-7")
async def test_timeout_cancels_the_flow_with_its_slots(serving: "Serving") -> None:
    async with serving(timeout_seconds=30) as mock:
        client = Client(mock)
        asked = await client.say("send money")
        slow = await client.start("/StartFlow(check_account)")
        mock.pass_time(30)
        assert data_of(await client.get(slow))["active_flow"] is None
        assert state_of(await client.get(asked)) == "input-required"
        assert state_of(await client.say("Joe")) == "rejected"


@pytest.mark.req("TURN-7")
async def test_timer_ends_with_its_turn(serving: "Serving") -> None:
    async with serving(timeout_seconds=30) as mock:
        client = Client(mock)
        slow = await client.start("check the account")
        assert len(mock.timers) == 1
        await client.answer("tasks/cancel", slow)
        await client.say("send money", "c2")
        assert mock.timers == []


@pytest.mark.req("TURN-7")
async def test_timeout_of_zero_never_comes(serving: "Serving") -> None:
    async with serving(timeout_seconds=0) as mock:
        client = Client(mock)
        slow = await client.start("check the account")
        assert mock.timers == []
        mock.let_go.set()
        await client.wait(slow)
        assert state_of(await client.get(slow)) == "completed"
