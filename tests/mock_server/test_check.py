"""`a2a-mock check`."""

import json
from pathlib import Path

import pytest

from mock_server.check import problems_of
from mock_server.cli import main

BROKEN = """\
flows:
  pay:
    description: Pay a bill.
    steps:
      - collect: amuont
      - action: utter_don
      - action: utter_done
        next: [{if: amount > 5, then: END}, {else: END}]
"""
DOMAIN = """\
session_config: {start_session_after_expiry: false}
slots: {amount: {type: float}}
responses: {utter_done: [{text: "Paid {amount}."}]}
"""
GOOD = "flows: {pay: {description: Pay a bill., steps: [{action: utter_done}]}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "endpoints.yml").write_text("a2a_server: {description: x}", encoding="utf-8")
    return tmp_path


def test_three_mistakes_are_three_lines(folder: Path, capsys: pytest.CaptureFixture[str]):
    flows = folder / "data" / "flows.yml"
    flows.write_text(BROKEN, encoding="utf-8")
    assert main(["check", str(folder)]) == 1
    *lines, summary = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{flows}:5: flow.unknown_slot: step 'pay_0_collect_amuont' of flow 'pay' names slot "
        "'amuont'; the domain has 'amount'",
        f"{flows}:6: flow.unknown_response: step 'pay_1_action_utter_don' of flow 'pay' names "
        "response 'utter_don', which no domain file has; did you mean 'utter_done'?",
        f"{flows}:8: condition.no_namespace: flow 'pay' has condition 'amount > 5': 'amount' is "
        "neither in slots nor in context; write slots.amount",
    ]
    assert summary == "3 problems, 0 warnings"


def test_json_has_every_problem(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "data" / "flows.yml").write_text(BROKEN, encoding="utf-8")
    assert main(["check", str(folder), "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert [(problem["line"], problem["severity"]) for problem in problems] == [
        (5, "error"),
        (6, "error"),
        (8, "error"),
    ]
    assert set(problems[0]) == {"file", "line", "code", "severity", "text", "mend"}


def test_good_project_has_no_problems(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "data" / "flows.yml").write_text(GOOD, encoding="utf-8")
    assert main(["check", str(folder)]) == 0
    assert capsys.readouterr().out == "no problems\n"


def test_warnings_alone_are_no_failure(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "data" / "flows.yml").write_text(GOOD + "\npatterns: []\n", encoding="utf-8")
    assert main(["check", str(folder)]) == 0
    line, summary = capsys.readouterr().out.splitlines()
    assert line.endswith("a flow file has no key 'patterns' (warning)")
    assert summary == "0 problems, 1 warning"


def test_endpoints_that_are_no_yaml_are_one_problem(folder: Path):
    (folder / "data" / "flows.yml").write_text(GOOD, encoding="utf-8")
    (folder / "endpoints.yml").write_text("a2a_server: {description: x", encoding="utf-8")
    assert [problem.code for problem in problems_of(folder, {})] == ["yaml.syntax"]


def test_missing_folder_is_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(tmp_path / "nowhere")]) == 2
    assert "there is no such folder" in capsys.readouterr().out


# What is wrong with each public assistant, looked at one by one; an A2A server's own wishes aside.
TRUE_PROBLEMS = {
    "starterpack-retail-banking-en": [
        # The domain has `card`, and neither `card_number` nor `card_found`.
        ("actions/action_check_card_existence.py", 18, "action.unknown_slot"),
        ("actions/action_check_card_existence.py", 32, "action.unknown_slot"),
        ("actions/action_update_card_status.py", 18, "action.unknown_slot"),
        # `if: False`, and no other flow calls or links it.
        ("data/transfers/remove_payee.yml", 2, "flow.never_starts"),
        # Nothing collects `address`, `sort_code` or `payee_name_to_remove`.
        ("domain/cards/block_card.yml", 82, "response.unused"),
        # The flow human_handoff runs it; the pack's actions do not have it (flows.md §12).
        ("domain/human_handoff.yml", 3, "action.not_written"),
        ("domain/transfers/add_payee.yml", 23, "response.unused"),
        ("domain/transfers/remove_payee.yml", 8, "response.unused"),
    ],
    "starterpack-telco-en": [
        # `reset_after_flow_ends: true` is deprecated, and the default anyway.
        ("data/network/flow_reboot_router.yml", 8, "flow.deprecated_key"),
    ],
    "rasa-quickstart": [
        # `remove_contact_confirmation` is a text slot, where its sister of `add_contact` is bool.
        ("data/flows/remove_contact.yml", 11, "condition.type"),
    ],
    "calm-summit-masterclass-assistant": [
        # A left-over of Rasa's tutorial: `has_sufficient_funds` is not a slot.
        ("actions/actions.py", 22, "action.unknown_slot"),
        # `next: END` stands beside `then` of a branch, where nothing reads it.
        ("data/flows.yml", 26, "flow.branch_key"),
        ("data/flows.yml", 28, "flow.branch_key"),
    ],
}
A2A = "validation.a2a_server."


@pytest.mark.shared
@pytest.mark.parametrize(("name", "expected"), TRUE_PROBLEMS.items())
def test_only_true_problems_of_real_assistants_are_reported(
    shared: Path, name: str, expected: list[tuple[str, int, str]]
):
    folder = shared / "projects" / name
    found = [
        (str(Path(p.location.file).relative_to(folder)), p.location.line, p.code)
        for p in problems_of(folder, {})
    ]
    assert [problem for problem in found if not problem[2].startswith(A2A)] == expected
    assert sorted(code for _, _, code in found if code.startswith(A2A)) == [
        f"{A2A}incompatible_session_config",
        f"{A2A}missing_description",
    ]
