"""`a2a-mock test`."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree.ElementTree import parse

import pytest

from mock_server.cli import main

DOMAIN = """\
slots: {amount: {type: float}}
actions: [action_pay]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_paid: [{text: Paid.}]
"""
FLOWS = """\
flows:
  pay_bill:
    description: Pay a bill.
    steps: [{collect: amount}, {action: action_pay}, {action: utter_paid}]
"""
CASES = """\
test_cases:
  - test_case: a bill is paid
    steps: [{user: pay a bill}, {user: "5"}, {utter: utter_paid}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "domain.yml": DOMAIN,
        "data/flows.yml": FLOWS,
        "e2e_tests/pay.yml": CASES,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_paths_may_follow_a_flag(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(folder), "--json", str(folder / "e2e_tests" / "none.yml")]) == 2
    assert "none.yml:0: e2e.no_file" in capsys.readouterr().err


def test_all_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"✓ {folder}/e2e_tests/pay.yml:2 a bill is paid",
        "1 test case: 1 passed, 0 failed, 0 skipped",
    ]
    assert err == "action 'action_pay' has no stub in mock.yml, so it does nothing\n"


def test_failure_is_exit_status_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = folder / "e2e_tests" / "pay.yml"
    tests.write_text(CASES.replace("utter_paid", "utter_piad"), encoding="utf-8")
    assert main(["test", str(folder), "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["failed"] == 1
    assert err.startswith(
        f"{tests}:3: e2e.unknown_response: test case 'a bill is paid' names response 'utter_piad', "
        "which the project lacks; did you mean 'utter_paid'? (warning)\n"
    )


def test_mock_file_may_lie_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mock = folder / "elsewhere.yml"
    mock.write_text("actions: {action_pay: {fail: {status: 500}}}", encoding="utf-8")
    assert main(["test", str(folder), "--mock", str(mock)]) == 1
    assert "action action_pay failed" in capsys.readouterr().out


def test_who_stubs_one_action_must_stub_all(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = folder / "e2e_tests" / "pay.yml"
    tests.write_text("stub_custom_actions: {action_other: {}}\n" + CASES, encoding="utf-8")
    assert main(["test", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert "action action_pay failed" in out
    assert "action 'action_pay' has no stub in mock.yml, so it fails" in err


def test_junit_is_written_beside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(folder), "--junit", str(folder / "r.xml")]) == 0
    assert parse(folder / "r.xml").getroot().attrib["tests"] == "1"
    assert main(["test", str(folder), "--junit", str(folder / "no" / "r.xml")]) == 2
    assert "this cannot be written" in capsys.readouterr().err


class _ActionServer(BaseHTTPRequestHandler):
    """Answers each action with one text."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = f"{asked['next_action']} of {asked['sender_id']}"
        body = json.dumps({"events": [], "responses": [{"text": said}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the requests are no news."""


@pytest.fixture
def action_server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _ActionServer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/webhook"
        server.shutdown()
        thread.join()


def test_actions_run_on_the_action_server_unless_the_case_stubs_them(
    folder: Path, action_server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoints = f"action_endpoint: {{url: '{action_server}'}}"
    (folder / "endpoints.yml").write_text(endpoints, encoding="utf-8")
    (folder / "mock.yml").write_text("action_server: endpoint", encoding="utf-8")
    tests = folder / "e2e_tests" / "pay.yml"
    case = CASES.replace("{utter: utter_paid}", '{bot: "action_pay of case-1"}')
    tests.write_text(case, encoding="utf-8")
    assert main(["test", str(folder)]) == 0
    stub = "stub_custom_actions: {action_pay: {responses: [{text: stubbed}]}}\n"
    tests.write_text(stub + case.replace("action_pay of case-1", "stubbed"), encoding="utf-8")
    assert main(["test", str(folder)]) == 0
    assert capsys.readouterr().err == ""


def test_action_server_that_does_not_come_up_is_exit_status_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mock = "action_server: {kind: child, module: no_such_module}"
    (folder / "mock.yml").write_text(mock, encoding="utf-8")
    assert main(["test", str(folder)]) == 2
    assert "the action server" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("paths", "complaint"),
    [
        (["nowhere.yml"], "nowhere.yml:0: e2e.no_file: there is no such file or folder\n"),
        ([], "no test cases; expected them in tests or e2e_tests\n"),
    ],
)
def test_tests_that_cannot_be_read_are_exit_status_2(
    folder: Path, capsys: pytest.CaptureFixture[str], paths: list[str], complaint: str
) -> None:
    (folder / "e2e_tests" / "pay.yml").unlink()
    assert main(["test", str(folder), *paths]) == 2
    assert capsys.readouterr().err.endswith(complaint)


def test_project_that_cannot_be_read_is_exit_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", str(tmp_path / "none")]) == 2
    assert "project.folder: there is no such folder" in capsys.readouterr().err


def test_mock_file_may_stub_an_action_for_one_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = folder / "e2e_tests" / "pay.yml"
    other = CASES.removeprefix("test_cases:\n").replace("a bill is paid", "another bill")
    tests.write_text(CASES + other, encoding="utf-8")
    mock = folder / "mock.yml"
    mock.write_text("actions: {'another bill::action_pay': {fail: {}}}", encoding="utf-8")
    assert main(["test", str(folder)]) == 1
    out, _ = capsys.readouterr()
    assert f"✓ {tests}:2 a bill is paid" in out
    assert f"✗ {tests}:4 another bill" in out
