"""A message in its situation: what was asked, which buttons were offered, which flow runs."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from mock_server.dialogue import lexicon
from mock_server.dialogue.answers import NO_CHOICE
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.command_language import (
    CommandSyntaxError,
    is_set_slots,
    parse_set_slots,
)
from mock_server.dialogue.filling import CHOICE_SLOT
from mock_server.dialogue.model import Button, Flow, Slot, SlotType
from mock_server.dialogue.stack import (
    active_frame,
    active_group,
    asked_slot,
    context_of,
)
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.wish import Wish, wish

FREE_TEXT = frozenset({SlotType.TEXT, SlotType.ANY})


class Hearing:
    """What the rules of the understanding look at.

    What nearly every rule needs is made at once, the rest once, when it is needed.
    """

    def __init__(self, assistant: Assistant, state: DialogueState, text: str) -> None:
        self.assistant = assistant
        self.state = state
        self.text = text
        self.plain = lexicon.normalized(text)
        self.asked = _asked(assistant, state)

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        return lexicon.clauses(self.plain)

    @property
    def asks_free_text(self) -> bool:
        return self.asked is not None and self.asked.type in FREE_TEXT

    @property
    def active_flow(self) -> Flow | None:
        frame = active_frame(self.state.stack)
        return self.assistant.flows.get(frame.flow_id) if frame else None

    @property
    def buttons(self) -> tuple[Button, ...]:
        """The buttons of the bot's last message."""
        said = self.state.previously_uttered
        return said[-1].buttons if said else ()

    @cached_property
    def wish(self) -> Wish:
        """What several rules ask for: is it a flow that the user wants?"""
        return wish(self.assistant, self.state.slots, self.text)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The titles of the buttons that set the asked slot, each with the value as written."""
        titles: dict[str, str] = {}
        for button in self.buttons:
            payload = button.payload.strip().removeprefix("/")
            if not is_set_slots(payload):
                continue
            try:
                pairs = parse_set_slots(payload)
            except CommandSyntaxError:
                continue
            for pair in pairs:
                if self.asked is not None and pair.name == self.asked.name:
                    titles[button.title] = str(pair.value)
        return titles

    @cached_property
    def correctable(self) -> tuple[Slot, ...]:
        """The slots that the running flows have collected so far, the latest asked last."""
        collected = self.assistant.index.collected
        names: dict[str, None] = {}
        for frame in active_group(self.state.stack):
            names.update(dict.fromkeys(collected.get(frame.flow_id, ())))
        return tuple(
            self.assistant.slots[name] for name in names if self.state.slots.get(name) is not None
        )


def _asked(assistant: Assistant, state: DialogueState) -> Slot | None:
    """The slot that the bot waits for; the choice of a flow is one of categories."""
    name = asked_slot(state.stack)
    slot = assistant.slots.get(name) if name else None
    if slot is None or slot.name != CHOICE_SLOT:
        return slot
    options = context_of(state.stack).get("interrupted_flow_names")
    names = [str(option) for option in options] if isinstance(options, list) else []
    return replace(slot, type=SlotType.CATEGORICAL, values=(*names, NO_CHOICE))
