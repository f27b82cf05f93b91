"""The mock as its users run it, on a free port; and others' software, installed once."""

import fcntl
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from tests.conftest import WriteAssistant

FILES = {
    "domain/fees.yml": "actions: [action_explain]\n",
    "data/flows.yml": """
flows:
  transfer_money:
    description: send money to somebody
    persisted_slots: [recipient]
    steps:
      - collect: recipient
      - action: utter_sent
  explain_fees:
    description: explain the fees
    run_pattern_completed: false
    steps:
      - action: action_explain
""",
    "config.yml": "assistant_id: small-bank\n",
    "mock.yml": 'actions:\n  action_explain: {stream: ["Your ", "fee ", "is 2 %."]}\n',
}


Command: TypeAlias = list[str]
Install: TypeAlias = Callable[[str, Callable[[Path], list[Command]]], Path]
InstallPython: TypeAlias = Callable[[str], Path]


@pytest.fixture(scope="session")
def install(request: pytest.FixtureRequest) -> Install:
    """Install something into a folder of pytest's cache by commands, and return the folder.

    It is done once, whichever of the test run's processes comes first; a test is skipped where it
    cannot be done.
    """

    def install_once(requirement: str, commands: Callable[[Path], list[Command]]) -> Path:
        assert request.config.cache
        folder = Path(request.config.cache.mkdir(re.sub("[=@]+", "-", requirement)))
        is_complete = folder / "is-complete"
        with folder.with_name(f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_complete.exists():
                try:
                    for command in commands(folder):
                        subprocess.run(command, capture_output=True, timeout=300, check=True)
                except subprocess.SubprocessError:
                    pytest.skip(f"{requirement} cannot be installed here")
                is_complete.touch()
        return folder

    return install_once


@pytest.fixture(scope="session")
def install_python(install: Install) -> InstallPython:
    """Make an environment with a package of its own, and return its interpreter."""

    def commands(requirement: str, folder: Path) -> list[Command]:
        pip = [sys.executable, "-m", "pip", "--python", str(folder)]
        return [
            [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)],
            [*pip, "install", "--quiet", "--no-compile", requirement],
        ]

    return lambda requirement: install(requirement, partial(commands, requirement)) / "bin/python"


@pytest.fixture
def mock_url(tmp_path: Path, write_assistant: "WriteAssistant") -> Iterator[str]:
    write_assistant(tmp_path, FILES)
    line = [sys.executable, "-m", "mock_server", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.terminate()
