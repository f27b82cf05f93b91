"""`a2a-mock graph`."""

import shutil
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from mock_server.cli import main

FLOWS = """\
flows:
  pay_bill: {description: Pay a bill., steps: [{action: utter_done}]}
  pattern_completed: {steps: [{noop: true, next: END}]}
"""


NEEDS_DOT = pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz's dot is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text("responses: {utter_done: [{text: Done.}]}")
    (tmp_path / "data" / "flows.yml").write_text(FLOWS)
    return tmp_path


def test_flows_of_the_project_are_drawn(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(folder)]) == 0
    drawn = capfd.readouterr().out
    assert drawn.startswith("flowchart TD\n")
    assert drawn.count("subgraph") == 2
    assert '["pay_bill"]' in drawn
    assert '["pattern_completed"]' in drawn


@pytest.mark.parametrize("flow", ["pay_bill", "pattern_cancel_flow"])
def test_one_flow_may_be_drawn_also_a_default_pattern(
    folder: Path, capfd: pytest.CaptureFixture[str], flow: str
) -> None:
    assert main(["graph", str(folder), "--flow", flow]) == 0
    assert capfd.readouterr().out.startswith(f'---\ntitle: "{flow}"\n---\nflowchart TD\n')


def test_flows_may_be_a_graph_for_graphviz(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(folder), "--format", "dot"]) == 0
    drawn = capfd.readouterr().out
    assert drawn.startswith("digraph flows {\n")
    assert drawn.count("subgraph") == 2


@NEEDS_DOT
def test_svg_is_one_picture(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(folder), "--format", "svg"]) == 0
    assert fromstring(capfd.readouterr().out).tag == "{http://www.w3.org/2000/svg}svg"


def test_svg_without_graphviz_offers_the_two_texts(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert main(["graph", str(folder), "--format", "svg"]) == 2
    assert capsys.readouterr().err == (
        "--format svg: Graphviz's program dot was not found; install the package graphviz, "
        "or take --format mermaid or --format dot\n"
    )


def test_graphviz_that_fails_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = folder / "dot"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho out of memory >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert main(["graph", str(folder), "--format", "svg"]) == 2
    assert capsys.readouterr().err == f"--format svg: {program} ended with 3: out of memory\n"


@NEEDS_DOT
def test_each_flow_may_have_its_own_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = folder / "docs" / "flows"
    assert main(["graph", str(folder), "--format", "svg", "--output", str(output)]) == 0
    assert sorted(file.name for file in output.iterdir()) == [
        "pattern_completed.svg",
        "pay_bill.svg",
    ]
    assert str(output / "pay_bill.svg") in capsys.readouterr().out


def test_unknown_flow_is_exit_status_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(folder), "--flow", "pay_bil"]) == 1
    assert capsys.readouterr().err == (
        f"{folder}: there is no flow 'pay_bil'; did you mean 'pay_bill'?\n"
    )


def test_project_that_cannot_be_read_is_exit_status_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "domain.yml").write_text("slots: [")
    assert main(["graph", str(folder)]) == 2
    assert "yaml.syntax" in capsys.readouterr().err


@NEEDS_DOT
def test_real_projects_are_drawn(shared: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for project in sorted((shared / "projects").iterdir()):
        if project.is_dir():
            assert main(["graph", str(project), "--format", "svg"]) == 0
            assert fromstring(capfd.readouterr().out).tag.endswith("svg")
