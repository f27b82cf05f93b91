"""One dialogue: the context of A2A, the sender of Rasa."""

import asyncio
from collections.abc import Iterable

from mock_server.dialogue.events import Event
from mock_server.dialogue.state import DialogueState, apply
from mock_server.tasks.task import Task


class Conversation:
    """`turns` lets one turn run after the other, in order of arrival (TURN-4).

    `resting` is the task that waits for the user's answer and reserves the context (TURN-3).
    """

    def __init__(self, context_id: str, state: DialogueState) -> None:
        self.id = context_id
        self.state = state
        self.turns = asyncio.Lock()
        self.resting: Task | None = None

    def commit(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Fold `events`, one by one, into the state."""
        committed: list[Event] = []
        for event in events:
            self.state = apply(self.state, event)
            committed.append(event)
        return tuple(committed)
