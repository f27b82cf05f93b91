"""Names that only the test file knows."""

from collections.abc import Callable

from mock_server.e2e.files import check_names
from mock_server.e2e.model import CaseFile
from mock_server.errors import Severity
from mock_server.project.findings import Findings
from mock_server.project.load import Project

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
