"""Turns followed by several ways at once: what is asked, how often, and when it ends."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.commands import Also, FollowMode, SendTurn, Turn
from inspector.core.entries import Channel, Failed, FrameReceived, Log, PushReceived, RequestSent
from inspector.core.following import Pace, next_delay
from inspector.core.push_verification import TOKEN_HEADER
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.net.events import (
    Broken,
    Chunk,
    Ended,
    FailureKind,
    NetEvent,
    Outgoing,
    Sending,
    Started,
)

pytestmark = [pytest.mark.anyio, pytest.mark.req("COMP-3")]

POLL, PUSH, SUBSCRIBE = Also.POLL, Also.PUSH, Also.SUBSCRIBE
BROKEN = "broken"
HANGS = "hangs"
QUICK = Pace(push_patience_seconds=0.05, push_settle_seconds=0.01, push_total_seconds=5)


def task(state: str, task_id: str = "t") -> dict[str, Any]:
    return {"kind": "task", "id": task_id, "contextId": "c", "status": {"state": state}}


def update(state: str, final: bool = False) -> dict[str, Any]:
    status = {"state": state}
    return {
        "kind": "status-update",
        "taskId": "t",
        "contextId": "c",
        "status": status,
        "final": final,
    }


class Agent:
    """Answers each method with the next of its replies, the last again and again.

    A reply is a result, a list of results to stream, an `Exception` for a JSON-RPC error, BROKEN
    for a lost connection or HANGS.
    """

    def __init__(self, **replies: list[Any]) -> None:
        self.replies = {name.replace("_", "/"): list(script) for name, script in replies.items()}
        self.asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.headers: dict[str, list[dict[str, str]]] = defaultdict(list)

    async def exchange(self, outgoing: Outgoing) -> AsyncGenerator[NetEvent, None]:
        yield Sending(outgoing.headers)
        if outgoing.method == "GET":
            card = {"name": "A", "url": "http://agent.test/"}
            yield Started(200, "HTTP/1.1", (("Content-Type", "application/json"),), 1)
            yield Chunk(json.dumps(card).encode())
            yield Ended()
            return
        request = json.loads(outgoing.body)
        method = request["method"]
        self.asked[method].append(request["params"])
        self.headers[method].append(dict(outgoing.headers))
        script = self.replies[method]
        reply = script.pop(0) if len(script) > 1 else script[0]
        async for event in _events(request["id"], reply):
            yield event

    async def aclose(self) -> None:
        return


async def _events(id: str, reply: Any) -> AsyncGenerator[NetEvent, None]:
    results: list[Any] = []
    results += reply if isinstance(reply, list) else [reply]
    is_stream = isinstance(reply, list)
    media_type = "text/event-stream" if is_stream else "application/json"
    yield Started(200, "HTTP/1.1", (("Content-Type", media_type),), None)
    for result in results:
        if result == BROKEN:
            yield Broken(FailureKind.DISCONNECTED, "gone")
            return
        if result == HANGS:
            await asyncio.Event().wait()
        envelope: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "result": result}
        if isinstance(result, Exception):
            envelope = {"jsonrpc": "2.0", "id": id, "error": {"code": -32001, "message": "no"}}
        raw = json.dumps(envelope)
        yield Chunk(f"data: {raw}\n\n".encode() if is_stream else raw.encode())
    yield Ended()


class Clock:
    """Time that passes when somebody sleeps, and is noted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


def session_with(agent: Agent, clock: Clock | None = None, pace: Pace = QUICK) -> Session:
    clock, ids = clock or Clock(), count(1)
    return Session(
        parse_target("http://agent.test"),
        agent,
        Log(clock.now),
        new_id=lambda: f"id{next(ids)}",
        pace=pace,
        sleep=clock.sleep,
        clock=clock.now,
    )


def turn(*also: Also, follow: FollowMode = FollowMode.NO_BLOCKING, **more: Any) -> SendTurn:
    return SendTurn(Turn("hi", follow=follow, also=frozenset(also), **more))


def replies(session: Session) -> list[bytes]:
    return [one.raw for one in session.log.entries if isinstance(one, FrameReceived)]


def purposes(session: Session) -> list[str]:
    sent = [entry.purpose for entry in session.log.entries if isinstance(entry, RequestSent)]
    return [one.value for one in sent if one != "card"]


# Polling


@pytest.mark.req("COMP-3")
async def test_a_task_is_polled_until_it_rests() -> None:
    clock = Clock()
    agent = Agent(
        message_send=[task("submitted")],
        tasks_get=[task("working"), task("working"), task("input-required")],
    )
    session = session_with(agent, clock)
    exchange = await session.run(turn(POLL))
    assert exchange == 2
    assert clock.slept == [0.5, 1, 2]
    assert purposes(session) == ["send", "poll", "poll", "poll"]
    channels = [one.channel for one in session.log.entries if isinstance(one, FrameReceived)]
    assert channels[1:] == [Channel.RESPONSE, Channel.POLL, Channel.POLL, Channel.POLL]
    assert agent.asked["tasks/get"][0] == {"id": "t"}
    assert agent.headers["tasks/get"][0]["X-A2A-Context-Id"] == "c"
    assert not session.running


@pytest.mark.req("CONN-3")
@pytest.mark.parametrize("secret", ["completed", "20261122", "task-of-joe"])
async def test_a_secret_in_the_replies_changes_nothing_of_what_is_done(secret: str) -> None:
    agent = Agent(
        message_send=[{**task("working", secret), "metadata": {"n": 20261122}}],
        tasks_get=[task("working", secret), task("completed", secret)],
    )
    session = session_with(agent)
    session.conceal((secret,))
    await session.run(turn(POLL))
    assert [asked["id"] for asked in agent.asked["tasks/get"]] == [secret, secret]
    assert all(json.loads(raw) for raw in replies(session))
    assert secret == "completed" or secret not in repr(session.log.entries)


async def test_a_task_that_rests_at_once_is_not_polled() -> None:
    agent = Agent(message_send=[task("completed")])
    session = session_with(agent)
    await session.run(turn(POLL))
    assert purposes(session) == ["send"]


async def test_what_another_way_has_told_is_polled_once_all_the_same() -> None:
    agent = Agent(
        message_stream=[[task("submitted"), update("completed", True)]],
        tasks_get=[task("completed")],
    )
    session = session_with(agent)
    await session.run(turn(POLL, follow=FollowMode.STREAM))
    assert purposes(session) == ["stream", "poll"]


@pytest.mark.req("COMP-3")
async def test_polling_ends_with_its_time() -> None:
    clock = Clock()
    agent = Agent(message_send=[task("submitted")], tasks_get=[task("working")])
    session = session_with(agent, clock)
    await session.run(turn(POLL))
    assert sum(clock.slept) == 60
    assert max(clock.slept) == 5


@pytest.mark.parametrize(
    ("replies", "polls"),
    [
        ([ValueError()], 1),
        ([BROKEN], 3),
        ([BROKEN, BROKEN, task("working"), BROKEN, task("completed")], 5),
    ],
)
async def test_a_poll_that_fails(replies: list[Any], polls: int) -> None:
    agent = Agent(message_send=[task("working")], tasks_get=replies)
    session = session_with(agent)
    await session.run(turn(POLL))
    assert purposes(session).count("poll") == polls


async def test_without_a_task_nothing_is_followed() -> None:
    message: dict[str, Any] = {"kind": "message", "messageId": "m", "role": "agent", "parts": []}
    replies: list[Any] = [ValueError(), BROKEN, message]
    for reply in replies:
        session = session_with(Agent(message_send=[reply]))
        await session.run(turn(POLL, PUSH, SUBSCRIBE))
        await session.aclose()
        assert purposes(session) == ["send"]


# Streams


async def test_a_stream_that_drops_is_taken_up_again() -> None:
    clock = Clock()
    agent = Agent(
        message_stream=[[task("submitted"), update("working"), BROKEN]],
        tasks_resubscribe=[[update("working"), BROKEN], [update("completed", True)]],
    )
    session = session_with(agent, clock)
    await session.run(turn(SUBSCRIBE, follow=FollowMode.STREAM))
    assert purposes(session) == ["stream", "resubscribe", "resubscribe"]
    assert clock.slept == [0.5]
    assert agent.asked["tasks/resubscribe"][0] == {"id": "t"}


async def test_a_stream_that_ends_well_is_not() -> None:
    agent = Agent(message_stream=[[task("submitted"), update("completed", True)]])
    session = session_with(agent)
    await session.run(turn(SUBSCRIBE, follow=FollowMode.STREAM))
    assert purposes(session) == ["stream"]


@pytest.mark.parametrize(
    ("reply", "times"), [(ValueError(), 1), ([BROKEN], 3), ([update("working")], 3)]
)
async def test_a_subscription_that_fails_has_an_end(reply: Any, times: int) -> None:
    agent = Agent(message_send=[task("working")], tasks_resubscribe=[reply])
    session = session_with(agent)
    await session.run(turn(SUBSCRIBE))
    assert purposes(session).count("resubscribe") == times


# Push


async def push(session: Session, params: dict[str, Any], *states: str) -> list[int]:
    """Post what an agent that was given `params` would."""
    config = params["configuration"]["pushNotificationConfig"]
    async with httpx.AsyncClient(timeout=60) as client:
        return [
            (
                await client.post(
                    config["url"], json=task(state), headers={TOKEN_HEADER: config["token"]}
                )
            ).status_code
            for state in states
        ]


async def until(session: Session, kind: type[object], number: int = 1) -> None:
    """Wait until the log holds `number` entries of `kind` besides the card's."""
    reached = asyncio.Event()

    def look(_: object = None) -> None:
        found = [one for one in session.log.entries if isinstance(one, kind)]
        if len([one for one in found if getattr(one, "exchange", 0) != 1]) >= number:
            reached.set()

    unsubscribe = session.subscribe(look)
    look()
    async with asyncio.timeout(60):
        await reached.wait()
    unsubscribe()


@pytest.mark.req("PUSHRX-1")
async def test_a_turn_registers_the_receiver_and_waits_for_the_last_notification() -> None:
    agent = Agent(message_send=[task("submitted")])
    session = session_with(agent, pace=Pace(push_patience_seconds=20))
    running = asyncio.create_task(session.run(turn(PUSH)))
    await until(session, FrameReceived)
    [params] = agent.asked["message/send"]
    config = params["configuration"]["pushNotificationConfig"]
    assert config["url"].startswith(session.receiver.url)
    assert len(config["token"]) > 40
    assert await push(session, params, "working", "completed") == [200, 200]
    assert await running == 2
    assert purposes(session) == ["send"]
    assert config["token"] not in repr(session.log.entries)
    await session.aclose()
    assert not session.receiver.is_open


async def test_each_turn_has_a_token_of_its_own() -> None:
    agent = Agent(message_send=[task("completed", "t1"), task("completed", "t2")])
    session = session_with(agent)
    for _ in range(2):
        await session.run(turn(PUSH))
    first, second = agent.asked["message/send"]
    assert await push(session, second, "completed") == [404]
    tokens = [one["configuration"]["pushNotificationConfig"]["token"] for one in (first, second)]
    assert len(set(tokens)) == 2
    await session.aclose()


@pytest.mark.req("PUSHRX-3")
async def test_a_silent_receiver_is_given_up_once_the_task_rests() -> None:
    agent = Agent(message_send=[task("submitted")], tasks_get=[task("working"), task("completed")])
    session = session_with(agent)
    await session.run(turn(PUSH))
    assert purposes(session) == ["send", "get", "get"]
    await session.aclose()


async def test_a_task_that_cannot_be_looked_at_is_not_waited_for() -> None:
    agent = Agent(message_send=[task("submitted")], tasks_get=[ValueError()])
    session = session_with(agent)
    await session.run(turn(PUSH))
    assert purposes(session) == ["send", "get"]
    await session.aclose()


async def test_an_agent_that_died_is_not_looked_at_for_long() -> None:
    agent = Agent(message_send=[task("submitted")], tasks_get=[BROKEN])
    session = session_with(agent)
    await session.run(turn(PUSH))
    assert purposes(session) == ["send", "get", "get"]
    await session.aclose()


async def test_a_task_that_never_rests_is_given_up_at_last() -> None:
    agent = Agent(message_send=[task("submitted")], tasks_get=[task("working")])
    pace = Pace(push_patience_seconds=0.01, push_total_seconds=0.1)
    session = session_with(agent, pace=pace)
    await session.run(turn(PUSH))
    assert set(purposes(session)) == {"send", "get"}
    await session.aclose()


async def test_four_ways_at_once_tell_one_truth() -> None:
    agent = Agent(
        message_send=[task("submitted")],
        tasks_resubscribe=[[update("working"), update("completed", True)]],
        tasks_get=[task("completed")],
    )
    session = session_with(agent, pace=Pace(push_patience_seconds=20))
    running = asyncio.create_task(session.run(turn(POLL, PUSH, SUBSCRIBE)))
    await until(session, FrameReceived)
    [params] = agent.asked["message/send"]
    await push(session, params, "working", "completed")
    await running
    assert sorted(purposes(session)) == ["poll", "resubscribe", "send"]
    told = [entry for entry in session.log.entries if isinstance(entry, PushReceived)]
    assert len(told) == 2
    await session.aclose()


# Stopping


async def test_stopping_the_turn_stops_all_its_ways() -> None:
    agent = Agent(message_send=[HANGS])
    session = session_with(agent)
    running = asyncio.create_task(session.run(turn(POLL, PUSH, SUBSCRIBE)))
    await until(session, RequestSent)
    assert set(session.running) == {2}
    session.stop(2)
    assert await running == 2
    failed = session.log.entries[-1]
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.message) == (FailureKind.STOPPED, "stopped by the user")
    assert not session.running
    await session.aclose()


async def test_a_turn_can_be_stopped_after_its_answer() -> None:
    agent = Agent(message_send=[task("working")])
    session = session_with(agent, pace=Pace())
    running = asyncio.create_task(session.run(turn(PUSH)))
    await until(session, FrameReceived)
    assert set(session.running) == {2}
    session.stop(2)
    assert await running == 2
    await session.aclose()


async def test_one_way_can_be_stopped_alone() -> None:
    agent = Agent(message_send=[task("working")], tasks_resubscribe=[[update("working"), HANGS]])
    session = session_with(agent)
    running = asyncio.create_task(session.run(turn(SUBSCRIBE)))
    await until(session, FrameReceived, 2)
    session.stop(3)
    assert await running == 2
    assert purposes(session) == ["send", "resubscribe"]


# What goes out


@pytest.mark.req("COMP-2")
async def test_headers_of_a_turn_go_with_all_that_is_asked_for_it() -> None:
    headers = (("X-A2A-Context-Id", "mine"), ("content-type", "application/json; x=1"))
    agent = Agent(message_send=[task("working")], tasks_get=[task("completed")])
    session = session_with(agent)
    await session.run(turn(POLL, headers=headers))
    for method in ("message/send", "tasks/get"):
        [sent] = agent.headers[method]
        assert sent["X-A2A-Context-Id"] == "mine"
        assert sent["content-type"] == "application/json; x=1"
        assert "Content-Type" not in sent


@pytest.mark.req("COMP-2")
async def test_the_same_turn_twice_at_once_has_one_message_id() -> None:
    agent = Agent(message_send=[task("completed")])
    session = session_with(agent)
    first, second = await session.run_twice(Turn("hi"))
    assert {first, second} == {2, 3}
    ids = [one["message"]["messageId"] for one in agent.asked["message/send"]]
    assert len(ids) == 2
    assert len(set(ids)) == 1


@pytest.mark.req("COMP-1")
@pytest.mark.parametrize(
    ("body", "purpose", "accept"),
    [
        ({"method": "message/send"}, "send", "application/json"),
        ({"method": "message/stream"}, "stream", "text/event-stream"),
        ({"method": "tasks/get"}, "get", "application/json"),
        ({"method": "no/such"}, "send", "application/json"),
    ],
)
async def test_a_raw_body_goes_out_byte_for_byte(
    body: dict[str, Any], purpose: str, accept: str
) -> None:
    raw = json.dumps({"id": "mine", "params": {"odd": 1}, **body}, indent=3).encode()
    agent = Agent(**{body["method"].replace("/", "_"): [task("completed")]})
    session = session_with(agent)
    await session.run(turn(PUSH, raw=raw))
    sent = [entry for entry in session.log.entries if isinstance(entry, RequestSent)][-1]
    assert (sent.body, sent.purpose) == (raw, purpose)
    assert dict(sent.headers)["Accept"] == accept
    assert not session.receiver.is_open


@pytest.mark.req("COMP-1", "CONN-5")
async def test_a_raw_body_that_is_no_json_goes_out_as_well() -> None:
    answered: list[bytes] = []

    class Mute(Agent):
        async def exchange(self, outgoing: Outgoing) -> AsyncGenerator[NetEvent, None]:
            if outgoing.method == "POST":
                answered.append(outgoing.body)
                yield Sending(outgoing.headers)
                yield Ended()
                return
            async for event in super().exchange(outgoing):
                yield event

    session = session_with(Mute())
    await session.run(turn(raw=b"\x00nonsense", follow=FollowMode.STREAM))
    assert answered == [b"\x00nonsense"]
    assert purposes(session) == ["stream"]


@pytest.mark.req("COMP-3")
def test_polling_is_that_of_the_orchestrator() -> None:
    delays: list[float] = []
    while (delay := next_delay(Pace(), len(delays), sum(delays))) is not None:
        delays.append(delay)
    assert delays[:6] == [0.5, 1, 2, 4, 5, 5]
    assert sum(delays) == 60


@given(polls=st.integers(0, 10**6), elapsed=st.floats(0, 1000), total=st.floats(0.1, 100))
def test_no_poll_is_later_than_the_end(polls: int, elapsed: float, total: float) -> None:
    delay = next_delay(Pace(poll_total_seconds=total), polls, elapsed)
    if elapsed >= total:
        assert delay is None
    else:
        assert delay is not None
        assert 0 < delay <= 5
        assert elapsed + delay <= total * (1 + 1e-12)
