"""Every id of the specification has its test, and the page that says so is true."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run_check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, ROOT / "scripts" / "requirements", "--check", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def check(*arguments: str | Path) -> str:
    """The problems that `scripts/requirements --check` reports."""
    return run_check(*arguments).stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one id, its test and the page of both."""
    (tmp_path / "tests" / "integration").mkdir(parents=True)
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    (tmp_path / "tests" / "specification.toml").write_text(
        'complete = ["server"]\npages = {server = ["X-1"]}\nlater = {}\n'
    )
    proof = '@pytest.mark.req("X-1")\nasync def test_x() -> None: ...\n'
    (tmp_path / "tests" / "integration" / "test_x.py").write_text(proof)
    line = [sys.executable, ROOT / "scripts" / "requirements", "--root", tmp_path]
    subprocess.run(line, check=True)
    return tmp_path


def test_every_id_is_proved_and_the_page_is_true() -> None:
    assert check() == ""


@pytest.mark.shared
def test_every_id_is_in_the_specification(shared: Path) -> None:
    assert check("--specification", shared / "spec") == ""


@pytest.mark.parametrize(
    ("page", "printed", "problems"),
    [
        (
            "- X-1 one\n- X-2 two\n",
            "server.md: X-2 is new: add it to tests/specification.toml\n",
            "",
        ),
        (
            "- X-2 two\n",
            "server.md: X-2 is new",
            "tests/specification.toml: X-1 is not in server.md",
        ),
    ],
)
def test_new_id_is_reported_and_a_missing_one_is_an_error(
    checkout: Path, tmp_path: Path, page: str, printed: str, problems: str
) -> None:
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "server.md").write_text(page)
    run = run_check("--root", checkout, "--specification", folder)
    assert run.stdout.startswith(printed)
    assert run.stderr.startswith(problems)
    assert run.returncode == bool(problems)


def test_page_names_the_tests(checkout: Path) -> None:
    assert check("--root", checkout) == ""
    page = (checkout / "docs" / "reference" / "requirements.md").read_text()
    assert "- **X-1**\n  - [tests/integration/test_x.py]" in page
    assert "`test_x`" in page


@pytest.mark.parametrize(
    ("file", "before", "after", "problem"),
    [
        ("tests/specification.toml", '"X-1"', '"X-1", "X-2"', "proves X-2"),
        ("tests/specification.toml", '"X-1"', '"X-2"', "X-1 is no id"),
        ("tests/specification.toml", "{}", '{X-1 = "it is hard"}', "take it out of `later`"),
        ("tests/integration/test_x.py", "test_x", "test_y", "stale"),
    ],
)
def test_what_does_not_fit_is_told(
    checkout: Path, file: str, before: str, after: str, problem: str
) -> None:
    path = checkout / file
    path.write_text(path.read_text().replace(before, after))
    assert problem in check("--root", checkout)


def test_test_that_needs_no_socket_proves_nothing(checkout: Path) -> None:
    (checkout / "tests" / "service").mkdir()
    (checkout / "tests" / "integration" / "test_x.py").rename(checkout / "tests/service/test_x.py")
    assert "proves X-1" in check("--root", checkout)
