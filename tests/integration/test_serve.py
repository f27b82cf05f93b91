"""`a2a-mock serve` as a process."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import RunMock


def serve(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "mock_server", "serve", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)


def test_ready_line_says_where_and_what(run_mock: "RunMock", project: Path) -> None:
    with run_mock(project) as mock:
        assert re.fullmatch(r"ready: http://127\.0\.0\.1:\d+/ profile=rasa flows=3\n", mock.ready)
        card = mock.client.get(".well-known/agent-card.json").json()
        assert card["url"] == mock.url
        assert card["description"] == "A small bank"
        status = mock.client.get("status").json()
        assert status["model_file"] == project.name
        assert re.fullmatch(r"[0-9a-f]+", status["model_id"])
        assert card["version"] == "1.0.0"


@pytest.mark.req("HTTP-5a")
def test_profile_is_chosen_on_the_command_line(run_mock: "RunMock", project: Path) -> None:
    with run_mock(project, "--profile", "a2a") as mock:
        assert " profile=a2a " in mock.ready
        assert mock.client.post("/", content=b"{").json()["id"] is None


@pytest.mark.req("CARD-5")
def test_flags_outrank_the_project(run_mock: "RunMock", project: Path) -> None:
    flags = ("--url", "https://bank.example/a2a", "--description", "Another", "--max-body", "2000")
    with run_mock(project, *flags) as mock:
        card = mock.client.get(".well-known/agent-card.json").json()
        assert (card["url"], card["description"]) == ("https://bank.example/a2a", "Another")
        assert mock.client.post("/", content=b" " * 2001).status_code == 413


@pytest.mark.req("CARD-5")
def test_every_address_is_localhost_to_clients(run_mock: "RunMock", project: Path) -> None:
    with run_mock(project, "--interface", "0.0.0.0") as mock:
        assert mock.url.startswith("http://localhost:")
        assert mock.client.get("status").status_code == 200


def test_without_a_project_the_bank_is_served(run_mock: "RunMock") -> None:
    with run_mock() as mock:
        card = mock.client.get(".well-known/agent-card.json").json()
        assert "transfer_money" in [skill["id"] for skill in card["skills"]]


def test_seed_makes_the_same_ids(run_mock: "RunMock", project: Path) -> None:
    ids: list[object] = []
    for _ in range(2):
        with run_mock(project, "--seed", "7") as mock:
            ids.append(mock.send("send money")["id"])
    assert ids[0] == ids[1]


@pytest.mark.req("CFG-8")
def test_port_in_use_is_one_line_and_status_2(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = serve(project, "--port", str(port))
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert re.fullmatch(rf"port {port} on '127\.0\.0\.1' .*--port.*\n", ended.stderr)


@pytest.mark.req("CFG-8")
def test_unknown_interface_is_one_line_and_status_2(project: Path) -> None:
    ended = serve(project, "--interface", "nowhere.invalid")
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("flags", [("--port", "x"), ("--port", "70000"), ("--max-body", "0")])
def test_impossible_flag_is_a_usage_error(project: Path, flags: tuple[str, str]) -> None:
    ended = serve(project, *flags)
    assert ended.returncode == 2
    assert ended.stderr.endswith("; see a2a-mock serve --help\n")


@pytest.mark.req("CFG-5", "CFG-5a", "CFG-7")
def test_every_configuration_error_is_listed(project: Path) -> None:
    (project / "domain.yml").write_text(
        (project / "domain.yml").read_text().replace("after_expiry: false", "after_expiry: true")
    )
    (project / "endpoints.yml").write_text("a2a_server:\n  descripton: x\n")
    ended = serve(project)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    lines = ended.stderr.splitlines()
    assert any("validation.a2a_server.incompatible_session_config" in line for line in lines)
    assert any("endpoints.yml:2:" in line and "description" in line for line in lines)


@pytest.mark.req("CFG-5a")
def test_relax_is_loud(run_mock: "RunMock", project: Path) -> None:
    (project / "endpoints.yml").unlink()
    (project / "domain.yml").write_text(
        (project / "domain.yml").read_text().replace("after_expiry: false", "after_expiry: true")
    )
    with run_mock(project, "--relax") as mock:
        assert mock.ready.startswith("ready:")
        _, log = mock.stop()
        assert "--relax" in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_lets_running_turns_end(run_mock: "RunMock", project: Path, number: int) -> None:
    with run_mock(project) as mock:
        body = mock.turn("check the account", method="message/stream")
        with mock.client.stream("POST", "/", json=body) as response:
            mock.process.send_signal(number)
            stream = response.read().decode()
        assert "All is well." in stream
        assert '"state":"completed"' in stream
        _, log = mock.process.communicate(timeout=60)
        (line,) = log.splitlines()
        assert mock.process.returncode == 0
        assert "a2a_mock.turn.ended" in line


def test_signal_ends_an_idle_server_at_once(run_mock: "RunMock", project: Path) -> None:
    with run_mock(project) as mock:
        mock.send("send money")
        code, log = mock.stop()
        assert (code, len(log.splitlines())) == (0, 1)
