"""Mermaid's own parser as the referee of `a2a-mock graph`, from the npm registry."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mock_server.cli import main
from mock_server.diagrams import Arrow, Chart, Node, NodeKind, as_mermaid

if TYPE_CHECKING:
    from tests.interop.conftest import Install

REQUIREMENT = "mermaid@11.4.1"
# Without a browser there is nothing to purify; the parser asks for it all the same.
PARSE = """
import DOMPurify from 'dompurify';
import mermaid from 'mermaid';
import { readFileSync } from 'fs';
DOMPurify.addHook = () => {};
DOMPurify.sanitize = (text) => text;
const verdicts = [];
for (const text of JSON.parse(readFileSync(0, 'utf8'))) {
  try { verdicts.push((await mermaid.parse(text)).diagramType); }
  catch (error) { verdicts.push(String(error.message)); }
}
console.log(JSON.stringify(verdicts));
"""
ODD = 'a "b" [c] {d} (e) |f| end; #quot; `g` <h>\n%% --> subgraph ünï'

Parse = Callable[[Sequence[str]], list[str]]


@pytest.fixture(scope="session")
def parse(install: "Install") -> Parse:
    """The kind of diagram that each text is, or what is wrong with it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not here")
    line = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    folder = install(REQUIREMENT, lambda folder: [[*line, "--prefix", str(folder), REQUIREMENT]])

    def judged(texts: Sequence[str]) -> list[str]:
        done = subprocess.run(
            [node, "--input-type=module", "--eval", PARSE],
            cwd=folder,
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        verdicts: list[str] = json.loads(done.stdout)
        return verdicts

    return judged


@pytest.mark.timeout(400)
def test_parser_tells_good_from_bad(parse: Parse) -> None:
    good, bad = parse(['flowchart TD\n  a["b"] --> c\n', 'flowchart TD\n  a["b --> c\n'])
    assert good == "flowchart-v2"
    assert bad.startswith("Parse error on line ")


@pytest.mark.timeout(400)
def test_no_text_of_a_flow_breaks_the_diagram(parse: Parse) -> None:
    nodes = tuple(Node(f"end {kind}", kind, ODD) for kind in NodeKind)
    arrows = tuple(Arrow(node.id, nodes[0].id, ODD) for node in nodes)
    chart = Chart(ODD, ODD, nodes, arrows)
    assert parse([as_mermaid([chart]), as_mermaid([chart, chart])]) == ["flowchart-v2"] * 2


@pytest.mark.shared
@pytest.mark.timeout(400)
def test_flows_of_real_assistants_are_diagrams(parse: Parse, shared: Path, tmp_path: Path) -> None:
    projects = [p for p in sorted((shared / "projects").iterdir()) if p.is_dir()]
    for project in projects:
        assert main(["graph", str(project), "--output", str(tmp_path / project.name)]) == 0
    texts = [file.read_text(encoding="utf-8") for file in sorted(tmp_path.rglob("*.mmd"))]
    assert len(texts) > len(projects)
    assert set(parse(texts)) == {"flowchart-v2"}
