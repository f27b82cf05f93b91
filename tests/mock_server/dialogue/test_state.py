"""The fold: what each event does to the state of a conversation."""

from dataclasses import fields, replace

import pytest

from mock_server.dialogue.state import (
    ActionRequested,
    BotUttered,
    DialogueState,
    Event,
    Frame,
    FrameInserted,
    FrameMoved,
    FramePushed,
    FrameRemoved,
    FrameType,
    Listened,
    Restarted,
    SessionStarted,
    SlotSet,
    SlotSource,
    UserUttered,
    Warned,
    apply,
)

BOTTOM = Frame("1", "one", "a")
TOP = Frame("2", "pattern_x", "b", FrameType.INTERRUPT, {"reason": "r"})
NEW = Frame("9", "two", "c")
HELLO = BotUttered("hello")
STATE = DialogueState(
    slots={"a": 1, "b": None},
    initial_slots={"a": None, "b": None},
    stack=(BOTTOM, TOP),
    is_started=True,
    is_listening=False,
    user_text="hi",
    user_metadata={"who": "me"},
    bot_uttered=(HELLO,),
    previously_uttered=(),
    frames_made=2,
)


@pytest.mark.parametrize(
    ("event", "changes"),
    [
        (SlotSet("b", 2, SlotSource.USER), {"slots": {"a": 1, "b": 2}}),
        (FramePushed(NEW), {"stack": (BOTTOM, TOP, NEW), "frames_made": 3}),
        (FrameInserted(NEW, 1), {"stack": (BOTTOM, NEW, TOP), "frames_made": 3}),
        (FrameMoved("2", "z"), {"stack": (BOTTOM, replace(TOP, step_id="z"))}),
        (
            FrameMoved("2", "z", {"more": 1}),
            {"stack": (BOTTOM, replace(TOP, step_id="z", context={"more": 1}))},
        ),
        (FrameMoved("7", "z"), {}),
        (FrameRemoved("1"), {"stack": (TOP,)}),
        (BotUttered("again"), {"bot_uttered": (HELLO, BotUttered("again"))}),
        (
            UserUttered("bye", {}),
            {
                "user_text": "bye",
                "user_metadata": {},
                "bot_uttered": (),
                "previously_uttered": (HELLO,),
            },
        ),
        (Listened(), {"is_listening": True}),
        (SessionStarted(), {}),
        (Warned("odd"), {}),
        (ActionRequested("action_x"), {}),
    ],
)
def test_event_changes_these_fields_and_no_other(event: Event, changes: dict[str, object]) -> None:
    after = apply(STATE, event)
    for field in fields(DialogueState):
        expected: object = changes.get(field.name, getattr(STATE, field.name))
        assert getattr(after, field.name) == expected, field.name


def test_restart_leaves_the_initial_slots_only() -> None:
    initial = STATE.initial_slots
    assert apply(STATE, Restarted()) == DialogueState(initial, initial, is_listening=False)
