"""Custom actions played from their stubs; time is data, so whoever asks may sleep or not."""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mock_server.actions.story import Story
from mock_server.dialogue.circumstances import holds
from mock_server.dialogue.outcome import ActionResult, Utterance
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.stubs import StubBranch, Stubs, UnstubbedActions


@dataclass(frozen=True, slots=True)
class Paused:
    """The action works for `seconds` before it goes on."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ChunkStreamed:
    """A piece of a text that the action speaks while it is made."""

    text: str
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Awaited:
    """The action runs elsewhere; `outcome` is waited for once, and then all is said."""

    outcome: Awaitable[ActionResult]


Progress: TypeAlias = Paused | ChunkStreamed | Awaited | ActionResult

RunAction: TypeAlias = Callable[[str, DialogueState, Story], Iterator[Progress]]
"""An action by its name, in a state that a story has come to: what it does, step by step.

The last step, and only it, is an ActionResult or an Awaited.
"""


def run_stub(
    stubs: Stubs, name: str, state: DialogueState, _story: Story | None = None
) -> Iterator[Progress]:
    """What the stub of action `name` does in `state`.

    The text of streamed chunks is uttered in the end as well (server.md OUT-2a). Why an action
    failed stays inside: only its name goes out.
    """
    stub = stubs.by_action.get(name)
    if stub is None:
        is_failure = stubs.unstubbed is UnstubbedActions.FAIL
        yield _failed(name, "it has no stub") if is_failure else ActionResult()
        return
    branch = next((b for b in stub.branches if _holds(b, state)), StubBranch())
    yield from _paused(branch.delay_seconds)
    yield from _streamed(branch)
    if branch.fails:
        yield _failed(name, "its stub says so")
        return
    spoken = (Utterance("".join(branch.stream)),) if branch.stream else ()
    yield ActionResult(slots=branch.slots, utterances=(*spoken, *branch.utterances))


def _failed(name: str, reason: str) -> ActionResult:
    return ActionResult(failure={"action": name}, warnings=(f"action {name!r} failed: {reason}",))


def _streamed(branch: StubBranch) -> Iterator[Progress]:
    last = len(branch.stream) - 1
    for index, text in enumerate(branch.stream):
        if index:
            yield from _paused(branch.chunk_delay_seconds)
        yield ChunkStreamed(text, is_first=index == 0, is_last=index == last)


def _paused(seconds: float) -> Iterator[Progress]:
    if seconds > 0:
        yield Paused(seconds)


def _holds(branch: StubBranch, state: DialogueState) -> bool:
    is_said = branch.match is None or re.search(branch.match, state.user_text) is not None
    return is_said and holds(branch.when, state)
