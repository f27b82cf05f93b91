"""Commands as text: `SetSlot(amount, 50)`, Rasa's `/SetSlots(a=b)`, and the mock's slash messages.

Rasa publishes `/SetSlots(a=b, c=d)` and `/intent`; every other slash command is an extension of the
mock (flows.md §7).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mock_server.dialogue.command_values import value_of
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    ChitChat,
    Clarify,
    Command,
    ContinueAgent,
    HumanHandoff,
    Noop,
    RepeatLastBotMessages,
    ReportError,
    Restart,
    RestartAgent,
    SearchAndReply,
    SessionEnd,
    SessionStart,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.model import Json
from mock_server.dialogue.spoken_commands import parse_spoken
from mock_server.errors import MockError

MAX_PAIRS = 10
CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
HOLE = re.compile(r"\{(\w+)\}")
PAIR = re.compile(r"([^()=,]+)=([^(),]*)")


Arguments = Sequence[str]


class CommandSyntaxError(MockError):
    """`source` is no command; the message says what was expected."""

    def __init__(self, source: str, expected: str) -> None:
        self.source = source
        self.expected = expected
        super().__init__(f"command {source!r}: expected {expected}")


def parse_command(source: str) -> Command:
    """The command that `source` spells: `StartFlow(pay)`, or `start flow pay`.

    Raises:
        CommandSyntaxError: the name is unknown or the arguments are not its own.
    """
    call = CALL.fullmatch(source.strip())
    if call is None and (spoken := parse_spoken(source)):
        return spoken
    if call is None or call[1] not in _MAKERS:
        raise CommandSyntaxError(source, f"one of {', '.join(_MAKERS)} with parentheses")
    most = 1 if call[1] == "SetSlot" else -1
    arguments = [part.strip() for part in call[2].split(",", most)] if call[2].strip() else []
    command = _MAKERS[call[1]](arguments)
    if command is None:
        raise CommandSyntaxError(source, _USAGE[call[1]])
    return command


def fill_command(source: str, groups: Mapping[str, str]) -> Command | None:
    """The command of template `source`, its `{name}` holes filled from `groups`.

    The values are filled into the command, not into its text, so a comma or a parenthesis that the
    user typed stays what it is. None if a hole has no value.

    Raises:
        CommandSyntaxError: the template is no command.
    """
    if any(not groups.get(name) for name in HOLE.findall(source)):
        return None
    command = parse_command(source)
    match command:
        case SetSlot(value=str(value)):
            return replace(command, value=HOLE.sub(lambda hole: groups[hole[1]], value))
        case StartFlow(flow_id=flow_id):
            return replace(command, flow_id=HOLE.sub(lambda hole: groups[hole[1]], flow_id))
        case _:
            return command


def parse_set_slots(source: str) -> tuple[SetSlot, ...]:
    """The slots of `SetSlots(a=b, c=d)` or `SetSlots{"a": 1}`, values still as written.

    Raises:
        CommandSyntaxError: it is neither, or has more than ten pairs.
    """
    body = source.strip().removeprefix("SetSlots").strip()
    if body.startswith("{"):
        return _set_slots_of_json(source, body)
    if not (body.startswith("(") and body.endswith(")")):
        raise CommandSyntaxError(source, "SetSlots(name=value, …) or SetSlots{json}")
    pairs = [PAIR.fullmatch(pair.strip()) for pair in body[1:-1].split(",")]
    if len(pairs) > MAX_PAIRS:
        raise CommandSyntaxError(source, f"at most {MAX_PAIRS} pairs")
    if not all(pairs):
        raise CommandSyntaxError(source, "pairs name=value, without parentheses and commas in them")
    return tuple(_set_slot(pair[1].strip(), pair[2]) for pair in pairs if pair)


def is_set_slots(source: str) -> bool:
    return re.match(r"SetSlots\s*[({]", source) is not None


def _set_slots_of_json(source: str, body: str) -> tuple[SetSlot, ...]:
    try:
        values: Json = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise CommandSyntaxError(source, "a JSON object behind SetSlots")
    return tuple(SetSlot(name, value, is_direct=True) for name, value in values.items())


def _set_slot(name: str, value: str) -> SetSlot:
    return SetSlot(name, value_of(value), is_direct=True)


def _one(make: Callable[[str], Command]) -> Callable[[Arguments], Command | None]:
    return lambda arguments: make(arguments[0]) if len(arguments) == 1 and arguments[0] else None


def _none(command: Command) -> Callable[[Arguments], Command | None]:
    return lambda arguments: None if arguments else command


def _make_set_slot(arguments: Arguments) -> Command | None:
    """A comma in the value belongs to it."""
    if len(arguments) > 1 and arguments[0]:
        return SetSlot(arguments[0], value_of(arguments[1]))
    return None


def _make_clarify(arguments: Arguments) -> Command | None:
    return Clarify(tuple(arguments)) if all(arguments) else None


def _make_cannot_handle(arguments: Arguments) -> Command | None:
    return CannotHandle(", ".join(arguments) or None)


_MAKERS: Mapping[str, Callable[[Arguments], Command | None]] = {
    "StartFlow": _one(StartFlow),
    "CancelFlow": _none(CancelFlow()),
    "SetSlot": _make_set_slot,
    "Clarify": _make_clarify,
    "ChitChat": _none(ChitChat()),
    "SearchAndReply": _none(SearchAndReply()),
    "Skip": _none(SkipQuestion()),
    "SkipQuestion": _none(SkipQuestion()),
    "Handoff": _none(HumanHandoff()),
    "HumanHandoff": _none(HumanHandoff()),
    "Repeat": _none(RepeatLastBotMessages()),
    "RepeatLastBotMessages": _none(RepeatLastBotMessages()),
    "CannotHandle": _make_cannot_handle,
    "Error": _one(ReportError),
    "SessionStart": _none(SessionStart()),
    "SessionEnd": _none(SessionEnd()),
    "Restart": _none(Restart()),
    "ContinueAgent": _none(ContinueAgent()),
    "RestartAgent": _one(RestartAgent),
    "Noop": _none(Noop()),
}

_USAGE: Mapping[str, str] = {
    **{name: f"{name}()" for name in _MAKERS},
    "StartFlow": "StartFlow(flow)",
    "SetSlot": "SetSlot(slot, value)",
    "Clarify": "Clarify(flow, …)",
    "CannotHandle": "CannotHandle(reason)",
    "Error": "Error(type)",
    "RestartAgent": "RestartAgent(agent)",
}
