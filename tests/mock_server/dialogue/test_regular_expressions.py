"""Regular expressions that would search for hours."""

import pytest

from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.expressions import evaluate
from mock_server.dialogue.regular_expressions import compile_expression, search
from mock_server.dialogue.state import Event, Warned, initial_state
from mock_server.errors import SearchTooSlow, SlowCondition
from mock_server.project.load import assemble

SLOW, TEXT = "(x+x+)+y", "x" * 5000
DOMAIN = """
slots:
  note: {type: text}
responses:
  utter_ask_note: [{text: "What is it?"}]
  utter_short: [{text: "It is short."}]
  utter_long: [{text: "It is long."}]
"""
FLOWS = """
flows:
  take_note:
    description: take a note
    steps:
      - collect: note
        next:
          - if: slots.note matches '(x+x+)+y'
            then: [{action: utter_short, next: END}]
          - else: [{action: utter_long, next: END}]
"""
MOCK = """
understand:
  - match: (x+x+)+y
    commands: [StartFlow(take_note)]
  - match: long
    when: slots.note matches '(x+x+)+y'
    commands: [StartFlow(take_note)]
"""


@pytest.mark.parametrize("expression", ["(", "[z-a]", "*", "(?P<n>a)(?P<n>b"])
def test_what_is_not_an_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="not a regular expression: "):
        compile_expression(expression)


def test_search_that_takes_too_long_is_given_up() -> None:
    assert search("(x+x+)+y", "xxy") is not None
    with pytest.raises(SearchTooSlow, match="takes too long"):
        search(SLOW, TEXT)


@pytest.mark.parametrize(
    "source", [f"slots.note matches '{SLOW}'", f'not slots.note matches "{SLOW}"']
)
def test_condition_that_takes_too_long_is_given_up(source: str) -> None:
    assert evaluate(source, {"slots": {"note": "xxy"}, "context": {}}) is not source.startswith(
        "not"
    )
    with pytest.raises(SlowCondition, match="takes too long"):
        evaluate(source, {"slots": {"note": TEXT}, "context": {}})


def warnings_of(*texts: str) -> list[str]:
    assistant = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS, "mock.yml": MOCK})
    state, events = initial_state(assistant), list[Event]()
    for text in texts:
        turn = advance(assistant, state, UserMessage(text))
        events += turn.run()
        state = turn.state
    return [event.text for event in events if isinstance(event, Warned)]


def test_warning_names_the_place_of_a_rule() -> None:
    (warning,) = warnings_of(TEXT)
    assert warning.startswith("mock.yml:3: regular expression '(x+x+)+y' takes too long: ")


def test_warning_names_the_place_of_a_rules_condition() -> None:
    (warning,) = warnings_of("/SetSlots(note=" + TEXT + ")", "long")[-1:]
    assert warning.startswith("mock.yml:5: condition ")


def test_warning_names_the_place_of_a_condition() -> None:
    warnings = warnings_of("/StartFlow(take_note)", f"/SetSlot(note, {TEXT})")
    assert [text for text in warnings if text.startswith("data/flows.yml:6: condition ")]
