"""A second dialect, made up and small, passes through everything without a change elsewhere."""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from record_session import decode_entries

from inspector.core.commands import CancelTask, GetTask, SendTurn, Turn
from inspector.core.decoding import Source, reader_of
from inspector.core.entries import Entry, FrameReceived, Log, RequestSent
from inspector.core.saved.recording import encode_entry
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.net.events import Chunk, Ended, NetEvent, Sending, Started
from inspector.views import chat, exchanges, log_views, timeline
from inspector.views.problems import problem_of
from inspector.views.reading import read_log
from inspector.wire import v0_3
from inspector.wire.dialect import (
    AgentError,
    Ask,
    Binding,
    ErrorReason,
    Message,
    Notification,
    Operation,
    Outgoing,
    Part,
    Reply,
    Request,
    Result,
    ResultKind,
    Sections,
)
from inspector.wire.endpoints import DIALECTS, choose_endpoint, dialect_of
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json, parse_json, text_at

pytestmark = pytest.mark.anyio

URL = "http://agent.test/plain"
STATES = {"WAIT": "input-required", "DONE": "completed", "BUSY": "working"}


class Plain:
    """Bodies of one line: `task STATE words`; what is asked stands in the path."""

    version = "9.0"
    binding = Binding.HTTP_JSON
    name = "Plain 9.0"
    sections = Sections(*(f"Plain 9.0 §{number}" for number in range(1, 10)))
    lacks_as_part = "without words"
    part_example = "words"

    def encode(self, operation: Operation, ask: Ask, *, url: str, request_id: str) -> Outgoing:
        words = ask.message.parts[0].text if ask.message is not None else ask.task_id
        body = {"id": request_id, "asked": operation.value, "words": words}
        return Outgoing("PUT", f"{url}/{operation}", (), json.dumps(body).encode())

    def compact(self, body: bytes) -> bytes:
        return body

    def readdress(
        self,
        body: bytes,
        *,
        request_id: str,
        context_id: str,
        message_id: str | None,
        task_id: str | None,
    ) -> bytes:
        return body

    def read_request(self, body: bytes) -> Request:
        asked = parse_json(body).value
        operation = Operation(text_at(asked, "asked") or "")
        words = text_at(asked, "words") or ""
        if operation is not Operation.SEND:
            return Request(text_at(asked, "id"), operation, f"PUT {operation}", Ask(task_id=words))
        ask = Ask(message=Message((Part(text=words),)))
        return Request(text_at(asked, "id"), operation, "PUT send", ask)

    def read(self, raw: bytes, of: Operation | None, *, is_event: bool = False) -> Reply:
        task_id, _, rest = raw.decode().partition(" ")
        spelling, _, words = rest.partition(" ")
        if task_id == "no":
            reason = ErrorReason.TASK_NOT_FOUND
            return Reply(raw.decode(), error=AgentError(404, rest, reason=reason))
        state = STATES.get(spelling)
        result = Result(
            kind=ResultKind.TASK,
            task_id=task_id,
            context_id="c",
            state=state or spelling,
            is_final=state in ("input-required", "completed"),
            message_id=None,
            parts=(Part(text=words, raw=words),),
            artifacts=(),
            spelling=spelling,
        )
        return Reply(raw.decode(), payload=raw.decode(), result=result)

    def check(self, reply: Reply, request: Request) -> tuple[Finding, ...]:
        if reply.result is None or reply.result.spelling in STATES:
            return ()
        text = f"no such state: {reply.result.spelling}"
        return (Finding(Severity.ERROR, self.sections.task_state, "$", text),)

    def wrong_answer(self, reply: Reply, of: Operation | None) -> str:
        return ""

    def cause_of_wrong_answer(self, reply: Reply) -> str:
        return ""

    def read_notification(self, body: bytes) -> Notification:
        return Notification(None, problem="there are no notifications")

    def check_notification(self, notification: Notification) -> tuple[Finding, ...]:
        return ()

    def read_part(self, raw: Json) -> Part | None:
        return Part(text=raw, raw=raw) if isinstance(raw, str) else None

    def write_part(self, part: Part) -> Json:
        return part.text

    def describe(self, ask: Ask) -> Mapping[str, Json]:
        return {}


class PlainAgent:
    """Serves a card that offers the dialect, and answers from `answers`."""

    def __init__(self, *answers: str) -> None:
        self.asked: list[Outgoing] = []
        self._answers = list(answers)

    async def exchange(self, outgoing: Outgoing) -> AsyncGenerator[NetEvent, None]:
        yield Sending(outgoing.headers)
        yield Started(200, "HTTP/1.1", (("Content-Type", "application/json"),), 1)
        if outgoing.method == "GET":
            card = {"url": URL, "preferredTransport": "HTTP+JSON", "protocolVersion": "9.0"}
            yield Chunk(json.dumps(card).encode())
        else:
            self.asked.append(outgoing)
            yield Chunk(self._answers.pop(0).encode())
        yield Ended()

    async def aclose(self) -> None:
        return


@pytest.fixture
def plain() -> Iterator[Plain]:
    """The dialect, known for as long as the test runs."""
    dialect = Plain()
    DIALECTS[dialect.version, dialect.binding] = dialect
    yield dialect
    del DIALECTS[dialect.version, dialect.binding]


async def talk(agent: PlainAgent, *commands: SendTurn | GetTask | CancelTask) -> Session:
    ids, ticks = count(1), count()
    session = Session(
        parse_target("http://agent.test"),
        agent,
        Log(lambda: next(ticks) / 1000),
        new_id=lambda: f"id{next(ids)}",
    )
    for command in commands:
        await session.run(command)
    return session


async def test_it_is_chosen_by_the_card_and_encodes(plain: Plain) -> None:
    agent = PlainAgent("t WAIT which one?", "t DONE bye")
    session = await talk(agent, SendTurn(Turn("hello")), CancelTask("t"))
    endpoint = session.endpoint
    assert endpoint is not None
    assert (endpoint.version, endpoint.binding, endpoint.findings) == (
        "9.0",
        Binding.HTTP_JSON,
        (),
    )
    assert "offers HTTP+JSON" in endpoint.reason
    assert [(one.method, one.url) for one in agent.asked] == [
        ("PUT", f"{URL}/send"),
        ("PUT", f"{URL}/cancel"),
    ]


async def test_views_read_its_replies_and_states(plain: Plain) -> None:
    agent = PlainAgent("t WAIT which one?", "t DONE bye")
    session = await talk(agent, SendTurn(Turn("hello")), GetTask("t"))
    views = log_views.EMPTY
    for entry in session.log.entries:
        views = log_views.step(views, entry)
    [row] = views.timeline.rows
    assert (row.title, row.task_id, row.state) == ("hello", "t", "completed")
    assert [one.text for one in views.chat.said] == ["hello", "which one?", "bye"]
    last = views.exchanges[-1]
    assert (last.rpc_method, last.progress.state) == ("PUT get", "completed")
    assert problem_of(last) is None


async def test_findings_quote_its_sections(plain: Plain) -> None:
    session = await talk(PlainAgent("t DANCING", "t DONE"), SendTurn(Turn("x")), GetTask("other"))
    found = [one for read in read_log(session.log.entries) for one in read_findings(read)]
    assert {one.section.rpartition(" ")[0] for one in found} == {"Plain 9.0"}
    assert "no such state: DANCING" in {one.message for one in found}


async def test_an_error_has_its_meaning(plain: Plain) -> None:
    session = await talk(PlainAgent("no such task"), GetTask("t"))
    problem = problem_of(last_exchange(session.log.entries))
    assert problem is not None
    assert problem.what == "the agent answers with error 404: such task"
    assert problem.cause != ""


async def test_a_saved_session_is_read_in_it_again(plain: Plain) -> None:
    session = await talk(PlainAgent("t WAIT which one?"), SendTurn(Turn("hello")))
    lines = [encode_entry(entry) for entry in session.log.entries]
    entries = list(decode_entries(lines))
    assert entries == list(session.log.entries)
    assert fold(entries) == fold(session.log.entries)
    [sent] = [one for one in entries if isinstance(one, RequestSent) and one.endpoint is not None]
    assert sent.endpoint is not None
    assert (sent.endpoint.version, sent.endpoint.url) == ("9.0", URL)
    [frame] = [
        one for one in entries if isinstance(one, FrameReceived) and one.exchange == sent.exchange
    ]
    result = Source(frame, reader_of(sent)).result
    assert result is not None
    assert (result.state, result.spelling) == ("input-required", "WAIT")


def test_a_session_of_a_dialect_that_is_not_known_here_opens(plain: Plain) -> None:
    endpoint = choose_endpoint(
        {"url": URL, "preferredTransport": "HTTP+JSON", "protocolVersion": "9.0"}, URL
    )
    assert endpoint is not None
    assert dialect_of(endpoint) is plain
    assert dialect_of(replace(endpoint, version="99")) is v0_3


@pytest.mark.parametrize(("protocol", "version"), [(None, "9.0"), ("9.0", "9.0"), ("0.3", "0.3")])
@pytest.mark.req("CONN-2")
def test_a_version_can_be_forced(plain: Plain, protocol: str | None, version: str) -> None:
    old: dict[str, Json] = {"url": "http://agent.test/", "transport": "JSONRPC"}
    card: dict[str, Json] = {
        "url": URL,
        "preferredTransport": "HTTP+JSON",
        "protocolVersion": "9.0",
        "additionalInterfaces": [old],
    }
    endpoint = choose_endpoint(card, URL, protocol=protocol)
    assert endpoint is not None
    assert endpoint.version == version


def test_an_old_recording_is_read_in_0_3() -> None:
    """It says nothing of endpoints: 0.3 by JSON-RPC is all that was spoken then."""
    path = Path(__file__).parents[1] / "tui/logs/transfer.jsonl"
    entries = list(decode_entries(path.read_text().splitlines()))
    sent = [one for one in entries if isinstance(one, RequestSent)]
    assert {one.endpoint for one in sent} == {None}
    assert {reader_of(one).dialect for one in sent} == {v0_3}
    _, line = fold(entries)
    assert {row.state for row in line.rows} >= {"completed"}


def read_findings(read: object) -> tuple[Finding, ...]:
    return getattr(read, "findings", ())


def last_exchange(entries: Iterable[Entry]) -> exchanges.Exchange:
    view = exchanges.EMPTY
    for read in read_log(entries):
        view = exchanges.step(view, read)
    return view[-1]


def fold(entries: Iterable[Entry]) -> tuple[chat.Chat, timeline.Timeline]:
    said, line = chat.EMPTY, timeline.EMPTY
    for read in read_log(entries):
        said, line = chat.step(said, read), timeline.step(line, read)
    return said, line
