"""Assistants that were not written for the mock."""

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import RunMock


numbers = count()


def say(client: httpx.Client, text: str, **slots: object) -> tuple[str, str, dict[str, object]]:
    """The state, the text and the slots that one turn of the conversation ends with."""
    message = {
        "messageId": f"m{next(numbers)}",
        "contextId": "c1",
        "role": "user",
        "parts": [{"kind": "text", "text": text}],
        "metadata": {"slots": slots},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    status = client.post("/", json=body).json()["result"]["status"]
    parts = status["message"]["parts"]
    words = "\n".join(part["text"] for part in parts if part["kind"] == "text")
    return status["state"], words, parts[-1]["data"]["slots"]


@pytest.mark.req("CARD-1", "SLOT-1a")
def test_retail_bank_transfers_money(shared: Path, run_mock: "RunMock") -> None:
    project = shared / "projects" / "starterpack-retail-banking-en"
    with run_mock(project, "--relax", "--description", "Bank") as mock:
        client = mock.client
        card = client.get("/.well-known/agent-card.json").json()
        skills = {skill["id"] for skill in card["skills"] if skill["tags"] == ["flow"]}
        assert {"transfer_money", "check_balance", "block_card"} <= skills
        assert mock.ready.endswith(f"flows={len(skills)}\n")
        assert card["description"] == "Bank"
        known = {"payee_exists": True, "sufficient_funds": True, "timing": "now"}
        state, text, slots = say(client, "transfer money", payee_name="Robert", amount=50, **known)
        assert (state, text) == ("input-required", "Okay lets transfer money")
        assert slots["payee_name"] == "Robert"
        state, text, slots = say(client, "1234567")
        assert state == "input-required"
        assert text.startswith("An immediate payment of $50.0 to Robert will be processed.")
        assert slots["account_from"] == "1234567"
        state, text, slots = say(client, "yes")
        assert (state, "successfully processed" in text) == ("completed", True)
        assert "payee_name" not in slots


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        ("starterpack-telco-en", "understand_bill"),
        ("rasa-quickstart", "add_contact"),
        ("calm-summit-masterclass-assistant", "replace_eligible_card"),
    ],
)
def test_other_projects_are_served(shared: Path, run_mock: "RunMock", name: str, flow: str) -> None:
    with run_mock(shared / "projects" / name, "--relax") as mock:
        card = mock.client.get(".well-known/agent-card.json").json()
        skills = [skill["id"] for skill in card["skills"]]
        assert flow in skills
