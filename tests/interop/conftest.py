"""The mock as its users run it, on a free port."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOMAIN = """
slots:
  recipient: {type: text}
responses:
  utter_ask_recipient: [{text: "To whom?"}]
  utter_sent: [{text: "Sent to {recipient}."}]
actions: [action_explain]
session_config: {start_session_after_expiry: false}
"""
FLOWS = """
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
"""
FILES = {
    "domain.yml": DOMAIN,
    "data/flows.yml": FLOWS,
    "config.yml": "assistant_id: small-bank\n",
    "endpoints.yml": "a2a_server: {description: A small bank}\n",
    "mock.yml": 'actions:\n  action_explain: {stream: ["Your ", "fee ", "is 2 %."]}\n',
}


@pytest.fixture
def mock_url(tmp_path: Path) -> Iterator[str]:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    line = [sys.executable, "-m", "mock_server", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.terminate()
