"""What runs beside the main screen: the mock's event stream, and the replays while live is on."""

import asyncio
from uuid import uuid4

from inspector.core.live_replay import LiveReplay, changes
from inspector.core.mock_client import MockClient
from inspector.core.session import Session
from inspector.settings import Connection


class MockDesk:
    """`client` asks a connected mock; `live` replays the conversation until it is cancelled."""

    def __init__(self, session: Session, connection: Connection) -> None:
        self.client = MockClient(session, token=connection.admin_token, on_reload=self._take_reload)
        self._replay = LiveReplay(session, new_id=lambda: str(uuid4()))
        self._watched = connection.watched
        self._is_live = False

    async def live(self) -> None:
        """Replay at each reload that the mock tells of, or where there is none at each save."""
        self._is_live = True
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._replay.run())
                group.create_task(self._watch())
        finally:
            self._is_live = False

    async def tidy(self) -> None:
        """Cancel what the last replay left waiting."""
        await self._replay.tidy()

    async def _watch(self) -> None:
        if self._watched is None:
            return
        async for _ in changes(self._watched):
            # a mock says so itself once it serves what was saved
            if not self.client.is_connected:
                self._replay.trigger()

    def _take_reload(self) -> None:
        if self._is_live:
            self._replay.trigger()
