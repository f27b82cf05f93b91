"""Test files as texts, and an assistant to test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mock_server.e2e.files import read_case_file, read_conftest
from mock_server.e2e.model import CaseFile, Expectation, Named
from mock_server.project.findings import Findings
from mock_server.project.load import Project, load_assistant
from mock_server.project.nodes import parse

DOMAIN = """\
slots:
  amount: {type: float}
  account: {type: categorical, values: [checking, savings]}
  note: {type: text}
  is_sure: {type: bool}
  is_known: {type: bool, mappings: [{type: controlled}]}
actions: [action_pay, action_session_start]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_ask_account: [{text: Which account?}]
  utter_ask_is_sure:
    - text: "Pay {amount}?"
      buttons:
        - {title: Pay, payload: /SetSlots(is_sure=true)}
        - {title: Leave it, payload: /SetSlots(is_sure=false)}
  utter_paid: [{text: "Paid.\\nThank you!"}]
"""
FLOWS = """\
flows:
  pay_bill:
    name: pay a bill
    description: Pay a bill.
    steps:
      - collect: amount
      - id: ask
        collect: is_sure
        ask_before_filling: true
      - action: action_pay
      - id: last
        action: utter_paid
        next: END
  pay_taxes:
    name: pay taxes
    description: Pay the taxes of a year.
    if: slots.is_known
    steps:
      - collect: account
  pattern_completed:
    steps: [{noop: true, next: END}]
"""


Read = tuple[CaseFile, tuple[str, ...]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "data" / "flows.yml").write_text(FLOWS, encoding="utf-8")
    return load_assistant(tmp_path, environment={})


@pytest.fixture
def read() -> Callable[..., Read]:
    """Read a test file below a conftest file; return what it says and what is wrong with it."""

    def read(text: str, conftest: str = "") -> Read:
        found = Findings()
        inherited: Named = read_conftest(parse("conftest.yml", conftest, found), found)
        root = parse("t.yml", text, found)
        assert root is not None
        file = read_case_file(root, inherited, found)
        return file, tuple(str(problem) for problem in found.problems)

    return read


@pytest.fixture
def expect(read: Callable[..., Read]) -> Callable[[str], tuple[Expectation, ...]]:
    """The expectations of one user step, from the lines below its `assertions:`."""

    def expect(assertions: str) -> tuple[Expectation, ...]:
        lines = "".join(f"          {line}\n" for line in assertions.splitlines())
        head = "test_cases:\n  - test_case: a\n    steps:\n      - user: x\n        assertions:\n"
        file, problems = read(head + lines)
        assert problems == ()
        (step,) = file.cases[0].steps
        return step.expectations

    return expect
