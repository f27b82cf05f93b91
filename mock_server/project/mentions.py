"""What a project's files name: slots, responses, actions, flows and conditions, with the place."""

from dataclasses import dataclass
from enum import StrEnum

from mock_server.errors import Location


class MentionKind(StrEnum):
    SLOT = "slot"
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

    `own_slot` is the one slot that the condition of a rejection may look at.
    """

    kind: MentionKind
    name: str
    location: Location
    by: str
    own_slot: str | None = None
