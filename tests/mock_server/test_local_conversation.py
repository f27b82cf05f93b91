"""A conversation held in this process."""

from pathlib import Path

import pytest

from mock_server.dialogue.state import SessionStarted, SlotSet, SlotSource, UserUttered
from mock_server.local_conversation import LocalConversation
from mock_server.project.load import Project, load_assistant


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text(
        "slots: {name: {type: text}}\nactions: [action_session_start]"
    )
    (tmp_path / "data" / "flows.yml").write_text("flows: {}")
    (tmp_path / "mock.yml").write_text(
        "actions: {action_session_start: {events: [{event: slot, name: name, value: Ada}]}}"
    )
    return load_assistant(tmp_path, environment={})


def test_slots_are_given_when_the_session_has_started(project: Project) -> None:
    conversation = LocalConversation(project, warn=lambda _: None)
    turn = conversation.begin([("name", "Grace"), ("no_such_slot", 1)])
    assert turn.events[0] == SessionStarted()
    assert [event for event in turn.events if isinstance(event, SlotSet)] == [
        SlotSet("name", "Ada", SlotSource.ACTION),
        SlotSet("name", "Grace", SlotSource.ORCHESTRATOR),
    ]
    assert conversation.state.slots["name"] == "Grace"


def test_session_starts_once(project: Project) -> None:
    conversation = LocalConversation(project, warn=lambda _: None)
    conversation.begin([])
    turn = conversation.say("hello", {"device": "phone"})
    assert SessionStarted() not in turn.events
    assert UserUttered("hello", {"device": "phone"}) in turn.events
