"""`a2a-mock talk`, as a process of its own, and its conversation."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mock_server.local_conversation import LocalConversation
from mock_server.project.load import load_assistant

DOMAIN = """\
slots:
  amount: {type: float}
  confirm: {type: bool}
actions: [action_pay, action_fail, action_free]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_ask_confirm:
    - text: "Pay {amount}?"
      buttons: [{title: Do it, payload: /SetSlots(confirm=true)}]
"""
FLOWS = """\
flows:
  pay_bill:
    description: Pay a bill.
    persisted_slots: [amount]
    steps:
      - collect: amount
      - collect: confirm
      - action: action_pay
  break_down:
    description: Break down.
    steps: [{action: action_fail}]
  do_nothing:
    description: Nothing happens.
    steps: [{action: action_free}, {action: action_free}]
  pattern_completed:
    steps: [{noop: true, next: END}]
"""
MOCK = """\
actions:
  action_pay: {stream: ["Pa", "id."], delay_seconds: 3600}
  action_fail: {fail: {status: 500, error: secret reason}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yml").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "data" / "flows.yml").write_text(FLOWS, encoding="utf-8")
    (tmp_path / "mock.yml").write_text(MOCK, encoding="utf-8")
    return tmp_path


def talk(folder: Path, said: bytes, *flags: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-W", "error", "-m", "mock_server", "talk", str(folder), *flags]
    return subprocess.run(
        command, input=said, capture_output=True, timeout=60, check=False, env={"LC_ALL": "C.UTF-8"}
    )


def test_json_is_one_object_a_turn(folder: Path):
    run = talk(folder, b"pay a bill of 50\ndo it\nbreak down\ngibberish\n", "--json")
    turns = [json.loads(line) for line in run.stdout.splitlines()]
    assert [turn["state"] for turn in turns] == [
        "input_required",
        "completed",
        "failed",
        "rejected",
    ]
    assert all(
        list(turn)
        == ["state", "text", "active_flow", "slots", "persisted_slots", "events", "trace"]
        for turn in turns
    )
    assert turns[0]["text"] == ["Pay 50.0?\n1: Do it (/SetSlots(confirm=true))"]
    assert (turns[0]["active_flow"], turns[0]["slots"]) == ("pay_bill", {"amount": 50.0})
    assert turns[1]["text"] == ["Paid."]
    assert turns[1]["persisted_slots"] == {"amount": 50.0}
    assert b"secret reason" not in run.stdout
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.req("STATE-2")
def test_trace_shows_both_candidates(folder: Path):
    run = talk(folder, b"pay a bill\nmany\n", "--json")
    turn = json.loads(run.stdout.splitlines()[-1])
    states = {rule["rule"]: rule for rule in turn["trace"] if rule["rule"].startswith("STATE")}
    assert turn["state"] == "input_required"
    assert states["STATE-8"]["fired"] is True
    assert states["STATE-2"] == {"rule": "STATE-2", "fired": False, "reason": "rejected"}


def test_output_is_a_conversation(folder: Path):
    run = talk(folder, b"pay a bill of 50\nDo it\n/SetSlots(amount=null)\nbreak down\n")
    assert run.stdout.decode().splitlines() == [
        f"{folder.name} · conversation 'talk'",
        "you  pay a bill of 50",
        "bot  Pay 50.0?",
        "     1: Do it (/SetSlots(confirm=true))",
        "     · input_required · pay_bill asks confirm · amount=50.0",
        "",
        "you  Do it",
        "bot  Paid.",
        "     · completed",
        "",
        "you  /SetSlots(amount=null)",
        "     · input_required · amount=null",
        "",
        "you  break down",
        "     ! action 'action_fail' failed: its stub says so",
        "bot  Something went wrong on my side. Please try again later.",
        "     · failed",
        "",
    ]


def test_trace_tells_rules_and_commands(folder: Path):
    lines = talk(folder, b"pay a bill\n/StartFlow(pya)\n", "--trace").stdout.decode().splitlines()
    assert "     ✗ slash      it does not begin with a slash" in lines
    assert any(line.startswith("     ✓ flow ") for line in lines)
    assert "     → StartFlow(pay_bill)" in lines
    assert "     → StartFlow(pya) is dropped: there is no such flow" in lines
    assert "     = STATE-8 input_required" in lines


def test_project_that_cannot_be_loaded_is_reported(tmp_path: Path):
    run = talk(tmp_path / "nowhere", b"hello\n")
    assert run.returncode == 2
    assert b"there is no such folder" in run.stderr
    assert run.stdout == b""


@pytest.mark.parametrize(
    "said", [b"\xff\xfe\n", b"\n", b"/SetSlots(\n", b'/SetSlots{"a":"\\ud800"}\n']
)
def test_bad_input_is_answered(folder: Path, said: bytes):
    run = talk(folder, said, "--trace")
    assert (run.returncode, run.stderr) == (0, b"")


def test_action_without_a_stub_is_warned_of_once(folder: Path):
    warnings: list[str] = []
    conversation = LocalConversation(load_assistant(folder, environment={}), warnings.append)
    assert conversation.say("/StartFlow(do_nothing)").state == "completed"
    assert warnings == ["action 'action_free' has no stub in mock.yml, so it does nothing"]


@pytest.mark.req("SLOT-1", "SLOT-3", "SLOT-6")
def test_line_of_slots_seeds_them(folder: Path):
    warnings: list[str] = []
    conversation = LocalConversation(load_assistant(folder, environment={}), warnings.append)
    turn = conversation.say('SLOTS: {"amount": 5, "confirm": "perhaps"}')
    assert (turn.after.slots["amount"], turn.trace) == (5.0, ())
    assert warnings == ["slot 'confirm': found 'perhaps', expected true or false; it is skipped"]
