"""The assertions of a user step."""

from collections.abc import Callable

import pytest

from mock_server.e2e.model import (
    ActionRuns,
    BotDoesNotSay,
    BotSays,
    CaseFile,
    ClarificationOffers,
    Demand,
    Expectation,
    ExpectedButton,
    FlowCompletes,
    FlowIsCancelled,
    FlowStarts,
    JudgeNeeded,
    Saying,
    SlotChange,
    SlotIsNotSet,
    SlotIsSet,
)

Expect = Callable[[str], tuple[Expectation, ...]]
Reader = Callable[..., tuple[CaseFile, tuple[str, ...]]]


@pytest.mark.parametrize(
    ("source", "demands"),
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
        ("- flow_completed: {flow_id: a}", [FlowCompletes("a")]),
        ("- flow_completed: {flow_id: a, flow_step_id: s}", [FlowCompletes("a", "s")]),
        ("- flow_cancelled: a", [FlowIsCancelled("a")]),
        ("- pattern_clarification_contains: [a, b]", [ClarificationOffers(("a", "b"))]),
        (
            "- pattern_clarification_contains: {operator: any, flow_ids: [a, b]}",
            [ClarificationOffers(("a", "b"), is_any_enough=True)],
        ),
        ("- action_executed: action_pay", [ActionRuns("action_pay")]),
        (
            "- slot_was_set: [{name: a}, {name: b, value: null}, {name: c, value: 1}]",
            [
                SlotIsSet(SlotChange("a")),
                SlotIsSet(SlotChange("b", None, has_value=True)),
                SlotIsSet(SlotChange("c", 1, has_value=True)),
            ],
        ),
        (
            "- slot_was_not_set: [a, {b: 2}]",
            [SlotIsNotSet(SlotChange("a")), SlotIsNotSet(SlotChange("b", 2, has_value=True))],
        ),
        (
            "- bot_uttered: {utter_name: u, text_matches: '^a', "
            "buttons: [{title: t, payload: /p}, {title: s}]}",
            [
                BotSays(
                    Saying(
                        pattern="^a",
                        response="u",
                        buttons=(ExpectedButton("t", "/p"), ExpectedButton("s")),
                    )
                )
            ],
        ),
        ("- bot_did_not_utter: {text_matches: a}", [BotDoesNotSay(Saying(pattern="a"))]),
        (
            "- generative_response_is_relevant: {threshold: 0.9}",
            [JudgeNeeded("generative_response_is_relevant")],
        ),
    ],
)
def test_assertion_is_a_demand(expect: Expect, source: str, demands: list[Demand]) -> None:
    assert [expectation.demand for expectation in expect(source)] == demands


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
