"""One dialogue: the context of A2A, the sender of Rasa."""

import asyncio

from mock_server.actions.webhook import Story
from mock_server.dialogue.state import DialogueState
from mock_server.service.brain import Brain
from mock_server.service.snapshot import Snapshot


class Conversation:
    """`turns` lets one turn run after the other, in order of arrival (TURN-4).

    `resting` is the task that waits for the user's answer (TURN-3), `unfinished` the number of
    turns that run or wait in the queue: either reserves the context (TURN-6).
    """

    def __init__(self, context_id: str, state: DialogueState) -> None:
        self.id = context_id
        self.state = state
        self.story = Story(context_id)
        self.turns = asyncio.Lock()
        self.resting: Snapshot | None = None
        self.unfinished = 0
        self._brain_version = 0

    @property
    def is_reserved(self) -> bool:
        return self.unfinished > 0 or self.resting is not None

    def must_hear_of_changes(self, brain: Brain) -> bool:
        """Whether `brain`, which takes over from here, has changed what the dialogue is about."""
        since, self._brain_version = self._brain_version, brain.version
        return brain.has_changed(self.state.stack, since)
