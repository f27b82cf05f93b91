"""Which files are tests, and which conftest files count for them."""

from pathlib import Path

import pytest

from mock_server.dialogue.model import Json
from mock_server.e2e.files import Wanted, read_case_files, wanted_of
from mock_server.project.findings import Findings
from mock_server.project.load import Project

CASE = "test_cases:\n- {test_case: %s, fixtures: [f], steps: [{user: x}]}\n"


@pytest.fixture
def tests(project: Project) -> Path:
    folder = project.folder / "tests"
    files = {
        "a.yml": CASE % "a",
        "deep/b.yaml": CASE % "b",
        "deep/deeper/c.yml": CASE % "c",
        "conftest.yml": "fixtures: [{f: {note: top}}]",
        "deep/conftest.yml": "fixtures: [{f: {note: near}}]",
        "nlu.yml": "nlu: []",
        "notes.txt": "test_cases: []",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def read(project: Project, *paths: str) -> tuple[dict[str, Json], list[str]]:
    """The value of `note` in each case by its name, and the problems."""
    found = Findings()
    wanted = wanted_of(project.folder, paths)
    files = read_case_files(project.folder, wanted, project.assistant, found)
    notes = {case.name: dict(case.slots).get("note") for file in files for case in file.cases}
    return notes, [str(problem) for problem in found.problems]


def test_all_test_files_of_the_project_are_found(project: Project, tests: Path) -> None:
    assert wanted_of(project.folder, ()) == (Wanted(tests),)
    assert read(project) == ({"a": "top", "b": "near", "c": "near"}, [])


def test_file_folder_or_case_may_be_asked_for(project: Project, tests: Path) -> None:
    assert read(project, str(tests / "a.yml"))[0] == {"a": "top"}
    assert read(project, str(tests / "deep"))[0] == {"b": "near", "c": "near"}
    assert read(project, f"{tests / 'deep'}::c")[0] == {"c": "near"}


def test_conftest_counts_up_to_the_folder_that_was_named(project: Project, tests: Path) -> None:
    elsewhere = project.folder.parent / "elsewhere"
    tests.rename(elsewhere)
    assert read(project, str(elsewhere))[0] == {"a": "top", "b": "near", "c": "near"}
    _, problems = read(project, str(elsewhere / "deep" / "deeper" / "c.yml"))
    assert [problem.split(": ")[1] for problem in problems] == ["e2e.unknown_name"]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nlu.yml", "nlu.yml:1: e2e.no_cases: this file has no `test_cases`"),
        ("none.yml", "none.yml:0: e2e.no_file: there is no such file or folder"),
        ("a.yml::z", "a.yml:0: e2e.no_such_case: there is no test case 'z'"),
    ],
)
def test_path_without_a_case_is_a_problem(
    project: Project, tests: Path, path: str, problem: str
) -> None:
    assert read(project, f"{tests}/{path}") == ({}, [f"{tests}/{problem}"])


def test_file_that_is_no_yaml_is_a_problem(project: Project, tests: Path) -> None:
    (tests / "a.yml").write_text("test_cases: [", encoding="utf-8")
    _, problems = read(project)
    assert len(problems) == 1
    assert problems[0].startswith(f"{tests}/a.yml:1: yaml.syntax")
