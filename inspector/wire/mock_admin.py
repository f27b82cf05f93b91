"""What the admin API of a2a-mock says (`/__admin`), read leniently: nothing here ever raises."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from inspector.wire.json_values import Json, at, list_at, object_at, text_at

PREFIX = "/__admin"
MODEL = f"{PREFIX}/model"
FAULTS = f"{PREFIX}/faults"
EVENTS = f"{PREFIX}/events"
TRACES = f"{PREFIX}/traces"
DESCRIPTION = f"{PREFIX}/openapi.json"

# A turn sent with this header is explained under the id that its answer names.
WANTS_TRACE = ("X-Mock-Trace", "1")
TRACE_ID = "x-mock-trace-id"


@dataclass(frozen=True, slots=True)
class Model:
    is_loaded: bool
    flows: int


@dataclass(frozen=True, slots=True)
class ArmedFault:
    """`effect` has its `kind` and parameters; `remaining` None is without end."""

    id: str
    effect: dict[str, Json]
    match: dict[str, Json]
    fired: int = 0
    remaining: int | None = None

    @property
    def kind(self) -> str:
        return text_at(self.effect, "kind") or "?"

    @property
    def is_spent(self) -> bool:
        return self.remaining == 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """`default` stands for what is left out; a required one has none."""

    name: str
    type: str
    summary: str
    default: Json = None
    is_required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A fault that the mock can make."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectProblem:
    """What keeps a saved version from being served."""

    file: str
    line: int | None
    code: str
    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Reload:
    """A save as the mock took it: `flows` of the version that serves now, or why it does not."""

    flows: int | None
    problems: tuple[ProjectProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class FaultHit:
    """A fault that hit a request (`method`), or a push notification (`method` None)."""

    fault_id: str
    method: str | None
    context_id: str | None


def read_model(value: Json) -> Model | None:
    """The answer that only a mock gives."""
    is_loaded, flows = at(value, "is_loaded"), at(value, "flows")
    if isinstance(is_loaded, bool) and isinstance(flows, int):
        return Model(is_loaded, flows)
    return None


def read_faults(value: Json) -> tuple[ArmedFault, ...] | None:
    """The faults of an answer, or of an event; None where it is not about faults."""
    if not isinstance(at(value, "faults"), list):
        return None
    return tuple(
        ArmedFault(
            id=text_at(fault, "id") or "?",
            effect=object_at(fault, "effect"),
            match=object_at(fault, "match"),
            fired=_count(at(fault, "fired")) or 0,
            remaining=_count(at(fault, "remaining")),
        )
        for fault in list_at(value, "faults")
    )


def read_complaint(value: Json) -> str:
    """Why a request was refused: what is wrong, and where."""
    problems = [
        f"{text_at(one, 'path')}: {text_at(one, 'text')}" for one in list_at(value, "problems")
    ]
    return "; ".join(problems) or text_at(value, "error") or "the mock refused it"


def read_offer(description: Json) -> tuple[FaultKind, ...]:
    """The faults that the description of the admin API names, in its order."""
    schemas = object_at(description, "components", "schemas")
    kinds = object_at(schemas, "Fault", "properties", "effect", "discriminator", "mapping")
    return tuple(
        _read_kind(name, at(schemas, str(reference).rpartition("/")[2]), schemas)
        for name, reference in kinds.items()
    )


def read_reload(value: Json) -> Reload | None:
    match text_at(value, "outcome"):
        case "reloaded":
            return Reload(_count(at(value, "flows")))
        case "failed":
            return Reload(None, tuple(_read_problems(value)))
        case _:
            return None


def read_hit(value: Json) -> FaultHit | None:
    fault_id = text_at(value, "fault")
    if fault_id is None:
        return None
    return FaultHit(fault_id, text_at(value, "method"), text_at(value, "context"))


def _read_problems(value: Json) -> Iterator[ProjectProblem]:
    for problem in list_at(value, "problems"):
        yield ProjectProblem(
            file=text_at(problem, "file") or "",
            line=_count(at(problem, "line")),
            code=text_at(problem, "code") or "",
            text=text_at(problem, "text") or "",
            fix=text_at(problem, "mend") or "",
        )


def _read_kind(name: str, schema: Json, schemas: Json) -> FaultKind:
    required = list_at(schema, "required")
    properties = object_at(schema, "properties")
    parameters = tuple(
        _read_parameter(key, one, schemas, is_required=key in required)
        for key, one in properties.items()
        if key != "kind"
    )
    return FaultKind(name, text_at(schema, "description") or "", parameters)


def _read_parameter(name: str, schema: Json, schemas: Json, *, is_required: bool) -> Parameter:
    reference = text_at(schema, "$ref") or ""
    named = at(schemas, reference.rpartition("/")[2]) if reference else schema
    choices = list_at(named, "enum")
    return Parameter(
        name=name,
        type=text_at(named, "type") or "any",
        summary=text_at(schema, "description") or "",
        default=at(schema, "default"),
        is_required=is_required,
        choices=tuple(choice for choice in choices if isinstance(choice, str)),
    )


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# What they say stands elsewhere in the trace, or in the conversation.
_SILENT = frozenset(
    {
        *("UserUttered", "Understood", "CommandDropped", "Listened"),
        *("FramePushed", "FrameInserted", "FrameMoved", "FrameRemoved"),
    }
)
_STATE_RULE = "STATE-"


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    has_fired: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Move:
    """Something that happened in the dialogue: an event's name and what it was about."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Trace:
    """`rules` of the understanding, what they made of the message, and the state's `states`."""

    id: str
    rules: tuple[Rule, ...]
    commands: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]
    moves: tuple[Move, ...]
    states: tuple[Rule, ...]


def read_trace(value: Json) -> Trace | None:
    """None where `value` is no trace."""
    trace_id = text_at(value, "id")
    if trace_id is None:
        return None
    rules = [_read_rule(one) for one in list_at(value, "turn", "trace")]
    dropped = list_at(value, "dropped_commands")
    return Trace(
        id=trace_id,
        rules=tuple(rule for rule in rules if not rule.name.startswith(_STATE_RULE)),
        commands=tuple(_spell(one) for one in list_at(value, "commands")),
        dropped=tuple((_spell(one), text_at(one, "reason") or "") for one in dropped),
        moves=_read_moves(list_at(value, "turn", "events")),
        states=tuple(_read_rule(one) for one in list_at(value, "state_candidates")),
    )


def _read_rule(value: Json) -> Rule:
    reason = text_at(value, "reason") or ""
    return Rule(text_at(value, "rule") or "?", at(value, "fired") is True, reason)


def _spell(command: Json) -> str:
    """A command as one types it: `SetSlot(amount, 50)`."""
    said = [
        _plain(value)
        for name, value in object_at(command).items()
        if name not in ("command", "reason") and not name.startswith("is_")
    ]
    return f"{text_at(command, 'command') or '?'}({', '.join(said)})"


def _read_moves(events: list[Json]) -> tuple[Move, ...]:
    """The events that say something, and the steps that flows of the user's own went on to."""
    moves: list[Move] = []
    for event in events:
        name = text_at(event, "event") or "?"
        flow = text_at(event, "flow_id") or ""
        if name == "FrameMoved" and flow and not flow.startswith("pattern_"):
            moves.append(Move("Step", f"{flow}  {text_at(event, 'step_id')}"))
        elif name not in _SILENT:
            moves.append(Move(name, _about(name, event)))
    return tuple(moves)


def _about(name: str, event: Json) -> str:
    if name == "SlotSet":
        value = _plain(at(event, "value"))
        return f"{text_at(event, 'name')} = {value}  by {text_at(event, 'source')}"
    if name == "BotUttered":
        return text_at(event, "response") or text_at(event, "text") or ""
    said = [
        _plain(value) if isinstance(value, str) else f"{key} {_plain(value)}"
        for key, value in object_at(event).items()
        if key != "event" and value and value is not True
    ]
    return "  ".join(said)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
