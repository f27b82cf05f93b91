"""The mock with its admin API on a real socket; pauses and chance are in the test's hand."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import httpx
import pytest

from mock_server.actions.runner import ChunkStreamed, Paused, Progress
from mock_server.card import agent_card
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Story
from mock_server.faults.fault import ArmedFaults, Fault
from mock_server.project.endpoints import A2AServer
from mock_server.push.delivery import Delivery
from mock_server.push.notifier import Notifier
from mock_server.push.policy import Guard, Resolver, UrlPolicy
from mock_server.service.conversation import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.web.admin import ModelSwitch
from mock_server.web.app import App, Page, Site, arm_faults, with_admin
from mock_server.web.http_server import Server, bind, port_of

CHUNKS = ("Your ", "fee ", "is ", "2 %.")


@dataclass
class Mock:
    """A running mock: `paused` is set while action_check waits for `let_go`.

    `slept` are the pauses that faults made; none of them took any time.
    """

    url: str
    client: httpx.AsyncClient
    paused: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    slept: list[float] = field(default_factory=list[float])

    @property
    def port(self) -> int:
        return httpx.URL(self.url).port or 0

    async def sleep(self, _: float) -> None:
        self.paused.set()
        await self.let_go.wait()

    async def sleep_for_fault(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def arm(self, *faults: Mapping[str, Json]) -> list[str]:
        """Arm `faults` by the admin API and return their ids."""
        response = await self.client.post("/__admin/faults", json=[*faults])
        assert response.status_code == 201, response.text
        return [armed["id"] for armed in response.json()["faults"]]

    async def admin(self, path: str, /, **query: str | int) -> httpx.Response:
        """What a route of the admin API answers."""
        response = await self.client.get(f"/__admin/{path}", params=query)
        assert response.status_code == 200, response.text
        return response


Serving: TypeAlias = Callable[..., AbstractAsyncContextManager[Mock]]


def run_action(name: str, _: DialogueState, __: Story) -> Iterator[Progress]:
    if name == "action_check":
        yield Paused(1)
    if name == "action_explain":
        for index, chunk in enumerate(CHUNKS):
            yield ChunkStreamed(chunk, is_first=index == 0, is_last=index == len(CHUNKS) - 1)
    yield ActionResult()


def _notifier(mock: Mock, faults: ArmedFaults) -> Notifier:
    guard = Guard(UrlPolicy(opens_loopback=True), Resolver())
    return Notifier(guard, Delivery(), tamper=faults.tamper, sleep=mock.sleep_for_fault)


@pytest.fixture
def serving(small_bank: Assistant) -> Serving:
    """Serve the small assistant."""
    return partial(_serving, small_bank)


@asynccontextmanager
async def _serving(
    assistant: Assistant,
    *,
    faults: tuple[Fault, ...] = (),
    seed: int | None = 1,
    token: str | None = None,
    pushes: bool = False,
) -> AsyncGenerator[Mock]:
    listener = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{port_of(listener)}/"
    card = agent_card(assistant, A2AServer("A small bank"), url)
    # what a stream says here comes of turns, never of a ping
    site = Site(Page(card), Page({}), 100_000, ping_seconds=3600)
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        mock = Mock(url, client)
        runtime = replace(real_runtime(), sleep=mock.sleep)
        events, ready = EventBus(), asyncio.Event()
        armed = arm_faults(faults, seed, events)
        settings = ServiceSettings()
        agent = AgentVersion(assistant, run_action)
        async with (
            _notifier(mock, armed) as notifier,
            Service(agent, runtime, settings, notifier if pushes else None, events) as service,
        ):
            app = with_admin(
                App(service, site, runtime.now),
                service,
                replace(runtime, sleep=mock.sleep_for_fault),
                armed,
                ModelSwitch(service.load, service.unload),
                max_body_bytes=site.max_body_bytes,
                token=token,
            )
            server = Server(app, ready.set)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            await ready.wait()
            try:
                yield mock
            finally:
                mock.let_go.set()
                service.reset()
                events.close()
                server.should_exit = True
                await serving
                listener.close()
