"""The words that are understood without a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.lexicon import (
    CANCEL,
    CHITCHAT,
    CORRECTION,
    HUMAN,
    REPEAT,
    REQUEST,
    SKIP,
    clauses,
    normalized,
    stem,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("payees", "payee"),
        ("transferring", "transfer"),
        ("stopped", "stop"),
        ("balances", "balance"),
        ("contacts", "contact"),
        ("bill's", "bill"),
        ("companies", "company"),
        ("blocked", "block"),
        ("savings", "saving"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str):
    assert stem(one) == stem(other)


def test_short_words_keep_their_form():
    assert [stem(word) for word in ("is", "bus", "pass", "add", "e")] == [
        "is",
        "bus",
        "pass",
        "add",
        "e",
    ]


@given(st.text())
def test_normalized_is_idempotent(text: str):
    assert normalized(normalized(text)) == normalized(text)


def test_clauses_begin_with_the_whole():
    assert clauses("no, stop") == ("no, stop", "no", "stop")


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "cancel that",
        "please cancel",
        "sorry, i want to cancel that",
        "never mind",
        "forget about it",
        "i changed my mind",
        "i don't want to do this anymore",
        "can you stop this please",
    ],
)
def test_wish_to_stop_is_heard(text: str):
    assert CANCEL.fullmatch(text)


@pytest.mark.parametrize(
    "text", ["stop payment of bill 3 at once", "cancellation", "the stop sign"]
)
def test_mention_of_stopping_is_no_wish(text: str):
    assert not CANCEL.fullmatch(text)


@pytest.mark.parametrize("text", ["skip", "skip this question", "i'd rather not say", "pass"])
def test_wish_to_skip_is_heard(text: str):
    assert SKIP.fullmatch(text)


@pytest.mark.parametrize("text", ["repeat that", "sorry, what did you say", "again please"])
def test_wish_to_hear_it_again_is_heard(text: str):
    assert REPEAT.fullmatch(text)


@pytest.mark.parametrize("text", ["i want to talk to a human", "connect me with someone", "agent?"])
def test_wish_for_a_human_is_heard(text: str):
    assert HUMAN.search(text) or text == "agent?"


@pytest.mark.parametrize("text", ["hello", "good morning", "how are you", "thanks a lot", "bye"])
def test_small_talk_is_heard(text: str):
    assert CHITCHAT.fullmatch(text)


@pytest.mark.parametrize("text", ["no wait, i meant 65", "actually 5", "change it to 5"])
def test_correction_is_heard(text: str):
    assert CORRECTION.search(text)


@pytest.mark.parametrize("text", ["i want to pay", "who are my payees", "no, show me the list"])
def test_request_is_heard(text: str):
    assert REQUEST.search(text)


@pytest.mark.parametrize("text", ["electric company", "checking account", "my list"])
def test_value_is_no_request(text: str):
    assert not REQUEST.search(text)
