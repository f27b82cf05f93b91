"""What a flow says and does: responses, custom actions, default actions."""

from mock_server.dialogue.default_actions import DEFAULT_ACTIONS
from mock_server.dialogue.events import (
    ActionExecuted,
    ActionRequested,
    BotUttered,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.dialogue.lifecycle import fail
from mock_server.dialogue.outcome import ActionResult, Utterance
from mock_server.dialogue.turn import Answer, Steps, Turn
from mock_server.dialogue.utterances import utter


def run_action(turn: Turn, name: str) -> Answer[bool]:
    """Run action `name`; False if it failed, and the flow with it.

    The project's own actions win over default ones of the same name. A pattern's rendered
    `validate_…` need not exist (flows.md §2.2).
    """
    if name in turn.assistant.responses:
        yield from utter(turn, name)
    elif name in turn.assistant.actions:
        return (yield from run_custom_action(turn, name))
    elif name in DEFAULT_ACTIONS:
        yield from DEFAULT_ACTIONS[name](turn)
    elif not name or name.startswith("validate_"):
        return True
    else:
        yield ActionExecuted(name, {"action": name})
        yield from fail(turn, {"action": name})
        return False
    yield ActionExecuted(name)
    return True


def run_custom_action(turn: Turn, name: str) -> Answer[bool]:
    """Ask the caller for the outcome of custom action `name`; False if it failed."""
    outcome = (yield ActionRequested(name)) or ActionResult()
    for text in outcome.warnings:
        yield Warned(text)
    if outcome.failure is not None:
        yield ActionExecuted(name, outcome.failure)
        yield from fail(turn, dict(outcome.failure))
        return False
    yield from record_outcome(turn, name, outcome)
    return True


def record_outcome(turn: Turn, name: str, outcome: ActionResult) -> Steps:
    """The slots and texts of a custom action that went well."""
    for slot, value in outcome.slots:
        if slot in turn.assistant.slots:
            yield SlotSet(slot, value, SlotSource.ACTION)
        else:
            yield Warned(f"action {name!r} sets slot {slot!r}, which the domain does not have")
    for utterance in outcome.utterances:
        yield from _say(turn, utterance)
    yield ActionExecuted(name)


def _say(turn: Turn, utterance: Utterance) -> Steps:
    if utterance.response:
        yield from utter(turn, utterance.response, utterance.arguments)
    else:
        yield BotUttered(
            text=utterance.text,
            buttons=utterance.buttons,
            image=utterance.image,
            custom=utterance.custom,
        )
