"""The test files of a project, found, read and checked: the edge of the e2e core."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mock_server.dialogue.assistant import Assistant
from mock_server.e2e.model import CaseFile, Named
from mock_server.e2e.names import check_names
from mock_server.e2e.reading import is_test_file, read_case_file, read_conftest
from mock_server.errors import Location
from mock_server.project.files import SUFFIXES, read_text
from mock_server.project.findings import Findings
from mock_server.project.nodes import Node, parse

FOLDERS = ("tests", "e2e_tests")
CONFTEST = "conftest.yml"
CASE_SEPARATOR = "::"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file or folder of tests; `case` is the one case of it that is wanted, or None for all."""

    path: Path
    case: str | None = None


def wanted_of(project: Path, paths: Sequence[str]) -> tuple[Wanted, ...]:
    """What the command line asks for: `file.yml::case name` is one case; nothing, all tests."""
    if not paths:
        folders = (project / name for name in FOLDERS)
        return tuple(Wanted(folder) for folder in folders if folder.is_dir())
    return tuple(_wanted(path) for path in paths)


def read_case_files(
    project: Path, wanted: Sequence[Wanted], assistant: Assistant, found: Findings
) -> tuple[CaseFile, ...]:
    """The wanted cases, file by file, in the order of their paths."""
    files: list[CaseFile] = []
    for one in wanted:
        top = _top(project, one.path)
        read = [_read(path, path == one.path, top, found) for path in _files(one.path, found)]
        for file in filter(None, read):
            check_names(file, assistant, found)
            files.append(_only(file, one.case))
        if one.case is not None and not any(
            case.name == one.case for file in filter(None, read) for case in file.cases
        ):
            text = f"there is no test case {one.case!r}"
            found.error(Location(str(one.path)), "e2e.no_such_case", text)
    return tuple(files)


def _wanted(path: str) -> Wanted:
    file, separator, case = path.partition(CASE_SEPARATOR)
    return Wanted(Path(file), case if separator else None)


def _only(file: CaseFile, case: str | None) -> CaseFile:
    if case is None:
        return file
    return CaseFile(tuple(c for c in file.cases if c.name == case), file.mentions)


def _files(path: Path, found: Findings) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix in SUFFIXES and file.name != CONFTEST and file.is_file():
                yield file
    else:
        found.error(Location(str(path)), "e2e.no_file", "there is no such file or folder")


def _read(path: Path, is_named: bool, top: Path, found: Findings) -> CaseFile | None:
    root = _root(path, found)
    if root is None or not is_test_file(root):
        if is_named and root is not None:
            text = "this file has no `test_cases`"
            found.error(Location(str(path), 1), "e2e.no_cases", text)
        return None
    return read_case_file(root, _fixtures(path.parent, top, found), found)


def _top(project: Path, path: Path) -> Path:
    """The folder up to which conftest files count: the project's, or the one that was named."""
    place = path.resolve()
    if place.is_relative_to(project.resolve()):
        return project.resolve()
    return place if place.is_dir() else place.parent


def _fixtures(folder: Path, top: Path, found: Findings) -> Named:
    """The fixtures of the conftest files from `top` down; the nearest win."""
    above: Named = {} if folder.resolve() == top else _fixtures(folder.parent, top, found)
    file = folder / CONFTEST
    own: Named = read_conftest(_root(file, found), found) if file.is_file() else {}
    return {**above, **own}


def _root(path: Path, found: Findings) -> Node | None:
    text = read_text(path, found)
    return None if text is None else parse(str(path), text, found)
