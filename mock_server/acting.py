"""Custom actions performed from code that has no event loop of its own: `talk`."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from typing import TypeAlias

from mock_server.actions.opening import open_actions
from mock_server.actions.runner import Awaited
from mock_server.dialogue.events import ActionResult
from mock_server.dialogue.state import DialogueState
from mock_server.project.load import Project

Perform: TypeAlias = Callable[[str, DialogueState, str], ActionResult]


@contextmanager
def acting(project: Project) -> Generator[Perform]:
    """How the project's actions are performed while the context lasts; delays are skipped.

    Raises:
        ActionServerFailed: its action server does not come up.
    """
    with asyncio.Runner() as loop:
        opened = AsyncExitStack()
        actions = loop.run(opened.enter_async_context(open_actions(project.action_server)))
        run_action = actions.run_with(project.assistant, project.stubs)

        def perform(name: str, state: DialogueState, conversation_id: str) -> ActionResult:
            for progress in run_action(name, state, conversation_id):
                match progress:
                    case ActionResult():
                        return progress
                    case Awaited():
                        return loop.run(_awaited(progress))
                    case _:
                        pass
            return ActionResult()

        try:
            yield perform
        finally:
            loop.run(opened.aclose())


async def _awaited(progress: Awaited) -> ActionResult:
    return await progress.outcome
