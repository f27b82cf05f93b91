"""`a2a-mock new`."""

import json
from pathlib import Path

import pytest
from fastjsonschema import JsonSchemaException, compile

from mock_server.cli import main
from mock_server.new import schema, schema_text
from mock_server.options import example
from mock_server.project.files import Sources
from mock_server.project.findings import Findings
from mock_server.project.load import assemble_sources
from mock_server.project.nodes import parse, plain

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "reference" / "mock.schema.json"
VALID = compile(schema())

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


@pytest.mark.parametrize("name", ["minimal", "bank"])
def test_new_project_passes_check_and_test(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "deep" / "mine"
    assert main(["new", str(folder), "--template", name]) == 0
    *files, next_steps = capsys.readouterr().out.splitlines()
    assert str(folder / "domain.yml") in files or str(folder / "domain" / "session.yml") in files
    assert not [file for file in files if file.endswith("README.md")]
    assert next_steps == f"next: a2a-mock check {folder}, a2a-mock test {folder}"
    assert main(["check", str(folder)]) == 0
    assert capsys.readouterr().out == "no problems\n"
    assert main(["test", str(folder)]) == 0
    assert " 0 failed, 0 skipped" in capsys.readouterr().out


def test_editors_find_the_schema_of_the_new_mock_file(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path), "--template", "bank"]) == 0
    head = (tmp_path / "mock.yml").read_text(encoding="utf-8").splitlines()[1]
    assert head == "# yaml-language-server: $schema=mock.schema.json"
    schema = json.loads((tmp_path / "mock.schema.json").read_text(encoding="utf-8"))
    assert schema["title"] == "mock.yml of a2a-mock"


def test_empty_directory_is_filled(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path)]) == 0
    copied = {f.relative_to(tmp_path) for f in tmp_path.rglob("*") if f.is_file()}
    source = example("minimal")
    assert copied == {
        f.relative_to(source) for f in source.rglob("*") if f.is_file() and f.name != "README.md"
    }


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_overwritten(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine"
    if kind == "folder":
        target.mkdir()
    file = target / "kept" if kind == "folder" else target
    file.write_text("mine")
    assert main(["new", str(target)]) == 1
    assert file.read_text() == "mine"
    assert capsys.readouterr().err == (
        f"{target}: this is not an empty directory; name one that is empty or new\n"
    )


def test_place_that_cannot_be_written_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["new", str(tmp_path / "file" / "mine")]) == 1
    assert "this cannot be written: " in capsys.readouterr().err


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
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), "stale: run scripts/reference"


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
