"""The conversation, as people would read it."""

from functools import reduce
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.entries import Purpose
from inspector.net.events import FailureKind
from inspector.views import timeline
from inspector.views.chat import Offer, divide, read_offers
from inspector.views.outcomes import turns_of
from inspector.views.problems import WayOn
from inspector.views.reading import read_log

if TYPE_CHECKING:
    from conftest import Script


def test_turn_and_answer(script: "Script") -> None:
    script.send("send money", metadata={"slots": {"amount": 50}})
    script.reply(script.task("input-required", "Which account?"))
    you, agent = script.views.chat.said
    assert (you.speaker, you.text, you.slots, you.slot_shapes) == (
        "you",
        "send money",
        {"amount": 50},
        ("metadata",),
    )
    assert (agent.speaker, agent.text, agent.state) == ("agent", "Which account?", "input-required")


def test_slot_markers_are_not_part_of_what_was_said(script: "Script") -> None:
    script.send('hi\nSLOTS: {"a": 1}')
    [you] = script.views.chat.said
    assert (you.text, you.slots, you.slot_shapes) == ("hi", {"a": 1}, ("line",))


@pytest.mark.parametrize(
    ("method", "shown"),
    [("agent/other", "raw body: agent/other"), ("", "raw body without a method")],
)
def test_a_raw_body_is_shown_as_such(script: "Script", method: str, shown: str) -> None:
    script.request(Purpose.SEND, method, {"id": "t"})
    [you] = script.views.chat.said
    assert (you.speaker, you.text) == ("you", shown)
    [row] = reduce(timeline.step, read_log(script.entries), timeline.EMPTY).rows
    assert row.title == shown
    [outcome] = turns_of(script.entries)
    assert outcome.title == shown


@pytest.mark.req("OUT-2a")
def test_buttons_are_offers(script: "Script") -> None:
    text = "Which account?\n1: checking (/SetSlots(a=b))\n2: savings"
    script.send("x").reply(script.task("input-required", text))
    agent = script.views.chat.said[-1]
    assert agent.text == "Which account?"
    assert agent.offers == (
        Offer(1, "checking", "/SetSlots(a=b)"),
        Offer(2, "savings", "savings"),
    )


@pytest.mark.parametrize(
    "text", ["2: not the first", "1: a (b)\nthen more", "list:\n1: a\n3: c", "", "1:x"]
)
def test_what_is_no_row_of_buttons_stays(text: str) -> None:
    assert read_offers(text) == (text, ())


@given(
    st.text(st.characters(categories=("L",)), max_size=8),
    st.lists(st.text(st.characters(categories=("L",)), min_size=1), max_size=6),
)
def test_offers_are_cut_off_and_nothing_else(text: str, titles: list[str]) -> None:
    lines = [f"{number}: {title} (/{title})" for number, title in enumerate(titles, 1)]
    rest, offers = read_offers("\n".join([text, *lines]))
    assert rest == text
    assert [offer.title for offer in offers] == titles
    assert [offer.payload for offer in offers] == [f"/{title}" for title in titles]


def test_a_stream_says_each_message_once(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    script.event(script.task("submitted"))
    script.event(script.update("working", "one moment"))
    script.event(script.update("working", "one moment"))
    script.event(script.chunk("a", append=False)).event(script.chunk("b"))
    script.event(script.update("completed", final=True)).end()
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).reply(script.task("completed", "ab"))
    view = script.views.chat
    assert [(one.text, one.state) for one in view.said[1:]] == [
        ("one moment", "working"),
        ("ab", "completed"),
    ]
    assert (len(view.running), view.streamed) == (0, {})


def test_artifacts_speak_where_the_status_is_silent(script: "Script") -> None:
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": "echo"}]}
    script.send("x").reply(script.task("completed", artifacts=[artifact]))
    assert script.views.chat.said[-1].text == "echo"


def test_a_silent_end_is_told_by_its_state(script: "Script") -> None:
    script.send("x").reply(script.task("rejected"))
    agent = script.views.chat.said[-1]
    assert (agent.text, agent.state) == ("", "rejected")


def test_a_bare_message_is_an_answer(script: "Script") -> None:
    parts = [{"kind": "text", "text": "just a message"}]
    script.send("x").reply({"kind": "message", "messageId": "m", "role": "agent", "parts": parts})
    agent = script.views.chat.said[-1]
    assert (agent.text, agent.state) == ("just a message", None)


@pytest.mark.req("CLI-5")
def test_a_failure_is_told_where_it_happened(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    script.event(script.update("working")).fail(FailureKind.TIMEOUT, "no end within 1 s")
    failed = script.views.chat.said[-1].problem
    assert failed is not None
    assert failed.ways_on == (WayOn.FOLLOW, WayOn.TASK)
    problem = failed.text.split("\n")
    assert problem[0] == "POST http://a/: no end within 1 s"
    assert problem[1] == "outstanding: the answer to message/stream of task t, for 30 ms"
    assert problem[2] == "last seen: state working at 20 ms"
    assert problem[3].startswith("likely: ")
    assert problem[4].startswith("try: ")


@pytest.mark.req("COMP-2")
def test_answer_that_is_repeated_to_another_turn_is_said_again(script: "Script") -> None:
    for _ in range(2):
        script.send("hello").reply(script.task("completed", "Hello."))
    script.request(Purpose.GET, "tasks/get", {"id": "t"}).reply(script.task("completed", "Hello."))
    said = [(one.speaker, one.text, one.exchange) for one in script.views.chat.said]
    assert said == [
        ("you", "hello", 1),
        ("agent", "Hello.", 1),
        ("you", "hello", 2),
        ("agent", "Hello.", 2),
    ]


@pytest.mark.req("COMP-3")
def test_notification_ahead_of_the_first_reply_is_said_once(script: "Script") -> None:
    script.send("hello").push(script.task("completed", "Hello."))
    script.reply(script.task("completed", "Hello."))
    assert [one.text for one in script.views.chat.said] == ["hello", "Hello."]


def contexts(script: "Script") -> list[str | None]:
    """The context at which each message begins; "" where it goes on with the one before."""
    return [one.context_id if one.is_apart else "" for one in script.views.chat.said]


@pytest.mark.req("COMP-2")
def test_message_of_another_context_is_apart(script: "Script") -> None:
    script.send("one", messageId="m1").reply(script.task("completed", "1", contextId="c1"))
    script.send("two", messageId="m2")
    assert contexts(script) == ["", "", None]
    script.reply(script.task("completed", "2", contextId="c2", id="t2"))
    script.send("three", messageId="m3", contextId="c2")
    script.reply(script.task("completed", "3", contextId="c2", id="t3"))
    assert contexts(script) == ["", "", "c2", "", "", ""]
    script.send("four", messageId="m4", contextId="c1").fail(FailureKind.TIMEOUT)
    assert contexts(script)[6:] == ["c1", ""]
    assert [one.is_apart for one in divide(script.views.chat.said[::2])] == [
        False,
        True,
        False,
        True,
    ]


@pytest.mark.req("COMP-2")
def test_message_sent_again_stays_in_its_context(script: "Script") -> None:
    script.send("one").reply(script.task("completed", "1"))
    script.send("one").respond(409).end()
    assert contexts(script) == ["", "", "", ""]


@pytest.mark.req("COMP-2")
def test_context_that_becomes_known_late_divides_what_came_meanwhile(script: "Script") -> None:
    script.send("one", messageId="m1").reply(script.task("completed", "1", contextId="c1"))
    script.send("two", messageId="m2")
    script.push(script.task("completed", "late", contextId="c2", id="t9"))
    assert contexts(script) == ["", "", None, "c2"]
    script.reply(script.task("completed", "2", contextId="c2", id="t2"))
    assert contexts(script) == ["", "", "c2", "", ""]
