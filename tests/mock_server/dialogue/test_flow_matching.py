"""Which flow a sentence asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.assistant import FlowIndex
from mock_server.dialogue.flow_matching import FlowMatch, best, rank
from mock_server.dialogue.lexicon import content_words
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


INDEX = FlowIndex({flow.id: flow for flow in FLOWS})


def matched(text: str) -> list[str]:
    return [match.flow_id for match in best(rank(text, INDEX))]


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
    scores = [match.score for match in rank(text, INDEX)]
    assert all(0 < score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("word", "spellings"),
    [
        ("transfer", ("transfer",)),
        ("transfr", ("transfer",)),
        ("trransfer", ("transfer",)),
        ("tranfser", ("transfer",)),
        ("tranzfer", ("transfer",)),
        ("trnsfr", ()),
        ("crd", ()),
    ],
)
def test_word_is_spelled_almost_right(word: str, spellings: tuple[str, ...]):
    index = FlowIndex({"transfer_card": flow("transfer_card")})
    assert index.spellings(word) == spellings


VERBS = ("order", "cancel", "paint")
NOUNS = ("lamp", "table", "window", "cupboard")
CROWD = {f"{v}_{n}": flow(f"{v}_{n}", f"{v} one {n} please") for v in VERBS for n in NOUNS}
sentences = st.lists(
    st.sampled_from([*VERBS, *NOUNS, "oder", "tabel", "moon", "I", "want", "to", "a"]), max_size=6
).map(" ".join)


@given(sentences, st.frozensets(st.sampled_from([*CROWD])))
def test_what_is_left_out_could_not_be_among_the_best(text: str, closed: frozenset[str]):
    """With a flow that is never open nothing is left out: the whole of it is the referee."""

    def open_best(matches: tuple[FlowMatch, ...]) -> list[str]:
        return [match.flow_id for match in best([m for m in matches if m.flow_id not in closed])]

    index = FlowIndex(CROWD)
    pruned = rank(text, index, lambda flow_id: flow_id not in closed)
    whole = rank(text, index, lambda _: False)
    assert open_best(pruned) == open_best(whole)
    assert len(pruned) <= len(whole)


def test_rare_word_spares_the_look_at_flows_with_the_common_one():
    assert [match.flow_id for match in rank("order a lamp", FlowIndex(CROWD))] == [
        "order_lamp",
        "cancel_lamp",
        "paint_lamp",
    ]
