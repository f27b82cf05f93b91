"""The model of the start, as a server shows it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest

from mock_server.actions.runner import Progress
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.project.load import Model
from mock_server.serve import ServedModel
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.tasks.task import Message, Role, TextPart
from mock_server.web.app import Page, status
from mock_server.wire.operations import CallContext, SendMessage
from mock_server.wire.v0_3 import V03

CALL = CallContext(V03())

pytestmark = [pytest.mark.anyio, pytest.mark.req("CARD-7", "TURN-8")]


def no_action(*_: object) -> Iterator[Progress]:
    yield from ()


class WatchedPage(Page):
    """Tells when it is given something else to show."""

    def __init__(self, value: Json) -> None:
        self.shown_anew = asyncio.Event()
        super().__init__(value)
        self.shown_anew.clear()

    def show(self, value: Json) -> None:
        super().show(value)
        self.shown_anew.set()


@dataclass
class Serving:
    service: Service
    served: ServedModel
    card: Page
    status: WatchedPage

    async def shown(self) -> tuple[object, object]:
        """The card and the model's id, as a client sees them."""
        pages = [await body_of(page) for page in (self.card, self.status)]
        return pages[0]["name"], pages[1]["model_id"]

    async def is_ready(self) -> bool:
        message = Message("m", Role.USER, (TextPart("hi"),))
        task = (await self.service.send(SendMessage(message), CALL)).task
        return "not ready" not in repr(task.status.message)


async def body_of(page: Page) -> dict[str, object]:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(page), base_url="http://x"
    ) as client:
        return json.loads((await client.get("/")).content)


@asynccontextmanager
async def open_serving() -> AsyncGenerator[Serving]:
    agent = AgentVersion(Assistant(), no_action)
    async with Service(agent, real_runtime(), ServiceSettings()) as service:
        card, shown = Page({"name": "placeholder"}), WatchedPage(status(None))
        served = ServedModel(service, card, shown, {"name": "bank"}, Model("bank", "b1"))
        yield Serving(service, served, card, shown)


async def test_model_is_shown_and_has_the_turns_once_it_is_loaded() -> None:
    async with open_serving() as serving:
        assert await serving.shown() == ("placeholder", None)
        assert not await serving.is_ready()
        serving.served.load()
        assert await serving.shown() == ("bank", "b1")
        assert await serving.is_ready()


async def test_card_stays_when_the_model_is_taken_away() -> None:
    async with open_serving() as serving:
        serving.served.load()
        serving.served.unload()
        assert await serving.shown() == ("bank", None)
        assert not await serving.is_ready()
        serving.served.load()
        assert await serving.shown() == ("bank", "b1")


async def test_new_card_waits_for_the_first_model() -> None:
    async with open_serving() as serving:
        serving.served.renew_card({"name": "newer"})
        assert await serving.shown() == ("placeholder", None)
        serving.served.load()
        assert await serving.shown() == ("newer", "b1")
        serving.served.renew_card({"name": "newest"})
        serving.served.unload()
        serving.served.load()
        assert await serving.shown() == ("newest", "b1")


async def test_model_is_loaded_now_or_later() -> None:
    async with open_serving() as serving, serving.served.loading(0):
        assert await serving.shown() == ("bank", "b1")
    async with open_serving() as serving:
        async with serving.served.loading(3600):
            assert await serving.shown() == ("placeholder", None)
        async with asyncio.timeout(60), serving.served.loading(0.001):
            await serving.status.shown_anew.wait()
        assert await serving.is_ready()
