"""Where custom actions run, as mock.yml and endpoints.yml say."""

import sys
from pathlib import Path

import pytest

from mock_server.dialogue.outside import ActionServer, ActionServerKind
from mock_server.errors import ProjectError
from mock_server.project.load import load_assistant, load_project


def load(folder: Path, mock: str, endpoint: str = "") -> ActionServer:
    (folder / "mock.yml").write_text(mock, encoding="utf-8")
    if endpoint:
        endpoints = folder / "endpoints.yml"
        endpoints.write_text(endpoints.read_text() + endpoint, encoding="utf-8")
    return load_project(folder, environment={"PORT": "5055"}).action_server


def test_default_is_stubs(folder: Path) -> None:
    assert load(folder, "") == ActionServer()
    assert load(folder, "action_server: stubs") == ActionServer()


def test_endpoint_is_that_of_endpoints_yml(folder: Path) -> None:
    endpoint = 'action_endpoint: {url: "http://localhost:${PORT}/webhook", cafile: ca.pem}\n'
    server = load(folder, "action_server: {kind: endpoint, timeout_seconds: 5}", endpoint)
    assert server.kind is ActionServerKind.ENDPOINT
    assert (server.url, server.timeout_seconds) == ("http://localhost:5055/webhook", 5)
    assert server.cafile == str(folder / "ca.pem")


@pytest.mark.parametrize("endpoint", ["", "action_endpoint: {url: grpc://localhost:5055}\n"])
def test_endpoint_needs_an_http_address(folder: Path, endpoint: str) -> None:
    with pytest.raises(ProjectError, match=r"mock.action_endpoint: action_endpoint.url: found"):
        load(folder, "action_server: endpoint", endpoint)


def test_child_runs_the_module_in_the_folder(folder: Path) -> None:
    server = load(folder, "action_server: child", "action_endpoint: {actions_module: acts}\n")
    assert (server.kind, server.module) == (ActionServerKind.CHILD, "acts")
    assert (server.python, server.folder) == (sys.executable, str(folder.resolve()))


def test_child_runs_with_the_projects_own_interpreter(folder: Path) -> None:
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert load(folder, "action_server: child").python == str(python.resolve())


@pytest.mark.parametrize("written", ["env/bin/python", "python3.12"])
def test_child_runs_with_the_interpreter_that_is_named(folder: Path, written: str) -> None:
    server = load(folder, f"action_server: {{kind: child, python: {written}, module: acts}}")
    expected = str(folder.resolve() / written) if "/" in written else written
    assert (server.python, server.module) == (expected, "acts")


def test_hash_of_the_code_changes_with_it(folder: Path) -> None:
    before = load_assistant(folder, environment={})
    (folder / "actions.py").write_text("action_pay = 1\n")
    after = load_assistant(folder, environment={})
    assert before.code_hash != after.code_hash
    assert before.content_hash != after.content_hash
