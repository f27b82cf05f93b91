"""Conversations read back from a log and written anew for another context."""

import json
from typing import Any

import pytest

from inspector.core.commands import FollowMode, Turn
from inspector.core.entries import Channel, Entry, FrameReceived, Purpose, RequestSent
from inspector.core.live_replay import CONTEXT_PREFIX, Names, again, conversation

REPLAY = f"{CONTEXT_PREFIX}1"


def request(
    exchange: int,
    message: dict[str, Any],
    *,
    purpose: Purpose = Purpose.SEND,
    is_replay: bool = False,
    **params: Any,
) -> RequestSent:
    method = {Purpose.SEND: "message/send", Purpose.STREAM: "message/stream"}.get(purpose, "x")
    whole = {"message": message, **params} if message else params
    body = {"jsonrpc": "2.0", "id": "r", "method": method, "params": whole}
    raw = json.dumps(body).encode()
    return RequestSent(
        exchange, 0.0, exchange, purpose, "POST", "http://a/", (), raw, is_replay=is_replay
    )


def reply(exchange: int, context: str, task: str, *, channel: Channel = Channel.RESPONSE) -> Entry:
    result = {"kind": "task", "id": task, "contextId": context, "status": {"state": "working"}}
    raw = json.dumps({"jsonrpc": "2.0", "id": "r", "result": result}).encode()
    raw = b"data: " + raw + b"\n\n" if channel is Channel.SSE else raw
    return FrameReceived(exchange, 0.0, exchange, channel, raw)


def message(text: str, id: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "messageId": id, "parts": [{"kind": "text", "text": text}], **more}


def params_of(turn: Turn) -> dict[str, Any]:
    assert turn.raw is not None
    return json.loads(turn.raw)["params"]


@pytest.mark.req("LIVE-1")
def test_conversation_is_the_newest_context_that_is_no_replay() -> None:
    log: list[Entry] = [
        request(1, message("old", "m1", contextId="c0")),
        reply(1, "c0", "t0"),
        request(2, message("first", "m2")),
        reply(2, "c1", "t1"),
        request(3, message("second", "m3", contextId="c1"), purpose=Purpose.STREAM),
        FrameReceived(3, 0.0, 3, Channel.SSE, b": ping\n\n"),
        reply(3, "c1", "t2", channel=Channel.SSE),
        reply(3, "c1", "t2", channel=Channel.SSE),
        request(4, {}, purpose=Purpose.CANCEL, id="t2"),
        reply(4, "c1", "t2"),
        request(5, message("lost", "m5", contextId="c1")),
        FrameReceived(5, 0.0, 5, Channel.RESPONSE, b"oops"),
        request(6, message("first", "m6", contextId=REPLAY), is_replay=True),
        reply(6, REPLAY, "t9"),
    ]
    said = conversation(log)
    assert [one.request.exchange for one in said] == [2, 3, 4]
    assert [(one.context_id, one.task_id) for one in said] == [
        ("c1", "t1"),
        ("c1", "t2"),
        ("c1", "t2"),
    ]


@pytest.mark.req("LIVE-1")
def test_nothing_said_is_no_conversation() -> None:
    assert conversation([request(1, {}, purpose=Purpose.CANCEL, id="t"), reply(1, "c", "t")]) == ()


@pytest.mark.req("LIVE-1")
def test_turn_keeps_everything_but_its_ids() -> None:
    sent = message("hi", "m1", contextId="c", taskId="t1", metadata={"slots": {"a": 1}})
    configuration = {"blocking": True, "pushNotificationConfig": {"url": "http://x/"}}
    asked = request(1, sent, configuration=configuration, metadata={"tenant": "x"})
    (said,) = conversation([asked, reply(1, "c", "t2")])
    turn, names = again(said, Names(REPLAY, tasks={"t1": "u1"}), "n1", "r1")
    assert params_of(turn) == {
        "message": {**sent, "messageId": "n1", "contextId": REPLAY, "taskId": "u1"},
        "configuration": {"blocking": True},
        "metadata": {"tenant": "x"},
    }
    assert turn.follow is FollowMode.BLOCKING
    assert names.messages == {"m1": "n1"}
    assert turn.is_replay


@pytest.mark.req("LIVE-1")
def test_repeated_message_is_repeated_with_one_id() -> None:
    log = [request(1, message("hi", "m", contextId="c")), reply(1, "c", "t")]
    log += [request(2, message("hi", "m", contextId="c")), reply(2, "c", "t")]
    first, second = conversation(log)
    _, names = again(first, Names(REPLAY), "n1", "r1")
    turn, _ = again(second, names, "n2", "r2")
    assert params_of(turn)["message"]["messageId"] == "n1"


@pytest.mark.req("LIVE-1")
def test_turn_that_returned_at_once_is_awaited() -> None:
    asked = request(1, message("hi", "m"), configuration={"blocking": False})
    (said,) = conversation([asked, reply(1, "c", "t")])
    turn, _ = again(said, Names(REPLAY), "n", "r")
    assert "blocking" not in params_of(turn)["configuration"]


@pytest.mark.req("LIVE-1")
def test_what_the_user_says_in_the_context_of_a_replay_is_a_conversation() -> None:
    log = [request(1, message("hi", "m1", contextId=REPLAY), is_replay=True), reply(1, REPLAY, "t")]
    log += [request(2, message("hm", "m2", contextId=REPLAY)), reply(2, REPLAY, "t2")]
    assert [one.request.exchange for one in conversation(log)] == [2]
