"""Responses of the domain: choose a variation, fill in its values, say it."""

from collections.abc import Callable, Mapping, Sequence

from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.events import BotUttered, Warned
from mock_server.dialogue.model import Button, Json, Variation
from mock_server.dialogue.templates import Document, fill, render_response
from mock_server.dialogue.turn import RunningTurn
from mock_server.errors import ConditionError, TemplateFailed

CHANNEL = "a2a"

INTERNAL_ERROR_RESPONSE = "utter_internal_error_rasa"


def choose(
    variations: Sequence[Variation], document: Document, faults: list[str]
) -> Variation | None:
    """Return the variation to say, the first of its class; None if none is eligible.

    Classes in order: condition and channel, channel, condition, default (flows.md §4.2). What is
    wrong with a condition is added to `faults`; it does not hold.
    """
    if len(variations) == 1 and variations[0].condition is None and variations[0].channel is None:
        return variations[0]
    eligible = [
        variation
        for variation in variations
        if variation.channel in (None, CHANNEL) and _holds(variation.condition, document, faults)
    ]
    return min(eligible, key=_class_of, default=None)


def _class_of(variation: Variation) -> tuple[bool, bool]:
    return (variation.channel is None, variation.condition is None)


def _holds(condition: str | None, document: Document, faults: list[str]) -> bool:
    if condition is None:
        return True
    try:
        return evaluate(condition, document)
    except (ConditionError, TemplateFailed) as error:
        faults.append(str(error))
        return False


def say(
    name: str, variation: Variation, document: Document, arguments: Mapping[str, Json]
) -> BotUttered:
    """Return what the bot says with `variation` of response `name`, in the slot `language`.

    Raises:
        TemplateFailed: the variation's Jinja fails on the values of now.
    """
    fill_in = render_response if variation.is_jinja else fill
    text, buttons, custom = variation.text, variation.buttons, variation.custom
    if variation.translations or variation.translated_buttons:
        language = str(document["slots"].get("language"))
        text = variation.translations.get(language, text)
        buttons = variation.translated_buttons.get(language, buttons)
    if buttons:
        buttons = tuple(
            Button(
                fill_in(button.title, document, arguments),
                fill_in(button.payload, document, arguments),
            )
            for button in buttons
        )
    if custom is not None:
        custom = _fill_all(custom, lambda text: fill_in(text, document, arguments))
    image = fill_in(variation.image, document, arguments) if variation.image else None
    return BotUttered(fill_in(text, document, arguments), buttons, name, image, custom)


def _fill_all(custom: Json, fill_in: Callable[[str], str]) -> Json:
    match custom:
        case str():
            return fill_in(custom)
        case list():
            return [_fill_all(item, fill_in) for item in custom]
        case dict():
            return {key: _fill_all(item, fill_in) for key, item in custom.items()}
        case _:
            return custom


def utter(turn: RunningTurn, name: str, arguments: Mapping[str, Json] | None = None) -> None:
    """Say response `name`; where it cannot be said, the response for internal errors."""
    document = turn.document()
    faults: list[str] = []
    variation = choose(turn.assistant.responses.get(name, ()), document, faults)
    for fault in faults:
        turn.emit(Warned(f"response {name!r}: {fault}"))
    if variation is None:
        _apologise(turn, name, f"response {name!r} has no variation that fits")
        return
    try:
        uttered = say(name, variation, document, arguments or {})
    except TemplateFailed as error:
        _apologise(turn, name, f"response {name!r}: {error}")
        return
    turn.emit(uttered)


def _apologise(turn: RunningTurn, failed: str, reason: str) -> None:
    turn.emit(Warned(reason))
    if failed != INTERNAL_ERROR_RESPONSE:
        utter(turn, INTERNAL_ERROR_RESPONSE)
