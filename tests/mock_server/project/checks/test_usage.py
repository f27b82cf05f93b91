"""Names that are defined in vain, and names that nobody wrote."""

from collections.abc import Callable

import pytest

Report = Callable[..., list[str]]

DOMAIN = """\
slots:
  amount: {type: float}
  colour: {type: text}
actions: [action_pay, action_default_fallback, utter_done]
responses:
  utter_ask_amount: [{text: How much?}]
  utter_done: [{text: Done.}]
  utter_bye: [{text: Bye.}]
  utter_ask_rephrase: [{text: Pardon?}]
"""
FLOW = """\
flows:
  pay:
    description: Pay.
    steps:
      - collect: amount
      - action: action_pay
      - action: utter_done
"""


def test_slots_and_responses_without_use_are_warned_of(report: Report) -> None:
    assert [line[: line.index(" is ")] for line in report(FLOW, DOMAIN, with_unused=True)] == [
        "warning domain.yml:3: slot.unused: slot 'colour'",
        "warning domain.yml:8: response.unused: response 'utter_bye'",
    ]


@pytest.mark.parametrize(
    "code",
    ["tracker.get_slot('colour'); dispatcher.utter_message(response='utter_bye'); action_pay"],
)
def test_what_the_code_names_is_used(report: Report, code: str) -> None:
    assert report(FLOW, DOMAIN, code=code, with_unused=True) == []


def test_slot_of_a_response_is_used(report: Report) -> None:
    domain = DOMAIN.replace("Done.", '"Done, {colour}."').replace("Bye.", "Bye.")
    lines = report(FLOW.replace("utter_done", "utter_done\n      - action: utter_bye"), domain)
    assert lines == []


def test_action_that_nobody_wrote_is_warned_of(report: Report) -> None:
    (found,) = report(FLOW, DOMAIN, code="class Other: pass")
    assert found.startswith("warning domain.yml:4: action.not_written: action 'action_pay'")
    assert report(FLOW, DOMAIN, code="class Other: pass", mock="actions: {action_pay: {}}") == []


CODE = """\
class Pay:
    def name(self): return "action_pay"
    def run(self, dispatcher, tracker, domain):
        colour = tracker.get_slot("colour")
        color = tracker.get_slot('color')  # not get_slot("balance")
        return [SlotSet("amuont", 1), SlotSet(key="amuont", value=2), SlotSet("amount", 3)]
"""


def test_slots_that_only_the_code_knows_are_warned_of(report: Report) -> None:
    assert report(FLOW, DOMAIN, code=CODE) == [
        "warning actions.py:5: action.unknown_slot: this reads slot 'color', which the domain does "
        "not have: it is always None; did you mean 'colour'?",
        "warning actions.py:6: action.unknown_slot: this sets slot 'amuont', which the domain does "
        "not have: nothing comes of it; did you mean 'amount'?",
    ]


def test_nothing_is_called_unused_in_a_project_with_errors(report: Report) -> None:
    (found,) = report(FLOW.replace("collect: amount", "collect: amuont"), DOMAIN, with_unused=True)
    assert found.startswith("flows.yml:5: flow.unknown_slot")


@pytest.mark.parametrize(
    ("written", "misspelt", "problem"),
    [
        ("action: utter_done", "action: utter_dome", "flow.unknown_response"),
        ("utter_ask_amount:", "utter_ask_amuont:", "flow.no_question"),
        ("next: [{if: slots.colour,", "next: [{if: slots.color,", "condition.unknown_slot"),
        ("colour: {type: text}", "colou: {type: text}", "condition.unknown_slot"),
    ],
)
def test_what_a_misspelt_name_means_is_not_called_unused(
    report: Report, written: str, misspelt: str, problem: str
) -> None:
    flow = FLOW + "        next: [{if: slots.colour, then: END}, {else: END}]\n"
    domain = DOMAIN.replace("  utter_bye: [{text: Bye.}]\n", "")
    (found,) = report(
        flow.replace(written, misspelt), domain.replace(written, misspelt), with_unused=True
    )
    assert f": {problem}: " in found
    assert "; did you mean '" in found


@pytest.mark.parametrize(
    ("text", "count"),
    [("{amuont}", 1), ("{{amuont}}", 0), ("{context.x}", 0), ("{amount}", 0), ("{balance}", 0)],
)
def test_hole_that_nothing_fills_is_warned_of(report: Report, text: str, count: int) -> None:
    domain = DOMAIN.replace("Done.", f'"{text}"')
    found = report(FLOW, domain, code="action_pay balance")
    assert len(found) == count
    assert all("response.unknown_slot" in line for line in found)
