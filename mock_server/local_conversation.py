"""A conversation held in this process, without a network or a wait: for `talk` and `test`."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from mock_server.actions.runner import Actions, ChunkStreamed, Progress, open_actions
from mock_server.dialogue.engine import DialogueTurn, UserMessage, advance, open_session
from mock_server.dialogue.model import Json, Slot, coerce
from mock_server.dialogue.outside import Generate, UnstubbedActions
from mock_server.dialogue.state import DialogueState, SlotSet, SlotSource, Tracker, apply
from mock_server.errors import InvalidSlotValue
from mock_server.llm import open_language_model
from mock_server.project.load import Project
from mock_server.service.conversation import AgentVersion, Conversation, EngineTurn
from mock_server.tasks.task import Message, Role, TextPart, read, seeds
from mock_server.tasks.trace import TracedTurn

Wait: TypeAlias = Callable[[Coroutine[object, None, None]], None]


@dataclass(frozen=True, slots=True)
class Backend:
    """Performs the actions and asks a language model; `wait` runs them to their end."""

    actions: Actions
    generate: Generate | None = None
    wait: Wait = asyncio.run


STUBS_ONLY = Backend(Actions())


@contextmanager
def open_backend(project: Project) -> Generator[Backend]:
    """The project's action server and language model while the context lasts.

    Raises:
        ActionServerFailed: the action server does not come up.
    """
    with asyncio.Runner() as loop:
        opened = AsyncExitStack()
        actions = loop.run(opened.enter_async_context(open_actions(project.action_server)))
        model = open_language_model(project.mock.language_model)
        generate = loop.run(opened.enter_async_context(model))
        try:
            yield Backend(actions, generate, loop.run)
        finally:
            loop.run(opened.aclose())


class LocalConversation:
    """Pauses of actions are skipped; `warn` gets each action that nobody performs, once."""

    def __init__(
        self,
        project: Project,
        warn: Callable[[str], None],
        backend: Backend = STUBS_ONLY,
        conversation_id: str = "",
    ) -> None:
        self._project = project
        self._report = warn
        self._reported: set[str] = set()
        self._backend = backend
        self._run_action = backend.actions.run_with(project.assistant, project.mock.stubs)
        self._agent = AgentVersion(
            project.assistant,
            self._run,
            project.server.settings.include_conversation_repair,
            backend.generate,
            keeps_trackers=backend.actions.wants_tracker,
        )
        self._conversation = Conversation(conversation_id, project.assistant)

    @property
    def state(self) -> DialogueState:
        return self._conversation.state

    def begin(self, slots: Sequence[tuple[str, Json]]) -> TracedTurn:
        """Start the session, then give `slots` their values."""
        turn = self._followed(open_session(self._project.assistant, self.state))
        for name, value in slots:
            slot = self._project.assistant.slots.get(name)
            if slot is not None:
                event = SlotSet(name, _fitted(slot, value), SlotSource.ORCHESTRATOR)
                turn.record(event, apply(self.state, event))
        return turn.traced()

    def say(self, text: str, metadata: Mapping[str, Json] | None = None) -> TracedTurn:
        """The turn that `text` begins."""
        self._conversation.tracker.begin_turn()
        message = self._message(text, metadata or {})
        return self._followed(advance(self._project.assistant, self.state, message)).traced()

    def now_seconds(self) -> float:
        return time.time()

    async def pause(self, seconds: float) -> None:
        """Nobody waits here."""

    def stream(self, action: str, chunk: ChunkStreamed) -> None:
        """An action also says at the end what it streams."""

    def warn(self, text: str) -> None:
        """Warnings are among the events of the turn."""

    def _followed(self, dialogue_turn: DialogueTurn) -> EngineTurn:
        turn = EngineTurn(self._agent, self._conversation, self)
        if not turn.start(dialogue_turn):
            self._backend.wait(turn.finish())
        return turn

    def _message(self, text: str, metadata: Mapping[str, Json]) -> UserMessage:
        """As the server reads a message: a line `SLOTS: {…}` brings slots (server.md SLOT-1)."""
        reading = read(Message("", Role.USER, (TextPart(text),)))
        seeded = seeds(self._project.assistant, reading.slots)
        for skipped in seeded.skipped:
            self._report(f"{skipped}; it is skipped")
        asks_model = self._backend.generate is not None
        return UserMessage(reading.text, seeded.slots, metadata, asks_model=asks_model)

    def _run(self, action: str, state: DialogueState, tracker: Tracker) -> Iterator[Progress]:
        stubs = self._project.mock.stubs
        is_missing = action not in stubs.by_action and not self._backend.actions.wants_tracker
        if is_missing and action not in self._reported:
            self._reported.add(action)
            outcome = "does nothing" if stubs.unstubbed is UnstubbedActions.NOOP else "fails"
            self._report(f"action {action!r} has no stub in mock.yml, so it {outcome}")
        return self._run_action(action, state, tracker)


def _fitted(slot: Slot, value: Json) -> Json:
    """`value` as the slot's type spells it; what does not fit is written as it is."""
    try:
        return coerce(slot, value)
    except InvalidSlotValue:
        return value
