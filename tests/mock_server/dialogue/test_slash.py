"""Slash messages."""

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    Command,
    Restart,
    SessionEnd,
    SessionStart,
    SetSlot,
    StartFlow,
)
from mock_server.dialogue.model import END, Flow, Slot, SlotType
from mock_server.dialogue.slash import read_slash

PAY = Flow("pay", "pay", "", {}, END, nlu_triggers=("send_money",))
ASSISTANT = Assistant(flows={"pay": PAY}, slots={"amount": Slot("amount", SlotType.FLOAT)})
INVALID = CannotHandle("cannot_handle_invalid_intent")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("hello", ()),
        ("/SetSlots(amount=5)", (SetSlot("amount", "5", is_direct=True),)),
        ("/StartFlow(pay)", (StartFlow("pay"),)),
        (
            "/StartFlow(pay); /SetSlots(amount=5);",
            (StartFlow("pay"), SetSlot("amount", "5", is_direct=True)),
        ),
        ("/StartFlow(pay)\n/SetSlot(amount, 5)", (StartFlow("pay"), SetSlot("amount", "5"))),
        ('/SetSlots{"a": "x; y"}', (SetSlot("a", "x; y", is_direct=True),)),
        ("/StartFlow(pay) ;  \n /StartFlow(pay)", (StartFlow("pay"), StartFlow("pay"))),
        ("/send_money", (StartFlow("pay", is_trigger=True),)),
        ("/CancelFlow", (CancelFlow(),)),
        ("/cancelflow", (INVALID,)),
        (
            '/send_money{"amount": 5, "other": 1}',
            (StartFlow("pay", is_trigger=True), SetSlot("amount", 5, is_direct=True)),
        ),
        ("/send_money{nonsense}", (StartFlow("pay", is_trigger=True),)),
        ("/session_start", (SessionStart(),)),
        ("/session_end", (SessionEnd(),)),
        ("/restart", (Restart(),)),
        ("/unknown", (INVALID,)),
        ("/Unknown(x)", (INVALID,)),
        ("/SetSlots(amount)", (INVALID,)),
        ("/", (INVALID,)),
        ("//", (INVALID,)),
    ],
)
def test_slash_message_is_commands(text: str, commands: tuple[Command, ...]):
    assert read_slash(text, ASSISTANT)[0] == commands


def test_entities_that_are_no_object_fill_nothing():
    assert read_slash('/send_money{"a"}', ASSISTANT)[0] == (StartFlow("pay", is_trigger=True),)


def test_trigger_of_a_later_flow_is_found():
    other = Flow("other", "other", "", {}, END)
    assistant = Assistant(flows={"other": other, "pay": PAY})
    assert read_slash("/send_money", assistant)[0] == (StartFlow("pay", is_trigger=True),)
