# type: ignore  # written for another version of the SDK than the one that is checked against
"""Talk to an agent with the client of a2a-sdk 0.3.26, and print as JSON what it understood.

Runs in an environment of its own: `client_0326.py URL`.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, Task, TaskIdParams, TaskQueryParams, TextPart


def message(text: str, context_id: str | None = None) -> Message:
    return Message(
        message_id=str(uuid.uuid4()),
        role=Role.user,
        parts=[Part(root=TextPart(text=text))],
        context_id=context_id,
    )


def shown(event: object) -> list[object]:
    task, update = event
    kind = update.kind if update else "task"
    return [kind, task.status.state.value, task.id, task.context_id]


async def answer(client: Client, question: Message) -> Task:
    events = [event async for event in client.send_message(question)]
    assert len(events) == 1
    return events[0][0]


async def main(url: str) -> None:
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        blocking = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
        streaming = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        first = await answer(blocking, message("send money"))
        second = await answer(blocking, message("Joe", first.context_id))
        stream = [shown(e) async for e in streaming.send_message(message("explain the fees"))]
        asked = await answer(blocking, message("send money"))
        canceled = await blocking.cancel_task(TaskIdParams(id=asked.id))
        fetched = await blocking.get_task(TaskQueryParams(id=stream[-1][2]))
        report = {
            "card": card.model_dump(mode="json", exclude_none=True),
            "first": first.model_dump(mode="json", exclude_none=True),
            "second": second.model_dump(mode="json", exclude_none=True),
            "stream": stream,
            "canceled": canceled.status.state.value,
            "artifact": [part.root.text for part in fetched.artifacts[0].parts],
        }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
