"""A codec that nobody else knows: the service runs turns through it as through A2A 0.3."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from mock_server.actions.runner import Progress
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.errors import RpcError
from mock_server.project.load import assemble
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.tasks.task import Message, Role, Status, Task, TaskState, TextPart, Update
from mock_server.web.app import App, Page, Site
from mock_server.web.http_server import Server, bind, port_of
from mock_server.wire.operations import (
    Answer,
    BadCall,
    Call,
    CallContext,
    GetTask,
    RpcId,
    SendMessage,
    StreamMessage,
    TaskAnswer,
)

pytestmark = pytest.mark.anyio

DOMAIN = """
slots: {recipient: {type: text}}
responses:
  utter_ask_recipient: [{text: "To whom?"}]
  utter_sent: [{text: "Sent to {recipient}."}]
"""
FLOWS = """
flows:
  transfer_money:
    description: send money to somebody
    run_pattern_completed: false
    steps: [{collect: recipient}, {action: utter_sent}]
"""
IN_WORDS = {"x-codec": "words"}


@dataclass(frozen=True)
class Words:
    """`say MESSAGE CONTEXT TEXT`, `tell …` for a stream of it, and `show TASK`."""

    def decode(self, body: bytes) -> Call | BadCall:
        match body.decode().split(" ", 3):
            case ["say", message_id, context_id, text]:
                return Call(message_id, _said(message_id, context_id, text))
            case ["tell", message_id, context_id, text]:
                return Call(message_id, StreamMessage(_said(message_id, context_id, text)))
            case ["show", task_id]:
                return Call("shown", GetTask(task_id))
            case [verb, *_]:
                return BadCall("?", RpcError(1, f"unknown verb {verb}"))
            case _:
                raise AssertionError(body)

    def encode_reply(self, call: Call, answer: Answer) -> bytes:
        assert isinstance(answer, TaskAnswer)
        return f"{call.id} = ".encode() + answer.encoded

    def encode_event(
        self, call: Call, task_id: str, context_id: str, event: Task | Update
    ) -> bytes:
        return f"{call.id} + {context_id} {type(event).__name__}".encode()

    def encode_error(self, rpc_id: RpcId, error: RpcError) -> bytes:
        return f"{rpc_id} ! {error.message}".encode()

    def encode_task(self, task: Task) -> bytes:
        asked = task.status.message
        spoken = [part.text for part in asked.parts if isinstance(part, TextPart)] if asked else []
        return "|".join([task.id, task.context_id, task.status.state, *spoken]).encode()

    def decode_task(self, encoded: bytes) -> Task:
        task_id, context_id, state, *spoken = encoded.decode().split("|")
        parts = tuple(map(TextPart, spoken))
        message = Message("read", Role.AGENT, parts, context_id, task_id)
        return Task(task_id, context_id, Status(TaskState(state), message=message))

    def encode_push(self, task: Task) -> bytes:
        return b"pushed " + self.encode_task(task)


def _said(message_id: str, context_id: str, text: str) -> SendMessage:
    return SendMessage(Message(message_id, Role.USER, (TextPart(text),), context_id))


def no_action(_: str, __: DialogueState, ___: Tracker) -> Iterator[Progress]:
    yield ActionResult()


@asynccontextmanager
async def serving() -> AsyncGenerator[httpx.AsyncClient]:
    """The mock on a socket; who sends the header `x-codec: words` is answered in words."""
    agent = AgentVersion(assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}), no_action)
    runtime, listener, ready = real_runtime(), bind("127.0.0.1", 0), asyncio.Event()
    async with Service(agent, runtime, ServiceSettings()) as service:
        app = App(service, Site(Page({}), Page({})), runtime.now)

        async def choosing(scope: Scope, receive: Receive, send: Send) -> None:
            is_in_words = (b"x-codec", b"words") in scope["headers"]
            await app(scope, receive, send, CallContext(Words()) if is_in_words else None)

        server = Server(choosing, ready.set)
        served = asyncio.create_task(server.serve(sockets=[listener]))
        await ready.wait()
        url = f"http://127.0.0.1:{port_of(listener)}/"
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            yield client
        server.should_exit = True
        await served
        listener.close()


async def words(client: httpx.AsyncClient, said: str) -> str:
    return (await client.post("/", content=said, headers=IN_WORDS)).text


async def test_turns_run_through_a_codec_that_the_service_does_not_know() -> None:
    async with serving() as client:
        asked = await words(client, "say m1 c1 send money")
        assert asked.startswith("m1 = ")
        task_id = asked.removeprefix("m1 = ").partition("|")[0]
        assert asked.endswith("|c1|input_required|To whom?")
        assert await words(client, f"show {task_id}") == asked.replace("m1", "shown")
        assert (await words(client, "say m2 c1 Joe")).endswith("|c1|completed|Sent to Joe.")
        repeated = await words(client, "say m2 c1 Joe")
        assert repeated == await words(client, "say m2 c1 Joe")


async def test_errors_and_events_are_the_codecs_own() -> None:
    async with serving() as client:
        assert await words(client, "show nothing") == "shown ! Task not found"
        assert await words(client, "sing") == "? ! unknown verb sing"
        frames = (await words(client, "tell m1 c1 send money")).split("\r\n\r\n")
        assert frames[-2:] == ["data: m1 + c1 StatusUpdate", ""]


async def test_task_that_was_made_in_words_is_read_in_03() -> None:
    async with serving() as client:
        task_id = (await words(client, "say m1 c1 send money")).split()[2].partition("|")[0]
        request = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": task_id}}
        read = (await client.post("/", json=request)).json()["result"]
        assert (read["id"], read["contextId"], read["kind"]) == (task_id, "c1", "task")
        assert read["status"]["state"] == "input-required"
        assert read["status"]["message"]["parts"] == [{"kind": "text", "text": "To whom?"}]
