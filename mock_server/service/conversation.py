"""A conversation with a version of the agent, and the one driver of the engine.

serve, talk and test let their turns run here: what the engine asks for from outside, an action or
a language model, is answered by the same function for all three.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from mock_server.actions.runner import Awaited, ChunkStreamed, Paused, RunAction
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import DialogueTurn
from mock_server.dialogue.outside import ActionResult, Generate, Outcome
from mock_server.dialogue.state import (
    ActionRequested,
    DialogueState,
    Event,
    Frame,
    GenerationRequested,
    Request,
    Tracker,
    Warned,
    event_bytes,
    initial_state,
    state_bytes,
)
from mock_server.tasks.mapper import TurnOutcome
from mock_server.tasks.trace import TracedTurn


@dataclass(frozen=True, slots=True)
class AgentVersion:
    """A version of the project, and what performs its actions; a turn keeps the one it began with.

    `changed_flows` has the version in which a flow was last changed, for conversations that have
    to know; versions count from 0. With `keeps_trackers` each conversation remembers its events,
    for its actions to look at.
    """

    assistant: Assistant
    run_action: RunAction
    offers_repair: bool = True
    generate: Generate | None = None
    keeps_trackers: bool = False
    version: int = 0
    changed_flows: Mapping[str, int] = field(default_factory=dict[str, int])

    def successor(
        self, assistant: Assistant, run_action: RunAction, *, reports_changes: bool
    ) -> "AgentVersion":
        """The next version; `reports_changes` to conversations in the middle of what it changes."""
        version = self.version + 1
        changed = dict.fromkeys(_changed(self.assistant, assistant), version)
        return replace(
            self,
            assistant=assistant,
            run_action=run_action,
            version=version,
            changed_flows={**self.changed_flows, **changed} if reports_changes else {},
        )

    def has_changed(self, stack: tuple[Frame, ...], since_version: int) -> bool:
        """Whether a flow on `stack` differs from what it was in `since_version`."""
        return any(self.changed_flows.get(frame.flow_id, 0) > since_version for frame in stack)


def _changed(before: Assistant, after: Assistant) -> Iterator[str]:
    for flow_id in before.flows.keys() | after.flows.keys():
        if before.flows.get(flow_id) != after.flows.get(flow_id):
            yield flow_id


class Conversation:
    """One dialogue: the context of A2A, the sender of Rasa.

    `queue` lets one turn run after the other, in order of arrival (TURN-4). `open_task_id` is the
    task that waits for the user's answer (TURN-3), `unfinished` the number of turns that run or
    wait in the queue: either reserves the context (TURN-6). `size_bytes` is what the store last
    found it to hold.
    """

    __slots__ = (
        "_version",
        "id",
        "open_task_id",
        "queue",
        "size_bytes",
        "state",
        "tracker",
        "unfinished",
    )

    def __init__(self, conversation_id: str, assistant: Assistant) -> None:
        self.id = conversation_id
        self.state = initial_state(assistant)
        self.tracker = Tracker(conversation_id)
        self.queue = asyncio.Lock()
        self.open_task_id: str | None = None
        self.unfinished = 0
        self.size_bytes = 0
        self._version = 0

    @property
    def is_reserved(self) -> bool:
        return self.unfinished > 0 or self.open_task_id is not None

    def measured_bytes(self) -> int:
        """The memory that its values take now."""
        tracked = sum([event_bytes(event) for _, event in self.tracker.events])
        return state_bytes(self.state) + tracked

    def restart(self, assistant: Assistant) -> None:
        """Forget the dialogue so far."""
        self.state = initial_state(assistant)
        self.tracker.forget()

    def notices_change(self, agent: AgentVersion) -> bool:
        """Whether `agent`, which takes over from here, has changed what the dialogue is about."""
        since, self._version = self._version, agent.version
        return agent.has_changed(self.state.stack, since)


class TurnHost(Protocol):
    """The program that a turn runs in."""

    def now_seconds(self) -> float:
        """The time, in seconds since 1970."""
        ...

    async def pause(self, seconds: float) -> None:
        """An action takes so long."""
        ...

    def stream(self, action: str, chunk: ChunkStreamed) -> None:
        """An action sends a piece of its text while it works."""
        ...

    def warn(self, text: str) -> None:
        """The engine found something that a developer should know."""
        ...


class EngineTurn:
    """A turn of `conversation`: drives the engine and keeps what happens.

    The conversation's state is one to go on from whenever the turn waits for something.
    """

    __slots__ = ("_dialogue_turn", "_host", "_request", "agent", "before", "conversation", "events")

    def __init__(self, agent: AgentVersion, conversation: Conversation, host: TurnHost) -> None:
        self.agent = agent
        self.conversation = conversation
        self.before = conversation.state
        self.events: list[Event] = []
        self._host = host

    def start(self, turn: DialogueTurn) -> bool:
        """Go on until `turn` asks for something from outside; whether it is over before that."""
        self._dialogue_turn = turn
        self._request = self._follow(None)
        return self._request is None

    async def finish(self) -> None:
        """Give the turn what it asks for until it is over."""
        while self._request is not None:
            self._request = self._follow(await self._outcome(self._request))

    def record(self, event: Event, state: DialogueState) -> None:
        """Keep `event`, which has led to `state`."""
        self.conversation.state = state
        self._keep((event,))

    def outcome(self) -> TurnOutcome:
        """What the table of states sees of the turn."""
        return TurnOutcome(
            stack=self.conversation.state.stack,
            events=tuple(self.events),
            is_waiting=self.conversation.state.is_listening,
            stack_before=self.before.stack,
            offers_repair=self.agent.offers_repair,
            rejected_scope=self.agent.assistant.rejected_scope,
        )

    def traced(self, outcome: TurnOutcome | None = None) -> TracedTurn:
        """The turn for debugging."""
        outcome = outcome or self.outcome()
        return TracedTurn(outcome.events, self.before, self.conversation.state, outcome)

    def _follow(self, outcome: Outcome | None) -> Request | None:
        """Send `outcome` in and keep what happens up to the next request; None at the end."""
        happened = self._dialogue_turn.run(outcome)
        self.conversation.state = self._dialogue_turn.state
        last = happened[-1] if happened else None
        if isinstance(last, GenerationRequested):
            happened.pop()
        self._keep(happened)
        return last if isinstance(last, ActionRequested | GenerationRequested) else None

    def _keep(self, happened: Sequence[Event]) -> None:
        self.events += happened
        for event in happened:
            if isinstance(event, Warned):
                self._host.warn(event.text)
        if self.agent.keeps_trackers:
            now_seconds = self._host.now_seconds()
            for event in happened:
                self.conversation.tracker.record(event, now_seconds)

    async def _outcome(self, request: Request) -> Outcome | None:
        match request:
            case ActionRequested(name=name):
                return await self._perform(name)
            case GenerationRequested(text=text):
                generate, state = self.agent.generate, self.conversation.state
                return await generate(self.agent.assistant, state, text) if generate else None

    async def _perform(self, action: str) -> ActionResult:
        conversation = self.conversation
        for progress in self.agent.run_action(action, conversation.state, conversation.tracker):
            match progress:
                case Paused(seconds=seconds):
                    await self._host.pause(seconds)
                case ChunkStreamed():
                    self._host.stream(action, progress)
                case Awaited(outcome=outcome):
                    return await outcome
                case ActionResult():
                    return progress
        return ActionResult()
