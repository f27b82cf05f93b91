"""Which flow a sentence asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.flow_matching import best, content_words, rank
from mock_server.dialogue.model import END, Flow


def flow(id: str, description: str = "", name: str | None = None) -> Flow:
    return Flow(id, name or id, description, {}, END)


FLOWS = (
    flow("transfer_money", "Send money to friends and family."),
    flow("check_balance", "Tell the balance of an account.", "check an account balance"),
    flow("list_payees", "Retrieve and display the list of authorised payees."),
    flow("add_payee", "Add a new payee to the user's account."),
    flow("block_card", "Block a card that is lost or stolen; stop its transactions."),
)


def matched(text: str) -> list[str]:
    return [match.flow.id for match in best(rank(text, FLOWS))]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("I want to transfer money", ["transfer_money"]),
        ("send 50 to Joe", ["transfer_money"]),
        ("I want to transfer $55.55 to Amy from checking right now", ["transfer_money"]),
        ("who are my payees", ["list_payees"]),
        ("I would like to add Brad as a payee", ["add_payee"]),
        ("payee", ["list_payees", "add_payee"]),
        ("the balance of my acccount, please", ["check_balance"]),
        ("my lost card", ["block_card"]),
        ("stop", []),
        ("How can we solve world hunger?", []),
        ("I want to", []),
        ("", []),
    ],
)
def test_sentence_asks_for_flows(text: str, ids: list[str]):
    assert matched(text) == ids


def test_essay_asks_for_no_flow():
    assert matched("transfer money " * 100) == []


def test_synonyms_and_forms_are_one_word():
    assert content_words("Show the users' payees") == content_words("display payee")


@given(st.text())
def test_scores_are_shares_and_descend(text: str):
    scores = [match.score for match in rank(text, FLOWS)]
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
