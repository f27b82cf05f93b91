"""A task is the fold of its updates."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json, Slot, SlotType
from mock_server.errors import IllegalTransition
from mock_server.tasks.task import (
    TERMINAL_STATES,
    Artifact,
    ArtifactUpdate,
    DataPart,
    FilePart,
    Message,
    Part,
    Role,
    Status,
    StatusUpdate,
    Task,
    TaskState,
    TextPart,
    Update,
    apply,
    read,
    seeds,
    submitted,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
HELLO = Message("m1", Role.USER, (TextPart("hello"),))
TASK = submitted("t1", "c1", HELLO)


def said(text: str) -> Message:
    return Message(text, Role.AGENT, (TextPart(text),), "c1", "t1")


def chunk(text: str, *, appends: bool = False, artifact_id: str = "a1") -> ArtifactUpdate:
    return ArtifactUpdate(Artifact(artifact_id, (TextPart(text),)), appends)


@pytest.mark.req("OUT-5")
def test_submitted_task_holds_the_users_message() -> None:
    assert TASK.status == Status(TaskState.SUBMITTED)
    assert TASK.history == (replace(HELLO, task_id="t1", context_id="c1"),)


@pytest.mark.req("TURN-2")
def test_task_names_the_one_that_the_message_followed() -> None:
    assert submitted("t2", "c1", replace(HELLO, task_id="t1")).metadata == {"previousTaskId": "t1"}
    assert TASK.metadata == {}


@pytest.mark.req("OUT-5")
def test_replaced_status_message_moves_to_the_history() -> None:
    asked = apply(TASK, StatusUpdate(Status(TaskState.INPUT_REQUIRED, NOW, said("which?"))))
    canceled = apply(asked, StatusUpdate(Status(TaskState.CANCELED, NOW, said("done"))))
    assert asked.history == TASK.history
    assert canceled.history == (*TASK.history, said("which?"))
    assert canceled.status.message == said("done")


@pytest.mark.req("OUT-4")
def test_appended_chunks_assemble_one_artifact() -> None:
    updates = [chunk("Your "), chunk("fee", appends=True), chunk("other", artifact_id="a2")]
    task = TASK
    for update in updates:
        task = apply(task, update)
    assert task.artifacts == (
        Artifact("a1", (TextPart("Your "), TextPart("fee"))),
        Artifact("a2", (TextPart("other"),)),
    )


def test_chunk_that_does_not_append_starts_over() -> None:
    task = apply(apply(TASK, chunk("old")), chunk("new"))
    assert task.artifacts == (Artifact("a1", (TextPart("new"),)),)


@pytest.mark.parametrize("state", sorted(TERMINAL_STATES))
def test_terminal_task_takes_no_update(state: TaskState) -> None:
    over = apply(TASK, StatusUpdate(Status(state, NOW), is_final=True))
    with pytest.raises(IllegalTransition) as caught:
        apply(over, StatusUpdate(Status(TaskState.WORKING, NOW)))
    assert (caught.value.task_id, caught.value.state) == ("t1", state)


open_states = st.sampled_from([TaskState.WORKING, TaskState.INPUT_REQUIRED])
messages = st.one_of(st.none(), st.text(max_size=3).map(said))
updates = st.one_of(
    st.builds(StatusUpdate, st.builds(Status, open_states, st.just(NOW), messages)),
    st.builds(
        chunk, st.text(max_size=3), appends=st.booleans(), artifact_id=st.sampled_from(["a", "b"])
    ),
)


@settings(max_examples=100)
@given(st.lists(updates, max_size=8))
def test_no_status_message_is_lost(log: list[Update]) -> None:
    task: Task = TASK
    for update in log:
        task = apply(task, update)
    spoken = [u.status.message for u in log if isinstance(u, StatusUpdate) and u.status.message]
    shown = [*task.history[1:], *([task.status.message] if task.status.message else [])]
    assert shown == spoken


ASSISTANT = Assistant(
    slots={
        slot.name: slot
        for slot in (
            Slot("recipient", SlotType.TEXT),
            Slot("amount", SlotType.FLOAT, min_value=1, max_value=100),
            Slot("account", SlotType.CATEGORICAL, values=("Checking", "Savings")),
            Slot("urgent", SlotType.BOOL),
            Slot("requested_slot", SlotType.TEXT, is_builtin=True),
        )
    }
)


def message(*parts: Part, slots: Json = None, **metadata: Json) -> Message:
    known = {} if slots is None else {"slots": slots}
    return Message("m1", Role.USER, parts, metadata={**metadata, **known} or None)


def text(words: str) -> Message:
    return message(TextPart(words))


@pytest.mark.req("SLOT-1", "SLOT-4")
@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ('send money\nSLOTS: {"recipient": "Joe"}', "send money"),
        ('SLOTS: {"recipient": "Joe"}\nsend money', "send money"),
        ('send\n  SLOTS:{"recipient":"Joe"}  \nmoney', "send\nmoney"),
        ('send money\r\nSLOTS: {"recipient": "Joe"}\r\n', "send money"),
        ('send money\n```json\n{"recipient": "Joe"}\n```', "send money"),
        ('send money ```json {"recipient": "Joe"}```\n', "send money"),
        ('SLOTS: {"recipient": "Joe"}', ""),
    ],
)
def test_markers_give_slots_and_leave_the_text(words: str, rest: str) -> None:
    reading = read(text(words))
    assert reading.slots == {"recipient": "Joe"}
    assert reading.text == rest
    assert [part.text for part in reading.message.parts if isinstance(part, TextPart)] == (
        [rest] if rest else []
    )


@pytest.mark.req("SLOT-1")
@pytest.mark.parametrize(
    "words",
    [
        'my SLOTS: {"recipient": "Joe"}',
        "SLOTS: {recipient: Joe}",
        "SLOTS: [1]",
        '```json\n{"recipient": "Joe"}\n``` is what I mean',
        "```json\n[1]\n```",
        '```\n{"recipient": "Joe"}\n```',
        "SLOTS: " + '{"a":' * 500 + "1" + "}" * 500,
    ],
)
def test_what_is_not_a_marker_stays_text(words: str) -> None:
    reading = read(text(words))
    assert not reading.carries_slots
    assert reading.text == words


@pytest.mark.req("SLOT-1")
def test_later_shapes_win_in_the_total_order() -> None:
    sources: list[tuple[str, Json]] = [
        ("line", {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}),
        ("fence", {"b": 2, "c": 2, "d": 2, "e": 2}),
        ("request", {"c": 3, "d": 3, "e": 3}),
        ("message", {"d": 4, "e": 4}),
        ("data", {"e": 5}),
    ]
    shapes = dict(sources)
    words = f"x\nSLOTS: {json.dumps(shapes['line'])}\n```json\n{json.dumps(shapes['fence'])}\n```"
    reading = read(
        message(
            DataPart({"slots": {"e": 0}}),
            TextPart(words),
            DataPart({"slots": shapes["data"]}),
            slots=shapes["message"],
        ),
        {"slots": shapes["request"]},
    )
    assert reading.slots == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert reading.text == "x"


@pytest.mark.req("SLOT-6")
@pytest.mark.parametrize(
    ("given_message", "carries"),
    [
        (message(DataPart({"slots": {"recipient": "Joe"}})), True),
        (message(slots={"nobody_knows": 1}), True),
        (message(TextPart("hi")), False),
        (message(DataPart({"slots": "no object"}), slots=[1]), False),
        (message(FilePart({"uri": "http://x/y"})), False),
    ],
)
def test_reading_says_whether_slots_came(given_message: Message, carries: bool) -> None:
    assert read(given_message).carries_slots is carries


@pytest.mark.req("TURN-12")
def test_metadata_beside_slots_goes_on() -> None:
    reading = read(message(TextPart("hi"), slots={"recipient": "Joe"}, user="u1"))
    assert reading.metadata == {"user": "u1"}
    assert read(text("hi")).metadata == {}


@pytest.mark.req("SLOT-4")
def test_other_parts_stay_in_the_message() -> None:
    data = DataPart({"slots": {"recipient": "Joe"}, "x": 1})
    empty = TextPart("")
    assert read(message(data, empty)).message.parts == (data, empty)


@pytest.mark.req("SLOT-2")
def test_only_the_domains_own_slots_are_written() -> None:
    given_slots: dict[str, Json] = {"recipient": "Joe", "requested_slot": "x", "unknown": 1}
    assert seeds(ASSISTANT, given_slots).slots == (("recipient", "Joe"),)
    assert seeds(ASSISTANT, given_slots).skipped == ()


@pytest.mark.req("SLOT-3")
@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("amount", "12.5", 12.5),
        ("account", "savings", "Savings"),
        ("urgent", "yes", True),
        ("recipient", "NONE", None),
        ("amount", " Null ", None),
        ("account", "undefined", None),
        ("recipient", None, None),
    ],
)
def test_values_are_coerced_to_the_slots_type(name: str, value: Json, written: Json) -> None:
    assert seeds(ASSISTANT, {name: value}).slots == ((name, written),)


@pytest.mark.req("SLOT-3")
@pytest.mark.parametrize(
    ("name", "value"),
    [("amount", "much"), ("amount", 101), ("amount", 0), ("account", "Gold"), ("recipient", [1])],
)
def test_inadmissible_value_is_skipped_alone(name: str, value: Json) -> None:
    found = seeds(ASSISTANT, {name: value, "urgent": True})
    assert found.slots == (("urgent", True),)
    assert [skipped.name for skipped in found.skipped] == [name]


@settings(max_examples=150)
@given(st.text(alphabet='aS{}":SLOTS \n`json\\\ud800', max_size=60))
def test_any_text_can_be_read(words: str) -> None:
    reading = read(text(words))
    assert reading.carries_slots or reading.text == words
