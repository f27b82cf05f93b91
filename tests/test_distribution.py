"""What a user installs holds what the programs need at run time, and nothing else is imported."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("inspector", "mock_server")
FOR_DEVELOPMENT = ("benchmarks", "scripts", "tests")
# `scripts` and the folders' `conftest.py` are on the path of the tests
OURS = {*PROGRAMS, *FOR_DEVELOPMENT, "conftest", *(path.stem for path in ROOT.glob("scripts/*.py"))}
# type stubs that every type checker brings along
NOT_AT_RUN_TIME = {"_typeshed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", folder], cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_ships_bank_patterns_and_styles(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "mock_server/examples/bank/endpoints.yml",
        "mock_server/examples/bank/mock.yml",
        "mock_server/examples/minimal/tests/greet.yml",
        "mock_server/project/patterns/3.16/flows.yml",
        "inspector/tui/app.tcss",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "examples/"))]


def test_bundled_bank_talks_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    bank = tmp_path / "mock_server/examples/bank"
    talk = subprocess.run(
        [sys.executable, "-m", "mock_server", "talk", bank],
        cwd=tmp_path,
        input="send 50 to Joe\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Which account?" in talk.stdout


def test_new_project_is_made_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    for command in (["new", "mine"], ["test", "mine"]):
        done = subprocess.run(
            [sys.executable, "-m", "mock_server", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout.endswith("2 test cases: 2 passed, 0 failed, 0 skipped\n")


def imported(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each top-level module that a file of `folder` imports, anywhere in it."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import():
                    names = [alias.name for alias in node.names]
                case ast.ImportFrom(module=str(module), level=0):
                    names = [module]
                case _:
                    names = []
            for name in names:
                yield name.split(".")[0], path.relative_to(ROOT)


def distribution_names(requirements: Iterable[str]) -> set[str]:
    """Return the names of `requirements` as PEP 503 normalizes them."""
    names = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in names if name}


@pytest.mark.parametrize("folder", [*PROGRAMS, *FOR_DEVELOPMENT])
def test_every_imported_distribution_is_declared(folder: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = distribution_names(project["project"]["dependencies"])
    if folder in FOR_DEVELOPMENT:
        declared |= distribution_names(project["dependency-groups"]["dev"])
    known = {*sys.stdlib_module_names, *OURS, *NOT_AT_RUN_TIME}
    installed = packages_distributions()
    undeclared = {
        f"{path}: {module}"
        for module, path in imported(ROOT / folder)
        if module not in known and not distribution_names(installed.get(module, ())) & declared
    }
    assert not undeclared
