"""`a2a-mock check`: every problem of a project, as `file:line: code: text`."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mock_server.errors import Problem, ProjectError, Severity
from mock_server.options import CheckOptions
from mock_server.printing import print_lines
from mock_server.project.load import load_assistant, sorted_problems

EXIT_PROBLEMS = 1
EXIT_UNREADABLE = 2
UNREADABLE = frozenset({"project.folder"})


def run(options: CheckOptions) -> int:
    """Print the problems of a project; 0: none, 1: some, 2: there is no such project."""
    problems = problems_of(options.project, os.environ)
    if options.json:
        print_lines(json.dumps([_as_json(problem) for problem in problems], indent=2))
    else:
        print_lines(*map(_line, problems), _summary(problems))
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if any(problem.code in UNREADABLE for problem in errors):
        return EXIT_UNREADABLE
    return EXIT_PROBLEMS if errors else 0


def problems_of(folder: Path, environment: Mapping[str, str]) -> tuple[Problem, ...]:
    """Every problem of the project in `folder`, by file and line."""
    try:
        project = load_assistant(folder, environment=environment)
    except ProjectError as error:
        return error.problems
    return sorted_problems((*project.faults, *project.warnings))


def _line(problem: Problem) -> str:
    return f"{problem} (warning)" if problem.severity is Severity.WARNING else str(problem)


def _as_json(problem: Problem) -> dict[str, str | int]:
    return {
        "file": problem.location.file,
        "line": problem.location.line,
        "code": problem.code,
        "severity": problem.severity.value,
        "text": problem.text,
        "mend": problem.fix,
    }


def _summary(problems: Sequence[Problem]) -> str:
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    warnings = len(problems) - errors
    if not problems:
        return "no problems"
    return f"{_counted(errors, 'problem')}, {_counted(warnings, 'warning')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
