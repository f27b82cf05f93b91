"""Cases played against conversations."""

from collections.abc import Callable

import pytest

from mock_server.dialogue.events import UserUttered
from mock_server.e2e.model import CaseFile
from mock_server.e2e.report import (
    SESSION_START,
    CaseOutcome,
    CaseResult,
    failure_lines,
    play,
    spell,
)
from mock_server.local_conversation import LocalConversation
from mock_server.project.load import Project

Reader = Callable[..., tuple[CaseFile, tuple[str, ...]]]
Play = Callable[[str], CaseResult]


@pytest.fixture
def played(project: Project, read: Reader) -> Play:
    """The result of the one case of a test file."""

    def played(text: str) -> CaseResult:
        file, problems = read(text)
        assert problems == ()
        conversation = LocalConversation(project, warn=lambda _: None)
        return play(file.cases[0], conversation, project.assistant)

    return played


def test_case_without_a_miss_passes(played: Play) -> None:
    result = played("""\
test_cases:
  - test_case: a bill is paid
    steps:
      - user: pay a bill
      - utter: utter_ask_amount
      - user: "50"
      - bot: Pay 50.0?
      - user: Pay
        assertions:
          - flow_completed: {flow_id: pay_bill, flow_step_id: last}
""")
    assert (result.outcome, result.failure) == (CaseOutcome.PASSED, None)


def test_case_ends_at_the_first_turn_that_misses(played: Play) -> None:
    result = played("""\
test_cases:
  - test_case: a
    steps:
      - user: pay a bill
      - utter: utter_ask_account
      - slot_was_set: [{amount: 3}]
      - utter: utter_ask_amount
      - user: "50"
      - utter: utter_nothing
""")
    assert result.outcome is CaseOutcome.FAILED
    assert result.failure is not None
    assert (result.failure.said, result.failure.location.line) == ("pay a bill", 4)
    assert [spell(e.demand) for e in result.failure.missed] == [
        "utter: utter_ask_account",
        "slot_was_set: amount = 3",
    ]


def test_what_comes_in_another_order_is_told_from_what_is_absent(played: Play) -> None:
    result = played("""\
test_cases:
  - test_case: a
    steps:
      - user: pay a bill
        assertion_order_enabled: true
        assertions:
          - bot_uttered: {utter_name: utter_ask_amount}
          - flow_started: pay_bill
          - slot_was_set: [{name: account}]
""")
    assert result.failure is not None
    assert [spell(e.demand) for e in result.failure.misplaced] == ["flow_started: pay_bill"]
    lines = list(failure_lines(result.failure))
    assert lines[1:3] == [
        "expected  flow_started: pay_bill  (line 8; it came too early: assertion_order_enabled)",
        "expected  slot_was_set: account  (line 9)",
    ]


def test_fixture_value_is_what_its_slot_would_hold(project: Project, read: Reader) -> None:
    file, _ = read("""\
fixtures: [{rich: {amount: "1000", account: Savings, is_sure: perhaps}}]
test_cases: [{test_case: a, fixtures: [rich], steps: [{user: hi}]}]
""")
    conversation = LocalConversation(project, warn=lambda _: None)
    play(file.cases[0], conversation, project.assistant)
    slots = conversation.state.slots
    assert (slots["amount"], slots["account"], slots["is_sure"]) == (1000.0, "savings", "perhaps")


def test_fixture_holds_before_the_first_word(played: Play) -> None:
    text = """\
fixtures: [{known: {is_known: true, no_such_slot: 1}}]
test_cases:
  - test_case: a
    fixtures: [known]
    steps:
      - slot_was_set: [{is_known: true}]
      - user: pay taxes
      - utter: utter_ask_account
"""
    assert played(text).outcome is CaseOutcome.PASSED
    without = played(text.replace("    fixtures: [known]\n", ""))
    assert without.failure is not None
    assert without.failure.said == SESSION_START


def test_metadata_goes_with_the_message(project: Project, read: Reader) -> None:
    file, _ = read("""\
metadata: [{phone: {device: phone}}]
test_cases:
  - {test_case: a, metadata: phone, steps: [{user: hi, assertions: [{flow_started: x}]}]}
""")
    result = play(file.cases[0], LocalConversation(project, lambda _: None), project.assistant)
    assert result.failure is not None
    assert UserUttered("hi", {"device": "phone"}) in result.failure.turn.events


def test_case_that_needs_a_judge_is_skipped_unless_it_fails(played: Play) -> None:
    text = """\
test_cases:
  - test_case: a
    steps:
      - user: pay a bill
        assertions:
          - generative_response_is_grounded: {threshold: 0.9}
          - flow_started: pay_bill
"""
    assert played(text).outcome is CaseOutcome.SKIPPED
    assert played(text.replace("pay_bill", "pay_taxes")).outcome is CaseOutcome.FAILED
