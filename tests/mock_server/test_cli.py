"""The command line of a2a-mock, as a process."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mock_server.cli import command_parser

MINIMAL = str(Path(__file__).parents[2] / "examples" / "minimal")
HEAVY = {"a2a", "httpx", "pydantic", "ruamel", "starlette", "structlog", "uvicorn", "watchfiles"}


def a2a_mock(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mock_server", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_version_goes_to_stdout() -> None:
    printed = a2a_mock("--version")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout.startswith("a2a-mock ")


@pytest.mark.req("CLI-3")
@pytest.mark.parametrize("words", [["--help"], ["serve", "--help"], ["talk", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys; from mock_server.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print('imported', *sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, timeout=60
    )
    assert not HEAVY & set(run.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("command", ["serve", "check", "talk", "test", "graph", "new", "replicas"])
def test_examples_of_the_help_are_accepted(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command_parser().parse_args([command, "--help"])
    examples = re.findall(r"^  a2a-mock ([^<\n]+)", capsys.readouterr().out, re.MULTILINE)
    assert examples
    for example in examples:
        assert command_parser().parse_args(shlex.split(example)).command == command


@pytest.mark.req("CLI-2")
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["serve", "--port", "99999"], "'99999' is not a port: expected 0 to 65535"),
        (["serve", "--max-body", "0"], "'0' is not a whole number above 0"),
        (["serve", "--url", "here"], "'here' is not a URL: expected http://HOST:PORT/"),
        (["serve", "--interface", "", "--port", "0"], "address of this machine with --interface"),
        (["graph", MINIMAL, "--output", "/dev/null/x"], "name another one"),
        (["check", MINIMAL, "--no"], "unrecognized arguments: --no; see a2a-mock check --help"),
        (["dance"], "invalid choice: 'dance' "),
    ],
)
def test_wrong_words_are_reported_with_status_2(words: list[str], text: str) -> None:
    refused = a2a_mock(*words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert text in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_output_that_nobody_reads_ends_the_command_quietly(tmp_path: Path) -> None:
    steps = ", ".join("{action: utter_unknown}" for _ in range(2000))
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text("slots: {}")
    (tmp_path / "data" / "flows.yml").write_text(
        f"flows: {{long: {{description: Long., steps: [{steps}]}}}}"
    )
    command = [sys.executable, "-m", "mock_server", "check", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1
