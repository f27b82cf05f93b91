"""`a2a-mock serve` with faults in mock.yml and an admin token."""

import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import RunMock


FAULTS = """
faults:
  - id: down
    match: {path: /status}
    effect: {kind: http_status, status: 503}
    count: 1
"""
CHANCE = """
faults:
  - id: flaky
    match: {path: /status}
    effect: {kind: http_status, status: 503}
    probability: 0.5
"""


def serve(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "mock_server", "serve", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.req("ADMIN-1")
def test_faults_of_mock_yml_are_armed(run_mock: "RunMock", project: Path) -> None:
    (project / "mock.yml").write_text(FAULTS)
    with run_mock(project) as mock:
        assert [mock.client.get("status").status_code for _ in range(2)] == [503, 200]
        (fault,) = mock.client.get("__admin/faults").json()["faults"]
        assert (fault["id"], fault["fired"]) == ("down", 1)
        code, log = mock.stop()
        assert code == 0
        assert "a2a_mock.fault.fired" in log


@pytest.mark.req("ADMIN-1")
def test_seed_repeats_the_chance_of_faults(run_mock: "RunMock", project: Path) -> None:
    def course(seed: str) -> list[int]:
        with run_mock(project, "--seed", seed) as mock:
            return [mock.client.get("status").status_code for _ in range(24)]

    (project / "mock.yml").write_text(CHANCE)
    first = course("7")
    assert {*first} == {200, 503}
    assert course("7") == first
    assert course("8") != first


@pytest.mark.req("ADMIN-1", "CFG-7")
def test_wrong_fault_is_a_problem_of_the_project(project: Path) -> None:
    (project / "mock.yml").write_text("faults:\n  - effect: {kind: delay}\n")
    refused = serve(project, "--port", "0")
    assert refused.returncode == 2
    assert f"{project / 'mock.yml'}:2: mock.fault: faults.effect.seconds" in refused.stderr


@pytest.mark.req("ADMIN-1")
def test_admin_token_comes_from_the_environment(
    run_mock: "RunMock", project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_ADMIN", "t0ken-of-the-admin")
    with run_mock(project, "--admin-token-env", "MOCK_ADMIN") as mock:
        url = "__admin/faults"
        assert mock.client.get(url).status_code == 401
        wrong = {"Authorization": "Bearer wrong-t0ken"}
        assert mock.client.get(url, headers=wrong).status_code == 401
        knows = {"Authorization": "Bearer t0ken-of-the-admin"}
        assert mock.client.get(url, headers=knows).status_code == 200
        _, log = mock.stop()
        assert "t0ken" not in log


@pytest.mark.req("ADMIN-1")
def test_variable_of_the_admin_token_must_be_set(project: Path) -> None:
    refused = serve(project, "--admin-token-env", "NOBODY_SET_THIS")
    assert refused.returncode == 2
    assert "NOBODY_SET_THIS" in refused.stderr


@pytest.mark.req("ADMIN-1", "AUTH-1")
def test_admin_api_is_not_under_the_callers_token(
    run_mock: "RunMock",
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    secret: Callable[[str], str],
) -> None:
    monkeypatch.setenv("CALLERS_SECRET", secret("a-secret-of-the-callers-that-is-long-enough"))
    (project / "endpoints.yml").write_text(
        "a2a_server:\n  description: A small bank\n  auth:\n    type: bearer\n    jwt:\n"
        "      algorithm: HS256\n      secret: ${CALLERS_SECRET}\n"
    )
    with run_mock(project) as mock:
        assert mock.client.post("/", content=b"{}").status_code == 401
        listed = mock.client.get("__admin/requests", params={"status": 401}).json()
        assert [received["number"] for received in listed["requests"]] == [1]


@pytest.mark.req("ADMIN-2")
def test_listener_does_not_hold_up_the_end(run_mock: "RunMock", project: Path) -> None:
    with (
        run_mock(project) as mock,
        mock.client.stream("GET", "__admin/events") as response,
    ):
        lines = response.iter_lines()
        assert next(lines) == ": listening"
        code, _ = mock.stop()
        assert code == 0
        assert [line for line in lines if line] == []


@pytest.mark.req("ADMIN-2", "RELOAD-1")
def test_reload_is_announced_and_renews_the_faults(run_mock: "RunMock", project: Path) -> None:
    with (
        run_mock(project, "--watch") as mock,
        mock.client.stream("GET", "__admin/events") as response,
    ):
        lines = response.iter_lines()
        assert next(lines) == ": listening"
        (project / "mock.yml").write_text(FAULTS)
        assert next(line for line in lines if line.startswith("event: ")) == "event: reload"
        assert '"outcome":"reloaded"' in next(lines)
        assert [mock.client.get("status").status_code for _ in range(2)] == [503, 200]
        assert next(line for line in lines if line.startswith("event: ")) == "event: fault"


@pytest.mark.req("ADMIN-2", "RELOAD-1")
def test_newcomer_is_told_that_the_files_do_not_load(run_mock: "RunMock", project: Path) -> None:
    def tell(url: str) -> Generator[str]:
        with mock.client.stream("GET", url) as response:
            yield from (line for line in response.iter_lines() if line)

    flows = project / "data" / "flows.yml"
    text = flows.read_text()
    with run_mock(project, "--watch") as mock:
        flows.write_text(text.replace("- collect:", "- colect:"))
        assert any("a2a_mock.reload.failed" in line for line in mock.log)
        told = tell("__admin/events?kinds=reload")
        assert [next(told), next(told)] == [": listening", "event: reload"]
        assert '"outcome":"failed"' in (problems := next(told))
        assert 'data/flows.yml"' in problems
        told.close()
        flows.write_text(text)
        assert any("a2a_mock.reload.done" in line for line in mock.log)
        told = tell("__admin/events")
        assert next(told) == ": listening"
        flows.write_text(text + "\n")
        assert [next(told), next(told)[:27]] == ["event: reload", 'data: {"outcome":"reloaded"']
        told.close()
