"""The card as a reader wants it."""

import json
from functools import reduce
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm

from inspector.core.entries import Purpose
from inspector.views.card import (
    EMPTY,
    CardView,
    ChangeKind,
    card_changes,
    change_text,
    push_remark,
    step,
)
from inspector.views.reading import read_log
from inspector.wire.signatures import Verdict, canonical

if TYPE_CHECKING:
    from conftest import Script


CARD: dict[str, Any] = {
    "name": "Bank",
    "version": "1.2",
    "description": "A bank",
    "url": "http://a/",
    "protocolVersion": "0.3.0",
    "preferredTransport": "JSONRPC",
    "additionalInterfaces": [{"transport": "JSONRPC", "url": "http://a/"}],
    "capabilities": {"streaming": True, "pushNotifications": False},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "securitySchemes": {"jwt": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
    "security": [{"jwt": []}],
    "skills": [
        {"id": "transfer", "name": "T", "description": "d", "tags": ["flow"], "examples": ["e"]},
        {"id": "pattern_x", "name": "P", "description": "d", "tags": ["conversation-repair"]},
    ],
}


def fold(script: "Script", card: Any, *, status: int = 200) -> CardView | None:
    script.request(Purpose.CARD, "", None).respond(status)
    script.frame(card if isinstance(card, bytes) else json.dumps(card).encode()).end()
    view = reduce(step, read_log(script.entries), EMPTY)
    assert view.asked == {}
    return view.card


@pytest.mark.req("CARDV-1")
def test_a_card_is_rendered(script: "Script") -> None:
    card = fold(script, CARD)
    assert card is not None
    assert (card.name, card.version, card.url) == ("Bank", "1.2", "http://a/")
    assert card.transports == (("JSONRPC", "http://a/"),)
    assert card.capabilities == (("streaming", True), ("pushNotifications", False))
    assert card.security == ("jwt: http bearer JWT",)
    assert card.skills[0].examples == ("e",)
    assert card.findings == ()
    assert json.loads(card.raw) == CARD


@pytest.mark.req("CARDV-2")
@pytest.mark.parametrize("sends", [True, False])
def test_it_is_told_what_no_push_means(script: "Script", sends: bool) -> None:
    card = fold(script, {**CARD, "capabilities": {"pushNotifications": sends}})
    assert card is not None
    assert (push_remark(card) is None) == sends


@pytest.mark.req("CARDV-2")
def test_repair_skills_are_apart(script: "Script") -> None:
    card = fold(script, CARD)
    assert card is not None
    assert [skill.is_repair for skill in card.skills] == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"skills": []}, "no skills: Rasa serves such a placeholder until its model has loaded"),
        ({"name": 5}, "expected string, found number"),
        ({"url": "http://0.0.0.0/"}, "no client can reach"),
        ({"url": "http://b/"}, "another origin than the card"),
        ({"url": "a:1", "additionalInterfaces": []}, "is not an http or https URL"),
        ({"preferredTransport": "GRPC", "additionalInterfaces": []}, "no JSON-RPC interface"),
    ],
)
@pytest.mark.req("CARDV-1", "CARDV-2")
def test_what_is_odd_is_found(script: "Script", change: Any, message: str) -> None:
    card = fold(script, {**CARD, **change})
    assert card is not None
    assert any(message in finding.message for finding in card.findings)


@pytest.mark.req("CARDV-1", "CONN-5")
def test_number_that_no_float_holds_is_found(script: "Script") -> None:
    body = json.dumps({**CARD, "x": 0}).replace('"x": 0', '"x": 1e999').encode()
    view = fold(script, body)
    assert view is not None
    assert view.findings[0].message == "1e999 is larger than any number that can be read"


def test_a_card_of_1_0_is_read(script: "Script") -> None:
    interface = {"url": "http://a/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
    card = fold(script, {"name": "Bank", "supportedInterfaces": [interface]})
    assert card is not None
    assert card.url == "http://a/"
    assert {finding.section for finding in card.findings} == {"A2A 1.0 §4.4.1"}


@pytest.mark.req("CARDV-1")
def test_another_card_remembers_the_one_before(script: "Script") -> None:
    first = fold(script, CARD)
    again = fold(script, CARD)
    assert first is not None
    assert again is not None
    assert (first.before, again.before) == (None, None)
    other = fold(script, {**CARD, "name": "New"})
    assert other is not None
    assert other.before is not None
    assert other.before.card == CARD
    same = fold(script, {**CARD, "name": "New"})
    assert same is not None
    assert same.before == other.before


@pytest.mark.req("CARDV-1")
def test_a_signature_is_judged_once_its_keys_have_come(script: "Script") -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    head = {"alg": "ES256", "jku": "http://a/"}
    token = jwt.api_jws.encode(canonical(CARD), key, "ES256", headers=head)
    protected, _, proof = token.split(".")
    card = fold(script, {**CARD, "signatures": [{"protected": protected, "signature": proof}]})
    assert card is not None
    assert [one.verdict for one in card.signatures] == [Verdict.UNVERIFIED]
    keys = {"keys": [ECAlgorithm.to_jwk(key.public_key(), as_dict=True)]}
    script.request(Purpose.KEYS, "", None).respond().frame(json.dumps(keys).encode()).end()
    card = reduce(step, read_log(script.entries), EMPTY).card
    assert card is not None
    assert [one.verdict for one in card.signatures] == [Verdict.VERIFIED]


def test_keys_without_a_card_are_kept(script: "Script") -> None:
    script.request(Purpose.KEYS, "", None).respond().frame(b'{"keys": []}').end()
    view = reduce(step, read_log(script.entries), EMPTY)
    assert (view.card, view.key_sets) == (None, {"http://a/": {"keys": []}})


@pytest.mark.parametrize(("body", "status"), [(b"<html>", 200), (b"[]", 200), (b"{}", 404)])
def test_what_is_no_card_is_left_out(script: "Script", body: bytes, status: int) -> None:
    assert fold(script, body, status=status) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def told(before: Any, after: Any) -> list[tuple[str, str]]:
    return [(change.kind.value, change.path) for change in card_changes(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"name": "a"}, {"name": "b"}, [("changed", "$.name")]),
        ({"name": "a"}, {"version": "b"}, [("added", "$.version"), ("removed", "$.name")]),
        ({"c": {"push": False}}, {"c": {"push": True}}, [("changed", "$.c.push")]),
        ({"n": 1}, {"n": True}, [("changed", "$.n")]),
        ({"x y": 1}, {"x y": []}, [("changed", "$['x y']")]),
        (
            {"skills": [{"id": "a", "name": "A"}, {"id": "b"}]},
            {"skills": [{"id": "c"}, {"id": "a", "name": "B"}]},
            [
                ("added", "$.skills['c']"),
                ("changed", "$.skills['a'].name"),
                ("removed", "$.skills['b']"),
            ],
        ),
        ({"skills": [{"id": "a"}, {"id": "b"}]}, {"skills": [{"id": "b"}, {"id": "a"}]}, []),
        ({"t": ["a"]}, {"t": ["a", "b"]}, [("added", "$.t[1]")]),
        (
            {"t": [{"id": "a"}, {"id": "a"}]},
            {"t": [{"id": "a"}]},
            [("removed", "$.t[1]")],
        ),
    ],
)
@pytest.mark.req("CARDV-1")
def test_changes(before: Any, after: Any, changes: list[tuple[str, str]]) -> None:
    assert told(before, after) == changes


@pytest.mark.req("CARDV-1")
@pytest.mark.parametrize(
    ("before", "after", "text"),
    [({}, {"n": 1}, "1"), ({"n": 1}, {}, "1"), ({"n": 1}, {"n": 2}, "1 → 2")],
)
def test_a_change_is_shown_by_what_was_and_what_is(before: Any, after: Any, text: str) -> None:
    [change] = card_changes(before, after)
    assert change_text(change, str) == text


@given(JSON)
def test_a_card_does_not_differ_from_itself(card: Any) -> None:
    assert card_changes(card, card) == ()


@given(JSON, JSON)
def test_the_way_back_has_the_same_changes(before: Any, after: Any) -> None:
    back = {
        ChangeKind.ADDED: ChangeKind.REMOVED,
        ChangeKind.REMOVED: ChangeKind.ADDED,
        ChangeKind.CHANGED: ChangeKind.CHANGED,
    }
    forth = {(change.path, back[change.kind]) for change in card_changes(before, after)}
    assert {(change.path, change.kind) for change in card_changes(after, before)} == forth
