"""Which dialogues are remembered, and which contexts are reserved."""

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.service.conversations import Conversations


def test_silent_context_is_found_as_it_was_left() -> None:
    conversations = Conversations(max_reserved=1)
    first = conversations.enter("a", Assistant())
    conversations.leave(first)
    assert conversations.find("a") is first
    assert conversations.enter("a", Assistant()) is first
    assert [*conversations] == [first]


@pytest.mark.req("TURN-6")
def test_cap_counts_contexts_and_not_turns() -> None:
    conversations = Conversations(max_reserved=2)
    first = conversations.enter("a", Assistant())
    conversations.enter("a", Assistant())
    assert conversations.has_room_for("b")
    conversations.enter("b", Assistant())
    assert not conversations.has_room_for("c")
    assert conversations.has_room_for("a")
    conversations.leave(first)
    assert not conversations.has_room_for("c")
    conversations.leave(first)
    assert conversations.has_room_for("c")
    assert not Conversations(0).find("a")


def test_context_that_was_silent_longest_is_forgotten_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    conversations = Conversations(max_reserved=0, max_silent=2)
    busy = conversations.enter("busy", Assistant())
    for context_id in ("a", "b", "a", "c"):
        conversations.leave(conversations.enter(context_id, Assistant()))
    remembered = [conversation.id for conversation in conversations]
    assert remembered == ["busy", "a", "c"]
    assert "a2a_mock.conversation.forgotten" in caplog.text
    conversations.leave(busy)
    assert conversations.find("a") is None
