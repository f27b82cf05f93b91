"""Values that mock.yml and test files give to slots, checked before they do."""

from collections.abc import Mapping

from mock_server.dialogue.model import Slot
from mock_server.dialogue.slots import coerce_said
from mock_server.errors import InvalidSlotValue
from mock_server.project.findings import Findings, Mention


def check_value(mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    """Warn of a value that the slot's type does not admit; an unknown slot is told elsewhere."""
    slot = slots.get(mention.name)
    try:
        if slot is not None:
            coerce_said(slot, mention.value)
    except InvalidSlotValue as error:
        found.warn(mention.location, "mock.slot_value", f"{mention.by}: {error}")
