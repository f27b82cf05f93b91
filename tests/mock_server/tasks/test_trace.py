"""Commands as a trace spells them."""

import pytest

from mock_server.dialogue.commands import (
    CannotHandle,
    Clarify,
    Command,
    ReportError,
    SetSlot,
    SkipQuestion,
    StartFlow,
    parse_command,
)
from mock_server.tasks.trace import spell_command


@pytest.mark.parametrize(
    ("command", "spelt"),
    [
        (StartFlow("pay"), "StartFlow(pay)"),
        (SetSlot("amount", "50"), "SetSlot(amount, 50)"),
        (SetSlot("name", "Ada, or Bob"), "SetSlot(name, Ada, or Bob)"),
        (SetSlot("sure", True), "SetSlot(sure, true)"),
        (SetSlot("sure", None), "SetSlot(sure, null)"),
        (SetSlot("word", "null"), 'SetSlot(word, "null")'),
        (Clarify(("pay", "send")), "Clarify(pay, send)"),
        (CannotHandle(), "CannotHandle()"),
        (CannotHandle("cannot_handle_chitchat"), "CannotHandle(cannot_handle_chitchat)"),
        (ReportError("some_type"), "Error(some_type)"),
        (SkipQuestion(), "SkipQuestion()"),
    ],
)
def test_command_is_spelt_as_it_is_typed(command: Command, spelt: str) -> None:
    assert spell_command(command) == spelt
    assert parse_command(spelt) == command


def test_what_a_button_or_a_trigger_does_is_spelt_alike() -> None:
    assert spell_command(StartFlow("pay", is_trigger=True)) == "StartFlow(pay)"
    assert spell_command(SetSlot("amount", 5.5, is_direct=True)) == "SetSlot(amount, 5.5)"
    assert spell_command(SetSlot("all", [1, "é"])) == 'SetSlot(all, [1, "é"])'
