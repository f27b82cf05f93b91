"""The files of a project, however they lie there."""

import os
from pathlib import Path

import pytest

from mock_server.errors import ProjectError
from mock_server.project.files import MAX_BYTES
from mock_server.project.load import load_assistant

ONE = "flows: {one: {description: d, steps: [{action: action_pay}]}}"


def problems(folder: Path) -> list[str]:
    """The problems of the project but for what only a server needs."""
    try:
        project = load_assistant(folder, environment={})
    except ProjectError as error:
        return [str(problem).removeprefix(f"{folder}/") for problem in error.problems]
    return [str(problem).removeprefix(f"{folder}/") for problem in project.warnings]


def test_links_are_not_followed_in_circles(folder: Path) -> None:
    (folder / "data" / "again").symlink_to(folder / "data")
    (folder / "data" / "gone.yml").symlink_to("nowhere.yml")
    [again, gone] = problems(folder)
    assert again.startswith("data/again:0: project.link: this is a link to a folder")
    assert gone.startswith("data/gone.yml:0: project.link: this is a link to a file that does not")


def test_linked_file_is_read(folder: Path) -> None:
    (folder / "elsewhere.yml").write_text(ONE, encoding="utf-8")
    (folder / "data" / "more.yml").symlink_to(folder / "elsewhere.yml")
    assert "one" in load_assistant(folder, environment={}).assistant.flows


def test_hidden_files_are_no_part_of_the_project(folder: Path) -> None:
    (folder / "data" / ".#flows.yml").symlink_to("somebody@host.1")
    (folder / "data" / "._flows.yml").write_bytes(b"\xff\xfe")
    (folder / "data" / ".old").mkdir()
    (folder / "data" / ".old" / "flows.yml").write_text("flows: [", encoding="utf-8")
    assert problems(folder) == []


def test_name_that_is_not_text_can_be_printed(folder: Path) -> None:
    odd = os.fsencode(folder) + b"/data/\xff.yml"
    Path(os.fsdecode(odd)).write_text("flows: [", encoding="utf-8")
    [problem] = problems(folder)
    assert problem.startswith("data/\\xff.yml:1: yaml.syntax: ")


@pytest.mark.req("CFG-7")
def test_unreadable_file_is_reported_once(folder: Path) -> None:
    (folder / "data" / "flows.yml").write_bytes(b"\xff")
    [problem] = problems(folder)
    assert problem.startswith("data/flows.yml:1: project.encoding: ")
    assert problem.endswith("; save it as UTF-8")


def test_file_of_any_size_is_not_read(folder: Path) -> None:
    with (folder / "data" / "dump.yml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    [problem] = problems(folder)
    assert problem.startswith(f"data/dump.yml:0: project.size: this has {MAX_BYTES + 1} bytes")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("place", ["data", "domain.yml", "sub_agents", "."])
def test_what_may_not_be_read_is_reported(folder: Path, place: str) -> None:
    (folder / "sub_agents").mkdir()
    (folder / place).chmod(0)
    [problem] = problems(folder)
    (folder / place).chmod(0o700)
    assert "cannot be read: Permission denied" in problem
