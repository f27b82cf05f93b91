"""The end-to-end tests of assistants that nobody here wrote.

Their action servers and language models are elsewhere, so each has a `mock.yml` beside this file:
stubs for its actions, and rules for the sentences that need to be understood.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from mock_server.e2e.report import CaseOutcome, Report, as_lines
from mock_server.project.load import load_assistant
from mock_server.test import play_all, read_cases

MOCKS = Path(__file__).parent / "projects"
RETAIL = "starterpack-retail-banking-en"
TELCO = "starterpack-telco-en"
CONTACTS = "rasa-quickstart"
MASTERCLASS = "calm-summit-masterclass-assistant"


@dataclass(frozen=True)
class Expected:
    """What comes of a project's cases; names stand with their file, as `file: case`.

    `stubbed` pass with action stubs alone, `understood` need the rules of the mock.yml as well.
    """

    stubbed: frozenset[str]
    understood: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()


def transfers(*numbers: int) -> frozenset[str]:
    return frozenset(f"money_transfer: Money Transfer - Happy paths no{n}" for n in numbers)


EXPECTED = {
    RETAIL: Expected(
        stubbed=transfers(1)
        | {
            "balance_verification: various_tests_for_account_balance",
            "cancellations: conversation_repair_simple_cancellation",
            "cannot_handle: conversation_repair_cannot_handle",
            "clarification: conversation_repair_clarification",
            "main: A simple test scripts used in standard demos for Starterpack - Financial "
            "Services (en)",
            "payee_management: payee_management - Happy paths no1",
            "payee_management: payee_management - Happy paths no2",
            "payee_management: payee_management - Happy paths no3",
            "user_greeted: user is greeted by the assistant",
        },
        understood=transfers(2, 3, 4, 5, 6, 7, 8, 9, 10)
        | {
            "banking_questions: banking_questions - Happy paths no 1",
            "banking_questions: banking_questions - Happy paths no 2",
            "card_blocking: card_blocking - Happy paths no1",
            "card_blocking: card_blocking - Happy paths no2",
            "card_blocking: card_blocking - Happy paths no3",
            "chitchat: conversation_repair_chitchat",
            "completion: conversation_repair_completion",
            "corrections: conversation_repair_corrections",
            "digressions: conversation_repair_digressions",
            "human_handoff: conversation_repair_human_handoff",
            "skipping_collect_steps: conversation_repair_skipping_collect_step",
        },
    ),
    TELCO: Expected(
        stubbed=frozenset(
            {
                "billing_test_cases: billing happy path",
                "billing_test_cases: billing unhappy path",
                "internet_slow_test_case: solving_internet_issue_not_slow",
                "internet_slow_test_case: solving_internet_slow_issue",
            }
        ),
        understood=frozenset(
            {
                "global_test_cases: bot challenge and ask to connect to a human agent",
                "out_of_scope_test_case: out of scope topics",
            }
        ),
        skipped=frozenset({"patterns_test_cases: test pattern search"}),
    ),
    CONTACTS: Expected(
        stubbed=frozenset(
            {
                "user_adds_contact_to_their_list: user adds a contact to their list",
                "user_cancels_during_a_correction: user cancels adding a contact during the "
                "correction",
                "user_changes_mind_on_a_whim: user changes mind based on new info",
                "user_corrects_contact_handle: user corrects the handle",
                "user_corrects_contact_name: user corrects the handle",
                "user_lists_contacts: user lists their contacts",
                "user_removes_contact: user removes a contact",
            }
        ),
        understood=frozenset(
            {"user_removes_contact_from_list: user removes a contact using contact list"}
        ),
    ),
}


def without_understanding(name: str) -> str:
    """The text of a project's mock.yml, less its block `understand`."""
    mock = (MOCKS / name / "mock.yml").read_text(encoding="utf-8")
    return re.sub(r"^understand:\n(?:[ ].*\n|\n)*", "", mock, flags=re.MULTILINE)


def play(project: Path, mock: Path) -> Report:
    """The project's cases, as `a2a-mock test PROJECT --mock FILE` plays them."""
    loaded = load_assistant(project, environment={}, mock=mock)
    return play_all(loaded, read_cases(loaded, ()), warn=lambda _: None)


def by_outcome(report: Report) -> dict[CaseOutcome, set[str]]:
    names: dict[CaseOutcome, set[str]] = {outcome: set() for outcome in CaseOutcome}
    for result in report.results:
        file = Path(result.case.location.file).stem
        names[result.outcome].add(f"{file}: {result.case.name}")
    return names


@pytest.mark.parametrize("name", EXPECTED)
def test_cases_pass_as_they_are_or_with_a_mock_file(
    name: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, expected = shared / "projects" / name, EXPECTED[name]
    stubs = tmp_path / "mock.yml"
    stubs.write_text(without_understanding(name), encoding="utf-8")
    as_is = by_outcome(play(project, stubs))
    with_rules = by_outcome(play(project, MOCKS / name / "mock.yml"))
    assert as_is[CaseOutcome.PASSED] == expected.stubbed
    assert with_rules[CaseOutcome.PASSED] == expected.stubbed | expected.understood
    assert with_rules[CaseOutcome.SKIPPED] == expected.skipped
    assert with_rules[CaseOutcome.FAILED] == set()
    with capsys.disabled():
        cases = sum(map(len, with_rules.values()))
        sys.stdout.write(
            f"\n{name}: of {cases} cases {len(expected.stubbed)} pass as they are, "
            f"{len(expected.understood)} with the rules of a mock.yml, "
            f"{len(expected.skipped)} needs a judge, none fails\n"
        )


def test_counts_of_all_projects() -> None:
    counts = {
        name: tuple(map(len, (e.stubbed, e.understood, e.skipped))) for name, e in EXPECTED.items()
    }
    assert counts == {RETAIL: (10, 20, 0), TELCO: (4, 2, 1), CONTACTS: (7, 1, 0)}


def test_masterclass_has_no_cases(shared: Path) -> None:
    project = load_assistant(shared / "projects" / MASTERCLASS, environment={})
    assert read_cases(project, ()) == ()


def test_failing_case_prints_expected_came_and_trace(shared: Path, tmp_path: Path) -> None:
    stubs = tmp_path / "mock.yml"
    stubs.write_text(without_understanding(RETAIL), encoding="utf-8")
    lines = list(as_lines(play(shared / "projects" / RETAIL, stubs)))
    start = next(i for i, line in enumerate(lines) if line.endswith("corrections"))
    shown = "\n".join(lines[start : start + 30])
    assert "user: 67890123\n    expected  utter: utter_ask_timing  (line 10)" in shown
    assert 'came      slot_was_set: account_from = "67890123"' in shown
    assert "trace     ✗ slash: it does not begin with a slash" in shown
    assert "✓ text: account_from is asked and takes any text" in shown
