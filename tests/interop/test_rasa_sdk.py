"""Real action servers behind the mock: rasa-sdk from the registry, in an environment of its own."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from tests.interop.conftest import InstallPython

REQUIREMENT = "rasa-sdk==3.21.1"
BANK = "starterpack-retail-banking-en"

ACTIONS = """
from rasa_sdk import Action
from rasa_sdk.events import AllSlotsReset, FollowupAction, SlotSet
from rasa_sdk.interfaces import ActionExecutionRejection


class Greet(Action):
    def name(self):
        return "action_greet"

    def run(self, dispatcher, tracker, domain):
        assert "name" in domain["slots"], domain
        text = tracker.latest_message["text"]
        dispatcher.utter_message(response="utter_greeting", place="WORD")
        dispatcher.utter_message(text=f"{tracker.sender_id} said {text}", buttons=[
            {"title": "Again", "payload": "/StartFlow(greet)"}])
        return [SlotSet("name", "Ada"), FollowupAction("action_listen")]


class Break(Action):
    def name(self):
        return "action_break"

    def run(self, dispatcher, tracker, domain):
        raise RuntimeError("core banking is down")


class Refuse(Action):
    def name(self):
        return "action_refuse"

    def run(self, dispatcher, tracker, domain):
        raise ActionExecutionRejection(self.name(), "not today")


class Remember(Action):
    def name(self):
        return "action_remember"

    def run(self, dispatcher, tracker, domain):
        said = [event["text"] for event in tracker.events if event["event"] == "user"]
        times = [event["timestamp"] for event in tracker.events]
        assert times == sorted(times)
        dispatcher.utter_message(text=" | ".join(said))
        return []


class Forget(Action):
    def name(self):
        return "action_forget"

    def run(self, dispatcher, tracker, domain):
        return [AllSlotsReset()]
"""
DOMAIN = """
session_config: {start_session_after_expiry: false}
slots: {name: {type: text, mappings: [{type: controlled}]}}
actions: [action_greet, action_break, action_refuse, action_forget, action_remember, action_nowhere]
responses: {utter_greeting: [{text: "Hello {place}, {name}."}]}
"""
FLOW = """
  {name}: {{description: {name}, run_pattern_completed: false, steps: [{{action: action_{name}}}]}}
"""
NAMES = ("greet", "break", "refuse", "forget", "remember", "nowhere")


@pytest.fixture(scope="session")
def python_with_rasa_sdk(install_python: "InstallPython") -> Path:
    """An interpreter with rasa-sdk."""
    return install_python(REQUIREMENT)


@dataclass
class Said:
    state: str
    text: str
    data: dict[str, Any]


@dataclass
class Talk:
    """A conversation with a mock; `log` is what the mock has written when it has ended."""

    url: str
    numbers: Iterator[int] = field(default_factory=count)
    log: str = ""

    def say(self, text: str, **slots: object) -> Said:
        message = {
            "messageId": f"m{next(self.numbers)}",
            "contextId": "c1",
            "role": "user",
            "parts": [{"kind": "text", "text": text}],
            "metadata": {"slots": slots},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
        status = httpx.post(self.url, json=body, timeout=60).json()["result"]["status"]
        parts = status["message"]["parts"]
        words = "\n".join(part["text"] for part in parts if part["kind"] == "text")
        return Said(status["state"], words, parts[-1]["data"])


@contextmanager
def serving(*arguments: str | Path) -> Generator[Talk]:
    line = [sys.executable, "-m", "mock_server", "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        ready = process.stdout.readline()
        talk = Talk(ready.split()[1] if ready else "")
        try:
            yield talk
        finally:
            process.terminate()
            _, talk.log = process.communicate(timeout=60)


def small_project(folder: Path, python: Path, server: str = "kind: child") -> Path:
    flows = "flows:" + "".join(FLOW.format(name=name) for name in NAMES)
    files = {
        "domain.yml": DOMAIN,
        "data/flows.yml": flows,
        "endpoints.yml": "a2a_server: {description: Small}\n",
        "mock.yml": f'action_server: {{{server}, python: "{python}"}}\n',
        "actions/__init__.py": "",
        "actions/all.py": ACTIONS,
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.shared
@pytest.mark.timeout(400)
def test_retail_banking_actions_run_unmodified_through_a_transfer(
    shared: Path, tmp_path: Path, python_with_rasa_sdk: Path
) -> None:
    project = tmp_path / "bank"
    shutil.copytree(shared / "projects" / BANK, project)
    for entry in (project, *project.rglob("*")):
        entry.chmod(0o755 if entry.is_dir() else 0o644)
    (project / "mock.yml").write_text(
        f'action_server: {{kind: child, python: "{python_with_rasa_sdk}"}}\n'
    )
    with serving(project, "--relax") as talk:
        first = talk.say("/StartFlow(transfer_money)")
        assert first.state == "input-required"
        assert "Which account would you like to transfer money from?" in first.text
        assert "(Balance: $" in first.text
        database = sqlite3.connect(project / "data" / "banking.db")
        [(account,), *_] = database.execute(
            "SELECT number FROM accounts JOIN users ON users.id = user_id "
            "WHERE users.name = 'John Smith' AND balance > 100"
        ).fetchall()
        assert talk.say(str(account)).state == "input-required"
        amount = talk.say("Robert")
        assert amount.data["slots"]["payee_exists"] is True
        timing = talk.say("50")
        assert timing.state == "input-required"
        confirm = talk.say("/SetSlots(timing=now)")
        assert confirm.text.startswith("An immediate payment of $50.0 to Robert will be processed.")
        done = talk.say("yes")
        assert (done.state, "successfully processed" in done.text) == ("completed", True)
        stranger = talk.say(
            "/StartFlow(transfer_money)", account_from=str(account), payee_name="Nobody"
        )
        assert stranger.data["slots"]["payee_exists"] is False
        assert stranger.data["active_flow"] == "add_payee"
    assert "a2a_mock.action_server.started" in talk.log


@pytest.mark.timeout(400)
def test_child_answers_fails_and_is_restarted(tmp_path: Path, python_with_rasa_sdk: Path) -> None:
    project = small_project(tmp_path, python_with_rasa_sdk)
    with serving(project, "--watch") as talk:
        greeted = talk.say("/StartFlow(greet)")
        assert greeted.state == "completed"
        assert greeted.text.startswith("Hello WORD, Ada.\n\nc1 said /StartFlow(greet)\n")
        assert greeted.data["slots"] == {"name": "Ada"}
        assert talk.say("/StartFlow(forget)").data["slots"] == {}
        told = "/StartFlow(greet) | /StartFlow(forget) | /StartFlow(remember)"
        assert talk.say("/StartFlow(remember)").text == told
        for name in ("break", "refuse", "nowhere"):
            failed = talk.say(f"/StartFlow({name})")
            assert failed.state == "failed"
            assert failed.data["error_info"] == {"action": f"action_{name}"}
        code = project / "actions" / "all.py"
        code.write_text(ACTIONS.replace('"Ada"', '"Grace"'), encoding="utf-8")
        deadline = time.monotonic() + 120
        while (again := talk.say("/StartFlow(greet)")).data["slots"] != {"name": "Grace"}:
            assert time.monotonic() < deadline, again
    assert "replied 500" in talk.log
    assert "replied 400: not today" in talk.log
    assert "replied 404: No registered action found for name 'action_nowhere'" in talk.log
    assert "sent event 'followup': it is ignored" in talk.log


@pytest.mark.timeout(400)
def test_server_of_endpoints_yml_is_asked(tmp_path: Path, python_with_rasa_sdk: Path) -> None:
    project = small_project(tmp_path, python_with_rasa_sdk, "kind: endpoint")
    # Held until the test is over, and listened on by nobody: the server may have it, nobody else.
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port = held.getsockname()[1]
    endpoints = project / "endpoints.yml"
    url = f"http://127.0.0.1:{port}/webhook"
    endpoints.write_text(f"{endpoints.read_text()}action_endpoint: {{url: {url}}}\n")
    line = [str(python_with_rasa_sdk), "-m", "rasa_sdk", "--actions", "actions", "-p", str(port)]
    with serving(project) as talk:
        assert talk.say("/StartFlow(greet)").state == "failed"
        server = subprocess.Popen(
            line,
            cwd=project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + 120
            while talk.say("/StartFlow(greet)").state != "completed":
                assert time.monotonic() < deadline
            assert talk.say("/StartFlow(greet)").data["slots"] == {"name": "Ada"}
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            held.close()
    assert f"{url} is unavailable" in talk.log


@pytest.mark.timeout(400)
def test_talk_runs_the_same_actions(tmp_path: Path, python_with_rasa_sdk: Path) -> None:
    project = small_project(tmp_path, python_with_rasa_sdk)
    ended = subprocess.run(
        [sys.executable, "-m", "mock_server", "talk", str(project)],
        input="/StartFlow(greet)\n/StartFlow(greet)\n/StartFlow(remember)\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("bot  Hello WORD, Ada.") == 2
    assert "talk said /StartFlow(greet)" in ended.stdout
    assert "bot  /StartFlow(greet) | /StartFlow(greet) | /StartFlow(remember)" in ended.stdout


@pytest.mark.timeout(400)
def test_child_ends_with_a_mock_that_is_killed(tmp_path: Path, python_with_rasa_sdk: Path) -> None:
    project = small_project(tmp_path, python_with_rasa_sdk)
    line = [sys.executable, "-m", "mock_server", "serve", "--port", "0", str(project)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as mock:
        assert mock.stdout
        assert mock.stdout.readline().startswith(b"ready: ")
        mock.kill()
        # The child writes to the same pipe: it closes when the last of them has ended.
        _, log = mock.communicate(timeout=30)
    assert b"a2a_mock.action_server.started" in log


def test_child_that_does_not_come_up_stops_the_start(tmp_path: Path) -> None:
    project = small_project(tmp_path, tmp_path / "no-such-python")
    line = [sys.executable, "-m", "mock_server", "serve", "--port", "0", str(project)]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no-such-python cannot be run: No such file or directory" in ended.stderr
