"""A conversation held in this process: turns from texts, without a network and without waiting."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mock_server.acting import INSIDE, Outside
from mock_server.actions.runner import run_stub
from mock_server.actions.webhook import Story
from mock_server.dialogue.engine import Course, UserMessage, advance, open_session
from mock_server.dialogue.events import (
    ActionRequested,
    Event,
    GenerationRequested,
    SlotSet,
    SlotSource,
)
from mock_server.dialogue.model import Json, Slot
from mock_server.dialogue.outside import ActionResult, Generation, Outcome, UnstubbedActions
from mock_server.dialogue.slots import coerce
from mock_server.dialogue.state import DialogueState, apply, initial_state
from mock_server.errors import InvalidSlotValue
from mock_server.project.load import Project
from mock_server.tasks.mapper import TurnOutcome
from mock_server.tasks.parts import read, seeds
from mock_server.tasks.task import Message, Role, TextPart
from mock_server.tasks.trace import TracedTurn


class Conversation:
    """Holds the state between turns. `warn` hears of each action that nobody performs, once.

    `outside` performs the actions, by default by playing their stubs, and asks a language model.
    """

    def __init__(
        self,
        project: Project,
        warn: Callable[[str], None],
        outside: Outside = INSIDE,
        conversation_id: str = "",
    ) -> None:
        self._project = project
        self._warn = warn
        self._warned: set[str] = set()
        self._outside = outside
        self._story = Story(conversation_id)
        self.state = initial_state(project.assistant)

    def begin(self, slots: Sequence[tuple[str, Json]]) -> TracedTurn:
        """Start the session, then give `slots` their values."""
        before = self.state
        events = list(self._followed(open_session(self._project.assistant, before)))
        for name, value in slots:
            slot = self._project.assistant.slots.get(name)
            if slot is not None:
                events.append(SlotSet(name, _fitted(slot, value), SlotSource.ORCHESTRATOR))
                self.state = apply(self.state, events[-1])
                self._story.tell(events[-1], time.time())
        return self._traced(before, events)

    def say(self, text: str, metadata: Mapping[str, Json] | None = None) -> TracedTurn:
        """The turn that `text` begins; the delays of stubbed actions are skipped."""
        before = self.state
        self._story.begin_turn()
        asks_model = self._outside.generate is not None
        message = replace(self._message(text), metadata=metadata or {}, asks_model=asks_model)
        course = advance(self._project.assistant, before, message)
        return self._traced(before, self._followed(course))

    def _generate(self, text: str) -> Generation | None:
        generate = self._outside.generate
        return generate(self._project.assistant, self.state, text) if generate else None

    def _traced(self, before: DialogueState, happened: Iterable[Event]) -> TracedTurn:
        events = tuple(happened)
        outcome = TurnOutcome(
            stack=self.state.stack,
            events=events,
            is_waiting=self.state.is_listening,
            stack_before=before.stack,
            offers_repair=self._project.server.include_conversation_repair,
            rejected_scope=self._project.assistant.rejected_scope,
        )
        return TracedTurn(events, before, self.state, outcome)

    def _message(self, text: str) -> UserMessage:
        """As the server reads a message: a line `SLOTS: {…}` brings slots (server.md SLOT-1)."""
        reading = read(Message("", Role.USER, (TextPart(text),)))
        brought = seeds(self._project.assistant, reading.slots)
        for skipped in brought.skipped:
            self._warn(f"{skipped}; it is skipped")
        return UserMessage(reading.text, brought.slots)

    def _followed(self, course: Course) -> Iterator[Event]:
        """The events of `course`, each after it has made `state` new; actions are performed."""
        outcome: Outcome | None = None
        while True:
            try:
                event = course.send(outcome)
            except StopIteration:
                return
            if isinstance(event, GenerationRequested):
                outcome = self._generate(event.text)
                continue
            self.state = course.state
            self._story.tell(event, time.time())
            yield event
            outcome = self._perform(event.name) if isinstance(event, ActionRequested) else None

    def _perform(self, action: str) -> ActionResult:
        if self._outside.perform is not None:
            return self._outside.perform(action, self.state, self._story)
        stubs = self._project.stubs
        if action not in stubs.by_action and action not in self._warned:
            self._warned.add(action)
            outcome = "does nothing" if stubs.unstubbed is UnstubbedActions.NOOP else "fails"
            self._warn(f"action {action!r} has no stub in mock.yml, so it {outcome}")
        progress = run_stub(stubs, action, self.state)
        return next(item for item in progress if isinstance(item, ActionResult))


def _fitted(slot: Slot, value: Json) -> Json:
    """`value` as the slot's type spells it; what does not fit is written as it is."""
    try:
        return coerce(slot, value)
    except InvalidSlotValue:
        return value
