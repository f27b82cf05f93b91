"""What a finished task costs while it is remembered."""

import gc
import logging
import tracemalloc
from collections.abc import Awaitable, Iterator
from itertools import pairwise

import pytest

from mock_server.actions.runner import Progress
from mock_server.dialogue.outside import ActionResult
from mock_server.project.load import assemble
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.tasks.task import Message, Role, TextPart
from mock_server.wire.operations import CallContext, SendMessage
from mock_server.wire.v0_3 import V03

CALL = CallContext(V03())

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
TASKS = 150
ROUNDS = 3


async def traced_after(work: Awaitable[None]) -> int:
    """How many bytes are in use when `work` is done."""
    await work
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def no_action(*_: object) -> Iterator[Progress]:
    yield ActionResult()


@pytest.mark.anyio
@pytest.mark.parametrize("contexts", ["the same", "each its own"])
async def test_finished_task_takes_no_more_than_it_may(
    caplog: pytest.LogCaptureFixture, contexts: str
) -> None:
    # pytest would keep the line of each turn.
    caplog.set_level(logging.WARNING, "a2a_server")
    agent = AgentVersion(assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS}), no_action)
    runtime = real_runtime(seed=1)

    async with Service(agent, runtime, ServiceSettings()) as service:

        async def send(count: int) -> None:
            for _ in range(count):
                context_id = runtime.make_id() if contexts == "each its own" else "one for all"
                said = (TextPart("send money to somebody"),)
                message = Message(runtime.make_id(), Role.USER, said, context_id)
                await service.send(SendMessage(message), CALL)

        tracemalloc.start()
        try:
            totals = [await traced_after(send(TASKS)) for _ in range(ROUNDS + 1)]
        finally:
            tracemalloc.stop()
    # What is made once, caches above all, is paid for in one of the rounds.
    growth_bytes = min(after - before for before, after in pairwise(totals))
    assert 500 < growth_bytes / TASKS <= LIMIT_BYTES
