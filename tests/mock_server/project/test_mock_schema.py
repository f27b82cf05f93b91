"""The published schema of mock.yml, and whether it says what the reader says."""

from pathlib import Path

import pytest
from fastjsonschema import JsonSchemaException, compile

from mock_server.project import mock_schema
from mock_server.project.files import Sources
from mock_server.project.findings import Findings
from mock_server.project.load import assemble_sources
from mock_server.project.nodes import parse, plain

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "docs" / "reference" / "mock.schema.json"
VALID = compile(mock_schema.schema())

EXAMPLES = [
    "{}",
    'patterns_profile: "3.14"',
    "understand: [{match: x, commands: [CancelFlow()]}]",
    "understand: [{examples: [x], threshold: 0.5, commands: [CancelFlow()]}]",
    "llm: {base_url: 'http://localhost/v1', model: m, timeout_seconds: 3}",
    "actions: {action_pay: {}}",
    "actions: {action_pay: }",
    """
actions:
  action_pay:
    - when: slots.amount > 1
      events: [{event: slot, name: amount, value: null}]
      responses: [{text: Hi, buttons: [{title: A, payload: /restart}], image: i, custom: {a: 1}}]
      delay_seconds: 0.4
    - {stream: [a, b], chunk_delay_seconds: 0.1}
    - {fail: {status: 500, error: down}}
""",
    "unstubbed_actions: fail",
    "action_server: child",
    "action_server: {kind: child, python: .venv/bin/python, module: acts, timeout_seconds: 2}",
    "sub_agents: {a: [{say: Hi, wait: true}, {set: {amount: 5}, complete: true}, {fail: true}]}",
    "tools: {t: {result: {a: [1]}}, u: [{when: slots.amount, fail: true}, {result: 1}]}",
    "rejected_scope: always",
    "model: {file: a.tar.gz, id: b}",
    "faults: [{effect: push_lost, count: 1}]",
    "faults: []",
    "agents: []",
]
MISTAKES = [
    "actions: {action_pay: {fail: {status: bad}}}",
    "patterns_profil: x",
    'patterns_profile: "3.13"',
    "understand: [{match: x}]",
    "understand: [{match: x, commands: [CancelFlow()], threshold: 2}]",
    "llm: {model: m}",
    "actions: {action_pay: {evnts: []}}",
    "actions: {action_pay: {delay_seconds: -1}}",
    "actions: {action_pay: {fail: {code: 1}}}",
    "unstubbed_actions: nop",
    "action_server: chld",
    "action_server: {kind: child, timeout_seconds: 0}",
    "sub_agents: {a: [{sya: Hi}]}",
    "sub_agents: {a: Hi}",
    "tools: {t: {reslt: 1}}",
    "rejected_scope: sometimes",
    "model: {fil: x}",
    "faults: [{effect: {kind: nothing}}]",
    "agents: [x]",
]


def read(text: str) -> list[str]:
    """What the reader says of the file in a project that has slot `amount` and `action_pay`."""
    found = Findings()
    sources = Sources(
        domain={"domain.yml": "slots: {amount: {type: float}}\nactions: [action_pay]"},
        flows={"flows.yml": "flows: {f: {description: d, steps: [{action: action_pay}]}}"},
        mock={"mock.yml": text},
    )
    assemble_sources(sources, {}, found)
    return [str(problem) for problem in found.errors()]


def validate(text: str) -> None:
    node = parse("mock.yml", text, Findings())
    VALID({} if node is None else plain(node))


def test_published_schema_is_that_of_the_models() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == mock_schema.text(), "stale: run scripts/reference"


@pytest.mark.parametrize("text", EXAMPLES)
def test_what_is_right_is_right_for_schema_and_reader(text: str) -> None:
    assert read(text) == []
    validate(text)


@pytest.mark.parametrize("text", MISTAKES)
def test_what_is_wrong_is_wrong_for_schema_and_reader(text: str) -> None:
    assert read(text) != []
    with pytest.raises(JsonSchemaException):
        validate(text)


def test_bank_is_valid_and_names_the_schema() -> None:
    file = ROOT / "examples" / "bank" / "mock.yml"
    text = file.read_text(encoding="utf-8")
    validate(text)
    hint = text.splitlines()[1].removeprefix("# yaml-language-server: $schema=")
    assert (file.parent / hint).resolve() == SCHEMA
