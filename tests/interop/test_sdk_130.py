"""The client of a2a-sdk 1.3.0, over its 0.3 transport, against the mock."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count

import httpx
import pytest
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import Client, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.compat.v0_3 import types as v03
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError

pytestmark = pytest.mark.anyio
numbers = count()


@asynccontextmanager
async def connect(url: str, *, streaming: bool) -> AsyncGenerator[Client]:
    async with httpx.AsyncClient() as http:
        config = ClientConfig(httpx_client=http, streaming=streaming)
        yield await ClientFactory(config).create_from_url(url)


async def say(client: Client, text: str, context_id: str = "") -> list[StreamResponse]:
    message = Message(
        message_id=f"m{next(numbers)}",
        role=Role.ROLE_USER,
        parts=[Part(text=text)],
        context_id=context_id,
    )
    return [event async for event in client.send_message(SendMessageRequest(message=message))]


@pytest.mark.req("CARD-1", "CARD-9")
async def test_card_is_read_by_the_sdks_models(mock_url: str) -> None:
    async with httpx.AsyncClient() as http:
        resolved = await A2ACardResolver(http, mock_url).get_agent_card()
        written = (await http.get(mock_url + ".well-known/agent-card.json")).content
    card = v03.AgentCard.model_validate_json(written)
    assert card.model_dump_json(exclude_none=True).encode() == written
    assert resolved.supported_interfaces[0].url == mock_url
    assert resolved.supported_interfaces[0].protocol_version == "0.3.0"
    assert [skill.id for skill in resolved.skills][:2] == ["transfer_money", "explain_fees"]


@pytest.mark.req("TURN-1", "TURN-2")
async def test_client_holds_a_conversation(mock_url: str) -> None:
    async with connect(mock_url, streaming=False) as client:
        asked = (await say(client, "send money"))[0].task
        assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        assert asked.status.message.parts[0].text == "To whom?"
        done = (await say(client, "Joe", asked.context_id))[0].task
        assert done.status.state == TaskState.TASK_STATE_COMPLETED
        assert done.id != asked.id
        assert dict(done.status.message.parts[1].data.struct_value)["active_flow"] is None


@pytest.mark.req("TURN-11", "OUT-4")
async def test_client_reads_a_stream(mock_url: str) -> None:
    async with connect(mock_url, streaming=True) as client:
        seen = await say(client, "explain the fees")
        chunks = [e.artifact_update for e in seen if e.HasField("artifact_update")]
        assert [chunk.artifact.parts[0].text for chunk in chunks] == ["Your ", "fee ", "is 2 %."]
        assert [chunk.append for chunk in chunks] == [False, True, True]
        assert [chunk.last_chunk for chunk in chunks] == [False, False, True]
        last = seen[-1].status_update
        assert last.status.state == TaskState.TASK_STATE_COMPLETED
        task: Task = await client.get_task(GetTaskRequest(id=last.task_id))
        assert [part.text for part in task.artifacts[0].parts] == ["Your ", "fee ", "is 2 %."]


@pytest.mark.req("TURN-10")
async def test_client_cancels_once(mock_url: str) -> None:
    async with connect(mock_url, streaming=False) as client:
        asked = (await say(client, "send money"))[0].task
        canceled = await client.cancel_task(CancelTaskRequest(id=asked.id))
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=asked.id))


async def test_the_sdk_speaks_03_to_the_mock(mock_url: str) -> None:
    methods: list[str] = []

    async def note(request: httpx.Request) -> None:
        if request.method == "POST":
            methods.append(json.loads(request.content)["method"])

    async with httpx.AsyncClient(event_hooks={"request": [note]}) as http:
        config = ClientConfig(httpx_client=http, streaming=False)
        await say(await ClientFactory(config).create_from_url(mock_url), "send money")
    assert methods == ["message/send"]
