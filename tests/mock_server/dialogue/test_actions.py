"""Which variation of a response is said, and how."""

import pytest

from mock_server.dialogue.actions import choose, say
from mock_server.dialogue.expressions import Document
from mock_server.dialogue.model import Button, Variation
from mock_server.dialogue.state import BotUttered

DOCUMENT: Document = {"slots": {"gold": True, "name": "Joe"}, "context": {}}

DEFAULT = Variation("default")
CONDITION = Variation("condition", condition="slots.gold")
CHANNEL = Variation("channel", channel="a2a")
BOTH = Variation("both", condition="slots.gold", channel="a2a")
UNMET = Variation("unmet", condition="not slots.gold")
BROKEN = Variation("broken", condition="slots.name < 5")
ELSEWHERE = Variation("elsewhere", channel="slack")


@pytest.mark.parametrize(
    ("variations", "chosen"),
    [
        ((DEFAULT, CONDITION, CHANNEL, BOTH), BOTH),
        ((DEFAULT, CONDITION, CHANNEL), CHANNEL),
        ((DEFAULT, CONDITION), CONDITION),
        ((UNMET, BROKEN, ELSEWHERE, DEFAULT), DEFAULT),
        ((DEFAULT, Variation("second")), DEFAULT),
        ((UNMET, ELSEWHERE), None),
        ((), None),
    ],
)
def test_variation_is_chosen_by_its_class(
    variations: tuple[Variation, ...], chosen: Variation | None
) -> None:
    assert choose(variations, DOCUMENT, []) == chosen


def test_every_field_of_a_variation_is_filled() -> None:
    variation = Variation(
        text="Hi {name}",
        buttons=(Button("I am {name}", "/SetSlots(name={name})"),),
        image="https://example.org/{name}.png",
        custom={"to": ["{name}", 1], "more": None},
    )
    assert say("utter_hi", variation, DOCUMENT, {}) == BotUttered(
        text="Hi Joe",
        buttons=(Button("I am Joe", "/SetSlots(name=Joe)"),),
        response="utter_hi",
        image="https://example.org/Joe.png",
        custom={"to": ["Joe", 1], "more": None},
    )


def test_jinja_variation_is_rendered() -> None:
    variation = Variation("{{ name | upper }} {name}", is_jinja=True)
    assert say("utter_hi", variation, DOCUMENT, {}).text == "JOE {name}"


def test_everything_in_a_jinja_variation_is_jinja() -> None:
    button = Button("{{ name | upper }}", "/SetSlots(name={{ name }})")
    variation = Variation(
        "", (button,), is_jinja=True, image="{{ name }}.png", custom=["{{ slots.name }}"]
    )
    said = say("utter_hi", variation, DOCUMENT, {})
    assert said.buttons == (Button("JOE", "/SetSlots(name=Joe)"),)
    assert (said.image, said.custom) == ("Joe.png", ["Joe"])


def test_translation_follows_the_language_of_the_conversation() -> None:
    variation = Variation("Hello {name}", translations={"de": "Hallo {name}"})
    german = {**DOCUMENT, "slots": {**DOCUMENT["slots"], "language": "de"}}
    french = {**DOCUMENT, "slots": {**DOCUMENT["slots"], "language": "fr"}}
    assert say("utter_hi", variation, german, {}).text == "Hallo Joe"
    assert say("utter_hi", variation, french, {}).text == "Hello Joe"
    assert say("utter_hi", variation, DOCUMENT, {}).text == "Hello Joe"


def test_buttons_follow_the_language_as_well() -> None:
    yes, ja = Button("Yes", "/yes"), Button("Ja", "/yes")
    variation = Variation("Sure?", (yes,), translated_buttons={"de": (ja,)})
    german = {**DOCUMENT, "slots": {**DOCUMENT["slots"], "language": "de"}}
    assert say("utter_hi", variation, german, {}).buttons == (ja,)
    assert say("utter_hi", variation, DOCUMENT, {}).buttons == (yes,)
