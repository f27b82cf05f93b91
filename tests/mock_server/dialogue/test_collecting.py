"""The user takes back an answer."""

from collections.abc import Callable, Iterable

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import BotUttered, Event, FlowCancelled, FlowStarted
from mock_server.dialogue.state import DialogueState

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

TO_SPEED = ("StartFlow(transfer);SetSlot(recipient, Joe);SetSlot(amount, 5)",)
TO_CONFIRM = (*TO_SPEED, "SetSlot(speed, now)")


def texts(turn: Iterable[Event]) -> list[str]:
    return [event.text for event in turn if isinstance(event, BotUttered)]


def test_corrected_value_is_confirmed_and_the_question_repeated(
    bank: Assistant, converse: Converse
) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, 7)"])
    assert texts(turns[-1]) == ["Corrected: amount is now 7.0.", "Send 7.0 to Joe?"]
    assert state.slots["amount"] == 7.0


def test_several_values_are_corrected_at_once(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, 7);SetSlot(recipient, Jane)"])
    assert texts(turns[-1])[0] == "Corrected: amount is now 7.0; recipient is now Jane."


def test_correction_of_a_caller_leaves_its_child(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_SPEED, "SetSlot(recipient, Jane)"])
    life = [e for e in turns[-1] if isinstance(e, FlowCancelled | FlowStarted)]
    assert life == [FlowCancelled("timing", "timing_0_collect_speed"), FlowStarted("timing")]
    assert [frame.flow_id for frame in state.stack] == [
        "transfer",
        "timing",
        "pattern_collect_information",
    ]


def test_correction_of_a_child_calls_it_again(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(speed, later)"])
    assert FlowStarted("timing") in turns[-1]
    assert texts(turns[-1])[-1] == "Send 5.0 to Joe?"
    assert state.slots["speed"] == "later"


def test_corrected_value_may_be_rejected(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, -1)"])
    assert texts(turns[-1]) == [
        "Corrected: amount is now -1.0.",
        "-1.0 is too little.",
        "How much for Joe?",
    ]
    assert state.slots["amount"] is None


def test_value_taken_back_is_asked_for_again(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(recipient, null)"])
    assert texts(turns[-1]) == ["To whom?"]


def test_value_that_lies_ahead_is_corrected_in_place(bank: Assistant, converse: Converse) -> None:
    early = "StartFlow(transfer);SetSlot(speed, now)"
    state, turns = converse(bank, [early, "SetSlot(speed, later)"])
    assert texts(turns[-1]) == ["Corrected: speed is now later.", "To whom?"]
    assert state.slots["speed"] == "later"


def test_value_kept_from_an_earlier_flow_is_corrected(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(
        bank,
        [*TO_CONFIRM, "SetSlot(confirm, yes)", "StartFlow(transfer);SetSlot(recipient, Jane)"],
    )
    assert texts(turns[-1]) == ["Corrected: recipient is now Jane.", "How much for Jane?"]
    assert state.slots["recipient"] == "Jane"


def test_corrected_slot_is_validated(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(
        bank, ["StartFlow(account)", "StartFlow(memo);SetSlot(iban, DE1)", "SetSlot(iban, FR1)"]
    )
    assert texts(turns[-1]) == [
        "Corrected: iban is now FR1.",
        "FR1 is not German.",
        "Which German IBAN?",
    ]
    assert state.slots["iban"] is None


def test_correction_leaves_the_other_commands_their_patterns(
    bank: Assistant, converse: Converse
) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, 7);ChitChat()"])
    assert texts(turns[-1]) == [
        "Corrected: amount is now 7.0.",
        "Sorry, that is nothing I can help with.",
        "Send 7.0 to Joe?",
    ]
