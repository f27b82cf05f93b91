"""Faults read from JSON, and what is said of those that are none."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.model import Json
from mock_server.faults.effects import (
    CATALOGUE,
    KINDS,
    ConnectionReset,
    Delay,
    ForcedState,
    HttpStatus,
)
from mock_server.faults.fault import ArmedFaults, Draw, Fault, Fired, Subject, read_fault
from mock_server.faults.matching import OutgoingPush, ReceivedRequest
from mock_server.faults.tampering import UNTAMPERED, Tampering
from mock_server.tasks.task import TaskState


def read(value: Json) -> Fault:
    fault = read_fault(value)
    assert isinstance(fault, Fault), fault
    return fault


@pytest.mark.req("ADMIN-1")
def test_fault_is_read() -> None:
    fault = read(
        {
            "id": "slow",
            "match": {"method": "message/send", "headers": {"x-tenant": "acme"}},
            "effect": {"kind": "delay", "seconds": 2, "jitter_seconds": 0.5},
            "probability": 0.25,
            "count": 3,
        }
    )
    assert fault.effect == Delay(seconds=2, jitter_seconds=0.5)
    assert (fault.id, fault.probability, fault.count) == ("slow", 0.25, 3)


def test_effect_without_parameters_may_be_its_kind() -> None:
    assert read({"effect": "connection_reset"}).effect == ConnectionReset()


def test_parameters_are_typed() -> None:
    assert read({"effect": {"kind": "http_status", "status": 503}}).effect == HttpStatus(status=503)
    state = read({"effect": {"kind": "task_state", "state": "auth_required"}}).effect
    assert state == ForcedState(state=TaskState.AUTH_REQUIRED)


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "effect: field required"),
        (3, "input should be an object"),
        ({"effect": "delay"}, "effect.seconds: field required"),
        (
            {"effect": {"kind": "delay", "seconds": "2"}},
            "effect.seconds: input should be a valid number",
        ),
        (
            {"effect": {"kind": "delay", "seconds": -1}},
            "effect.seconds: input should be greater than or equal to 0",
        ),
        (
            {"effect": "push_lost", "match": {"text": "a"}},
            "a push notification has no text to match",
        ),
        ({"effect": "wrong_id", "match": {"state": "working"}}, "a request has no state to match"),
        (
            {"effect": "wrong_id", "match": {"text": "("}},
            "match.text: not a regular expression: "
            "missing ), unterminated subpattern at position 0",
        ),
        (
            {"effect": "wrong_id", "match": {"tekst": "a"}},
            "match.tekst: extra inputs are not permitted",
        ),
        ({"effect": "wrong_id", "count": 0}, "count: input should be greater than or equal to 1"),
        ({"effect": "wrong_id", "probability": 0}, "probability: input should be greater than 0"),
        (
            {"effect": {"kind": "lying_card", "merge": {}}},
            "effect.merge: dictionary should have at least 1 item after validation, not 0",
        ),
    ],
)
def test_problem_names_its_place(value: Json, problem: str) -> None:
    problems = read_fault(value)
    assert not isinstance(problems, Fault)
    assert [*map(str, problems)] == [problem]


def test_unknown_effect_lists_the_known_ones() -> None:
    (problem,) = (read_fault({"effect": "dely"}),)
    assert not isinstance(problem, Fault)
    assert "'dely'" in str(problem[0])
    assert all(kind in str(problem[0]) for kind in KINDS)


def test_every_problem_is_reported_at_once() -> None:
    problems = read_fault({"effect": "delay", "count": 0, "often": True})
    assert not isinstance(problems, Fault)
    assert {problem.path[0] for problem in problems} == {"effect", "count", "often"}


def test_every_effect_reaches_somewhere() -> None:
    assert {effect.model_fields["kind"].default for effect in CATALOGUE if effect.reach} == set(
        KINDS
    )


SEND = ReceivedRequest("POST", "/", {}, method="message/send", context_id="c1", text="hello")
DELIVERY = OutgoingPush("t1", "c1", TaskState.COMPLETED)


def fault(value: Json) -> Fault:
    read = read_fault(value)
    assert isinstance(read, Fault), read
    return read


def seeded(fault_id: str) -> Draw:
    return random.Random(fault_id).random


def armed(*values: Json, fired: list[tuple[Fired, Subject]] | None = None) -> ArmedFaults:
    hits = [] if fired is None else fired
    return ArmedFaults(
        map(fault, values), seeded, lambda hit, by: hits.append((hit, by)), lambda _, __: None
    )


def ids(hits: Iterable[Fired]) -> list[str]:
    return [hit.fault_id for hit in hits]


@pytest.mark.req("ADMIN-1")
def test_all_that_match_hit_in_the_order_of_arming() -> None:
    faults = armed(
        {"effect": "wrong_id", "id": "b"},
        {"effect": "malformed_json", "id": "a"},
        {"effect": "wrong_id", "id": "c", "match": {"context": "c2"}},
    )
    assert ids(faults.fire(SEND)) == ["b", "a"]


@pytest.mark.req("ADMIN-1")
def test_count_bounds_the_hits() -> None:
    faults = armed({"effect": "wrong_id", "id": "twice", "count": 2})
    assert [bool(faults.fire(SEND)) for _ in range(4)] == [True, True, False, False]
    assert faults.by_id["twice"].fired == 2


@pytest.mark.req("ADMIN-1")
@given(st.floats(min_value=0.05, max_value=1), st.integers(1, 20))
def test_seeded_chance_repeats_itself(probability: float, count: int) -> None:
    value: Json = {"effect": "wrong_id", "id": "x", "probability": probability, "count": count}
    first, second = armed(value), armed(value, {"effect": "malformed_json", "probability": 0.5})
    course = [ids(first.fire(SEND)) for _ in range(40)]
    assert course == [[i for i in ids(second.fire(SEND)) if i == "x"] for _ in range(40)]
    assert sum(map(len, course)) <= count


def test_effect_is_tried_only_where_it_can_show() -> None:
    faults = armed(
        {"effect": "truncated_stream", "count": 1},
        {"effect": "stuck_working"},
        {"effect": {"kind": "lying_card", "merge": {"name": "x"}}},
        {"effect": "wrong_id"},
        {"effect": "push_lost"},
        {"effect": "slow_dribble"},
    )
    card = ReceivedRequest("GET", "/.well-known/agent-card.json", {})
    get = ReceivedRequest("POST", "/", {}, method="tasks/get")
    stream = ReceivedRequest("POST", "/", {}, method="message/stream")
    assert ids(faults.fire(card)) == ["fault-3", "fault-6"]
    assert ids(faults.fire(get)) == ["fault-4", "fault-6"]
    assert ids(faults.fire(SEND)) == ["fault-2", "fault-4", "fault-6"]
    assert ids(faults.fire(stream)) == ["fault-1", "fault-2", "fault-4", "fault-6"]


def test_fault_of_the_same_id_is_replaced() -> None:
    faults = armed({"effect": "wrong_id", "id": "x", "count": 1})
    faults.fire(SEND)
    faults.arm(fault({"effect": "malformed_json", "id": "x"}))
    assert [hit.effect.kind for hit in faults.fire(SEND)] == ["malformed_json"]


def test_given_ids_pass_over_those_that_are_taken() -> None:
    faults = armed({"effect": "wrong_id", "id": "fault-1"})
    assert faults.arm(fault({"effect": "wrong_id"})).id == "fault-2"


def test_reset_arms_the_initial_ones_again() -> None:
    faults = armed({"effect": "wrong_id", "count": 1})
    faults.fire(SEND)
    faults.arm(fault({"effect": "malformed_json"}))
    faults.reset()
    assert ids(faults.fire(SEND)) == ["fault-1"]


def test_renewed_initial_ones_take_the_place_of_the_others() -> None:
    initial: Json = {"effect": "wrong_id", "id": "old", "count": 1}
    faults = armed(initial)
    faults.fire(SEND)
    faults.arm(fault({"effect": "malformed_json", "id": "by-hand"}))
    faults.renew([fault(initial)])
    assert ids(faults.fire(SEND)) == ["by-hand"]
    faults.renew([fault({"effect": "wrong_context_id", "id": "new"})])
    assert [*faults.by_id] == ["by-hand", "new"]
    faults.reset()
    assert [*faults.by_id] == ["new"]


def test_disarmed_fault_hits_no_more() -> None:
    faults = armed({"effect": "wrong_id"})
    assert faults.disarm("fault-1")
    assert not faults.disarm("fault-1")
    assert faults.fire(SEND) == ()


@pytest.mark.req("ADMIN-2")
def test_hits_are_reported_with_what_they_hit() -> None:
    hits: list[tuple[Fired, Subject]] = []
    faults = armed({"effect": "wrong_id"}, {"effect": "push_lost"}, fired=hits)
    faults.fire(SEND)
    faults.tamper(DELIVERY)
    assert [(hit.fault_id, by) for hit, by in hits] == [("fault-1", SEND), ("fault-2", DELIVERY)]


@pytest.mark.req("ADMIN-1")
def test_tampering_takes_all_hits_together() -> None:
    faults = armed(
        {"effect": {"kind": "push_late", "seconds": 2}},
        {"effect": {"kind": "push_late", "seconds": 1, "jitter_seconds": 1}},
        {"effect": {"kind": "push_duplicated", "times": 3}},
        {"effect": "push_reordered"},
        {"effect": {"kind": "push_wrong_token", "token": "x"}},
        {"effect": "push_lost", "match": {"state": "working"}},
    )
    made = faults.tamper(DELIVERY)
    assert 3 <= made.delay_seconds < 4
    assert made == Tampering(delay_seconds=made.delay_seconds, copies=3, token="x", is_held=True)
    assert faults.tamper(OutgoingPush("t1", "c1", TaskState.WORKING)).is_lost


def test_without_faults_a_push_notification_is_left_alone() -> None:
    assert armed().tamper(DELIVERY) == UNTAMPERED
    assert armed({"effect": "wrong_id"}).tamper(DELIVERY) == UNTAMPERED
