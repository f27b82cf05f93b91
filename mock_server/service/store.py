"""Tasks by id: live while their turn goes on, then as the bytes that are sent; and their dialogues.

A task is kept while its turn goes on and while it waits for the user's answer. After that it may
be forgotten: the oldest first, when it has reached its age or there are too many younger ones.
A forgotten task is unknown (-32001); the dialogue that it was a turn of goes on regardless.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from structlog.stdlib import get_logger

from mock_server.actions.webhook import Story
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.state import DialogueState, initial_state
from mock_server.records import record
from mock_server.service.agent_version import AgentVersion
from mock_server.tasks.task import ArtifactUpdate, StatusUpdate, Task, TaskState, Update, apply
from mock_server.wire.operations import Codec

logger = get_logger("a2a_server")
MEBIBYTE = 1024 * 1024
MAX_SILENT = 100_000
KeyT = TypeVar("KeyT", bound=Hashable)


@record
class Snapshot:
    """A task at one moment; `encoded` is how `codec`, its caller's version, writes it.

    Bytes take half the memory of objects and cost the garbage collector nothing.
    """

    task_id: str
    context_id: str
    state: TaskState
    encoded: bytes
    codec: Codec

    @property
    def task(self) -> Task:
        return self.codec.decode_task(self.encoded)

    def encoded_by(self, codec: Codec) -> bytes:
        """The task as a caller of any version reads it."""
        return self.encoded if codec is self.codec else codec.encode_task(self.task)


def snapshot(task: Task, codec: Codec) -> Snapshot:
    # orjson's bytes keep the 4 KiB that they were written into; a copy is as long as it says.
    encoded = bytes(memoryview(codec.encode_task(task)))
    return Snapshot(task.id, task.context_id, task.status.state, encoded, codec)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a shelf holds, and how long; a lifetime of 0 keeps nothing."""

    lifetime_seconds: float
    max_count: int = 50_000
    max_bytes: int = 256 * MEBIBYTE


@record
class _Kept:
    snapshot: Snapshot
    expires_at: float


class TtlCache(Generic[KeyT]):
    """Snapshots by key. Past a limit the one that was put there first is forgotten first.

    `on_forgotten` hears of those that go for their age or for want of room.
    """

    def __init__(
        self,
        limits: Limits,
        elapsed_seconds: Callable[[], float],
        on_forgotten: Callable[[KeyT], None] | None = None,
    ) -> None:
        self._limits = limits
        self._elapsed_seconds = elapsed_seconds
        self._on_forgotten = on_forgotten
        self._kept: OrderedDict[KeyT, _Kept] = OrderedDict()
        self._size_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: KeyT) -> Snapshot | None:
        self._forget_expired()
        kept = self._kept.get(key)
        return kept.snapshot if kept else None

    def clear(self) -> None:
        self._kept.clear()
        self._size_bytes = 0

    def put(self, key: KeyT, snapshot: Snapshot) -> None:
        """Keep `snapshot` in place of what `key` had; it counts as the youngest."""
        self._forget(key)
        if self._limits.lifetime_seconds > 0:
            expires_at = self._elapsed_seconds() + self._limits.lifetime_seconds
            self._kept[key] = _Kept(snapshot, expires_at)
            self._size_bytes += len(snapshot.encoded)
            self._forget_expired()
            self._forget_surplus()

    def _forget(self, key: KeyT) -> None:
        if kept := self._kept.pop(key, None):
            self._size_bytes -= len(kept.snapshot.encoded)

    def _forget_expired(self) -> None:
        # All live equally long, so the oldest expire first.
        now = self._elapsed_seconds()
        while self._kept and next(iter(self._kept.values())).expires_at <= now:
            self._forget_oldest()

    def _forget_surplus(self) -> None:
        """Make room; the last one stays, however large it is."""
        limits = self._limits
        while len(self._kept) > 1 and (
            len(self._kept) > limits.max_count or self._size_bytes > limits.max_bytes
        ):
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        key = next(iter(self._kept))
        self._forget(key)
        if self._on_forgotten:
            self._on_forgotten(key)


class LiveTask:
    """`task` is the fold of `updates`; readers wait for the log to grow or to end.

    `on_transition` is told of the task at each change of its status, before anything follows.
    """

    def __init__(self, task: Task, on_transition: Callable[[Task], None] | None = None) -> None:
        self.task = task
        self._on_transition = on_transition
        self.updates: list[Update] = []
        self._has_ended = asyncio.Event()
        self._has_grown: asyncio.Event | None = None

    @property
    def is_over(self) -> bool:
        return self._has_ended.is_set()

    def publish(self, update: Update) -> None:
        self.task = apply(self.task, update)
        self.updates.append(update)
        if isinstance(update, StatusUpdate):
            if self._on_transition:
                self._on_transition(self.task)
            if update.is_final:
                self._has_ended.set()
        if self._has_grown:
            self._has_grown.set()
            self._has_grown = None

    async def end(self) -> None:
        """Wait for the last update."""
        await self._has_ended.wait()

    async def growth_beyond(self, position: int) -> None:
        """Wait until there are more than `position` updates, or there will be no more."""
        while len(self.updates) <= position and not self.is_over:
            self._has_grown = self._has_grown or asyncio.Event()
            await self._has_grown.wait()


Occurrence: TypeAlias = Task | Update


class Subscription:
    """What is left to say is `preface`, then the updates of `live` from `position` on.

    One that withholds work shows that it goes on only once there is an artifact (TURN-11).
    """

    def __init__(
        self,
        task: Task,
        live: LiveTask | None,
        *,
        position: int = 0,
        preface: tuple[Occurrence, ...] = (),
        withholds_work: bool = True,
    ) -> None:
        self.task_id = task.id
        self.context_id = task.context_id
        self._live = live
        self._position = position
        self._preface = preface
        self._withheld: list[Occurrence] | None = [] if withholds_work else None

    @property
    def is_over(self) -> bool:
        live = self._live
        has_said_all = live is None or (live.is_over and self._position >= len(live.updates))
        return has_said_all and not self._preface

    async def next(self, timeout_seconds: float) -> list[Occurrence]:
        """What is new; nothing if that takes longer than `timeout_seconds` or all is said."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not self.is_over:
                    if occurrences := self._take():
                        return occurrences
                    if self._live:
                        await self._live.growth_beyond(self._position)
        except TimeoutError:
            pass
        return []

    def _take(self) -> list[Occurrence]:
        taken = [*self._preface]
        self._preface = ()
        for update in self._live.updates[self._position :] if self._live else ():
            self._position += 1
            taken += self._shown(update)
        return taken

    def _shown(self, update: Update) -> list[Occurrence]:
        if self._withheld is None:
            return [update]
        match update:
            case StatusUpdate(is_final=False):
                self._withheld.append(update)
                return []
            case StatusUpdate():
                return [update]
            case ArtifactUpdate():
                shown, self._withheld = [*self._withheld, update], None
                return shown


class Conversation:
    """`turns` lets one turn run after the other, in order of arrival (TURN-4).

    `resting` is the task that waits for the user's answer (TURN-3), `unfinished` the number of
    turns that run or wait in the queue: either reserves the context (TURN-6).
    """

    def __init__(self, context_id: str, state: DialogueState) -> None:
        self.id = context_id
        self.state = state
        self.story = Story(context_id)
        self.turns = asyncio.Lock()
        self.resting: Snapshot | None = None
        self.unfinished = 0
        self._agent_version = 0

    @property
    def is_reserved(self) -> bool:
        return self.unfinished > 0 or self.resting is not None

    def must_hear_of_changes(self, agent: AgentVersion) -> bool:
        """Whether `agent`, which takes over from here, has changed what the dialogue is about."""
        since, self._agent_version = self._agent_version, agent.version
        return agent.has_changed(self.state.stack, since)


class Conversations:
    """`max_reserved` of 0 is no limit."""

    def __init__(self, max_reserved: int, max_silent: int = MAX_SILENT) -> None:
        self._max_reserved = max_reserved
        self._max_silent = max_silent
        self._reserved: dict[str, Conversation] = {}
        self._silent: OrderedDict[str, Conversation] = OrderedDict()

    def __iter__(self) -> Iterator[Conversation]:
        yield from self._reserved.values()
        yield from self._silent.values()

    def find(self, context_id: str) -> Conversation | None:
        return self._reserved.get(context_id) or self._silent.get(context_id)

    def has_room_for(self, context_id: str) -> bool:
        """Whether the context is reserved already, or may be."""
        is_full = 0 < self._max_reserved <= len(self._reserved)
        return not is_full or context_id in self._reserved

    def enter(self, context_id: str, assistant: Assistant) -> Conversation:
        """Reserve the context for one more turn; a new one begins as `assistant` says."""
        conversation = self._reserved.get(context_id) or self._silent.pop(context_id, None)
        if conversation is None:
            conversation = Conversation(context_id, initial_state(assistant))
        self._reserved[context_id] = conversation
        conversation.unfinished += 1
        return conversation

    def leave(self, conversation: Conversation) -> None:
        """A turn is over; unless another comes or a question is open, the context is free."""
        conversation.unfinished -= 1
        self.release(conversation)

    def release(self, conversation: Conversation) -> None:
        """Free the context if nothing reserves it any more."""
        if conversation.is_reserved or conversation.id not in self._reserved:
            return
        del self._reserved[conversation.id]
        self._silent[conversation.id] = conversation
        if len(self._silent) > self._max_silent:
            context_id, _ = self._silent.popitem(last=False)
            logger.info("a2a_mock.conversation.forgotten", context_id=context_id)

    def clear(self) -> None:
        """Forget them all; no turn runs."""
        self._reserved.clear()
        self._silent.clear()


class TaskStore:
    """Every task of this process that is not forgotten."""

    def __init__(
        self,
        limits: Limits,
        elapsed_seconds: Callable[[], float],
        on_forgotten: Callable[[str], None] | None = None,
    ) -> None:
        self._live: dict[str, LiveTask] = {}
        self._resting: dict[str, Snapshot] = {}
        self._settled: TtlCache[str] = TtlCache(limits, elapsed_seconds, on_forgotten)

    def find(self, task_id: str) -> LiveTask | Snapshot | None:
        return self._live.get(task_id) or self._resting.get(task_id) or self._settled.find(task_id)

    def begin(self, live: LiveTask) -> None:
        self._live[live.task.id] = live

    def rest(self, snapshot: Snapshot) -> None:
        """The turn is over, and the task waits for the user's answer."""
        self._live.pop(snapshot.task_id, None)
        self._resting[snapshot.task_id] = snapshot

    def settle(self, snapshot: Snapshot) -> None:
        """Nothing more is expected to happen to the task."""
        self._live.pop(snapshot.task_id, None)
        self._resting.pop(snapshot.task_id, None)
        self._settled.put(snapshot.task_id, snapshot)

    def clear(self) -> None:
        self._live.clear()
        self._resting.clear()
        self._settled.clear()

    def context_of(self, task_id: str) -> str | None:
        """The context of a known task."""
        match self.find(task_id):
            case None:
                return None
            case Snapshot(context_id=context_id):
                return context_id
            case LiveTask(task=task):
                return task.context_id
