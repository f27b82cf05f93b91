"""Actions and a language model for code that has no event loop of its own: `talk`."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from mock_server.actions.runner import Awaited, RunAction, open_actions
from mock_server.actions.webhook import Story
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.outside import ActionResult, ActionServerKind, Generate, Generation
from mock_server.dialogue.state import DialogueState
from mock_server.llm import open_language_model
from mock_server.project.load import Project

Result = TypeVar("Result")
Perform: TypeAlias = Callable[[str, DialogueState, Story], ActionResult]


@dataclass(frozen=True, slots=True)
class Outside:
    """What a conversation asks of the world, answered at once; None where it needs nothing."""

    perform: Perform | None = None
    generate: Callable[[Assistant, DialogueState, str], Generation] | None = None


INSIDE = Outside()


@contextmanager
def acting(project: Project) -> Generator[Outside]:
    """The project's action server and model while the context lasts; delays are skipped.

    Raises:
        ActionServerFailed: the action server does not come up.
    """
    has_server = project.action_server.kind is not ActionServerKind.STUBS
    if not (has_server or project.language_model):
        yield INSIDE
        return
    with asyncio.Runner() as loop:
        opened = AsyncExitStack()
        actions = loop.run(opened.enter_async_context(open_actions(project.action_server)))
        model = open_language_model(project.language_model)
        generate = loop.run(opened.enter_async_context(model))
        run_action = actions.run_with(project.assistant, project.stubs)
        try:
            yield Outside(
                _performing(loop, run_action) if has_server else None,
                _generating(loop, generate) if generate else None,
            )
        finally:
            loop.run(opened.aclose())


def _performing(loop: asyncio.Runner, run_action: RunAction) -> Perform:
    def perform(name: str, state: DialogueState, story: Story) -> ActionResult:
        for progress in run_action(name, state, story):
            match progress:
                case ActionResult():
                    return progress
                case Awaited(outcome=outcome):
                    return loop.run(_awaited(outcome))
                case _:
                    pass
        return ActionResult()

    return perform


def _generating(
    loop: asyncio.Runner, generate: Generate
) -> Callable[[Assistant, DialogueState, str], Generation]:
    return lambda assistant, state, text: loop.run(_awaited(generate(assistant, state, text)))


async def _awaited(outcome: Awaitable[Result]) -> Result:
    return await outcome
