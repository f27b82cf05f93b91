"""What a finished task costs while it is remembered."""

import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from mock_server.actions.runner import Progress
from mock_server.dialogue.events import ActionResult
from mock_server.project.assemble import assemble
from mock_server.service.brain import Brain
from mock_server.service.service import Service, ServiceSettings
from mock_server.service.world import real_world
from mock_server.tasks.task import Message, Role, TextPart
from mock_server.wire.operations import SendMessage

DOMAIN = """
slots: {recipient: {type: text}, amount: {type: float}}
responses:
  utter_sent: [{text: "I have sent the money to the one whom you have named."}]
"""
FLOWS = """
flows:
  transfer_money:
    description: send money to somebody
    run_pattern_completed: false
    steps: [{set_slots: [{recipient: Joe}, {amount: 5}]}, {action: utter_sent}]
"""
LIMIT_BYTES = 3 * 1024
TASKS = 300


def no_action(*_: object) -> Iterator[Progress]:
    yield ActionResult()


@pytest.mark.anyio
@pytest.mark.parametrize("contexts", ["the same", "each its own"])
async def test_finished_task_takes_no_more_than_it_may(contexts: str) -> None:
    brain = Brain(assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}), no_action)
    world = real_world(seed=1)

    async with Service(brain, world, ServiceSettings()) as service:

        async def send(count: int) -> None:
            for _ in range(count):
                context_id = world.make_id() if contexts == "each its own" else "one for all"
                said = (TextPart("send money to somebody"),)
                message = Message(world.make_id(), Role.USER, said, context_id)
                await service.send(SendMessage(message))

        await send(20)
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            await send(TASKS)
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert 500 < (after - before) / TASKS <= LIMIT_BYTES
