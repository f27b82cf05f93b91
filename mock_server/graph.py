"""`a2a-mock graph`: the flows of a project as Mermaid text or SVG."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from mock_server.diagrams.chart import Chart, chart_of
from mock_server.diagrams.mermaid import as_mermaid, as_one_mermaid
from mock_server.diagrams.svg import as_svg
from mock_server.errors import ProjectError, Severity
from mock_server.printing import complain, print_bytes, print_lines
from mock_server.project.findings import suggestion
from mock_server.project.load import Project, load_assistant

EXIT_PROBLEMS = 1
EXIT_UNREADABLE = 2
ENDINGS = {"mermaid": ".mmd", "svg": ".svg"}


def run(arguments: argparse.Namespace) -> int:
    """Draw the flows; 1: the project has no such flow, 2: it cannot be loaded."""
    try:
        project = load_assistant(arguments.project, environment=os.environ)
    except ProjectError as error:
        errors = (p for p in error.problems if p.severity is Severity.ERROR)
        complain(*errors)
        return EXIT_UNREADABLE
    flows = project.assistant.flows
    if arguments.flow is not None and arguments.flow not in flows:
        mend = suggestion(arguments.flow, flows)
        text = f"{arguments.project}: there is no flow {arguments.flow!r}"
        complain(f"{text}; {mend}" if mend else text)
        return EXIT_PROBLEMS
    charts = charts_of(project, arguments.flow)
    if arguments.output is not None:
        return _write(charts, arguments.format, arguments.output)
    # As bytes: a picture is UTF-8, whatever the terminal is.
    print_bytes(draw(charts, arguments.format).encode())
    return 0


def charts_of(project: Project, flow_id: str | None) -> tuple[Chart, ...]:
    """The chart of one flow, or of each that the project defines, patterns among them."""
    flows = project.assistant.flows
    if flow_id is not None:
        return (chart_of(flows[flow_id]),)
    return tuple(chart_of(flow) for flow in flows.values() if not _is_builtin(project, flow.id))


def draw(charts: Sequence[Chart], form: str) -> str:
    """All charts in one document of `form`, mermaid or svg."""
    if form == "svg":
        return as_svg(charts)
    return as_mermaid(charts[0]) if len(charts) == 1 else as_one_mermaid(charts)


def _is_builtin(project: Project, flow_id: str) -> bool:
    """Whether the flow is none of the project's own, so that it has no place in its files."""
    file = project.assistant.flows[flow_id].location.file
    return not Path(file).is_relative_to(project.folder)


def _write(charts: Sequence[Chart], form: str, folder: Path) -> int:
    drawn = {folder / f"{chart.title}{ENDINGS[form]}": draw([chart], form) for chart in charts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in drawn.items():
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        complain(f"--output {folder}: this cannot be written: {error.strerror}; name another one")
        return EXIT_UNREADABLE
    print_lines(*map(str, drawn))
    return 0
