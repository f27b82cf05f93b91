"""What a message asks the dialogue to do: Rasa's commands, and their spelling (flows.md §5, §7)."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.errors import MockError
from mock_server.records import record


@record
class StartFlow:
    """`is_trigger`: from a flow's own `nlu_trigger`, which no guard stops (flows.md §2.1)."""

    flow_id: str
    is_trigger: bool = False


@record
class CancelFlow:
    pass


@record
class SetSlot:
    """`is_direct`: from a button or the orchestrator, so no mapping of the slot forbids it."""

    name: str
    value: Json
    is_direct: bool = False


@record
class Clarify:
    flow_ids: tuple[str, ...]


@record
class ChitChat:
    pass


@record
class SearchAndReply:
    pass


@record
class SkipQuestion:
    pass


@record
class HumanHandoff:
    pass


@record
class RepeatLastBotMessages:
    pass


@record
class CannotHandle:
    """`reason` as `pattern_cannot_handle` branches on it; None is its default branch."""

    reason: str | None = None


@record
class ReportError:
    """Rasa's ErrorCommand: `pattern_internal_error` with this type and info."""

    error_type: str
    info: tuple[tuple[str, Json], ...] = ()


@record
class SessionStart:
    pass


@record
class SessionEnd:
    pass


@record
class Restart:
    pass


@record
class HandleCodeChange:
    """The flows that the dialogue is in are not what they were."""


@record
class ContinueAgent:
    """The words are for the sub agent that waits for them."""


@record
class RestartAgent:
    """Sub agent `agent`, which the running flow has called or calls, is to begin anew."""

    agent: str


@record
class Noop:
    pass


Command: TypeAlias = (
    StartFlow
    | CancelFlow
    | SetSlot
    | Clarify
    | ChitChat
    | SearchAndReply
    | SkipQuestion
    | HumanHandoff
    | RepeatLastBotMessages
    | CannotHandle
    | ReportError
    | SessionStart
    | SessionEnd
    | Restart
    | HandleCodeChange
    | ContinueAgent
    | RestartAgent
    | Noop
)


NULL_WORDS = frozenset({"null", "none", "undefined"})
TRUTH_VALUES = {"true": True, "True": True, "false": False, "False": False}

MAX_PAIRS = 10
CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
HOLE = re.compile(r"\{(\w+)\}")
PAIR = re.compile(r"([^()=,]+)=([^(),]*)")
Arguments = Sequence[str]
INVALID_INTENT = "cannot_handle_invalid_intent"
UNKNOWN = (CannotHandle(INVALID_INTENT),)
INTENT = re.compile(r"([\w.+-]+)\s*(\{.*\})?", re.DOTALL)
SEPARATOR = re.compile(r"([;\n])")
# `/CancelFlow` is an intent that no flow is likely to have, and means the command (flows.md §7).
BARE_COMMANDS = frozenset(
    {"CancelFlow", "ChitChat", "Handoff", "HumanHandoff", "Noop", "Repeat", "Skip", "SkipQuestion"}
)
SESSION_INTENTS = {
    "session_start": SessionStart(),
    "session_end": SessionEnd(),
    "restart": Restart(),
}


def value_of(text: str) -> Json:
    """The value that `text` in a command stands for: a text, without its quotes if it has any.

    Null words stand for None; true and false for themselves.
    """
    stripped = text.strip()
    if stripped.lower() in NULL_WORDS:
        return None
    if stripped in TRUTH_VALUES:
        return TRUTH_VALUES[stripped]
    is_quoted = len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "\"'"
    return stripped[1:-1] if is_quoted else stripped


def parse_spoken(line: str) -> Command | None:
    """The command that `line` spells, None if it is none."""
    words = line.strip()
    for spelled, make in SPOKEN.items():
        if words.lower() == spelled or words.lower().startswith(f"{spelled} "):
            return make(words[len(spelled) :].strip())
    return None


def _spoken_set_slot(rest: str) -> SetSlot | None:
    name, _, value = rest.partition(" ")
    return SetSlot(name, value_of(value)) if name and value.strip() else None


SPOKEN: Mapping[str, Callable[[str], Command | None]] = {
    "start flow": lambda rest: StartFlow(rest) if rest else None,
    "set slot": _spoken_set_slot,
    "cancel flow": lambda _: CancelFlow(),
    "disambiguate flows": lambda rest: Clarify(tuple(re.split(r"[\s,]+", rest))) if rest else None,
    "skip question": lambda _: SkipQuestion(),
    "repeat message": lambda _: RepeatLastBotMessages(),
    "hand over": lambda _: HumanHandoff(),
    "offtopic reply": lambda _: ChitChat(),
    "provide info": lambda _: SearchAndReply(),
    "search and reply": lambda _: SearchAndReply(),
    "continue agent": lambda _: ContinueAgent(),
    "restart agent": lambda rest: RestartAgent(rest) if rest else None,
}


class CommandSyntaxError(MockError):
    """`source` is not a command; the message says what was expected."""

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
        CommandSyntaxError: the template is not a command.
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
    named = [(pair[1].strip(), value_of(pair[2])) for pair in pairs if pair]
    return tuple(SetSlot(name, value, is_direct=True) for name, value in named)


def is_set_slots(source: str) -> bool:
    return re.match(r"SetSlots\s*[({]", source) is not None


def _set_slots_of_json(source: str, body: str) -> tuple[SetSlot, ...]:
    values = _json_object(body)
    if values is None:
        raise CommandSyntaxError(source, "a JSON object behind SetSlots")
    return tuple(SetSlot(name, value, is_direct=True) for name, value in values.items())


def _json_object(text: str) -> dict[str, Json] | None:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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


def read_slash(text: str, assistant: Assistant) -> tuple[tuple[Command, ...], str]:
    """The commands of a message that begins with a slash, none for any other, and why.

    Several stand on lines of their own, or with `;` between them.
    """
    commands: list[Command] = []
    reasons: list[str] = []
    for source in messages_in(text):
        read, reason = _read_one(source, assistant)
        commands.extend(read)
        reasons.append(reason)
    return tuple(commands), "; ".join(reasons)


def messages_in(text: str) -> list[str]:
    """The messages in `text`, each without its slash; none if it does not begin with one.

    A separator that no slash follows belongs to the message before it.
    """
    parts: list[list[str]] = []
    for piece in SEPARATOR.split(text.rstrip("; \n")):
        if piece.lstrip().startswith("/"):
            parts.append([piece])
        elif parts:
            parts[-1].append(piece)
    messages = ("".join(pieces).strip("; \n") for pieces in parts)
    return [message.lstrip().removeprefix("/").strip() for message in messages]


def _read_one(source: str, assistant: Assistant) -> tuple[tuple[Command, ...], str]:
    try:
        if is_set_slots(source):
            return parse_set_slots(source), "it sets slots"
        intent = INTENT.fullmatch(source)
        if intent is not None:
            return by_intent(intent[1], intent[2], assistant)
        return (parse_command(source),), "it is a command of the mock"
    except CommandSyntaxError as error:
        return UNKNOWN, str(error)


def by_intent(
    name: str, entities: str | None, assistant: Assistant
) -> tuple[tuple[Command, ...], str]:
    """What intent `name` starts, with the slots that its entities fill; else UNKNOWN."""
    if name in SESSION_INTENTS:
        return (SESSION_INTENTS[name],), f"intent {name!r} is Rasa's own"
    flow = assistant.index.by_intent.get(name)
    if flow is not None:
        commands = (StartFlow(flow.id, is_trigger=True), *_entity_slots(entities, assistant))
        return commands, f"intent {name!r} starts {flow.id!r}"
    if name in BARE_COMMANDS and entities is None:
        return (parse_command(f"{name}()"),), "it is a command of the mock"
    return UNKNOWN, f"no flow has the nlu_trigger {name!r}"


def _entity_slots(entities: str | None, assistant: Assistant) -> tuple[SetSlot, ...]:
    """Entities fill the slots of their name."""
    named = _json_object(entities) if entities else None
    known = [(name, value) for name, value in (named or {}).items() if name in assistant.slots]
    return tuple(SetSlot(name, value, is_direct=True) for name, value in known)
