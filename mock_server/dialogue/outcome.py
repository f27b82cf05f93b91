"""What a custom action did and said, as the engine takes it."""

from collections.abc import Mapping
from dataclasses import field

from mock_server.dialogue.model import Button, Json
from mock_server.records import record


@record
class Utterance:
    """What an action says: its own `text`, or `response` of the domain filled with `arguments`."""

    text: str = ""
    buttons: tuple[Button, ...] = ()
    response: str | None = None
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    image: str | None = None
    custom: Json = None


@record
class ActionResult:
    """The outcome of a custom action, sent into the engine after `ActionRequested`.

    `failure` is the object that becomes `error_info`, e.g. `{"action": "action_x"}`. `warnings`
    are for the developer: the trace and the log have them, the wire has not.
    """

    slots: tuple[tuple[str, Json], ...] = ()
    utterances: tuple[Utterance, ...] = ()
    failure: Mapping[str, Json] | None = None
    warnings: tuple[str, ...] = ()
