"""`a2a-mock test`: Rasa's end-to-end test files, played against a project without a network."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from mock_server.dialogue.outside import Stubs, UnstubbedActions, stubs_for_case
from mock_server.e2e.files import FOLDERS, read_case_files, wanted_of
from mock_server.e2e.model import Case
from mock_server.e2e.report import CaseOutcome, CaseResult, Report, as_json, as_lines, as_xml, play
from mock_server.errors import ActionServerFailed, Problem, ProjectError, Severity
from mock_server.local_conversation import STUBS_ONLY, Backend, LocalConversation, open_backend
from mock_server.options import CaseOptions
from mock_server.printing import complain, print_lines
from mock_server.project.findings import Findings
from mock_server.project.load import Project, load_assistant, sorted_problems

EXIT_FAILED = 1
EXIT_UNREADABLE = 2


def run(options: CaseOptions) -> int:
    """Play the cases; 0: none failed, 1: some did, 2: the project or the tests cannot be read."""
    try:
        project = load_assistant(options.project, environment=os.environ, mock=options.mock)
        cases = read_cases(project, options.paths)
    except ProjectError as error:
        _complain_of(error.problems)
        return EXIT_UNREADABLE
    if not cases:
        complain(_no_cases(options.project, options.paths))
        return EXIT_UNREADABLE
    try:
        report = _played(project, cases)
    except ActionServerFailed as error:
        complain(error)
        return EXIT_UNREADABLE
    try:
        if options.junit is not None:
            options.junit.write_text(as_xml(report), encoding="utf-8")
    except OSError as error:
        complain(f"{options.junit}: this cannot be written: {error.strerror}")
        return EXIT_UNREADABLE
    _write(report, options)
    return EXIT_FAILED if report.count(CaseOutcome.FAILED) else 0


def read_cases(project: Project, paths: Sequence[str]) -> tuple[Case, ...]:
    """The cases at `paths`, by default all of the project; with a warning for each name it lacks.

    Raises:
        ProjectError: a test file cannot be read, or is not a test file.
    """
    found = Findings()
    wanted = wanted_of(project.folder, paths)
    files = read_case_files(project.folder, wanted, project.assistant, found)
    errors = (*found.errors(), *found.faults)
    if errors:
        raise ProjectError(sorted_problems(errors))
    _complain_of(sorted_problems(found.warnings()))
    return tuple(case for file in files for case in file.cases)


def _no_cases(project: Path, paths: Sequence[str]) -> str:
    if paths:
        return f"{', '.join(paths)}: no test cases"
    return f"{project}: no test cases; expected them in {' or '.join(FOLDERS)}"


def _played(project: Project, cases: Sequence[Case]) -> Report:
    warn = _once(complain)
    with open_backend(project) as backend:
        return play_all(project, cases, warn, backend)


def play_all(
    project: Project,
    cases: Iterable[Case],
    warn: Callable[[str], None],
    backend: Backend = STUBS_ONLY,
) -> Report:
    """Each case in a conversation of its own; `backend` runs actions without a stub."""
    results: list[CaseResult] = []
    seconds: list[float] = []
    for number, case in enumerate(cases, start=1):
        began = perf_counter()
        stubbed = _stubbed(project, case)
        conversation = LocalConversation(stubbed, warn, backend, f"case-{number}")
        results.append(play(case, conversation, project.assistant))
        seconds.append(perf_counter() - began)
    return Report(tuple(results), tuple(seconds))


def _stubbed(project: Project, case: Case) -> Project:
    """The project with the case's stubs over its own; who stubs one action must stub all (§11)."""
    stubs = stubs_for_case(case.name, project.mock.stubs.by_action)
    unstubbed = UnstubbedActions.FAIL if case.stubs else project.mock.stubs.unstubbed
    own = Stubs({**stubs, **case.stubs}, unstubbed)
    return replace(project, mock=replace(project.mock, stubs=own))


def _write(report: Report, options: CaseOptions) -> None:
    if options.json:
        print_lines(json.dumps(as_json(report), indent=2))
    else:
        print_lines(*as_lines(report))


def _once(warn: Callable[[str], None]) -> Callable[[str], None]:
    warned: set[str] = set()

    def warn_once(text: str) -> None:
        if text not in warned:
            warned.add(text)
            warn(text)

    return warn_once


def _complain_of(problems: Iterable[Problem]) -> None:
    for problem in problems:
        is_warning = problem.severity is Severity.WARNING
        complain(f"{problem} (warning)" if is_warning else str(problem))
