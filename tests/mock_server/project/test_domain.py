"""Domain files, merged."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.expressions import evaluate
from mock_server.dialogue.model import Button, Rejection, SlotFiller, SlotValidation
from mock_server.project.domain import Domain, read_domain
from mock_server.project.findings import Findings
from mock_server.project.nodes import parse


def read(files: Mapping[str, str]) -> tuple[Domain, list[str]]:
    found = Findings()
    roots = {file: parse(file, text, found) for file, text in files.items()}
    return read_domain(roots, found), [str(problem) for problem in found.problems]


def domain_of(text: str) -> Domain:
    domain, problems = read({"domain.yml": text})
    assert problems == []
    return domain


def test_files_are_merged():
    domain, problems = read(
        {
            "domain/a.yml": "slots: {a: {type: text}}\nactions: [action_a, {action_b: {}}]",
            "domain/b.yml": "slots: {b: {type: bool}}\nactions: [action_a]",
            "domain/empty.yml": "",
        }
    )
    assert problems == []
    assert (list(domain.slots), list(domain.actions)) == (["a", "b"], ["action_a", "action_b"])


def test_name_defined_in_two_files_names_both():
    _, problems = read(
        {
            "a.yml": "slots: {a: {type: text}}\nresponses: {utter_x: [{text: x}]}",
            "b.yml": "slots:\n  a: {type: text}\nresponses:\n  utter_x: [{text: x}]",
        }
    )
    assert problems == [
        "b.yml:2: domain.duplicate_slot: slot 'a' is defined twice; first at a.yml:1; "
        "remove one of the two",
        "b.yml:4: domain.duplicate_response: response 'utter_x' is defined twice; "
        "first at a.yml:2; remove one of the two",
    ]


@pytest.mark.parametrize(
    ("mappings", "filler"),
    [
        ("[{type: from_llm}]", SlotFiller.FROM_LLM),
        ("[{type: controlled}, {type: from_llm}]", SlotFiller.FROM_LLM),
        ("[{type: custom, action: action_x}]", SlotFiller.CONTROLLED),
        ("{type: controlled}", SlotFiller.CONTROLLED),
        ("controlled", SlotFiller.CONTROLLED),
        ("[controlled]", SlotFiller.CONTROLLED),
        ("[{type: from_entity, entity: x}]", SlotFiller.NLU),
        ("[]", SlotFiller.FROM_LLM),
    ],
)
def test_mappings_say_who_fills_a_slot(mappings: str, filler: SlotFiller):
    domain, _ = read({"domain.yml": f"slots: {{a: {{type: text, mappings: {mappings}}}}}"})
    assert domain.slots["a"].filler is filler


def test_slot_has_validation_and_bounds():
    slot = domain_of(
        """
slots:
  a:
    type: float
    min_value: 0
    max_value: 9.5
    initial_value: "7"
    validation:
      rejections: [{if: slots.a > 5, utter: utter_x}]
      refill_utter: utter_y
"""
    ).slots["a"]
    assert (slot.min_value, slot.max_value, slot.initial_value) == (0.0, 9.5, 7.0)
    assert slot.validation == SlotValidation((Rejection("slots.a > 5", "utter_x"),), "utter_y")


def test_response_has_its_variations():
    first, second = domain_of(
        """
responses:
  utter_x:
    - text: One
      condition: slots.a is null
      channel: rest
      metadata: {template: jinja}
    - text: 2
      buttons: [{title: Yes, payload: /yes}, {title: No}]
      image: i.png
      custom: {a: [1]}
"""
    ).responses["utter_x"]
    assert (first.condition, first.channel, first.is_jinja) == ("slots.a is null", "rest", True)
    assert (second.text, second.is_jinja, second.custom) == ("2", False, {"a": [1]})
    assert second.buttons == (Button("Yes", "/yes"), Button("No", "No"))


@pytest.mark.parametrize(
    ("value", "predicate"),
    [
        ("true", "slots.a is true"),
        ("5", "slots.a = 5"),
        ("null", "slots.a is null"),
        ("text", 'slots.a = "text"'),
        ("'say \"hi\"'", "slots.a = 'say \"hi\"'"),
    ],
)
def test_older_condition_is_a_predicate(value: str, predicate: str):
    condition = f"[{{type: slot, name: a, value: {value}}}]"
    variations = f"[{{text: t, condition: {condition}}}, {{text: u}}]"
    variation, _ = domain_of(f"responses: {{x: {variations}}}").responses["x"]
    assert variation.condition == predicate


@given(st.text("aA.'\"\\{}%# \n"), st.text("aA.'\"\\{}%# \n"))
def test_older_condition_holds_for_its_text_only(value: str, other: str):
    condition = json.dumps([{"type": "slot", "name": "a", "value": value}])
    variations = f"[{{text: t, condition: {condition}}}, {{text: u}}]"
    variation, _ = domain_of(f"responses: {{x: {variations}}}").responses["x"]
    assert variation.condition
    for said in (value, other):
        assert evaluate(variation.condition, {"slots": {"a": said}, "context": {}}) == (
            said == value
        )


@pytest.mark.req("CFG-5")
@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("session_config: {start_session_after_expiry: false}", True),
        ("session_config: {start_session_after_expiry: true}", False),
        ("session_config: {start_session_after_expiry: no}", False),
        ("session_config: {}", False),
        ("", False),
    ],
)
def test_session_is_kept_only_if_it_says_so(text: str, is_kept: bool):
    assert domain_of(text).keeps_session is is_kept


TRANSLATED = """
responses:
  utter_x:
    - text: Sure?
      translation: {de: Sicher?}
      buttons:
        - {title: "Yes", payload: /SetSlots(a=1), translation: {de: {title: Ja}}}
        - {title: "No", payload: /SetSlots(a=2), translation: {es: {title: "No", payload: /no}}}
"""


def test_buttons_are_translated_one_by_one():
    (variation,) = domain_of(TRANSLATED).responses["utter_x"]
    yes, no = Button("Yes", "/SetSlots(a=1)"), Button("No", "/SetSlots(a=2)")
    assert variation.buttons == (yes, no)
    assert variation.translated_buttons == {
        "de": (Button("Ja", "/SetSlots(a=1)"), no),
        "es": (yes, Button("No", "/no")),
    }


def test_translations_of_buttons_are_checked():
    _, problems = read({"domain.yml": TRANSLATED.replace("{title: Ja}", "Ja")})
    assert [problem.split(":")[2] for problem in problems] == [" yaml.type"]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("carry_over_slots: true", "yaml.unknown_key: session_config"),
        (
            "carry_over_slots_to_new_session: sometimes",
            "yaml.type: carry_over_slots_to_new_session of session_config: found 'sometimes'",
        ),
        (
            "session_expiration_time: an hour",
            "yaml.type: session_expiration_time of session_config: found 'an hour'",
        ),
    ],
)
def test_session_config_is_checked(entry: str, text: str):
    _, [problem] = read({"domain.yml": f"session_config: {{{entry}}}"})
    assert problem.startswith(f"domain.yml:1: {text}")


@pytest.mark.parametrize(
    ("slot", "code"),
    [
        ("a: {type: float, min_value: 2, max_value: 1}", "slot.bounds"),
        ("'a(b': {type: text}", "slot.name"),
        ("a: {type: text, validation: {rejection: []}}", "yaml.unknown_key"),
        ("a: {type: text, mappings: [{typ: from_llm}]}", "slot.mapping"),
    ],
)
def test_odd_slot_is_warned_of(slot: str, code: str):
    _, [problem] = read({"domain.yml": f"slots: {{{slot}}}"})
    assert problem.startswith(f"domain.yml:1: {code}: ")


@pytest.mark.parametrize(
    ("variation", "code"),
    [
        ("{text: t, metadata: {template: liquid}}", "response.template"),
        ("{text: t, condition: [{type: context, name: a, value: 1}]}", "response.condition"),
    ],
)
def test_odd_variation_is_warned_of(variation: str, code: str):
    _, [problem] = read({"domain.yml": f"responses: {{utter_x: [{variation}, {{text: d}}]}}"})
    assert problem.startswith(f"domain.yml:1: {code}: ")
