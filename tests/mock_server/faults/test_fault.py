"""Faults read from JSON, and what is said of those that are none."""

import pytest

from mock_server.dialogue.model import Json
from mock_server.faults.effects import ConnectionReset, Delay, ForcedState, HttpStatus
from mock_server.faults.fault import Fault, read_fault
from mock_server.faults.reach import REACH
from mock_server.faults.reference import KINDS
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
            "match.text: no regular expression: missing ), unterminated subpattern at position 0",
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


def test_unknown_effect_is_told_of_those_that_there_are() -> None:
    (problem,) = (read_fault({"effect": "dely"}),)
    assert not isinstance(problem, Fault)
    assert "'dely'" in str(problem[0])
    assert all(kind in str(problem[0]) for kind in KINDS)


def test_every_problem_is_told_at_once() -> None:
    problems = read_fault({"effect": "delay", "count": 0, "often": True})
    assert not isinstance(problems, Fault)
    assert {problem.path[0] for problem in problems} == {"effect", "count", "often"}


def test_every_effect_reaches_somewhere() -> None:
    assert {effect.model_fields["kind"].default for effect in REACH} == set(KINDS)
