"""Everything that a page of the documentation tells a user to type is typed here.

A ```console block holds commands behind `$ ` and, below each, what it prints. In what is printed,
`…` stands for anything in a line and a line of `…` for any lines. A command that ends in `&` goes
on while the page is read. Port 5005 is replaced by a free one, so that pages run side by side.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
SET_UP_BY_THE_TEST_ITSELF = {"scripts/test"}
NEEDED = {"a2a-mock replicas": "haproxy", "--format (svg|dot)": "dot"}
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"
NAMED_MODULE = re.compile(r"`([\w/]+\.py)`")
DRAWN_MODULE = re.compile(r"^(?:HTTP bytes)? +([a-z_]+\.[a-z_]+) ", re.MULTILINE)
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Typed:
    """A command of a page and what the page says that it prints."""

    command: str
    printed: tuple[str, ...]


def read_page(text: str) -> list[Typed]:
    typed: list[Typed] = []
    for block in BLOCK.findall(text):
        for chunk in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *printed = chunk.replace("\\\n", " ").rstrip("\n").split("\n")
            typed.append(Typed(command, tuple(printed)))
    return typed


def pattern_of(printed: tuple[str, ...]) -> re.Pattern[str]:
    lines = [
        r"(?:.*\n)*?"
        if line.strip() == "…"
        else re.escape(line.rstrip()).replace("…", ".*") + " *\n"
        for line in printed
    ]
    return re.compile("".join(lines))


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port that nobody else is given while the page is read; on Linux it is held until then."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        if sys.platform != "linux":
            holder.close()
        yield port


@pytest.fixture
def background() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks to a reader like the checkout, and may be written to."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


# A page has up to twenty commands, and each starts a program.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_is_true(
    page: Path, free_port: int, background: list[subprocess.Popen[str]], checkout: Path
) -> None:
    for command, program in NEEDED.items():
        typed_here = re.search(rf"^\$ .*{command}", page.read_text(), re.MULTILINE)
        if typed_here and not shutil.which(program, path=f"{os.environ['PATH']}:{SYSTEM_FOLDERS}"):
            pytest.skip(f"{program} is not installed, which `{command}` needs")
    folder = ROOT if page.name == "README.md" and page.parent == ROOT else checkout
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(checkout),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    for typed in read_page(page.read_text().replace("5005", str(free_port))):
        if typed.command in SET_UP_BY_THE_TEST_ITSELF:
            continue
        in_background = typed.command.endswith("&")
        process = subprocess.Popen(
            typed.command.removesuffix("&"),
            shell=True,
            executable="/bin/bash",
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        if in_background:
            background.append(process)
            assert process.stdout is not None
            printed = "".join(process.stdout.readline() for _ in typed.printed)
        else:
            printed, _ = process.communicate(timeout=120)
        if typed.printed:
            assert pattern_of(typed.printed).fullmatch(printed), f"$ {typed.command}\n{printed}"


@pytest.mark.timeout(300)
def test_reference_of_the_commands_is_what_they_print() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "scripts/reference", "--check"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert check.returncode == 0, check.stderr


def test_modules_that_the_architecture_names_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    named = set(NAMED_MODULE.findall(page))
    places = [ROOT, ROOT / "inspector", ROOT / "mock_server"]
    assert len(named) > 40
    assert [name for name in sorted(named) if not any((at / name).exists() for at in places)] == []


def test_modules_that_the_architecture_draws_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    drawn = {match[1].replace(".", "/") for match in DRAWN_MODULE.finditer(page)}
    places = [ROOT / "inspector", ROOT / "mock_server"]
    assert len(drawn) > 10
    assert [
        name for name in sorted(drawn) if not any((at / f"{name}.py").exists() for at in places)
    ] == []
