"""A turn for those who debug it: what was understood and why, and which rule made its state."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    CannotHandle,
    Clarify,
    Command,
    ReportError,
    SetSlot,
    value_of,
)
from mock_server.dialogue.model import Json
from mock_server.dialogue.state import (
    CommandDropped,
    DialogueState,
    Event,
    Frame,
    FrameInserted,
    FrameMoved,
    FramePushed,
    ProjectReloaded,
    RuleTried,
    Understood,
)
from mock_server.tasks.mapper import (
    StateRule,
    TurnOutcome,
    active_flow,
    candidates,
    persisted_slots,
    task_state,
    utterances,
    visible_slots,
)
from mock_server.tasks.task import TaskState

# What Rasa calls some commands; the others are called as their classes are.
NAMES: Mapping[type[Command], str] = {ReportError: "Error"}


@dataclass(frozen=True, slots=True)
class TracedTurn:
    """A turn: its events, the state before and after it, and its outcome."""

    events: tuple[Event, ...]
    before: DialogueState
    after: DialogueState
    outcome: TurnOutcome

    @property
    def state(self) -> TaskState:
        return task_state(self.outcome)

    @property
    def state_rules(self) -> tuple[StateRule, ...]:
        """The rules of the state mapper that could have decided; the first is the one that did."""
        rules = candidates(self.outcome)
        decided = next(rule for rule in rules if rule.holds(self.outcome))
        return (decided, *(rule for rule in rules if rule is not decided))

    @property
    def trace(self) -> tuple[RuleTried, ...]:
        """The rules of the understanding, in the order of trying."""
        return tuple(
            rule for event in self.events if isinstance(event, Understood) for rule in event.trace
        )


def encode_turn(turn: TracedTurn, assistant: Assistant) -> dict[str, object]:
    """The object that `a2a-mock talk --json` prints for a turn, ready for JSON."""
    return {
        "state": turn.state.value,
        "text": list(utterances(turn.events)),
        "active_flow": active_flow(turn.after.stack),
        "slots": visible_slots(assistant, turn.after.slots),
        "persisted_slots": persisted_slots(turn.events),
        "events": encode_events(turn.before.stack, turn.events),
        "trace": [*(asdict(rule) for rule in turn.trace), *_state_rules(turn)],
    }


def encode_decisions(turn: TracedTurn) -> Mapping[str, object]:
    """The commands of a turn, those that were dropped, and the candidates of the state table."""
    return {
        "commands": [
            encode_command(command)
            for event in turn.events
            if isinstance(event, Understood)
            for command in event.commands
        ],
        "dropped_commands": [
            {**encode_command(event.command), "reason": event.reason}
            for event in turn.events
            if isinstance(event, CommandDropped)
        ],
        "state_candidates": _state_rules(turn),
    }


def encode_command(command: Command) -> dict[str, object]:
    return {"command": type(command).__name__, **asdict(command)}


def spell_command(command: Command) -> str:
    """A command as one types it, e.g. `SetSlot(amount, 50)`; `parse_command` reads it again."""
    return f"{NAMES.get(type(command), type(command).__name__)}({', '.join(_said(command))})"


def _said(command: Command) -> Iterator[str]:
    match command:
        case Clarify(flow_ids=flow_ids):
            yield from flow_ids
        case ReportError(error_type=error_type):
            yield error_type
        case CannotHandle(reason=reason):
            yield from filter(None, (reason,))
        case SetSlot(name=name, value=value):
            yield from (name, _spell_value(value))
        case _:
            said = asdict(command).items()
            yield from (str(value) for name, value in said if not name.startswith("is_"))


def _spell_value(value: Json) -> str:
    """A text stands in quotes where it would be taken for something else."""
    if isinstance(value, str):
        return value if value_of(value) == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _state_rules(turn: TracedTurn) -> list[dict[str, object]]:
    return [
        {"rule": rule.id, "fired": index == 0, "reason": rule.state.value}
        for index, rule in enumerate(turn.state_rules)
    ]


def encode_events(stack: tuple[Frame, ...], events: Iterable[Event]) -> list[dict[str, object]]:
    """Each event by its class name and its fields; what moves a frame names the frame's flow.

    `stack` is that of before the events.
    """
    flows = {frame.id: frame.flow_id for frame in stack}
    encoded: list[dict[str, object]] = []
    for event in events:
        fields: dict[str, object] = {"event": type(event).__name__, **asdict(event)}
        match event:
            case Understood(commands=commands):
                fields["commands"] = [encode_command(command) for command in commands]
            case FramePushed(frame) | FrameInserted(frame):
                flows[frame.id] = frame.flow_id
            case FrameMoved(frame_id) if frame_id in flows:
                fields["flow_id"] = flows[frame_id]
            case ProjectReloaded():
                del fields["initial_slots"]  # not of this turn, and there may be hundreds
            case _:
                pass
        encoded.append(fields)
    return encoded
