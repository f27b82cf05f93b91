"""What a message's commands come to, and what the rules of the clean-up look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command, SetSlot
from mock_server.dialogue.events import CommandDropped
from mock_server.dialogue.model import Json
from mock_server.dialogue.stack import Stack, active_group
from mock_server.dialogue.state import DialogueState


@dataclass(slots=True)
class Plan:
    """What the commands of a message come to.

    `starts` are flows to begin, the first to run first; `resumed` waits on the stack already.
    `refused` values do not fit their slot. `patterns` are answered by the pattern of their name.
    """

    starts: list[str] = field(default_factory=list[str])
    resumed: str | None = None
    is_cancelled: bool = False
    values: dict[str, Json] = field(default_factory=dict[str, Json])
    corrections: dict[str, Json] = field(default_factory=dict[str, Json])
    refused: list[SetSlot] = field(default_factory=list[SetSlot])
    patterns: list[Command] = field(default_factory=list[Command])
    dropped: list[CommandDropped] = field(default_factory=list[CommandDropped])
    is_settled: bool = False
    continues_agent: bool = False
    restarted_agent: str | None = None

    @property
    def is_empty(self) -> bool:
        flows = self.starts or self.resumed or self.is_cancelled
        agents = self.continues_agent or self.restarted_agent
        return not (
            flows or agents or self.values or self.corrections or self.refused or self.patterns
        )

    def drop(self, command: Command, reason: str, is_settled: bool = False) -> None:
        """Leave `command` out; `is_settled`: it was understood, and nothing is left to do."""
        self.dropped.append(CommandDropped(command, reason))
        self.is_settled = self.is_settled or is_settled


@dataclass(frozen=True, slots=True)
class Situation:
    """What the rules look at; `earlier_slots` are the values before the orchestrator's."""

    assistant: Assistant
    state: DialogueState
    earlier_slots: Mapping[str, Json]

    @property
    def stack(self) -> Stack:
        return self.state.stack

    def staying(self, plan: Plan) -> Stack:
        """The stack without what the message cancels."""
        ended = active_group(self.stack) if plan.is_cancelled else ()
        return tuple(frame for frame in self.stack if frame not in ended)
