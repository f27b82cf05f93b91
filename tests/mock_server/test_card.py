"""The card that an assistant's flows make."""

from dataclasses import replace

import pytest
from a2a.compat.v0_3 import types

from mock_server.card import agent_card
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Flow, Json
from mock_server.project.endpoints import A2AServer, A2AServerEntry
from mock_server.project.mock_file import ModelEntry

URL = "http://127.0.0.1:5005/"
SERVER = A2AServer("My bank")


def flow(flow_id: str, name: str = "", description: str = "", guard: str | None = None) -> Flow:
    return Flow(flow_id, name, description, steps={}, first_step="END", guard=guard)


FLOWS = (
    flow("transfer_money", "Transfer money", "send money to somebody"),
    flow("check-balance"),
    flow("raise_limit", name="raise_limit", guard="False"),
    flow("pattern_completed", "pattern completed"),
)
ASSISTANT = Assistant(flows={each.id: each for each in FLOWS})


def skills(server: A2AServer = SERVER) -> list[types.AgentSkill]:
    return types.AgentCard.model_validate(agent_card(ASSISTANT, server, URL)).skills


@pytest.mark.req("CARD-1")
def test_every_user_flow_is_a_skill() -> None:
    assert [(s.id, s.name, s.description, s.tags) for s in skills()[:3]] == [
        ("transfer_money", "Transfer money", "send money to somebody", ["flow"]),
        ("check-balance", "check balance", "check balance", ["flow"]),
        ("raise_limit", "raise limit", "raise limit", ["flow"]),
    ]


@pytest.mark.req("CARD-2")
def test_patterns_are_skills_where_repair_is_offered() -> None:
    assert (skills()[3].id, skills()[3].tags) == ("pattern_completed", ["conversation-repair"])
    hidden = skills(A2AServer("My bank", A2AServerEntry(include_conversation_repair=False)))
    assert [skill.id for skill in hidden] == ["transfer_money", "check-balance", "raise_limit"]


@pytest.mark.req("CARD-3")
@pytest.mark.parametrize(
    ("model_file", "model_id", "version"),
    [
        ("models/20261001-bank.tar.gz", "abc", "20261001-bank"),
        (None, "abc", "abc"),
        (None, None, "1.0.0"),
    ],
)
def test_version_is_the_models(model_file: str | None, model_id: str | None, version: str) -> None:
    model = ModelEntry(file=model_file, id=model_id)
    assert agent_card(ASSISTANT, SERVER, URL, model)["version"] == version


@pytest.mark.req("CARD-3")
def test_name_is_the_assistants() -> None:
    assert agent_card(ASSISTANT, SERVER, URL)["name"] == "Rasa Agent"
    assert agent_card(replace(ASSISTANT, assistant_id="bank"), SERVER, URL)["name"] == "bank"
    assert agent_card(ASSISTANT, SERVER, URL)["description"] == "My bank"


@pytest.mark.req("CARD-4", "CARD-5")
@pytest.mark.parametrize("offers_push", [True, False])
def test_capabilities_and_url(offers_push: bool) -> None:
    settings = A2AServerEntry(push_notifications_enabled=offers_push)
    card = agent_card(ASSISTANT, A2AServer("My bank", settings), URL)
    expected: Json = {"pushNotifications": offers_push, "streaming": True}
    assert card["capabilities"] == expected
    assert (card["url"], card["preferredTransport"]) == ("http://127.0.0.1:5005/", "JSONRPC")
    assert card["protocolVersion"] == "0.3.0"
    assert [*card] == sorted(card)


@pytest.mark.req("CARD-9")
def test_card_lists_every_transport_that_is_served() -> None:
    card = agent_card(ASSISTANT, SERVER, URL)
    assert card["protocolVersion"] == "0.3.0"
    assert card["preferredTransport"] == "JSONRPC"
    assert card["additionalInterfaces"] == [{"transport": "JSONRPC", "url": URL}]
