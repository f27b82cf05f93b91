"""The model of the start: when it has the turns, and what is shown of it meanwhile."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mock_server.dialogue.model import Json
from mock_server.project.load import Model
from mock_server.service.service import Service
from mock_server.web.app import Page, status


class Stage:
    """Until `load` is called there is no model: `card_page` shows what it was made with (CARD-7).

    Without a model the card stays, as in the real server, and `status_page` names none.
    """

    def __init__(
        self, service: Service, card_page: Page, status_page: Page, card: Json, model: Model
    ) -> None:
        self._service = service
        self._card_page = card_page
        self._status_page = status_page
        self._card = card
        self._model = model
        self._has_loaded = False
        service.unload()

    def load(self) -> None:
        self._has_loaded = True
        self._service.load()
        self._card_page.show(self._card)
        self._status_page.show(status(self._model))

    def unload(self) -> None:
        self._service.unload()
        self._status_page.show(status(None))

    def renew_card(self, card: Json) -> None:
        """Show `card` from now on, or from when a model is loaded first."""
        self._card = card
        if self._has_loaded:
            self._card_page.show(card)

    @asynccontextmanager
    async def loading(self, delay_seconds: float) -> AsyncGenerator[None]:
        """Load the model now, or while the context lasts."""
        if delay_seconds == 0:
            self.load()
            yield
            return
        async with asyncio.TaskGroup() as group:
            late = group.create_task(self._load_after(delay_seconds))
            yield
            late.cancel()

    async def _load_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.load()
