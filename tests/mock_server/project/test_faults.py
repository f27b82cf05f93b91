"""`mock.yml: faults`."""

import pytest

from mock_server.faults.effects import ConnectionReset, HttpStatus
from mock_server.project.findings import Findings
from mock_server.project.mock_file import read_mock_file
from mock_server.project.nodes import parse


def problems(text: str) -> list[str]:
    found = Findings()
    read_mock_file(parse("mock.yml", text, found), {}, found)
    return [str(problem).partition("; ")[0] for problem in found.problems]


@pytest.mark.req("ADMIN-1")
def test_faults_are_read_in_order() -> None:
    found = Findings()
    text = """\
faults:
  - id: down
    match: {method: message/send}
    effect: {kind: http_status, status: 503}
    count: 2
  - effect: connection_reset
"""
    mock = read_mock_file(parse("mock.yml", text, found), {}, found)
    assert found.problems == []
    assert [fault.effect for fault in mock.faults] == [HttpStatus(status=503), ConnectionReset()]
    assert (mock.faults[0].id, mock.faults[0].match.method) == ("down", "message/send")


@pytest.mark.req("ADMIN-1")
def test_problems_have_their_line() -> None:
    text = """\
faults:
  - id: down
    match:
      methd: message/send
    effect:
      kind: http_status
      status: 99
  - effect: {kind: delay}
    often: true
  - nothing
  - match: {text: "("}
    effect: push_lost
  - {id: down, effect: wrong_id}
  - {id: down, effect: wrong_id}
"""
    assert problems(text) == [
        "mock.yml:4: mock.fault: faults.match.methd: extra inputs are not permitted",
        "mock.yml:7: mock.fault: faults.effect.status: input should be greater than or equal "
        "to 200",
        "mock.yml:8: mock.fault: faults.effect.seconds: field required",
        "mock.yml:9: mock.fault: faults.often: extra inputs are not permitted",
        "mock.yml:10: mock.fault: faults: input should be an object",
        "mock.yml:11: mock.fault: faults.match.text: no regular expression: missing ), "
        "unterminated subpattern at position 0",
        "mock.yml:14: mock.fault: a second fault has the id 'down'",
    ]


@pytest.mark.parametrize("text", ["faults: []", "faults:"])
def test_no_faults_are_no_problem(text: str) -> None:
    assert problems(text) == []


def test_faults_are_a_list() -> None:
    assert problems("faults: {effect: wrong_id}") == [
        "mock.yml:1: yaml.type: faults: found a mapping, expected a list"
    ]
