"""What a project's files name: slots, responses, actions, flows and conditions, with the place."""

from dataclasses import dataclass
from enum import StrEnum

from mock_server.dialogue.model import Json
from mock_server.errors import Location


class MentionKind(StrEnum):
    SLOT = "slot"
    VALUE = "value"
    RESPONSE = "response"
    ACTION = "action"
    FLOW = "flow"
    CONDITION = "condition"
    GUARD = "guard"
    PAYLOAD = "payload"
    TEXT = "text"
    TEMPLATE = "template"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class Mention:
    """`name` is the source of a condition, a button's payload, a text with holes, or Jinja.

    `by` tells who mentions it, for a message.

    `own_slot` is the one slot that the condition of a rejection may look at. `value` is what the
    slot `name` is to get.
    """

    kind: MentionKind
    name: str
    location: Location
    by: str
    own_slot: str | None = None
    value: Json = None
