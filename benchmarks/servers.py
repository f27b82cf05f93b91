"""The servers that are measured, each a process of its own on the server's core."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv" / "benchmarks"
# a2a-sdk records a span for each of its calls unless it is told not to.
UNTRACED = {"OTEL_INSTRUMENTATION_A2A_SDK_ENABLED": "false"}
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
INSTALL_SECONDS = 300
SERVED_BY = ("starlette", "uvicorn", "httptools", "uvloop")


class Unavailable(Exception):
    """A peer that cannot be run here, and why."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`command` gives the command line; `text` is what makes the server complete a task."""

    name: str
    command: Callable[[], list[str]]
    text: str
    is_traced: bool = True


@dataclass(frozen=True, slots=True)
class Running:
    url: str
    pid: int

    @property
    def cpu_seconds(self) -> float:
        """What the process has spent so far, in user and in system mode."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    @property
    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def peak_bytes(self) -> int:
        """The most that was resident so far."""
        _, _, after = Path(f"/proc/{self.pid}/status").read_text().partition("VmHWM:")
        return int(after.split()[0]) * 1024


@contextmanager
def run(candidate: Candidate, core: int | None) -> Generator[Running]:
    """Start the server, pinned to `core`, and stop it afterwards.

    Raises:
        Unavailable: it cannot be had, or does not start.
    """
    line = candidate.command()
    if core is not None:
        line = ["taskset", "--cpu-list", str(core), *line]
    environment = os.environ if candidate.is_traced else {**os.environ, **UNTRACED}
    with subprocess.Popen(
        line, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            ready = process.stdout.readline().split()
            if not ready:
                raise Unavailable(f"{candidate.name}: it did not start")
            yield Running(url=ready[1], pid=process.pid)
        finally:
            process.terminate()


def mock(name: str, project: Path, text: str, *flags: str) -> Candidate:
    line = [sys.executable, "-m", "mock_server", "serve", str(project), "--port", "0", *flags]
    return Candidate(name, lambda: line, text)


def peer(name: str, module: str, sdk: str | None = None, *, is_traced: bool = True) -> Candidate:
    """A server of `benchmarks.peers`; with `sdk`, in an environment that has this version of it."""

    def command() -> list[str]:
        python = str(_python_with(sdk)) if sdk else sys.executable
        return [python, "-m", f"benchmarks.peers.{module}"]

    return Candidate(name, command, "when are you open", is_traced)


def _python_with(sdk: str) -> Path:
    """An interpreter with `sdk` and our own versions of what serves it, made once."""
    folder = ENVIRONMENTS / sdk.replace("==", "-")
    python = folder / "bin" / "python"
    wanted = [f"{sdk}", *(f"{name}=={version(name)}" for name in SERVED_BY)]
    stamp = folder / "installed"
    if not stamp.is_file() or stamp.read_text() != "\n".join(wanted):
        sys.stderr.write(f"making an environment with {sdk} …\n")
        _install(folder, wanted)
        stamp.write_text("\n".join(wanted))
    return python


def _install(folder: Path, wanted: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    line = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    line += ["--disable-pip-version-check", *wanted, "sse-starlette"]
    ended = subprocess.run(
        line, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    if ended.returncode:
        raise Unavailable(f"{wanted[0]} cannot be installed: {ended.stderr.strip()[-300:]}")
