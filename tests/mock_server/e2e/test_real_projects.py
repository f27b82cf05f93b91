"""The end-to-end tests of assistants that nobody here wrote.

Their action servers and language models are elsewhere, so each has a `mock.yml` beside this file:
stubs for its actions, and rules for the sentences that need to be understood.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mock_server.e2e.report import Report, as_lines
from mock_server.e2e.results import Outcome
from mock_server.project.load import load_assistant
from mock_server.test import play_all, read_cases

MOCKS = Path(__file__).parent / "projects"
RETAIL = "starterpack-retail-banking-en"
TELCO = "starterpack-telco-en"
CONTACTS = "rasa-quickstart"
MASTERCLASS = "calm-summit-masterclass-assistant"

KNOWLEDGE = "expects a generated answer from a knowledge base"
NO_BOOL = "the flow wants a text slot to be true, which no text is"


@dataclass(frozen=True)
class Expected:
    """What comes of a project's cases; names stand with their file, as `file: case`.

    `stubbed` pass with action stubs alone, `understood` need the rules of the mock.yml as well;
    `customers` are for whom the bank's action server, by chance, took the user of a case.
    """

    stubbed: frozenset[str] = frozenset()
    understood: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    failed: dict[str, str] = field(default_factory=dict[str, str])
    customers: dict[str, str] = field(default_factory=dict[str, str])


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
        understood=transfers(2, 3, 4, 5, 6, 7, 8, 10)
        | {
            "card_blocking: card_blocking - Happy paths no2",
            "completion: conversation_repair_completion",
            "corrections: conversation_repair_corrections",
            "digressions: conversation_repair_digressions",
            "human_handoff: conversation_repair_human_handoff",
            "skipping_collect_steps: conversation_repair_skipping_collect_step",
        },
        failed={
            "banking_questions: banking_questions - Happy paths no 1": KNOWLEDGE,
            "banking_questions: banking_questions - Happy paths no 2": KNOWLEDGE,
            "card_blocking: card_blocking - Happy paths no1": KNOWLEDGE,
            "card_blocking: card_blocking - Happy paths no3": (
                "expects a correction of a slot that has just been emptied (flows.md §5)"
            ),
            "chitchat: conversation_repair_chitchat": KNOWLEDGE,
            "money_transfer: Money Transfer - Happy paths no9": (
                "expects the payee's name to outlive the flow that resets it, where "
                "digressions.yml expects to be asked for it"
            ),
        },
        customers={
            "cancellations: conversation_repair_simple_cancellation": "Dan Young",
            "completion: conversation_repair_completion": "Dan Young",
            "corrections: conversation_repair_corrections": "Dan Young",
            "human_handoff: conversation_repair_human_handoff": "Dan Young",
            "digressions: conversation_repair_digressions": "Mary Brown",
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
            }
        ),
        failed={
            "user_removes_contact: user removes a contact": NO_BOOL,
            "user_removes_contact_from_list: user removes a contact using contact list": NO_BOOL,
        },
    ),
}


def without_understanding(mock: str) -> str:
    """The text of a mock.yml, less its block `understand`."""
    return re.sub(r"^understand:\n(?:[ ].*\n|\n)*", "", mock, flags=re.MULTILINE)


def play(project: Path, mock: Path) -> Report:
    """The project's cases, as `a2a-mock test PROJECT --mock FILE` plays them."""
    loaded = load_assistant(project, environment={}, mock=mock)
    return play_all(loaded, read_cases(loaded, ()), warn=lambda _: None)


def by_outcome(report: Report) -> dict[Outcome, set[str]]:
    names: dict[Outcome, set[str]] = {outcome: set() for outcome in Outcome}
    for result in report.results:
        file = Path(result.case.location.file).stem
        names[result.outcome].add(f"{file}: {result.case.name}")
    return names


def play_as_customers(project: Path, mock: str, folder: Path, expected: Expected) -> set[str]:
    """The cases that pass for the customer whom each was recorded with."""
    passed: set[str] = set()
    for customer in ("John Smith", *sorted(set(expected.customers.values()))):
        file = folder / f"{customer}.yml"
        file.write_text(mock.replace("John Smith}", f"{customer}}}"), encoding="utf-8")
        names = by_outcome(play(project, file))[Outcome.PASSED]
        passed |= {n for n in names if expected.customers.get(n, "John Smith") == customer}
    return passed


@pytest.mark.parametrize("name", EXPECTED)
def test_cases_pass_as_they_are_or_with_a_mock_file(
    name: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, expected = shared / "projects" / name, EXPECTED[name]
    mock = (MOCKS / name / "mock.yml").read_text(encoding="utf-8")
    as_is = play_as_customers(project, without_understanding(mock), tmp_path, expected)
    assert as_is == expected.stubbed
    passed = play_as_customers(project, mock, tmp_path, expected)
    assert passed == expected.stubbed | expected.understood
    names = by_outcome(play(project, MOCKS / name / "mock.yml"))
    assert names[Outcome.SKIPPED] == expected.skipped
    assert names[Outcome.FAILED] - passed == set(expected.failed)
    with capsys.disabled():
        cases = sum(map(len, names.values()))
        sys.stdout.write(
            f"\n{name}: of {cases} cases {len(as_is)} pass as they are, {len(passed - as_is)} with "
            f"the rules of a mock.yml; {len(expected.skipped)} need a judge, "
            f"{len(expected.failed)} cannot pass\n"
        )


def test_counts_of_all_projects() -> None:
    counts = {
        name: tuple(map(len, (e.stubbed, e.understood, e.skipped, e.failed)))
        for name, e in EXPECTED.items()
    }
    assert counts == {RETAIL: (10, 14, 0, 6), TELCO: (4, 2, 1, 0), CONTACTS: (6, 0, 0, 2)}


def test_masterclass_has_no_cases(shared: Path) -> None:
    project = load_assistant(shared / "projects" / MASTERCLASS, environment={})
    assert read_cases(project, ()) == ()


def test_failing_case_prints_expected_came_and_trace(shared: Path) -> None:
    project = shared / "projects" / CONTACTS
    lines = list(as_lines(play(project, MOCKS / CONTACTS / "mock.yml")))
    start = next(i for i, line in enumerate(lines) if line.startswith("✗"))
    shown = "\n".join(lines[start : start + 20])
    assert "user: Yes\n    expected  utter: utter_remove_contact_success  (line 11)" in shown
    assert 'came      slot_was_set: remove_contact_confirmation = "true"' in shown
    assert "trace     ✗ slash: it does not begin with a slash" in shown
    assert "✓ button: the button 'Yes' sends '/SetSlots(remove_contact_confirmation=true)'" in shown
