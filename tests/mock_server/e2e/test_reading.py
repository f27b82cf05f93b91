"""Test files: what they say, and what is wrong with them."""

from collections.abc import Callable

import pytest

from mock_server.e2e.model import BotSays, CaseFile, Saying, SlotChange, SlotIsNotSet, SlotIsSet
from mock_server.errors import Location

FULL = """\
fixtures:
  - known:
      - is_known: true
      - note: "1"
  - rich: {amount: 1000}
metadata:
  - phone: {device: phone, version: 1}
  - tablet: [{device: tablet}]
stub_custom_actions:
  action_pay: {events: [{event: slot, name: note, value: a}]}
  second::action_pay: {events: [{event: slot, name: note, value: b}]}
test_cases:
  - test_case: first
    fixtures: [known, rich]
    metadata: phone
    steps:
      - slot_was_set: [is_known]
      - user: yes
      - bot: How much?
      - utter: utter_ask_amount
      - slot_was_set:
          - note
          - amount: 5
          - is_sure: null
      - slot_was_not_set: [account]
      - user: 50
        metadata: tablet
        assertion_order_enabled: true
  - test_case: second
    steps: [{user: hello}]
"""
Reader = Callable[..., tuple[CaseFile, tuple[str, ...]]]


def test_steps_and_checks_are_read(read: Reader) -> None:
    file, problems = read(FULL)
    assert problems == ()
    first, second = file.cases
    assert (first.name, first.location, second.name) == ("first", Location("t.yml", 13), "second")
    assert [step.text for step in first.steps] == ["yes", "50"]
    assert [e.demand for e in first.opening] == [SlotIsSet(SlotChange("is_known"))]
    assert [(e.demand, e.location.line) for e in first.steps[0].expectations] == [
        (BotSays(Saying(text="How much?")), 19),
        (BotSays(Saying(response="utter_ask_amount")), 20),
        (SlotIsSet(SlotChange("note")), 22),
        (SlotIsSet(SlotChange("amount", 5, has_value=True)), 23),
        (SlotIsSet(SlotChange("is_sure", None, has_value=True)), 24),
        (SlotIsNotSet(SlotChange("account")), 25),
    ]
    assert [step.is_ordered for step in first.steps] == [False, True]


def test_fixtures_and_metadata_are_found_by_name(read: Reader) -> None:
    first, second = read(FULL)[0].cases
    assert first.slots == (("is_known", True), ("note", "1"), ("amount", 1000))
    assert second.slots == ()
    assert first.steps[0].metadata == {"device": "phone", "version": 1}
    assert first.steps[1].metadata == {"device": "tablet", "version": 1}


def test_stub_of_one_case_wins_over_that_of_the_file(read: Reader) -> None:
    first, second = read(FULL)[0].cases
    assert first.stubs["action_pay"].branches[0].slots == (("note", "a"),)
    assert second.stubs["action_pay"].branches[0].slots == (("note", "b"),)
    assert set(second.stubs) == {"action_pay"}


def test_fixtures_of_the_file_win_over_those_of_conftest(read: Reader) -> None:
    conftest = "fixtures: [{known: {note: far}}, {other: {note: o}}]\nllm_judge: {llm: {}}"
    text = """\
fixtures: [{known: {note: near}}]
test_cases:
  - {test_case: a, fixtures: [known], steps: [{user: x}]}
  - {test_case: b, fixtures: [other], steps: [{user: x}]}
"""
    file, problems = read(text, conftest)
    assert problems == ()
    assert [case.slots for case in file.cases] == [(("note", "near"),), (("note", "o"),)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("test_cases: [{steps: [{user: a}]}]", "t.yml:1: e2e.no_name: a test case needs a name"),
        ("- a", "t.yml:1: yaml.type: a test file: found a list, expected a mapping"),
        (
            "test_cases:\n- test_case: a\n  steps: [7]",
            "t.yml:3: yaml.type: a step: found 7 (a number), expected a mapping",
        ),
        ("fixtures: [5]\ntest_cases: []", "t.yml:1: yaml.type: an entry of fixtures: found 5"),
        (
            "fixtures: [{a: [5]}]\ntest_cases: []",
            "t.yml:1: yaml.type: fixtures 'a': found 5 (a number), expected a mapping",
        ),
        ("test_cases:\n- 5", "t.yml:2: yaml.type: a test case: found 5 (a number)"),
        ("test_cases:\n- {test_case: a}", "t.yml:2: e2e.no_steps: test case 'a' has no steps"),
        (
            "test_cases:\n- {test_case: a, steps: [{user: x}]}\n"
            "- {test_case: a, steps: [{user: x}]}",
            "t.yml:3: e2e.duplicate_case: test case 'a' occurs twice; first at t.yml:2",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - {bto: hi}",
            "t.yml:4: e2e.step: a step has bto; expected one of user, bot, utter",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - user:",
            "t.yml:4: yaml.type: user: found nothing, expected a text",
        ),
        (
            "test_cases:\n- test_case: a\n  fixtures: [knwon]\n  steps: [{user: x}]\n"
            "fixtures: [{known: {note: a}}]",
            "t.yml:3: e2e.unknown_name: there is no fixture 'knwon'; did you mean 'known'?",
        ),
        (
            "fixtures: [{a: {note: 1}}, {a: {note: 2}}]\ntest_cases: []",
            "t.yml:1: e2e.duplicate_name: fixtures: 'a' occurs twice",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - {user: x, asertions: []}",
            "t.yml:4: e2e.unknown_key: a user step has no key 'asertions'; did you mean 'asser",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - user: x\n  - slot_was_set: [[b]]",
            "t.yml:5: yaml.type: slot_was_set: found a list, expected a text",
        ),
        (
            "test_cases:\n- test_case: a\n  steps:\n  - user: x\n    bot: y",
            "t.yml:5: e2e.unknown_key: a user step has no key 'bot'; expected one of user, metadat",
        ),
        (
            "test_cases:\n- {test_case: a, fixture: [b], steps: [{user: x}]}",
            "t.yml:2: e2e.unknown_key: test case 'a' has no key 'fixture'; did you mean 'fixtures",
        ),
        (
            "stub_custom_actions: {b::action_pay: {}}\n"
            "test_cases: [{test_case: a, steps: [{user: x}]}]",
            "t.yml:1: e2e.unknown_case: stub_custom_actions names test case 'b', which this file",
        ),
        (
            "stub_custom_actions: {action_pay: {evnts: []}}\ntest_cases: []",
            "t.yml:1: mock.unknown_key",
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(read: Reader, text: str, problem: str) -> None:
    _, problems = read(text)
    assert any(p.startswith(problem) for p in problems), problems
