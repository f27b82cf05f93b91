"""`mock.yml: llm` over the whole way: the served mock and `talk` ask a stand-in."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Command


DOMAIN = """
session_config: {start_session_after_expiry: false}
slots: {recipient: {type: text}}
responses:
  utter_ask_recipient: [{text: To whom?}]
  utter_sent: [{text: "Sent to {recipient}."}]
"""
FLOWS = """
flows:
  transfer_money:
    description: send money to somebody
    steps: [{collect: recipient}, {action: utter_sent}]
"""
MOCK = 'llm: {base_url: "${LLM_URL}", model: small, api_key: "${LLM_KEY}"}\n'
SAID = "my landlord Joe waits for the rent"


class Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        content = "start flow transfer_money\nset slot recipient Joe"
        body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The stand-in is silent."""


@pytest.fixture
def environment(secret: Callable[[str], str]) -> Generator[dict[str, str]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            "LLM_URL": f"http://127.0.0.1:{server.server_address[1]}/v1",
            "LLM_KEY": secret("sk-test-integration-key"),
        }
        server.shutdown()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text(DOMAIN)
    (tmp_path / "data" / "flows.yml").write_text(FLOWS)
    (tmp_path / "endpoints.yml").write_text("a2a_server: {description: Small}\n")
    (tmp_path / "mock.yml").write_text(MOCK)
    return tmp_path


def test_served_mock_understands_what_no_rule_does(
    project: Path,
    environment: dict[str, str],
    run_mock: Callable[..., AbstractContextManager["Command"]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    message = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": SAID}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    with run_mock(project) as mock:
        status = mock.client.post("/", json=body).json()["result"]["status"]
    assert status["state"] == "completed"
    assert status["message"]["parts"][0]["text"].startswith("Sent to Joe.")


def test_talk_shows_the_model_in_its_trace(project: Path, environment: dict[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "mock_server", "talk", "--trace", str(project)],
        input=f"{SAID}\n",
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "✓ llm        the model gave 2 commands" in ended.stdout
    assert "bot  Sent to Joe." in ended.stdout
    assert environment["LLM_KEY"] not in ended.stdout + ended.stderr
