"""A session against a transport that follows a script: what is sent, and what the log holds."""

import asyncio
import json
from collections.abc import AsyncGenerator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from inspector.core.commands import (
    CancelTask,
    Command,
    FetchCard,
    FollowMode,
    GetTask,
    Resubscribe,
    SendTurn,
    Turn,
)
from inspector.core.decoding import ReplyReader
from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Log,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.core.exchanger import Limits
from inspector.core.requests import read_sent_turn
from inspector.core.saved.recording import decode_entry, encode_entry
from inspector.core.session import Session
from inspector.core.target import Target, parse_target
from inspector.errors import UsageError
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
from inspector.settings import Connection
from inspector.views import log_views
from inspector.views.problems import problem_of
from inspector.wire.dialect import Request
from inspector.wire.endpoints import DEFAULT

CARD = json.dumps({"name": "A", "url": "http://agent.test/rpc"}).encode()
TENANT = "tenant-42"
EVENT_STREAM = "text/event-stream"


class ScriptedTransport:
    """Answers each request with the next reply of its script; None leaves it hanging."""

    def __init__(self, *replies: list[NetEvent | None]) -> None:
        self._replies = list(replies)
        self.sent: list[Outgoing] = []
        self.is_closed = False

    async def exchange(self, outgoing: Outgoing) -> AsyncGenerator[NetEvent, None]:
        self.sent.append(outgoing)
        yield Sending(outgoing.headers)
        for event in self._replies.pop(0):
            if event is None:
                await asyncio.Event().wait()
            else:
                yield event

    async def aclose(self) -> None:
        self.is_closed = True


def reply(
    body: bytes, status: int = 200, media_type: str = "application/json", **headers: str
) -> list[NetEvent | None]:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    started = Started(status, "HTTP/1.1", (("Content-Type", media_type), *named), 1.5)
    return [started, Chunk(body), Ended()]


def make_session(
    *replies: list[NetEvent | None], target: Target | None = None, **more: Any
) -> tuple[Session, ScriptedTransport]:
    transport = ScriptedTransport(*replies)
    ids = count(1)
    session = Session(
        target or parse_target("http://agent.test"),
        transport,
        Log(lambda: 0),
        new_id=lambda: f"id{next(ids)}",
        **more,
    )
    return session, transport


def kinds(session: Session) -> list[str]:
    return [type(entry).__name__ for entry in session.log.entries]


async def start(session: Session, command: Command, kind: type[Entry]) -> "asyncio.Task[int]":
    """Run `command` in the background, up to its first entry of `kind`."""
    reached = asyncio.Event()
    session.subscribe(lambda entry: reached.set() if isinstance(entry, kind) else None)
    running = asyncio.create_task(session.run(command))
    await reached.wait()
    return running


def last(session: Session) -> Entry:
    return session.log.entries[-1]


@pytest.mark.anyio
@pytest.mark.req("CONN-1")
async def test_the_card_is_looked_for_in_order() -> None:
    session, transport = make_session(reply(b"", 404), reply(CARD))
    assert await session.run(FetchCard()) == 2
    assert [one.url for one in transport.sent] == [
        "http://agent.test/.well-known/agent-card.json",
        "http://agent.test/.well-known/agent.json",
    ]
    assert session.endpoint is not None
    assert session.endpoint.url == "http://agent.test/rpc"


@pytest.mark.anyio
async def test_a_refused_card_is_not_looked_for_elsewhere() -> None:
    session, transport = make_session(reply(b"", 401))
    assert await session.run(FetchCard()) == 1
    assert len(transport.sent) == 1


@pytest.mark.anyio
async def test_a_turn_without_a_card_returns_the_cards_exchange() -> None:
    session, _ = make_session(reply(b"", 404), reply(b"", 404))
    assert await session.run(SendTurn(Turn("hi"))) == 2
    assert session.endpoint is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("command", "method", "params"),
    [
        (GetTask("t"), "tasks/get", {"id": "t"}),
        (GetTask("t", history_length=0), "tasks/get", {"id": "t", "historyLength": 0}),
        (CancelTask("t"), "tasks/cancel", {"id": "t"}),
        (Resubscribe("t"), "tasks/resubscribe", {"id": "t"}),
    ],
)
async def test_each_command_is_a_method(command: Any, method: str, params: Any) -> None:
    session, transport = make_session(reply(CARD), reply(b"{}"))
    await session.run(command)
    request = json.loads(transport.sent[-1].body)
    assert request == {"jsonrpc": "2.0", "id": "id1", "method": method, "params": params}


@pytest.mark.anyio
@pytest.mark.req("COMP-2")
async def test_context_leads_a_call_to_its_replica() -> None:
    session, transport = make_session(reply(CARD), reply(b"{}"), reply(b"{}"))
    await session.run(CancelTask("t", context_id="c"))
    await session.run(CancelTask("t"))
    assert dict(transport.sent[1].headers)["X-A2A-Context-Id"] == "c"
    assert "X-A2A-Context-Id" not in dict(transport.sent[2].headers)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("follow", "method", "blocking"),
    [
        (FollowMode.BLOCKING, "message/send", True),
        (FollowMode.NO_BLOCKING, "message/send", False),
        (FollowMode.STREAM, "message/stream", None),
    ],
)
@pytest.mark.req("COMP-3")
async def test_ways_to_follow(follow: FollowMode, method: str, blocking: bool | None) -> None:
    session, transport = make_session(reply(CARD), reply(b"{}"))
    await session.run(SendTurn(Turn("hi", follow=follow)))
    request = json.loads(transport.sent[-1].body)
    assert request["method"] == method
    assert request["params"].get("configuration", {}).get("blocking") == blocking
    assert request["params"]["message"]["messageId"] == "id1"


@pytest.mark.anyio
@pytest.mark.req("WIRE-1")
async def test_the_log_holds_the_exchange_byte_for_byte() -> None:
    session, _ = make_session(reply(CARD))
    told: list[Entry] = []
    session.subscribe(told.append)
    await session.run(FetchCard())
    url = "http://agent.test/.well-known/agent-card.json"
    request, started, frame, ended = session.log.entries
    assert isinstance(request, RequestSent)
    assert (request.method, request.url) == ("GET", url)
    assert isinstance(started, ResponseStarted)
    assert (started.status, started.connect_ms) == (200, 1.5)
    assert isinstance(frame, FrameReceived)
    assert (frame.raw, frame.channel) == (CARD, Channel.RESPONSE)
    assert isinstance(ended, ResponseEnded)
    assert told == list(session.log.entries)


@pytest.mark.anyio
async def test_a_stream_is_a_frame_an_event() -> None:
    events: list[NetEvent | None] = [
        Started(200, "HTTP/1.1", (("Content-Type", f"{EVENT_STREAM}; charset=utf-8"),), None),
        Chunk(b"data: 1\n\nda"),
        Chunk(b"ta: 2\n\n: ping\n\ndata: 3"),
        Ended(),
    ]
    session, _ = make_session(reply(CARD), events)
    await session.run(Resubscribe("t"))
    frames = [one.raw for one in session.log.entries[4:] if isinstance(one, FrameReceived)]
    assert frames == [b"data: 1\n\n", b"data: 2\n\n", b": ping\n\n", b"data: 3"]


@pytest.mark.anyio
async def test_what_came_before_a_failure_is_kept() -> None:
    broken: list[NetEvent | None] = [
        Started(200, "HTTP/1.1", (), None),
        Chunk(b'{"half'),
        Broken(FailureKind.DISCONNECTED, "gone"),
    ]
    session, _ = make_session(reply(CARD), broken)
    await session.run(GetTask("t"))
    *_, frame, failed = session.log.entries
    assert isinstance(frame, FrameReceived)
    assert frame.raw == b'{"half'
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.message) == (FailureKind.DISCONNECTED, "gone")


@pytest.mark.anyio
async def test_a_request_that_could_not_be_made_is_in_the_log() -> None:
    session, _ = make_session([Broken(FailureKind.PROTOCOL, "no")])
    await session.run(FetchCard())
    assert kinds(session) == ["RequestSent", "Failed"]


@pytest.mark.anyio
async def test_a_running_exchange_can_be_stopped() -> None:
    session, _ = make_session(reply(CARD), [Started(200, "HTTP/1.1", (), None), None])
    await session.run(FetchCard())
    running = await start(session, GetTask("t"), ResponseStarted)
    assert list(session.running) == [2]
    session.stop(1)
    session.stop(2)
    assert await running == 2
    failed = last(session)
    assert isinstance(failed, Failed)
    assert failed.kind is FailureKind.STOPPED
    assert not session.running


@pytest.mark.anyio
async def test_silence_ends_at_the_timeout() -> None:
    session, _ = make_session([None], connection=Connection(timeout_seconds=0.01))
    await session.run(FetchCard())
    failed = last(session)
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.message) == (FailureKind.TIMEOUT, "no end within 0.01 s")


@pytest.mark.anyio
async def test_a_cancelled_run_is_logged_and_goes_on_being_cancelled() -> None:
    session, _ = make_session([None])
    running = await start(session, FetchCard(), RequestSent)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert kinds(session) == ["RequestSent", "Failed"]


@pytest.mark.anyio
async def test_closing_stops_what_runs() -> None:
    session, transport = make_session([None])
    running = await start(session, FetchCard(), RequestSent)
    await session.aclose()
    await running
    assert transport.is_closed


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("limits", "media_type", "what"),
    [
        (Limits(body_bytes=4), "text/plain", "a body"),
        (Limits(event_bytes=4), EVENT_STREAM, "an event"),
        (Limits(stream_bytes=4), EVENT_STREAM, "a stream"),
    ],
)
@pytest.mark.req("CONN-5")
async def test_replies_are_bounded(limits: Limits, media_type: str, what: str) -> None:
    session, _ = make_session(reply(b"data: 12", media_type=media_type), limits=limits)
    await session.run(FetchCard())
    failed = last(session)
    assert isinstance(failed, Failed)
    assert failed.kind is FailureKind.PROTOCOL
    assert failed.message.startswith(f"{what} larger than")
    assert kinds(session).count("Failed") == 1


@pytest.mark.anyio
@pytest.mark.req("CONN-5", "TIME-3")
@pytest.mark.parametrize("media_type", [EVENT_STREAM, "application/json"])
@pytest.mark.parametrize("is_ours", [True, False])
async def test_an_agent_is_not_blamed_for_what_was_not_read(media_type: str, is_ours: bool) -> None:
    limits = Limits(body_bytes=9, event_bytes=9) if is_ours else None
    session, _ = make_session(reply(b"data: [123", media_type=media_type), limits=limits)
    await session.run(FetchCard())
    (frame,) = (one for one in session.log.entries if isinstance(one, FrameReceived))
    found = DEFAULT.check(ReplyReader().decode(frame), Request())
    assert bool(found) is not is_ours


@pytest.mark.anyio
async def test_a_body_at_its_limit_is_kept_whole() -> None:
    session, _ = make_session(reply(b"12345"), limits=Limits(body_bytes=5))
    await session.run(FetchCard())
    assert kinds(session)[-2:] == ["FrameReceived", "ResponseEnded"]


def redirect(location: str) -> list[NetEvent | None]:
    return reply(b"", 307, Location=location)


@pytest.mark.anyio
@pytest.mark.req("TUI-6")
async def test_a_redirect_stays_within_its_origin() -> None:
    session, transport = make_session(
        reply(CARD), redirect("/rpc/"), reply(b"{}"), redirect("http://other.test/")
    )
    assert await session.run(GetTask("t")) == 3
    assert transport.sent[-1].url == "http://agent.test/rpc/"
    assert transport.sent[-1].body == transport.sent[-2].body
    assert await session.run(GetTask("t")) == 4
    assert len(transport.sent) == 4


@pytest.mark.anyio
@pytest.mark.req("WIRE-1", "SESS-1")
async def test_log_says_which_exchange_a_redirect_goes_on_from() -> None:
    session, _ = make_session(
        reply(CARD), redirect("/rpc/"), reply(b"{}"), redirect("http://other.test/")
    )
    await session.run(GetTask("t"))
    await session.run(GetTask("t"))
    entries = [decode_entry(json.loads(encode_entry(one)), 1) for one in session.log.entries]
    sent = [one.redirected_from for one in entries if isinstance(one, RequestSent)]
    assert sent == [None, None, 2, None]
    answers = [one.is_redirect for one in entries if isinstance(one, ResponseStarted)]
    assert answers == [False, True, False, False]
    for one in session.log.entries:
        line = json.loads(encode_entry(one))
        assert line.get("redirected_from", 2) == 2


@pytest.mark.anyio
async def test_redirect_that_breaks_off_is_a_failure_and_not_followed() -> None:
    broken: list[NetEvent | None] = [
        *redirect("/rpc/")[:-1],
        Broken(FailureKind.DISCONNECTED, "gone"),
    ]
    session, transport = make_session(reply(CARD), broken)
    await session.run(GetTask("t"))
    assert len(transport.sent) == 2
    assert problem_of(log_views.fold(session.log.entries).exchanges[-1]) is not None


@pytest.mark.anyio
async def test_redirects_come_to_an_end() -> None:
    session, transport = make_session(*[redirect("/x")] * 4)
    await session.run(FetchCard())
    assert len(transport.sent) == 4


@pytest.mark.anyio
async def test_a_redirect_that_would_lose_the_message_is_not_followed() -> None:
    session, transport = make_session(reply(CARD), reply(b"", 302, Location="/x"))
    await session.run(GetTask("t"))
    assert len(transport.sent) == 2


@pytest.mark.anyio
@pytest.mark.req("TUI-6", "WIRE-1")
async def test_credentials_are_sent_and_never_logged() -> None:
    credentials = (("Authorization", "Bearer s3cret-token"),)
    session, transport = make_session(
        reply(CARD),
        reply(b'"s3cret-token"', Set_Cookie="x=1"),
        connection=Connection(credentials),
    )
    await session.run(GetTask("t"))
    assert all(credentials[0] in one.headers for one in transport.sent)
    assert "s3cret" not in repr(session.log.entries)
    assert "x=1" not in repr(session.log.entries)


ECHO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": "id1",
        "result": {
            "kind": "task",
            "id": "task-tenant-42",
            "contextId": "tenant-42",
            "status": {"state": "input-required"},
        },
    }
).encode()


@pytest.mark.anyio
@pytest.mark.req("CONN-3", "SESS-1")
async def test_a_secret_that_is_an_id_goes_out_as_the_agent_gave_it() -> None:
    session, transport = make_session(
        reply(CARD), reply(ECHO), reply(ECHO), reply(ECHO), connection=Connection(secrets=(TENANT,))
    )
    await session.run(SendTurn(Turn("hi")))
    shown = read_reply(session)
    assert (shown["contextId"], shown["id"]) == ("***", "task-***")
    await session.run(SendTurn(Turn("on", context_id=shown["contextId"], task_id=shown["id"])))
    message = json.loads(transport.sent[-1].body)["params"]["message"]
    assert (message["contextId"], message["taskId"]) == (TENANT, "task-tenant-42")
    await session.run(GetTask(shown["id"], context_id=shown["contextId"]))
    assert json.loads(transport.sent[-1].body)["params"]["id"] == "task-tenant-42"
    assert dict(transport.sent[-1].headers)["X-A2A-Context-Id"] == TENANT
    assert TENANT not in repr(session.log.entries)


@pytest.mark.anyio
@pytest.mark.req("CONN-3", "SESS-1")
async def test_a_turn_is_sent_again_as_it_was() -> None:
    session, transport = make_session(
        reply(CARD), reply(ECHO), reply(ECHO), connection=Connection(secrets=(TENANT,))
    )
    await session.run(SendTurn(Turn("for tenant-42", message_id="m")))
    (request,) = (one for one in session.log.entries if requests_turn(one))
    assert isinstance(request, RequestSent)
    assert TENANT not in encode_entry(request)
    await session.run(SendTurn(read_sent_turn(request, as_sent=True)))
    first, again = (json.loads(one.body)["params"] for one in transport.sent[1:])
    assert first == again


@pytest.mark.anyio
@pytest.mark.req("CONN-3", "SESS-1")
@pytest.mark.parametrize(
    "command", [SendTurn(Turn("on", context_id="***")), GetTask("task-***"), CancelTask("***")]
)
async def test_a_mask_is_never_sent_as_an_id(command: Command) -> None:
    session, transport = make_session(reply(CARD), reply(ECHO))
    with pytest.raises(UsageError, match="is masked"):
        await session.run(command)
    assert len(transport.sent) == 1


def requests_turn(entry: Entry) -> bool:
    return isinstance(entry, RequestSent) and entry.purpose is Purpose.SEND


def read_reply(session: Session) -> Any:
    frames = [one for one in session.log.entries if isinstance(one, FrameReceived)]
    return json.loads(frames[-1].raw)["result"]


@pytest.mark.anyio
async def test_credentials_do_not_follow_a_card_elsewhere() -> None:
    card = json.dumps({"url": "http://other.test/"}).encode()
    session, transport = make_session(
        reply(card),
        reply(b"{}"),
        connection=Connection((("Authorization", "Bearer s3cret-token"),)),
    )
    await session.run(GetTask("t"))
    assert transport.sent[0].headers[-1][0] == "Authorization"
    assert "Authorization" not in dict(transport.sent[1].headers)


@pytest.mark.anyio
@pytest.mark.req("CONN-1")
async def test_a_card_file_is_logged_as_an_exchange(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_bytes(CARD)
    session, transport = make_session(target=parse_target(str(file)))
    await session.run(FetchCard())
    assert kinds(session) == ["RequestSent", "FrameReceived", "ResponseEnded"]
    assert session.endpoint is not None
    assert session.endpoint.is_trusted
    assert transport.sent == []
    file.unlink()
    await session.run(FetchCard())
    assert kinds(session)[-2:] == ["RequestSent", "Failed"]
