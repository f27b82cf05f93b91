"""Custom actions, played from their stubs or performed by an action server.

Time is data: the caller decides whether to sleep.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from mock_server.actions.webhook import ActionCall, failed
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.expressions import holds
from mock_server.dialogue.outside import (
    ActionResult,
    ActionServer,
    ActionServerKind,
    StubBranch,
    Stubs,
    UnstubbedActions,
    Utterance,
)
from mock_server.dialogue.regular_expressions import search
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.errors import SearchTooSlow


@dataclass(frozen=True, slots=True)
class Paused:
    """The action works for `seconds` before it goes on."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ChunkStreamed:
    """A piece of a text that the action streams."""

    text: str
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Awaited:
    """The action runs elsewhere; `outcome` is its result."""

    outcome: Awaitable[ActionResult]


Progress: TypeAlias = Paused | ChunkStreamed | Awaited | ActionResult

RunAction: TypeAlias = Callable[[str, DialogueState, Tracker], Iterator[Progress]]
"""Runs an action by its name in a state, with the tracker up to it: what it does, step by step.

The last step, and only it, is an ActionResult or an Awaited.
"""


def run_stub(
    stubs: Stubs, name: str, state: DialogueState, _tracker: Tracker | None = None
) -> Iterator[Progress]:
    """Play the stub of action `name` in `state`.

    The text of streamed chunks is also uttered at the end (server.md OUT-2a). Why an action
    failed stays inside: only its name goes out.
    """
    stub = stubs.by_action.get(name)
    if stub is None:
        is_failure = stubs.unstubbed is UnstubbedActions.FAIL
        yield failed(name, "it has no stub") if is_failure else ActionResult()
        return
    warnings: list[str] = []
    branch = next((b for b in stub.branches if _holds(b, state, warnings)), StubBranch())
    yield from _paused(branch.delay_seconds)
    yield from _streamed(branch)
    if branch.fails:
        yield failed(name, "its stub says so")
        return
    spoken = (Utterance("".join(branch.stream)),) if branch.stream else ()
    yield ActionResult(
        slots=branch.slots, utterances=(*spoken, *branch.utterances), warnings=tuple(warnings)
    )


def _streamed(branch: StubBranch) -> Iterator[Progress]:
    last = len(branch.stream) - 1
    for index, text in enumerate(branch.stream):
        if index:
            yield from _paused(branch.chunk_delay_seconds)
        yield ChunkStreamed(text, is_first=index == 0, is_last=index == last)


def _paused(seconds: float) -> Iterator[Progress]:
    if seconds > 0:
        yield Paused(seconds)


def _holds(branch: StubBranch, state: DialogueState, warnings: list[str]) -> bool:
    """Whether the stub goes this way; what takes too long is added to `warnings`."""

    def warn(text: str) -> None:
        warnings.append(f"{branch.location}: {text}")

    try:
        is_said = branch.match is None or search(branch.match, state.user_text) is not None
    except SearchTooSlow as error:
        warn(str(error))
        return False
    return is_said and holds(branch.when, state, warn)


@dataclass(frozen=True, slots=True)
class Actions:
    """How actions run; `perform`, of an action server, is None where there are stubs only.

    `restart` starts a child process of ours again; the old one stays if that fails.
    """

    perform: Callable[[ActionCall], Awaitable[ActionResult]] | None = None
    restart: Callable[[], Awaitable[None]] | None = None

    @property
    def wants_tracker(self) -> bool:
        """Whether an action server is sent the events of a conversation."""
        return self.perform is not None

    def run_with(self, assistant: Assistant, stubs: Stubs) -> RunAction:
        """How actions of this version of the project run."""
        perform = self.perform
        if perform is None:
            return partial(run_stub, stubs)

        def run(name: str, state: DialogueState, tracker: Tracker) -> Iterator[Progress]:
            if name in stubs.by_action:
                yield from run_stub(stubs, name, state)
            else:
                yield Awaited(perform(ActionCall(name, state, tracker, assistant)))

        return run

    async def renew(self) -> None:
        """Let a child process read its code again.

        Raises:
            ActionServerFailed: it does not come up; the old one stays.
        """
        if self.restart is not None:
            await self.restart()


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
    from mock_server.actions.server import ActionClient, open_http

    async with open_http(server.timeout_seconds, server.cafile) as http:
        if server.kind is ActionServerKind.ENDPOINT:
            yield Actions(ActionClient(http, server.url).perform)
            return
        from mock_server.actions.server import ChildServer

        child = ChildServer(server, http)
        try:
            await child.restart()
            yield Actions(child.perform, child.restart)
        finally:
            await child.stop()
