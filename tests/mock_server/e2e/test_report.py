"""Test cases that are played, and their results."""

import json
from collections.abc import Callable
from xml.etree.ElementTree import fromstring

import pytest

from mock_server.dialogue.commands import SetSlot
from mock_server.dialogue.model import Button
from mock_server.dialogue.state import (
    ActionExecuted,
    BotUttered,
    CommandDropped,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    Listened,
    SlotSet,
    SlotSource,
    UserUttered,
    Warned,
)
from mock_server.e2e.model import (
    ActionRuns,
    Assertion,
    BotSays,
    CaseFile,
    ClarificationOffers,
    Expectation,
    ExpectedButton,
    FlowEnds,
    FlowStarts,
    JudgeNeeded,
    SlotIsSet,
)
from mock_server.e2e.report import (
    SESSION_START,
    CaseOutcome,
    CaseResult,
    Report,
    as_json,
    as_lines,
    as_xml,
    failure_lines,
    play,
    spell,
    spell_event,
    trace_lines,
)
from mock_server.errors import NOWHERE
from mock_server.local_conversation import LocalConversation
from mock_server.project.load import Project
from mock_server.test import play_all

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
    assert [spell(e) for e in result.failure.missed] == [
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
    assert [spell(e) for e in result.failure.misplaced] == ["flow_started: pay_bill"]
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


TEXT = """\
stub_custom_actions:
  action_pay: {responses: [{text: "paid\\x01 <&>"}]}
test_cases:
  - test_case: passes
    steps: [{user: pay a bill}, {utter: utter_ask_amount}]
  - test_case: fails <&
    steps:
      - user: pay a bill
      - user: "5"
      - user: Pay
      - bot: never
  - test_case: is skipped
    steps: [{user: hi, assertions: [{generative_response_is_relevant: {threshold: 0.5}}]}]
"""
REASON = "generative_response_is_relevant: needs a language model as judge"


@pytest.fixture
def report(project: Project, read: Callable[..., tuple[CaseFile, tuple[str, ...]]]) -> Report:
    file, problems = read(TEXT)
    assert problems == ()
    results = play_all(project, file.cases, warn=lambda _: None).results
    return Report(results, (0.25, 0.5, 0.0))


def test_text_has_a_line_a_case_and_the_counts(report: Report) -> None:
    lines = list(as_lines(report))
    assert [line for line in lines if not line.startswith(" ")] == [
        "✓ t.yml:4 passes",
        "✗ t.yml:6 fails <&",
        "- t.yml:12 is skipped",
        "3 test cases: 1 passed, 1 failed, 1 skipped",
    ]
    assert f"    {REASON}" in lines


def test_failure_tells_what_was_expected_what_came_and_why(report: Report) -> None:
    lines = list(as_lines(report))
    assert lines[2:10] == [
        "    t.yml:10: user: Pay",
        '    expected  bot: "never"  (line 11)',
        "    came      slot_was_set: is_sure = true",
        '              bot: "paid\\u0001 <&>"',
        "              action_executed: action_pay",
        '              bot: "Paid.\\nThank you!" (utter_paid)',
        "              flow_completed: pay_bill at last",
        "              slot_was_set: amount = null",
    ]
    trace = next(i for i, line in enumerate(lines) if line.startswith("    trace     "))
    assert lines[trace] == "    trace     ✗ slash: it does not begin with a slash"
    assert "              → SetSlot(is_sure, true)" in lines[trace:]


def test_json_has_counts_and_every_case(report: Report) -> None:
    read_back = json.loads(json.dumps(as_json(report)))
    cases = read_back.pop("cases")
    assert read_back == {"passed": 1, "failed": 1, "skipped": 1}
    assert cases[0] == {
        "name": "passes",
        "file": "t.yml",
        "line": 4,
        "status": "passed",
        "seconds": 0.25,
    }
    failure = cases[1]["failure"]
    assert (failure["user"], failure["line"]) == ("Pay", 10)
    assert failure["expected"] == [{"text": 'bot: "never"', "line": 11}]
    assert "action_executed: action_pay" in failure["came"]
    assert "→ SetSlot(is_sure, true)" in failure["trace"]
    assert (cases[2]["status"], cases[2]["reason"]) == ("skipped", REASON)


def test_junit_has_a_suite_a_file_and_no_forbidden_character(report: Report) -> None:
    root = fromstring(as_xml(report))
    assert root.attrib == {
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "0.750000",
    }
    (suite,) = root
    assert suite.attrib["name"] == "t.yml"
    passes, fails, skipped = suite
    assert (passes.attrib["line"], list(passes)) == ("4", [])
    assert fails.attrib["name"] == "fails <&"
    (failure,) = fails
    assert failure.attrib["message"] == 'expected bot: "never"'
    assert "action_executed: action_pay" in (failure.text or "")
    assert skipped[0].attrib["message"] == REASON


def test_trace_tells_what_was_dropped_and_warned_of() -> None:
    events = (CommandDropped(SetSlot("amount", 5), "no flow asks"), Warned("beware"))
    assert list(trace_lines(events)) == [
        "→ SetSlot(amount, 5) is dropped: no flow asks",
        "! beware",
    ]


BUTTONS = (ExpectedButton("Yes", "/y"), ExpectedButton("No"))


@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        (BotSays(text='a "b"'), 'bot: "a \\"b\\""'),
        (BotSays(response="utter_a"), "utter: utter_a"),
        (BotSays(response="utter_a"), "bot_did_not_utter: utter_a"),
        (
            BotSays(pattern="^a", response="utter_a", buttons=BUTTONS),
            'bot_uttered: utter_name utter_a, text_matches "^a", buttons ["Yes" (/y), "No"]',
        ),
        (BotSays(pattern="é"), 'bot_did_not_utter: text_matches "é"'),
        (SlotIsSet("a"), "slot_was_set: a"),
        (SlotIsSet("a", None, has_value=True), "slot_was_set: a = null"),
        (SlotIsSet("a", "x", has_value=True), 'slot_was_not_set: a = "x"'),
        (FlowStarts(("a", "b")), "flow_started: a or b"),
        (FlowEnds("a", "s"), "flow_completed: a at s"),
        (FlowEnds("a", is_cancelled=True), "flow_cancelled: a"),
        (ClarificationOffers(("a", "b")), "pattern_clarification_contains: a, b"),
        (ClarificationOffers(("a", "b"), True), "pattern_clarification_contains: a or b"),
        (ActionRuns("act"), "action_executed: act"),
        (JudgeNeeded("generative_response_is_grounded"), "generative_response_is_grounded"),
    ],
)
def test_expectation_is_spelled_on_one_line(assertion: Assertion, words: str) -> None:
    assert spell(Expectation(assertion, NOWHERE, is_negated="_not_" in words)) == words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (BotUttered("a", response="utter_a"), 'bot: "a" (utter_a)'),
        (BotUttered("a", (Button("Yes", "/y"), Button("No", "/n"))), 'bot: "a" ["Yes", "No"]'),
        (SlotSet("a", 5.0, SlotSource.USER), "slot_was_set: a = 5.0"),
        (FlowStarted("a"), "flow_started: a"),
        (FlowCompleted("a", "s"), "flow_completed: a at s"),
        (FlowCancelled("a", "s"), "flow_cancelled: a at s"),
        (ActionExecuted("act"), "action_executed: act"),
        (ActionExecuted("act", {"action": "act"}), "action act failed"),
        (Listened(), None),
    ],
)
def test_event_is_spelled_as_it_would_be_asked_for(event: Event, words: str | None) -> None:
    assert spell_event(event) == words
