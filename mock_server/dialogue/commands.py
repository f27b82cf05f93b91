"""Rasa's commands, which messages are understood as, and their spelling (flows.md §5, §7)."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """The flows that the dialogue is in have changed."""


@record
class ContinueAgent:
    """The message is for the sub agent that waits for it."""


@record
class RestartAgent:
    """Start sub agent `agent`, which the running flow calls, again."""

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
    if call is None and (command := _parse_phrase(source.strip())):
        return command
    if call is None or call[1] not in _SYNTAX:
        raise CommandSyntaxError(source, f"one of {', '.join(_SYNTAX)} with parentheses")
    name, syntax = call[1], _SYNTAX[call[1]]
    most = 1 if name == "SetSlot" else -1  # a comma in the value belongs to it
    arguments = [part.strip() for part in call[2].split(",", most)] if call[2].strip() else []
    command = syntax.make(arguments)
    if command is None:
        raise CommandSyntaxError(source, f"{name}({', '.join(syntax.arguments)})")
    return command


def _parse_phrase(text: str) -> Command | None:
    """The command that `text` says in words, None if it says none."""
    for syntax in _SYNTAX.values():
        for phrase in syntax.phrases:
            if f"{text.lower()} ".startswith(f"{phrase} "):
                return syntax.make_of_words(text[len(phrase) :].strip())
    return None


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


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How a command is written: as a call with `arguments`, or as one of `phrases` and words.

    `make` returns None for arguments that are not its own.
    """

    make: Callable[[Sequence[str]], Command | None]
    arguments: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()

    def make_of_words(self, words: str) -> Command | None:
        if not self.arguments:
            return self.make(())
        if REPEATED in self.arguments:
            return self.make(words.replace(",", " ").split()) if words else None
        return self.make(words.split(" ", len(self.arguments) - 1))


def _no_argument(command: Command, *phrases: str) -> _Syntax:
    return _Syntax(lambda arguments: None if arguments else command, (), phrases)


def _one_argument(make: Callable[[str], Command], argument: str, *phrases: str) -> _Syntax:
    def make_of_one(arguments: Sequence[str]) -> Command | None:
        return make(arguments[0]) if len(arguments) == 1 and arguments[0] else None

    return _Syntax(make_of_one, (argument,), phrases)


def _make_set_slot(arguments: Sequence[str]) -> Command | None:
    if len(arguments) > 1 and arguments[0]:
        return SetSlot(arguments[0], value_of(arguments[1]))
    return None


def _make_clarify(arguments: Sequence[str]) -> Command | None:
    return Clarify(tuple(arguments)) if all(arguments) else None


def _make_cannot_handle(arguments: Sequence[str]) -> Command | None:
    return CannotHandle(", ".join(arguments) or None)


REPEATED = "…"
_SYNTAX: Mapping[str, _Syntax] = {
    "StartFlow": _one_argument(StartFlow, "flow", "start flow"),
    "CancelFlow": _no_argument(CancelFlow(), "cancel flow"),
    "SetSlot": _Syntax(_make_set_slot, ("slot", "value"), ("set slot",)),
    "Clarify": _Syntax(_make_clarify, ("flow", REPEATED), ("disambiguate flows",)),
    "ChitChat": _no_argument(ChitChat(), "offtopic reply"),
    "SearchAndReply": _no_argument(SearchAndReply(), "provide info", "search and reply"),
    "Skip": _no_argument(SkipQuestion(), "skip question"),
    "SkipQuestion": _no_argument(SkipQuestion()),
    "Handoff": _no_argument(HumanHandoff(), "hand over"),
    "HumanHandoff": _no_argument(HumanHandoff()),
    "Repeat": _no_argument(RepeatLastBotMessages(), "repeat message"),
    "RepeatLastBotMessages": _no_argument(RepeatLastBotMessages()),
    "CannotHandle": _Syntax(_make_cannot_handle, ("reason",)),
    "Error": _one_argument(ReportError, "type"),
    "SessionStart": _no_argument(SessionStart()),
    "SessionEnd": _no_argument(SessionEnd()),
    "Restart": _no_argument(Restart()),
    "ContinueAgent": _no_argument(ContinueAgent(), "continue agent"),
    "RestartAgent": _one_argument(RestartAgent, "agent", "restart agent"),
    "Noop": _no_argument(Noop()),
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
    """The start of the flow of intent `name`, and the slots of its entities; else UNKNOWN."""
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
