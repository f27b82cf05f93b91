"""The client of a mock's admin API beside agents that are none, and replays beside a slow one."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from inspector.core.commands import FetchCard, SendTurn, Turn
from inspector.core.entries import Failed, Log, Purpose, RequestSent, ResponseEnded
from inspector.core.live_replay import CONTEXT_PREFIX, LiveReplay, changes
from inspector.core.mock_client import MockClient, parse, spell, suggest
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.errors import UsageError
from inspector.net.events import FailureKind
from inspector.net.http import HttpTransport
from inspector.settings import Connection
from inspector.wire.json_values import Json
from inspector.wire.mock_admin import FaultKind, Parameter

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer


pytestmark = pytest.mark.anyio

StartAgent: TypeAlias = "Callable[..., RawServer]"
CARD: dict[str, Any] = {
    "name": "far",
    "url": "http://192.0.2.1/",
    "protocolVersion": "0.3.0",
    "capabilities": {},
    "skills": [],
}


@asynccontextmanager
async def talking_to(target: str) -> AsyncGenerator[Session]:
    ids = count(1)
    session = Session(
        parse_target(target),
        HttpTransport(Connection()),
        Log(perf_counter),
        new_id=lambda: f"id-{next(ids)}",
    )
    try:
        await session.run(FetchCard())
        yield session
    finally:
        await session.aclose()


def asked(session: Session) -> list[RequestSent]:
    sent = (entry for entry in session.log.entries if isinstance(entry, RequestSent))
    return [entry for entry in sent if entry.purpose is Purpose.ADMIN]


def contexts(session: Session) -> list[str]:
    sent = (entry for entry in session.log.entries if isinstance(entry, RequestSent))
    return [
        json.loads(entry.body)["params"]["message"]["contextId"]
        for entry in sent
        if entry.purpose is Purpose.SEND
    ]


@pytest.mark.req("TUI-6")
async def test_agent_elsewhere_is_asked_nothing_odd(tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    card.write_text(json.dumps(CARD))
    async with talking_to(str(card)) as session:
        client = MockClient(session)
        await client.attend()
        assert asked(session) == []
        turn = Turn("hi")
        assert client.traced(turn) is turn


@pytest.mark.req("TUI-6")
async def test_agent_here_that_is_no_mock_is_asked_once(start_agent: StartAgent) -> None:
    agent = start_agent(b"")
    async with talking_to(agent.url) as session:
        client = MockClient(session)
        await client.attend()
        assert [entry.url for entry in asked(session)] == [f"{agent.url}__admin/model"]
        assert not client.is_connected


async def test_nobody_is_asked_before_there_is_a_card(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("{}")
    async with talking_to(str(tmp_path / "card.json")) as session:
        client = MockClient(session)
        await client.attend()
        await client.fetch_faults()
        assert asked(session) == []


def answer_to(body: bytes) -> bytes:
    request: dict[str, Any] = json.loads(body)
    context = request["params"]["message"]["contextId"]
    status = {"state": "input-required"}
    task = {"kind": "task", "id": f"task of {context}", "contextId": context, "status": status}
    reply = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": task}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(reply)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + reply


@pytest.mark.req("LIVE-1")
async def test_change_during_a_replay_begins_it_anew(start_agent: StartAgent) -> None:
    first, second = f"{CONTEXT_PREFIX}n1", f"{CONTEXT_PREFIX}n4"
    never = asyncio.Event()

    async def answer(_head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if first.encode() in body:
            await never.wait()
        writer.write(answer_to(body))

    agent = start_agent(answer)
    async with talking_to(agent.url) as session:
        for text in ("first", "second"):
            await session.run(SendTurn(Turn(text, context_id="c")))
        names = count(1)
        live = LiveReplay(session, new_id=lambda: f"n{next(names)}")
        news = asyncio.Event()
        session.subscribe(lambda _: news.set())

        async def until(holds: Callable[[], object]) -> None:
            async with asyncio.timeout(60):
                while not holds():
                    news.clear()
                    await news.wait()

        running = asyncio.create_task(live.run())
        live.trigger()
        await until(lambda: len(contexts(session)) == 3)
        live.trigger()
        await until(lambda: len(contexts(session)) == 5 == ended(session))
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        assert contexts(session) == ["c", "c", first, second, second]
        broken = [entry for entry in session.log.entries if isinstance(entry, Failed)]
        assert [entry.kind for entry in broken] == [FailureKind.STOPPED]
        await live.tidy()
        assert canceled(session) == [f"task of {second}"]


def ended(session: Session) -> int:
    """How many exchanges have come to their end, the card's among them."""
    return sum(isinstance(entry, ResponseEnded) for entry in session.log.entries)


def canceled(session: Session) -> list[str]:
    sent = (entry for entry in session.log.entries if isinstance(entry, RequestSent))
    return [
        json.loads(entry.body)["params"]["id"] for entry in sent if entry.purpose is Purpose.CANCEL
    ]


@pytest.mark.req("LIVE-1")
async def test_saves_in_a_folder_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    noticed = changes(tmp_path)
    waiting = asyncio.ensure_future(anext(noticed))
    number = 0
    async with asyncio.timeout(60):
        # the watcher begins when it can; until then nothing is noticed
        while not waiting.done():
            number += 1
            (tmp_path / "flows" / f"{number}.yml").write_text("x")
            await asyncio.wait((waiting,), timeout=0.2)
    await noticed.aclose()


DELAY = FaultKind(
    "delay",
    "Waits.",
    (
        Parameter("seconds", "number", "so long", is_required=True),
        Parameter("when", "string", "before or after", "before"),
        Parameter("body", "string", "of the answer"),
    ),
)
STATE = FaultKind("task_state", "", (Parameter("state", "string", "", None, True, ("a", "b")),))
OTHERS = FaultKind(
    "other",
    "",
    (Parameter("times", "integer", "", None, True), Parameter("x", "any", "", None, True)),
)
KINDS = (DELAY, STATE, OTHERS)


@pytest.mark.parametrize(
    ("kind", "effect"),
    [
        (DELAY, {"kind": "delay", "seconds": 2}),
        (STATE, {"kind": "task_state", "state": "a"}),
        (OTHERS, {"kind": "other", "times": 1, "x": "x"}),
    ],
)
def test_required_parameters_are_suggested(kind: FaultKind, effect: dict[str, Json]) -> None:
    assert suggest(kind) == {"effect": effect, "count": 1}
    assert suggest(kind, count=None) == {"effect": effect}


@pytest.mark.parametrize("kind", KINDS)
def test_suggestion_is_read_back_as_it_was_spelt(kind: FaultKind) -> None:
    spelt = spell(suggest(kind), kind)
    assert spell(parse(spelt, KINDS), kind) == spelt


def test_line_shows_the_defaults() -> None:
    assert spell(suggest(DELAY), DELAY) == "delay seconds=2 when=before count=1"
    assert spell({}, DELAY) == "delay when=before"


def test_values_are_json_or_text_and_match_has_its_criteria() -> None:
    fault = parse("delay seconds=0.5 when='after all' probability=0.1 match.text=^a", KINDS)
    assert fault == {
        "effect": {"kind": "delay", "seconds": 0.5, "when": "after all"},
        "probability": 0.1,
        "match": {"text": "^a"},
    }


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nap", "no fault 'nap'"),
        ("", "no fault ''"),
        ("delay 2", "'2' is not NAME=VALUE"),
        ("delay often=1", "has no 'often'"),
        ("delay when='x", "No closing quotation"),
    ],
)
def test_line_that_is_no_fault_is_refused(line: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse(line, KINDS)
