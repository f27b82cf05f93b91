"""Whatever performs a project's custom actions: stubs first, then its action server, if any."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol

from mock_server.actions.runner import Awaited, Progress, RunAction, run_stub
from mock_server.actions.story import Story
from mock_server.actions.webhook import ActionCall
from mock_server.dialogue.action_server import ActionServer, ActionServerKind
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.outcome import ActionResult
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.stubs import Stubs


class Performer(Protocol):
    """An action server; a new version of the project may want it to start anew."""

    async def perform(self, call: ActionCall) -> ActionResult: ...


class Restartable(Performer, Protocol):
    async def restart(self) -> None: ...


class Actions:
    """`performer` is None where there are stubs only; `child` is it where it is ours."""

    def __init__(
        self, performer: Performer | None = None, child: Restartable | None = None
    ) -> None:
        self._performer = performer
        self._child = child

    @property
    def wants_story(self) -> bool:
        """Whether anybody is told what has happened in a conversation."""
        return self._performer is not None

    def run_with(self, assistant: Assistant, stubs: Stubs) -> RunAction:
        """How actions of this version of the project run."""
        performer = self._performer
        if performer is None:
            return partial(run_stub, stubs)

        def run(name: str, state: DialogueState, story: Story) -> Iterator[Progress]:
            if name in stubs.by_action:
                yield from run_stub(stubs, name, state)
            else:
                call = ActionCall(name, state, story, assistant)
                yield Awaited(performer.perform(call))

        return run

    async def renew(self) -> None:
        """Let a child process read its code again.

        Raises:
            ActionServerFailed: it does not come up any more; the old one goes on.
        """
        if self._child is not None:
            await self._child.restart()


@asynccontextmanager
async def open_actions(server: ActionServer) -> AsyncGenerator[Actions]:
    """The actions as long as the context lasts; a child process ends with it.

    Raises:
        ActionServerFailed: a child process does not come up.
    """
    if server.kind is ActionServerKind.STUBS:
        yield Actions()
        return
    # httpx is worth its import only to those who have an action server.
    from mock_server.actions.client import ActionClient, open_http

    async with open_http(server.timeout_seconds, server.cafile) as http:
        if server.kind is ActionServerKind.ENDPOINT:
            yield Actions(ActionClient(http, server.url))
            return
        from mock_server.actions.child import ChildServer

        child = ChildServer(server, http)
        try:
            await child.restart()
            yield Actions(child, child)
        finally:
            await child.stop()
