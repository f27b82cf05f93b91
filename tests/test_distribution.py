"""What a user installs holds what the programs need at run time."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
