"""Results as text, JSON and JUnit XML."""

import json
from collections.abc import Callable
from xml.etree.ElementTree import fromstring

import pytest

from mock_server.dialogue.commands import SetSlot
from mock_server.dialogue.events import CommandDropped, Warned
from mock_server.e2e.model import CaseFile
from mock_server.e2e.report import Report, as_json, as_lines, as_xml, trace_lines
from mock_server.project.load import Project
from mock_server.test import play_all

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
