"""Every dialogue by its context, and how many contexts may be reserved at a time (TURN-6).

A reserved context, one with a turn to come or an open question, is never forgotten. The others go
on where they left off when their next message comes, until there are very many of them: then the
one that was silent longest is forgotten, so that a server may run for weeks.
"""

from collections import OrderedDict
from collections.abc import Iterator

from structlog.stdlib import get_logger

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.state import initial_state
from mock_server.service.conversation import Conversation

MAX_SILENT = 100_000

logger = get_logger("a2a_server")


class Conversations:
    """`max_reserved` of 0 is no limit."""

    def __init__(self, max_reserved: int, max_silent: int = MAX_SILENT) -> None:
        self._max_reserved = max_reserved
        self._max_silent = max_silent
        self._reserved: dict[str, Conversation] = {}
        self._silent: OrderedDict[str, Conversation] = OrderedDict()

    def __iter__(self) -> Iterator[Conversation]:
        yield from self._reserved.values()
        yield from self._silent.values()

    def find(self, context_id: str) -> Conversation | None:
        return self._reserved.get(context_id) or self._silent.get(context_id)

    def has_room_for(self, context_id: str) -> bool:
        """Whether the context is reserved already, or may be."""
        is_full = 0 < self._max_reserved <= len(self._reserved)
        return not is_full or context_id in self._reserved

    def enter(self, context_id: str, assistant: Assistant) -> Conversation:
        """Reserve the context for one more turn; a new one begins as `assistant` says."""
        conversation = self._reserved.get(context_id) or self._silent.pop(context_id, None)
        if conversation is None:
            conversation = Conversation(context_id, initial_state(assistant))
        self._reserved[context_id] = conversation
        conversation.unfinished += 1
        return conversation

    def leave(self, conversation: Conversation) -> None:
        """A turn is over; unless another comes or a question is open, the context is free."""
        conversation.unfinished -= 1
        self.release(conversation)

    def release(self, conversation: Conversation) -> None:
        """Free the context if nothing reserves it any more."""
        if conversation.is_reserved or conversation.id not in self._reserved:
            return
        del self._reserved[conversation.id]
        self._silent[conversation.id] = conversation
        if len(self._silent) > self._max_silent:
            context_id, _ = self._silent.popitem(last=False)
            logger.info("a2a_mock.conversation.forgotten", context_id=context_id)

    def clear(self) -> None:
        """Forget them all; no turn runs."""
        self._reserved.clear()
        self._silent.clear()
