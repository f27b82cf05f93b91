"""`mock.yml`."""

from collections.abc import Callable

import pytest

from mock_server.dialogue.assistant import RejectedScope, UnderstandRule
from mock_server.dialogue.model import Button
from mock_server.dialogue.outside import StubBranch, UnstubbedActions, Utterance
from mock_server.errors import Location
from mock_server.faults.effects import ConnectionReset, HttpStatus
from mock_server.project.findings import Findings
from mock_server.project.load import assemble
from mock_server.project.mock_file import MockFile, ModelEntry, read_mock_file
from mock_server.project.nodes import parse

Report = Callable[..., list[str]]


def read(text: str) -> MockFile:
    found = Findings()
    mock = read_mock_file(parse("mock.yml", text, found), {}, found)
    assert found.problems == []
    return mock


def test_defaults():
    mock = read("")
    assert (mock.settings.patterns_profile, mock.understand) == ("3.16", ())
    assert mock.settings.rejected_scope is RejectedScope.ONLY_WITHOUT_USER_FLOW
    assert mock.stubs.unstubbed is UnstubbedActions.NOOP


def test_settings_are_read():
    mock = read(
        "patterns_profile: '3.16'\nunstubbed_actions: fail\nrejected_scope: always\n"
        "action_server: stubs\nfaults: []\nagents:\nmodel: {file: a.tar.gz}\n"
    )
    assert mock.stubs.unstubbed is UnstubbedActions.FAIL
    assert mock.settings.rejected_scope is RejectedScope.ALWAYS
    assert mock.settings.model == ModelEntry(file="a.tar.gz", id=None)


def test_rules_are_read():
    mock = read(
        """\
understand:
  - match: "send (?P<sum>\\\\d+)"
    commands: [StartFlow(pay), "SetSlot(amount, {sum})"]
  - examples: [move money]
    threshold: 0.7
    commands: [StartFlow(pay)]
"""
    )
    first = UnderstandRule(
        ("StartFlow(pay)", "SetSlot(amount, {sum})"),
        match="send (?P<sum>\\d+)",
        location=Location("mock.yml", 2),
    )
    second = UnderstandRule(
        ("StartFlow(pay)",),
        examples=("move money",),
        threshold=0.7,
        location=Location("mock.yml", 4),
    )
    assert mock.understand == (first, second)


def test_stubs_are_read():
    mock = read(
        """\
actions:
  action_a:
    events: [{event: slot, name: x, value: 1}]
    responses:
      - {text: Hi., buttons: [{title: Yes}], image: i.png, custom: {a: 1}}
      - {response: utter_x, amount: 5}
      - {template: utter_y}
    delay_seconds: 0.5
  action_b:
    stream: ["a ", b]
    chunk_delay_seconds: 0.1
  action_c:
    - when: slots.x > 5
      fail: {status: 500, error: down}
    - {}
  action_d:
"""
    )
    stubs = {name: stub.branches for name, stub in mock.stubs.by_action.items()}
    assert stubs == {
        "action_a": (
            StubBranch(
                slots=(("x", 1),),
                utterances=(
                    Utterance("Hi.", (Button("Yes", "Yes"),), image="i.png", custom={"a": 1}),
                    Utterance(response="utter_x", arguments={"amount": 5}),
                    Utterance(response="utter_y"),
                ),
                delay_seconds=0.5,
            ),
        ),
        "action_b": (StubBranch(stream=("a ", "b"), chunk_delay_seconds=0.1),),
        "action_c": (StubBranch(when="slots.x > 5", fails=True), StubBranch()),
        "action_d": (StubBranch(),),
    }


@pytest.mark.parametrize(
    ("mock", "problem"),
    [
        ("undrstand: []", "mock.yml:1: mock.unknown_key: mock.yml has no key 'undrstand'; did you"),
        ("agents: [x]", "mock.yml:1: mock.not_supported: agents: this version does not"),
        ("action_server: chld", "mock.yml:1: mock.choice"),
        ("action_server: {kind: child, timeout_seconds: 0}", "mock.yml:1: mock.seconds"),
        ("action_server: {kid: child}", "mock.yml:1: mock.unknown_key"),
        ("patterns_profile: '3.13'", "mock.yml:1: mock.choice"),
        ("unstubbed_actions: maybe", "mock.yml:1: mock.choice"),
        ("rejected_scope: [x]", "mock.yml:1: yaml.type"),
        ("model: {fiel: x}", "mock.yml:1: mock.unknown_key"),
        ("model: {id: '${NO}'}", "mock.yml:1: config.unset_variable"),
        ("[]", "mock.yml:1: yaml.type"),
        ("understand: [x]", "mock.yml:1: yaml.type"),
        ("understand: [{match: x}]", "mock.yml:1: mock.rule"),
        ("understand: [{commands: []}]", "mock.yml:1: mock.rule"),
        ("understand: [{match: '(', commands: [CancelFlow()]}]", "mock.yml:1: mock.match"),
        ("understand: [{match: x, commands: [Cancel()]}]", "mock.yml:1: mock.command"),
        (
            "understand: [{match: x, commands: ['SetSlot(amount, {y})']}]",
            "mock.yml:1: mock.command",
        ),
        ("understand: [{match: x, commands: [StartFlow(pya)]}]", "mock.yml:1: flow.unknown_flow"),
        (
            "understand: [{match: x, commands: ['Clarify(pay, p)']}]",
            "mock.yml:1: flow.unknown_flow",
        ),
        ("understand: [{match: x, commands: ['SetSlot(a, 1)']}]", "mock.yml:1: flow.unknown_slot"),
        (
            "understand: [{examples: [x], threshold: 2, commands: [CancelFlow()]}]",
            "mock.yml:1: mock.threshold",
        ),
        ("actions: {action_pay: {evnts: []}}", "mock.yml:1: mock.unknown_key"),
        ("actions: {action_pay: {fail: {code: 1}}}", "mock.yml:1: mock.unknown_key"),
        (
            "actions: {action_pay: {fail: {status: bad}}}",
            "mock.yml:1: yaml.type: actions.action_pay.fail.status: ",
        ),
        ("actions: {action_pay: {delay_seconds: -1}}", "mock.yml:1: mock.seconds"),
        ("actions: {action_pay: {delay_seconds: .nan}}", "mock.yml:1: mock.seconds"),
        ("actions: {action_pay: {events: [{name: x}]}}", "mock.yml:1: mock.event"),
        ("actions: {action_pay: {events: [{event: slot}]}}", "mock.yml:1: mock.event"),
        ("actions: {action_pay: {events: [{event: pause}]}}", "warning mock.yml:1: mock.event"),
        (
            "actions: {action_pay: {events: [{event: slot, name: x}]}}",
            "mock.yml:1: flow.unknown_slot",
        ),
        ("actions: {action_pay: {responses: [x]}}", "mock.yml:1: yaml.type"),
        (
            "actions: {action_pay: {responses: [{response: x}]}}",
            "mock.yml:1: flow.unknown_response",
        ),
        ("actions: {action_pay: {when: slots.x}}", "mock.yml:1: condition.unknown_slot"),
        ("actions: {action_pay: [{}, {}]}", "warning mock.yml:1: mock.unreachable_branch"),
        ("actions: {action_pya: {}}", "warning mock.yml:1: mock.unknown_action"),
    ],
)
def test_mock_file_with_one_mistake_has_one_problem(report: Report, mock: str, problem: str):
    (found,) = report(mock=mock)
    assert found.startswith(problem)


@pytest.mark.parametrize(
    "mock",
    [
        "understand: [{match: x, commands: ['SetSlot(colour, blue)']}]",
        "actions: {action_pay: {events: [{event: slot, name: colour, value: blue}]}}",
        "sub_agents: {helper: [{say: Hi, set: {colour: blue}, complete: true}]}",
    ],
)
def test_value_that_a_slot_does_not_take_is_warned_of(report: Report, mock: str):
    (found,) = report(mock=mock)
    assert found.startswith("warning mock.yml:1: mock.slot_value: ")
    assert found.endswith("slot 'colour': found 'blue', expected one of red, green")
    assert report(mock=mock.replace("blue", "RED")) == []


def test_rule_may_start_the_flow_that_the_user_names(report: Report):
    rule = "{match: '(?P<flow>pay|send) (?P<c>.*)', commands: ['%s', 'SetSlot(colour, {c})']}"
    assert report(mock=f"understand: [{rule % 'StartFlow({flow})'}]") == []


def test_rules_and_branches_have_circumstances(report: Report):
    mock = read(
        """\
understand:
  - match: "^the usual$"
    when: slots.amount > 5
    commands: [StartFlow(pay)]
actions:
  action_pay: [{match: "fees?", when: slots.amount > 5}, {match: rates}, {}]
"""
    )
    (rule,) = mock.understand
    assert (rule.match, rule.when) == ("^the usual$", "slots.amount > 5")
    assert mock.stubs.by_action["action_pay"].branches == (
        StubBranch(match="fees?", when="slots.amount > 5"),
        StubBranch(match="rates"),
        StubBranch(),
    )


@pytest.mark.parametrize(
    ("mock", "problem"),
    [
        ("actions: {action_pay: {match: '('}}", "mock.yml:1: mock.match"),
        (
            "actions:\n  action_pay: [{}, {match: x}]",
            "warning mock.yml:2: mock.unreachable_branch",
        ),
        (
            "understand: [{match: x, when: slots.amuont, commands: [StartFlow(pay)]}]",
            "mock.yml:1: condition.unknown_slot",
        ),
        ("actions: {'a case::action_pya': {}}", "warning mock.yml:1: mock.unknown_action"),
    ],
)
def test_circumstances_are_checked(report: Report, mock: str, problem: str):
    (found,) = report(mock=mock)
    assert found.startswith(problem)


def test_stub_makes_a_default_action_the_projects_own():
    texts = {"mock.yml": "actions: {action_trigger_search: {responses: [{text: It is 5.}]}}"}
    assert "action_trigger_search" in assemble(texts).actions
    assert "action_trigger_search" not in assemble({}).actions


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
    faults = mock.settings.faults or []
    assert [fault.effect for fault in faults] == [HttpStatus(status=503), ConnectionReset()]
    assert (faults[0].id, faults[0].match.method) == ("down", "message/send")


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
        "mock.yml:11: mock.fault: faults.match.text: not a regular expression: missing ), "
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
