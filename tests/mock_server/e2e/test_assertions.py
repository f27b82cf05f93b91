"""The assertions of a user step."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Button, Slot, SlotType
from mock_server.dialogue.state import (
    ActionExecuted,
    BotUttered,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    FrameInserted,
    Listened,
    SlotSet,
    SlotSource,
)
from mock_server.e2e.assertions import observe, unmet
from mock_server.e2e.model import (
    ActionRuns,
    Assertion,
    BotSays,
    CaseFile,
    ClarificationOffers,
    Expectation,
    ExpectedButton,
    FlowEnds,
    FlowStarts,
    JudgeNeeded,
    SlotIsSet,
)
from mock_server.errors import NOWHERE
from mock_server.local_conversation import LocalConversation
from mock_server.project.load import Project, load_assistant

Expect = Callable[[str], tuple[Expectation, ...]]
Reader = Callable[..., tuple[CaseFile, tuple[str, ...]]]


@pytest.mark.parametrize(
    ("source", "assertions"),
    [
        ("- flow_started: pay_bill", [FlowStarts(("pay_bill",))]),
        (
            "- flow_started: {operator: any, flow_ids: [a, b]}",
            [FlowStarts(("a", "b"))],
        ),
        (
            "- flow_started: {operator: all, flow_ids: [a, b]}",
            [FlowStarts(("a",)), FlowStarts(("b",))],
        ),
        ("- flow_completed: {flow_id: a}", [FlowEnds("a")]),
        ("- flow_completed: {flow_id: a, flow_step_id: s}", [FlowEnds("a", "s")]),
        ("- flow_cancelled: a", [FlowEnds("a", is_cancelled=True)]),
        ("- pattern_clarification_contains: [a, b]", [ClarificationOffers(("a", "b"))]),
        (
            "- pattern_clarification_contains: {operator: any, flow_ids: [a, b]}",
            [ClarificationOffers(("a", "b"), is_any_enough=True)],
        ),
        ("- action_executed: action_pay", [ActionRuns("action_pay")]),
        (
            "- slot_was_set: [{name: a}, {name: b, value: null}, {name: c, value: 1}]",
            [
                SlotIsSet("a"),
                SlotIsSet("b", None, has_value=True),
                SlotIsSet("c", 1, has_value=True),
            ],
        ),
        (
            "- slot_was_not_set: [a, {b: 2}]",
            [SlotIsSet("a"), SlotIsSet("b", 2, has_value=True)],
        ),
        (
            "- bot_uttered: {utter_name: u, text_matches: '^a', "
            "buttons: [{title: t, payload: /p}, {title: s}]}",
            [
                BotSays(
                    pattern="^a",
                    response="u",
                    buttons=(ExpectedButton("t", "/p"), ExpectedButton("s")),
                )
            ],
        ),
        ("- bot_did_not_utter: {text_matches: a}", [BotSays(pattern="a")]),
        (
            "- generative_response_is_relevant: {threshold: 0.9}",
            [JudgeNeeded("generative_response_is_relevant")],
        ),
    ],
)
def test_assertion_is_read(expect: Expect, source: str, assertions: list[Assertion]) -> None:
    expectations = expect(source)
    assert [expectation.assertion for expectation in expectations] == assertions
    assert {expectation.is_negated for expectation in expectations} == {"_not_" in source}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("bot_utterd: {}", "e2e.assertion: there is no assertion 'bot_utterd'; did you mean 'bot_"),
        ("xyzzy: 1", "e2e.assertion: there is no assertion 'xyzzy'; expected one of flow_started"),
        ("flow_started: {operator: some, flow_ids: [a]}", "e2e.operator: operator: found 'some'"),
        ("flow_started: {operator: any}", "e2e.assertion: flow_started names no flow_ids"),
        ("flow_started:", "yaml.type: flow_started: found nothing, expected a text"),
        ("flow_completed: {}", "yaml.type: flow_id of flow_completed: found nothing"),
        ("flow_started: {operator: any, flow_ids: [a]}\n    - 5", "yaml.type: an assertion"),
        ("bot_uttered: {buttons: [5]}", "yaml.type: a button: found 5 (a number)"),
        ("bot_uttered:", "e2e.assertion: bot_uttered says nothing of what was uttered"),
        ("bot_uttered: {}", "e2e.assertion: bot_uttered says nothing of what was uttered; give it"),
        ("bot_uttered: {text: Hi}", "e2e.unknown_key: bot_uttered has no key 'text'; expected o"),
        ("bot_uttered: {text_matches: '('}", "e2e.text_matches: text_matches is not a regular"),
        ("bot_uttered: {buttons: [{payload: a}]}", "yaml.type: title: found nothing"),
        ("slot_was_set: [{name: a, vlaue: 1}]", "e2e.unknown_key: slot_was_set has no key 'vlau"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(read: Reader, source: str, problem: str) -> None:
    text = f"test_cases:\n- test_case: a\n  steps:\n  - user: x\n    assertions:\n    - {source}"
    _, problems = read(text)
    assert any(p.startswith(("t.yml:6: " + problem, "t.yml:7: " + problem)) for p in problems), (
        problems
    )


ASSISTANT = Assistant(
    slots={
        "amount": Slot("amount", SlotType.FLOAT),
        "note": Slot("note", SlotType.TEXT),
        "colour": Slot("colour", SlotType.CATEGORICAL, values=("red",)),
        "thing": Slot("thing", SlotType.ANY),
    }
)
PAY = (Button("Pay", "/SetSlots(is_sure=true)"), Button("Leave it", "/SetSlots(is_sure=false)"))


def slot_set(name: str, value: str | float | bool | None) -> SlotSet:
    return SlotSet(name, value, SlotSource.USER)


@pytest.mark.parametrize(
    ("source", "event", "is_met"),
    [
        ("slot_was_set: [amount]", slot_set("amount", 5.0), True),
        ("slot_was_set: [amount]", slot_set("amount", None), False),
        ("slot_was_set: [amount]", slot_set("note", "5"), False),
        ("slot_was_set: [{amount: null}]", slot_set("amount", None), True),
        ("slot_was_set: [{amount: 5}]", slot_set("amount", 5.0), True),
        ("slot_was_set: [{amount: five}]", slot_set("amount", 5.0), False),
        ("slot_was_set: [{note: 5}]", slot_set("note", "5"), True),
        ("slot_was_set: [{colour: Red}]", slot_set("colour", "red"), True),
        ("slot_was_set: [{thing: 1}]", slot_set("thing", True), False),
        ("slot_was_set: [{thing: true}]", slot_set("thing", True), True),
        ("slot_was_set: [{unknown: a}]", slot_set("unknown", "a"), True),
        ("slot_was_not_set: [amount]", slot_set("amount", 5.0), False),
        ("slot_was_not_set: [amount]", slot_set("amount", None), True),
        ("slot_was_not_set: [{amount: 6}]", slot_set("amount", 5.0), True),
        ("bot_uttered: {utter_name: utter_a}", BotUttered("A", response="utter_a"), True),
        ("bot_uttered: {utter_name: utter_a}", BotUttered("A"), False),
        ("bot_uttered: {text_matches: '[ab]$'}", BotUttered("x a"), True),
        ("bot_uttered: {text_matches: '^[ab]$'}", BotUttered("x a"), False),
        ("bot_uttered: {buttons: [{title: Pay}, {title: Leave it}]}", BotUttered("", PAY), True),
        ("bot_uttered: {buttons: [{title: Pay}]}", BotUttered("", PAY), False),
        ("bot_uttered: {buttons: [{title: Leave it}, {title: Pay}]}", BotUttered("", PAY), False),
        ("bot_uttered: {buttons: [{title: Pay, payload: /x}]}", BotUttered("", PAY[:1]), False),
        ("bot_did_not_utter: {text_matches: a}", BotUttered("a"), False),
        ("bot_did_not_utter: {text_matches: a}", BotUttered("b"), True),
        ("flow_started: a", FlowStarted("a"), True),
        ("flow_started: {operator: any, flow_ids: [a, b]}", FlowStarted("b"), True),
        ("flow_started: {operator: all, flow_ids: [a, b]}", FlowStarted("b"), False),
        ("flow_completed: a", FlowCompleted("a", "s"), True),
        ("flow_completed: {flow_id: a, flow_step_id: s}", FlowCompleted("a", "s"), True),
        ("flow_completed: {flow_id: a, flow_step_id: a_s}", FlowCompleted("a", "s"), True),
        ("flow_completed: {flow_id: a, flow_step_id: t}", FlowCompleted("a", "s"), False),
        ("flow_completed: a", FlowCancelled("a", "s"), False),
        ("flow_cancelled: a", FlowCancelled("a", "s"), True),
        ("flow_cancelled: b", FlowCancelled("a", "s"), False),
        ("action_executed: act", ActionExecuted("act"), True),
        ("action_executed: act", ActionExecuted("act", {"action": "act"}), False),
        ("action_executed: action_listen", Listened(), True),
        ("action_executed: act", Listened(), False),
        ("generative_response_is_grounded: {}", BotUttered("a"), True),
    ],
)
def test_event_meets_assertion(expect: Expect, source: str, event: Event, is_met: bool) -> None:
    assert (unmet(expect(f"- {source}"), [event], ASSISTANT) == ()) is is_met


def test_order_counts_only_where_it_is_asked_for(expect: Expect) -> None:
    expectations = expect(
        "- flow_started: b\n- flow_started: a\n- bot_did_not_utter: {text_matches: x}"
    )
    events = [FlowStarted("a"), FlowStarted("b")]
    assert unmet(expectations, events, ASSISTANT) == ()
    missed = unmet(expectations, events, ASSISTANT, is_ordered=True)
    assert [expectation.assertion for expectation in missed] == [FlowStarts(("a",))]


names = st.sampled_from("abc")


@given(st.lists(names, max_size=6), st.lists(names, max_size=8))
def test_order_never_makes_more_right(wanted: list[str], started: list[str]) -> None:
    expectations = [Expectation(FlowStarts((name,)), NOWHERE) for name in wanted]
    events = [FlowStarted(name) for name in started]
    loose = unmet(expectations, events, ASSISTANT)
    strict = unmet(expectations, events, ASSISTANT, is_ordered=True)
    assert set(loose) <= set(strict)
    assert {e.assertion for e in loose} == {FlowStarts((n,)) for n in wanted if n not in started}
    if wanted == started:
        assert strict == ()


def observed(project: Project, *texts: str) -> tuple[Event, ...]:
    """What the last of the messages brings."""
    conversation = LocalConversation(project, warn=lambda _: None)
    turn = [conversation.say(text) for text in texts][-1]
    return observe(project.assistant, turn.before, turn.events)


def test_patterns_start_and_complete_like_flows(project: Project, expect: Expect) -> None:
    events = observed(project, "pay a bill", "50", "what is the weather like in spring")
    met = expect("- flow_started: pattern_cannot_handle\n- flow_completed: pattern_cannot_handle")
    assert unmet(met, events, project.assistant) == ()
    missed = expect("- flow_completed: pattern_collect_information\n- flow_started: pay_bill")
    assert unmet(missed, events, project.assistant) == missed


def test_cancelled_question_is_not_completed(project: Project, expect: Expect) -> None:
    events = observed(project, "pay a bill", "stop")
    expectations = expect(
        "- flow_cancelled: pay_bill\n- flow_completed: pattern_cancel_flow\n"
        "- flow_completed: pattern_collect_information"
    )
    assert unmet(expectations, events, project.assistant) == expectations[2:]


def test_pattern_that_links_another_is_completed(project: Project, expect: Expect) -> None:
    flows = (project.folder / "data" / "flows.yml").read_text().split("  pattern_completed")[0]
    (project.folder / "data" / "flows.yml").write_text(flows)
    asking = load_assistant(project.folder, environment={})
    events = observed(asking, "pay a bill", "50", "Pay", "no")
    expectations = expect(
        "- flow_completed: pattern_completed\n- flow_started: pattern_customer_satisfaction"
    )
    assert unmet(expectations, events, asking.assistant) == ()


def test_frames_that_a_resumed_flow_moves_neither_start_nor_complete(project: Project) -> None:
    conversation = LocalConversation(project, warn=lambda _: None)
    conversation.begin([("is_known", True)])
    for text in ("/StartFlow(pay_bill)", "/StartFlow(pay_taxes)"):
        conversation.say(text)
    turn = conversation.say("/StartFlow(pay_bill)")
    assert any(isinstance(event, FrameInserted) for event in turn.events)
    events = observe(project.assistant, turn.before, turn.events)
    assert not [e for e in events if isinstance(e, FlowStarted | FlowCompleted)]


@pytest.mark.parametrize(
    ("contains", "is_met"),
    [
        ("[pay a bill, pay taxes]", True),
        ("[pay_bill]", True),
        ("[pay_bill, sing]", False),
        ("{operator: any, flow_ids: [pay_bill, sing]}", True),
        ("{operator: any, flow_ids: [sing]}", False),
    ],
)
def test_clarification_offers_flows_by_name_or_id(
    project: Project, expect: Expect, contains: str, is_met: bool
) -> None:
    conversation = LocalConversation(project, warn=lambda _: None)
    conversation.begin([("is_known", True)])
    turn = conversation.say("/Clarify(pay_bill, pay_taxes)")
    events = observe(project.assistant, turn.before, turn.events)
    expectations = expect(f"- pattern_clarification_contains: {contains}")
    assert (unmet(expectations, events, project.assistant) == ()) is is_met
