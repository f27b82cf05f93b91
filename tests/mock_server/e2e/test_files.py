"""Test files: found, read, and checked."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mock_server.dialogue.model import Json
from mock_server.e2e.files import Wanted, check_names, read_case_files, wanted_of
from mock_server.e2e.model import BotSays, CaseFile, SlotIsSet
from mock_server.errors import Location, Severity
from mock_server.project.findings import Findings
from mock_server.project.load import Project

CASE = "test_cases:\n- {test_case: %s, fixtures: [f], steps: [{user: x}]}\n"


@pytest.fixture
def tests(project: Project) -> Path:
    folder = project.folder / "tests"
    files = {
        "a.yml": CASE % "a",
        "deep/b.yaml": CASE % "b",
        "deep/deeper/c.yml": CASE % "c",
        "conftest.yml": "fixtures: [{f: {note: top}}]",
        "deep/conftest.yml": "fixtures: [{f: {note: near}}]",
        "nlu.yml": "nlu: []",
        "notes.txt": "test_cases: []",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def read(project: Project, *paths: str) -> tuple[dict[str, Json], list[str]]:
    """The value of `note` in each case by its name, and the problems."""
    found = Findings()
    wanted = wanted_of(project.folder, paths)
    files = read_case_files(project.folder, wanted, project.assistant, found)
    notes = {case.name: dict(case.slots).get("note") for file in files for case in file.cases}
    return notes, [str(problem) for problem in found.problems]


def test_all_test_files_of_the_project_are_found(project: Project, tests: Path) -> None:
    assert wanted_of(project.folder, ()) == (Wanted(tests),)
    assert read(project) == ({"a": "top", "b": "near", "c": "near"}, [])


def test_file_folder_or_case_may_be_asked_for(project: Project, tests: Path) -> None:
    assert read(project, str(tests / "a.yml"))[0] == {"a": "top"}
    assert read(project, str(tests / "deep"))[0] == {"b": "near", "c": "near"}
    assert read(project, f"{tests / 'deep'}::c")[0] == {"c": "near"}


def test_conftest_above_a_relative_path_counts(
    project: Project, tests: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tests / "deep")
    above = replace(project, folder=Path("../.."))
    assert read(above, "../a.yml", "b.yaml")[0] == {"a": "top", "b": "near"}
    (tests / "conftest.yml").write_text("fixtures: 5", encoding="utf-8")
    _, problems = read(above, "b.yaml")
    assert problems[0].startswith("../conftest.yml:1: ")


def test_conftest_beside_a_link_to_a_file_counts(project: Project, tests: Path) -> None:
    elsewhere = project.folder.parent / "elsewhere.yml"
    (tests / "a.yml").rename(elsewhere)
    (tests / "a.yml").symlink_to(elsewhere)
    assert read(project, str(tests / "a.yml"))[0] == {"a": "top"}


def test_conftest_counts_up_to_the_folder_that_was_named(project: Project, tests: Path) -> None:
    elsewhere = project.folder.parent / "elsewhere"
    tests.rename(elsewhere)
    assert read(project, str(elsewhere))[0] == {"a": "top", "b": "near", "c": "near"}
    _, problems = read(project, str(elsewhere / "deep" / "deeper" / "c.yml"))
    assert [problem.split(": ")[1] for problem in problems] == ["e2e.unknown_name"]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nlu.yml", "nlu.yml:1: e2e.no_cases: this file has no `test_cases`"),
        ("none.yml", "none.yml:0: e2e.no_file: there is no such file or folder"),
        ("a.yml::z", "a.yml:0: e2e.no_such_case: there is no test case 'z'"),
    ],
)
def test_path_without_a_case_is_a_problem(
    project: Project, tests: Path, path: str, problem: str
) -> None:
    assert read(project, f"{tests}/{path}") == ({}, [f"{tests}/{problem}"])


def test_file_that_is_no_yaml_is_a_problem(project: Project, tests: Path) -> None:
    (tests / "a.yml").write_text("test_cases: [", encoding="utf-8")
    _, problems = read(project)
    assert len(problems) == 1
    assert problems[0].startswith(f"{tests}/a.yml:1: yaml.syntax")


FULL = """\
fixtures:
  - known:
      - is_known: true
      - note: "1"
  - rich: {amount: 1000}
metadata:
  - phone: {device: phone, version: 1}
  - tablet: [{device: tablet}]
stub_custom_actions:
  action_pay: {events: [{event: slot, name: note, value: a}]}
  second::action_pay: {events: [{event: slot, name: note, value: b}]}
test_cases:
  - test_case: first
    fixtures: [known, rich]
    metadata: phone
    steps:
      - slot_was_set: [is_known]
      - user: yes
      - bot: How much?
      - utter: utter_ask_amount
      - slot_was_set:
          - note
          - amount: 5
          - is_sure: null
      - slot_was_not_set: [account]
      - user: 50
        metadata: tablet
        assertion_order_enabled: true
  - test_case: second
    steps: [{user: hello}]
"""
Reader = Callable[..., tuple[CaseFile, tuple[str, ...]]]


def test_steps_and_checks_are_read(read: Reader) -> None:
    file, problems = read(FULL)
    assert problems == ()
    first, second = file.cases
    assert (first.name, first.location, second.name) == ("first", Location("t.yml", 13), "second")
    assert [step.text for step in first.steps] == ["yes", "50"]
    assert [e.assertion for e in first.opening] == [SlotIsSet("is_known")]
    assert [(e.assertion, e.location.line) for e in first.steps[0].expectations] == [
        (BotSays(text="How much?"), 19),
        (BotSays(response="utter_ask_amount"), 20),
        (SlotIsSet("note"), 22),
        (SlotIsSet("amount", 5, has_value=True), 23),
        (SlotIsSet("is_sure", None, has_value=True), 24),
        (SlotIsSet("account"), 25),
    ]
    assert [e.is_negated for e in first.steps[0].expectations] == [*[False] * 5, True]
    assert [step.is_ordered for step in first.steps] == [False, True]


def test_fixtures_and_metadata_are_found_by_name(read: Reader) -> None:
    first, second = read(FULL)[0].cases
    assert first.slots == (("is_known", True), ("note", "1"), ("amount", 1000))
    assert second.slots == ()
    assert first.steps[0].metadata == {"device": "phone", "version": 1}
    assert first.steps[1].metadata == {"device": "tablet", "version": 1}


def test_stub_of_one_case_wins_over_that_of_the_file(read: Reader) -> None:
    first, second = read(FULL)[0].cases
    assert first.stubs["action_pay"].branches[0].slots == (("note", "a"),)
    assert second.stubs["action_pay"].branches[0].slots == (("note", "b"),)
    assert set(second.stubs) == {"action_pay"}


def test_fixtures_of_the_file_win_over_those_of_conftest(read: Reader) -> None:
    conftest = "fixtures: [{known: {note: far}}, {other: {note: o}}]\nllm_judge: {llm: {}}"
    text = """\
fixtures: [{known: {note: near}}]
test_cases:
  - {test_case: a, fixtures: [known], steps: [{user: x}]}
  - {test_case: b, fixtures: [other], steps: [{user: x}]}
"""
    file, problems = read(text, conftest)
    assert problems == ()
    assert [case.slots for case in file.cases] == [(("note", "near"),), (("note", "o"),)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("test_cases: [{steps: [{user: a}]}]", "t.yml:1: e2e.no_name: a test case needs a name"),
        ("- a", "t.yml:1: yaml.type: a test file: found a list, expected a mapping"),
        (
            "test_cases:\n- test_case: a\n  steps: [7]",
            "t.yml:3: yaml.type: a step: found 7 (a number), expected a mapping",
        ),
        ("fixtures: [5]\ntest_cases: []", "t.yml:1: yaml.type: an entry of fixtures: found 5"),
        (
            "fixtures: [{a: [5]}]\ntest_cases: []",
            "t.yml:1: yaml.type: fixtures 'a': found 5 (a number), expected a mapping",
        ),
        ("test_cases:\n- 5", "t.yml:2: yaml.type: a test case: found 5 (a number)"),
        ("test_cases:\n- {test_case: a}", "t.yml:2: e2e.no_steps: test case 'a' has no steps"),
        (
            "test_cases:\n- {test_case: a, steps: [{user: x}]}\n"
            "- {test_case: a, steps: [{user: x}]}",
            "t.yml:3: e2e.duplicate_case: test case 'a' occurs twice; first at t.yml:2",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - {bto: hi}",
            "t.yml:4: e2e.step: a step has bto; expected one of user, bot, utter",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - user:",
            "t.yml:4: yaml.type: user: found nothing, expected a text",
        ),
        (
            "test_cases:\n- test_case: a\n  fixtures: [knwon]\n  steps: [{user: x}]\n"
            "fixtures: [{known: {note: a}}]",
            "t.yml:3: e2e.unknown_name: there is no fixture 'knwon'; did you mean 'known'?",
        ),
        (
            "fixtures: [{a: {note: 1}}, {a: {note: 2}}]\ntest_cases: []",
            "t.yml:1: e2e.duplicate_name: fixtures: 'a' occurs twice",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - {user: x, asertions: []}",
            "t.yml:4: e2e.unknown_key: a user step has no key 'asertions'; did you mean 'asser",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - user: x\n  - slot_was_set: [[b]]",
            "t.yml:5: yaml.type: slot_was_set: found a list, expected a text",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - user: x\n    bot: y",
            "t.yml:5: e2e.unknown_key: a user step has no key 'bot'; expected one of user, metadat",
        ),
        (
            "test_cases:\n- {test_case: a, fixture: [b], steps: [{user: x}]}",
            "t.yml:2: e2e.unknown_key: test case 'a' has no key 'fixture'; did you mean 'fixtures",
        ),
        (
            "stub_custom_actions: {b::action_pay: {}}\n"
            "test_cases: [{test_case: a, steps: [{user: x}]}]",
            "t.yml:1: e2e.unknown_case: stub_custom_actions names test case 'b', which this file",
        ),
        (
            "stub_custom_actions: {action_pay: {evnts: []}}\ntest_cases: []",
            "t.yml:1: mock.unknown_key",
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(read: Reader, text: str, problem: str) -> None:
    _, problems = read(text)
    assert any(p.startswith(problem) for p in problems), problems


TEXT = """\
fixtures: [{known: {is_knwon: true, account: current}}]
stub_custom_actions:
  b::action_pya:
    - when: slots.amuont > 5
      events: [{event: slot, name: nte, value: 1}, {event: slot, name: account, value: current}]
      responses: [{text: "{x}", buttons: [{title: Pay, payload: "/SetSlots(amuont=1)"}]}]
test_cases:
  - test_case: a
    fixtures: [known]
    steps:
      - slot_was_set: [is_know]
      - user: x
        assertions:
          - flow_started: pay_bil
          - flow_completed: pay_bil
          - flow_cancelled: pay_bil
          - pattern_clarification_contains: [pay a bill, pay taxes, pay_tax]
          - action_executed: action_pya
          - action_executed: action_listen
          - action_executed: utter_paid
          - bot_uttered: {utter_name: utter_piad}
          - bot_did_not_utter: {text_matches: a}
          - slot_was_not_set: [amount]
          - generative_response_is_grounded: {}
"""


def test_each_unknown_name_is_a_warning_at_its_line(
    project: Project, read: Callable[..., tuple[CaseFile, tuple[str, ...]]]
) -> None:
    file, _ = read(TEXT)
    found = Findings()
    check_names(file, project.assistant, found)
    assert {p.severity for p in found.problems} == {Severity.WARNING}
    lines = [(p.location.line, p.code, p.fix) for p in found.problems]
    assert sorted(lines) == [
        (3, "e2e.unknown_action", "did you mean 'action_pay'?"),
        (5, "e2e.unknown_slot", "did you mean 'note'?"),
        (5, "mock.slot_value", ""),
        (8, "e2e.fixture_value", ""),
        (8, "e2e.unknown_slot", "did you mean 'is_known'?"),
        (11, "e2e.unknown_slot", "did you mean 'is_known'?"),
        (14, "e2e.unknown_flow", "did you mean 'pay_bill'?"),
        (15, "e2e.unknown_flow", "did you mean 'pay_bill'?"),
        (16, "e2e.unknown_flow", "did you mean 'pay_bill'?"),
        (17, "e2e.unknown_flow", "did you mean 'pay_taxes'?"),
        (18, "e2e.unknown_action", "did you mean 'action_pay'?"),
        (21, "e2e.unknown_response", "did you mean 'utter_paid'?"),
    ]
    assert [(p.location.line, p.code) for p in found.faults] == [
        (4, "condition.unknown_slot"),
        (6, "response.unknown_slot"),
    ]
