"""Stubs of custom actions, played."""

from dataclasses import replace

import pytest

from mock_server.actions.runner import ChunkStreamed, Paused, run_stub
from mock_server.dialogue.outside import (
    ActionResult,
    Stub,
    StubBranch,
    Stubs,
    UnstubbedActions,
    Utterance,
)
from mock_server.dialogue.state import DialogueState, Frame

STATE = DialogueState(slots={"amount": 5.0, "name": None}, initial_slots={})


def played(*branches: StubBranch) -> list[object]:
    return list(run_stub(Stubs({"action_x": Stub(branches)}), "action_x", STATE))


def test_delay_comes_before_the_result():
    branch = StubBranch(slots=(("a", 1),), utterances=(Utterance("done"),), delay_seconds=0.5)
    result = ActionResult(slots=(("a", 1),), utterances=(Utterance("done"),))
    assert played(branch) == [Paused(0.5), result]


@pytest.mark.req("OUT-2a")
def test_stream_is_uttered_in_the_end():
    assert played(StubBranch(stream=("a ", "b"), chunk_delay_seconds=0.1)) == [
        ChunkStreamed("a ", is_first=True, is_last=False),
        Paused(0.1),
        ChunkStreamed("b", is_first=False, is_last=True),
        ActionResult(utterances=(Utterance("a b"),)),
    ]


def test_first_branch_that_holds_is_taken():
    branches = (
        StubBranch(when="slots.amount > 10", slots=(("a", 1),)),
        StubBranch(when="slots.amount > 1", slots=(("a", 2),)),
        StubBranch(slots=(("a", 3),)),
    )
    assert played(*branches) == [ActionResult(slots=(("a", 2),))]


def test_no_branch_that_holds_does_nothing():
    assert played(StubBranch(when="slots.amount > 10", slots=(("a", 1),))) == [ActionResult()]


def test_condition_that_cannot_be_evaluated_does_not_hold():
    assert played(StubBranch(when="slots.name > 10", slots=(("a", 1),))) == [ActionResult()]


def failed(name: str, reason: str) -> ActionResult:
    return ActionResult(failure={"action": name}, warnings=(f"action '{name}' failed: {reason}",))


def test_failure_names_the_action_only():
    branch = StubBranch(fails=True, delay_seconds=1.0)
    assert played(branch) == [Paused(1.0), failed("action_x", "its stub says so")]


@pytest.mark.parametrize(
    ("policy", "result"),
    [
        (UnstubbedActions.NOOP, ActionResult()),
        (UnstubbedActions.FAIL, failed("action_y", "it has no stub")),
    ],
)
def test_action_without_a_stub(policy: UnstubbedActions, result: ActionResult):
    assert list(run_stub(Stubs({}, policy), "action_y", STATE)) == [result]


def test_branch_may_look_at_the_users_words_and_at_where_the_dialogue_stands():
    branches = (
        StubBranch(match="(?i)FEES", when="slots.amount > 10", slots=(("a", 1),)),
        StubBranch(match="(?i)FEES", when="context.active_flow = 'pay'", slots=(("a", 2),)),
        StubBranch(match="rates", slots=(("a", 3),)),
    )
    stubs = Stubs({"action_x": Stub(branches)})
    asking = replace(STATE, user_text="Any fees?", stack=(Frame("1", "pay", "x"),))
    assert list(run_stub(stubs, "action_x", asking)) == [ActionResult(slots=(("a", 2),))]
    assert list(run_stub(stubs, "action_x", replace(asking, user_text="fee"))) == [ActionResult()]
