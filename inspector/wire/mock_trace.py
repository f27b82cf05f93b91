"""A turn as a2a-mock explains it: which rules read the message, and what the flows then did."""

import json
from dataclasses import dataclass

from inspector.wire.tree import Json, at, list_at, object_at, text_at

# What they tell stands elsewhere in the trace, or in the conversation.
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
