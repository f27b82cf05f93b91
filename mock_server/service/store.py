"""The one owner of tasks, contexts, answers and traces. Here it is memory; a database would
implement the same methods.

A task is kept while its turn goes on and while it waits for the user's answer. After that it may
be forgotten: the oldest first, when it has reached its age or there are too many younger ones.
A forgotten task is unknown (-32001); the dialogue that it was a turn of goes on regardless.

A reserved context, one with a turn to come or an open question, is never forgotten. The others go
on where they left off when their next message comes, until there are very many of them, or they
hold very much: then the one that was silent longest is forgotten, so that a server may run for
weeks.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from structlog.stdlib import get_logger

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.state import Event, Frame
from mock_server.records import record
from mock_server.service.conversation import Conversation
from mock_server.tasks.task import ArtifactUpdate, StatusUpdate, Task, TaskState, Update, apply
from mock_server.tasks.trace import TracedTurn
from mock_server.wire.operations import Codec

logger = get_logger("a2a_server")
MEBIBYTE = 1024 * 1024
TASK_LIFETIME_SECONDS = 3600
MAX_TASKS = 50_000
MAX_SILENT = 100_000
MAX_KEPT_BYTES = 256 * MEBIBYTE
MAX_TRACES = 256
MAX_HAPPENED_TURNS = 256
MAX_HAPPENED_BYTES = 32 * MEBIBYTE
Occurrence: TypeAlias = Task | Update
KeyT = TypeVar("KeyT", bound=Hashable)
Key: TypeAlias = tuple[str, str]
"""What identifies a repeated message: its contextId and messageId (TURN-5)."""


class LiveTask:
    """`task` is the fold of `updates`; readers wait for the log to grow or to end.

    `answer` is the task at the end of its turn, whatever later turns do to it.
    `on_transition` gets the task at each change of its status, before anything follows.
    """

    __slots__ = ("_growth", "_on_transition", "answer", "is_over", "task", "updates")

    def __init__(self, task: Task, on_transition: Callable[[Task], None] | None = None) -> None:
        self.task = task
        self._on_transition = on_transition
        self.updates: list[Update] = []
        self.is_over = False
        self.answer: Snapshot | None = None
        self._growth: asyncio.Event | None = None

    def publish(self, update: Update) -> None:
        self.task = apply(self.task, update)
        self.updates.append(update)
        if isinstance(update, StatusUpdate):
            if self._on_transition:
                self._on_transition(self.task)
            self.is_over = update.is_final
        if self._growth:
            self._growth.set()
            self._growth = None

    async def end(self) -> None:
        """Wait for the last update."""
        while not self.is_over:
            await self._grown()

    async def growth_beyond(self, position: int) -> None:
        """Wait until there are more than `position` updates, or there will be no more."""
        while len(self.updates) <= position and not self.is_over:
            await self._grown()

    async def _grown(self) -> None:
        self._growth = self._growth or asyncio.Event()
        await self._growth.wait()


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


@dataclass(slots=True)
class Trace:
    """The turn of a task whose trace was asked for, and who took it; None while it goes on."""

    task_id: str
    context_id: str
    turn: TracedTurn | None = None
    assistant: Assistant = field(default_factory=Assistant)


@record
class HappenedTurn:
    """The events of a turn of a context, and the stack before it; `size_bytes` is about theirs."""

    context_id: str
    stack: tuple[Frame, ...]
    events: tuple[Event, ...]
    size_bytes: int


class TurnLog:
    """The last turns of all contexts, for those who debug them; the oldest is forgotten first."""

    def __init__(
        self, max_count: int = MAX_HAPPENED_TURNS, max_bytes: int = MAX_HAPPENED_BYTES
    ) -> None:
        self._max_count = max_count
        self._max_bytes = max_bytes
        self._turns: deque[HappenedTurn] = deque()
        self._size_bytes = 0

    def keep(self, turn: HappenedTurn) -> None:
        self._turns.append(turn)
        self._size_bytes += turn.size_bytes
        while len(self._turns) > self._max_count or self._size_bytes > self._max_bytes:
            self._size_bytes -= self._turns.popleft().size_bytes

    def of(self, context_id: str) -> tuple[HappenedTurn, ...]:
        """Those of a context, the oldest first."""
        return tuple(turn for turn in self._turns if turn.context_id == context_id)

    def clear(self) -> None:
        self._turns.clear()
        self._size_bytes = 0


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """How much a cache holds, and how long; a lifetime of 0 keeps nothing."""

    lifetime_seconds: float
    max_count: int = MAX_TASKS
    max_bytes: int = MAX_KEPT_BYTES


class TtlCache(Generic[KeyT]):
    """Snapshots by key, with when they expire. Past a limit the oldest is forgotten first.

    `on_forgotten` gets the keys of those that were too old or one too many.
    """

    def __init__(
        self,
        limits: CacheLimits,
        elapsed_seconds: Callable[[], float],
        on_forgotten: Callable[[KeyT], None] | None = None,
    ) -> None:
        self._limits = limits
        self._elapsed_seconds = elapsed_seconds
        self._on_forgotten = on_forgotten
        self._kept: OrderedDict[KeyT, tuple[Snapshot, float]] = OrderedDict()
        self._size_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: KeyT) -> Snapshot | None:
        self._forget_expired()
        snapshot, _ = self._kept.get(key, (None, 0))
        return snapshot

    def take(self, key: KeyT) -> None:
        """Keep it no longer: it is somebody else's, and not forgotten."""
        if kept := self._kept.pop(key, None):
            self._size_bytes -= len(kept[0].encoded)

    def clear(self) -> None:
        self._kept.clear()
        self._size_bytes = 0

    def put(self, key: KeyT, snapshot: Snapshot) -> None:
        """Keep `snapshot` in place of what `key` had; it counts as the youngest."""
        self.take(key)
        if self._limits.lifetime_seconds > 0:
            expires_at = self._elapsed_seconds() + self._limits.lifetime_seconds
            self._kept[key] = snapshot, expires_at
            self._size_bytes += len(snapshot.encoded)
            self._forget_expired()
            self._forget_surplus()

    def _forget_expired(self) -> None:
        # All live equally long, so the oldest expire first.
        now = self._elapsed_seconds()
        while self._kept and next(iter(self._kept.values()))[1] <= now:
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
        self.take(key)
        if self._on_forgotten:
            self._on_forgotten(key)


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """`replay_seconds` is how long an answer is remembered; 0 `max_contexts` is no limit.

    `max_bytes` is for each kind of thing: tasks, answers, reserved contexts, silent contexts.
    """

    replay_seconds: float = 600
    max_contexts: int = 1000
    max_silent: int = MAX_SILENT
    max_tasks: int = MAX_TASKS
    max_bytes: int = MAX_KEPT_BYTES


class Store:
    """Everything that outlives a turn; `on_forgotten` gets the ids of tasks that are forgotten."""

    def __init__(
        self,
        limits: StoreLimits,
        elapsed_seconds: Callable[[], float],
        on_forgotten: Callable[[str], None] | None = None,
    ) -> None:
        self._limits = limits
        self._unsettled: dict[str, LiveTask | Snapshot] = {}
        lifetime_seconds = max(TASK_LIFETIME_SECONDS, limits.replay_seconds)
        settled = CacheLimits(lifetime_seconds, limits.max_tasks, limits.max_bytes)
        self._settled: TtlCache[str] = TtlCache(settled, elapsed_seconds, on_forgotten)
        replays = CacheLimits(limits.replay_seconds, max_bytes=limits.max_bytes)
        self._answers: TtlCache[Key] = TtlCache(replays, elapsed_seconds)
        self._reserved: dict[str, Conversation] = {}
        self._reserved_bytes = 0
        self._silent: OrderedDict[str, Conversation] = OrderedDict()
        self._silent_bytes = 0
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self.turns = TurnLog()

    def task(self, task_id: str) -> LiveTask | Snapshot | None:
        """A task while its turn goes on, or as its last turn left it."""
        return self._unsettled.get(task_id) or self._settled.find(task_id)

    def context_of(self, task_id: str) -> str | None:
        """The context of a known task."""
        match self.task(task_id):
            case None:
                return None
            case Snapshot(context_id=context_id):
                return context_id
            case LiveTask(task=task):
                return task.context_id

    def begin(self, live: LiveTask) -> None:
        """A turn of the task is queued; what earlier turns left of it is superseded."""
        self._settled.take(live.task.id)
        self._unsettled[live.task.id] = live

    def settle(self, answer: Snapshot) -> None:
        """Nothing more is expected to happen to the task; no conversation waits in it."""
        self._unsettled.pop(answer.task_id, None)
        self._settled.put(answer.task_id, answer)
        conversation = self.conversation(answer.context_id)
        if conversation and conversation.open_task_id == answer.task_id:
            conversation.open_task_id = None
            self.release(conversation)

    def leave_open(self, answer: Snapshot, conversation: Conversation) -> None:
        """The task waits for the user's answer, and reserves the conversation."""
        self._unsettled[answer.task_id] = answer
        conversation.open_task_id = answer.task_id

    def supersede_open(self, conversation: Conversation) -> None:
        """The open task has its answer: it stays as it is (TURN-2a) unless a turn continues it."""
        superseded = self.open_task(conversation)
        conversation.open_task_id = None
        if superseded:
            self.settle(superseded)

    def answer(self, key: Key) -> Snapshot | None:
        """What a message was answered with, as long as that is remembered (TURN-5)."""
        return self._answers.find(key)

    def remember(self, key: Key, answer: Snapshot) -> None:
        self._answers.put(key, answer)

    def conversations(self) -> Iterator[Conversation]:
        yield from self._reserved.values()
        yield from self._silent.values()

    def conversation(self, context_id: str) -> Conversation | None:
        return self._reserved.get(context_id) or self._silent.get(context_id)

    def open_task(self, conversation: Conversation) -> Snapshot | None:
        """The task in which `conversation` waits for the user."""
        found = self._unsettled.get(conversation.open_task_id or "")
        return found if isinstance(found, Snapshot) else None

    def has_room_for(self, context_id: str) -> bool:
        """Whether the context is reserved already, or may be (TURN-6)."""
        is_full = (
            0 < self._limits.max_contexts <= len(self._reserved)
            or self._reserved_bytes >= self._limits.max_bytes
        )
        return not is_full or context_id in self._reserved

    def enter(self, context_id: str, assistant: Assistant) -> Conversation:
        """Reserve the context for one more turn; a new one begins as `assistant` says."""
        conversation = self._reserved.get(context_id)
        if conversation is None:
            conversation = self._silent.pop(context_id, None)
            if conversation is None:
                conversation = Conversation(context_id, assistant)
            # A new one has no size yet.
            self._silent_bytes -= conversation.size_bytes
            self._reserved_bytes += conversation.size_bytes
            self._reserved[context_id] = conversation
        conversation.unfinished += 1
        return conversation

    def leave(self, conversation: Conversation) -> None:
        """A turn is over; unless another comes or a question is open, the context is free."""
        conversation.unfinished -= 1
        self.release(conversation)

    def release(self, conversation: Conversation) -> None:
        """Free the context if nothing reserves it any more."""
        if conversation.id not in self._reserved:
            return
        open_task = self.open_task(conversation)
        before = conversation.size_bytes
        conversation.size_bytes = conversation.measured_bytes()
        if open_task:
            conversation.size_bytes += len(open_task.encoded)
        if conversation.is_reserved:
            self._reserved_bytes += conversation.size_bytes - before
            return
        del self._reserved[conversation.id]
        self._reserved_bytes -= before
        self._silent[conversation.id] = conversation
        self._silent_bytes += conversation.size_bytes
        self._forget_silent()

    def _forget_silent(self) -> None:
        """Make room; the last one stays, however large it is."""
        limits = self._limits
        while len(self._silent) > 1 and (
            len(self._silent) > limits.max_silent or self._silent_bytes > limits.max_bytes
        ):
            context_id, forgotten = self._silent.popitem(last=False)
            self._silent_bytes -= forgotten.size_bytes
            logger.info("a2a_mock.conversation.forgotten", context_id=context_id)

    def trace(self, trace_id: str) -> Trace | None:
        """The turn that was asked for under this id, if it is one of the last."""
        return self._traces.get(trace_id)

    def keep_trace(self, trace_id: str, trace: Trace) -> None:
        self._traces[trace_id] = trace
        if len(self._traces) > MAX_TRACES:
            self._traces.popitem(last=False)

    def clear(self) -> None:
        """Forget everything; no turn runs."""
        for kept in (
            self._unsettled,
            self._settled,
            self._answers,
            self._reserved,
            self._silent,
            self._traces,
            self.turns,
        ):
            kept.clear()
        self._reserved_bytes = self._silent_bytes = 0


class Subscription:
    """A reader of a task: first `preface`, then the updates of `live` from `position` on.

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
        has_read_all = live is None or (live.is_over and self._position >= len(live.updates))
        return has_read_all and not self._preface

    async def next(self, timeout_seconds: float) -> list[Occurrence]:
        """What is new; nothing if that takes longer than `timeout_seconds` or all is read."""
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
