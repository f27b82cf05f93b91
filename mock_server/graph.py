"""`a2a-mock graph`: the flows of a project as Mermaid or DOT text, or drawn by Graphviz."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mock_server.diagrams import Chart, as_dot, as_mermaid, chart_of
from mock_server.errors import GraphvizFailed, ProjectError, Severity
from mock_server.options import GraphOptions
from mock_server.printing import complain, print_bytes, print_lines
from mock_server.project.findings import suggestion
from mock_server.project.load import Project, load_assistant

EXIT_PROBLEMS = 1
EXIT_UNREADABLE = 2
ENDINGS = {"mermaid": ".mmd", "dot": ".dot", "svg": ".svg"}


def run(options: GraphOptions) -> int:
    """Draw the flows; 1: the project has no such flow, 2: it cannot be loaded."""
    try:
        project = load_assistant(options.project, environment=os.environ)
    except ProjectError as error:
        errors = (p for p in error.problems if p.severity is Severity.ERROR)
        complain(*errors)
        return EXIT_UNREADABLE
    flows = project.assistant.flows
    if options.flow is not None and options.flow not in flows:
        fix = suggestion(options.flow, flows)
        text = f"{options.project}: there is no flow {options.flow!r}"
        complain(f"{text}; {fix}" if fix else text)
        return EXIT_PROBLEMS
    charts = charts_of(project, options.flow)
    try:
        if options.output is not None:
            return _write(charts, options.format, options.output)
        # As bytes: a picture is UTF-8, whatever the terminal is.
        print_bytes(draw(charts, options.format))
    except GraphvizFailed as error:
        complain(f"--format svg: {error}")
        return EXIT_UNREADABLE
    return 0


def charts_of(project: Project, flow_id: str | None) -> tuple[Chart, ...]:
    """The chart of one flow, or of each that the project defines, patterns among them."""
    flows = project.assistant.flows
    if flow_id is not None:
        return (chart_of(flows[flow_id]),)
    return tuple(chart_of(flow) for flow in flows.values() if not _is_builtin(project, flow.id))


def draw(charts: Sequence[Chart], form: str) -> bytes:
    """All charts in one document of `form`, mermaid, dot or svg.

    Raises:
        GraphvizFailed: there is no `dot` to draw an SVG.
    """
    match form:
        case "mermaid":
            return as_mermaid(charts).encode()
        case "dot":
            return as_dot(charts).encode()
        case _:
            return _as_svg(as_dot(charts).encode())


def _as_svg(graph: bytes) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise GraphvizFailed(
            "Graphviz's program dot was not found; install the package graphviz, "
            "or take --format mermaid or --format dot"
        )
    drawn = subprocess.run([program, "-Tsvg"], input=graph, capture_output=True, check=False)
    if drawn.returncode:
        reason = drawn.stderr.decode(errors="replace").strip()
        raise GraphvizFailed(f"{program} ended with {drawn.returncode}: {reason}")
    return drawn.stdout


def _is_builtin(project: Project, flow_id: str) -> bool:
    """Whether the flow is Rasa's own, and so in none of the project's files."""
    file = project.assistant.flows[flow_id].location.file
    return not Path(file).is_relative_to(project.folder)


def _write(charts: Sequence[Chart], form: str, folder: Path) -> int:
    drawn = {folder / f"{chart.title}{ENDINGS[form]}": draw([chart], form) for chart in charts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, document in drawn.items():
            file.write_bytes(document)
    except OSError as error:
        complain(f"--output {folder}: cannot be written: {error.strerror}; name another one")
        return EXIT_UNREADABLE
    print_lines(*map(str, drawn))
    return 0
