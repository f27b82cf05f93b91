"""The bot says a response of the domain."""

from collections.abc import Mapping

from mock_server.dialogue.events import Warned
from mock_server.dialogue.model import Json
from mock_server.dialogue.responses import choose, say
from mock_server.dialogue.turn import Steps, Turn
from mock_server.errors import TemplateFailed

INTERNAL_ERROR_RESPONSE = "utter_internal_error_rasa"


def utter(turn: Turn, name: str, arguments: Mapping[str, Json] | None = None) -> Steps:
    """Say response `name`; where it cannot be said, the response for internal errors."""
    document = turn.document()
    faults: list[str] = []
    variation = choose(turn.assistant.responses.get(name, ()), document, faults)
    for fault in faults:
        yield Warned(f"response {name!r}: {fault}")
    if variation is None:
        yield from _apologise(turn, name, f"response {name!r} has no variation that fits")
        return
    try:
        uttered = say(name, variation, document, arguments or {})
    except TemplateFailed as error:
        yield from _apologise(turn, name, f"response {name!r}: {error}")
        return
    yield uttered


def _apologise(turn: Turn, failed: str, reason: str) -> Steps:
    yield Warned(reason)
    if failed != INTERNAL_ERROR_RESPONSE:
        yield from utter(turn, INTERNAL_ERROR_RESPONSE)
