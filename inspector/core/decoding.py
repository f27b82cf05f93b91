"""The one decoder of what passed the wire: it reads each exchange in the dialect it was made in."""

import asyncio
import gc
import itertools
from collections import deque
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    PushReceived,
    RequestSent,
    WithBody,
    bytes_of,
    is_cut,
    size_of,
)
from inspector.wire.dialect import (
    ArtifactChunk,
    Dialect,
    Notification,
    Operation,
    Reply,
    Request,
    Result,
)
from inspector.wire.endpoints import DEFAULT, dialect_of
from inspector.wire.json_values import Json, Parsed, parse_json

T = TypeVar("T")
# Replies from this size on are remembered for a while, the last few of them.
LARGE_BYTES = 4096
MOST_REMEMBERED = 2
# With so many things to read a body takes longer than a key may wait: it is left to a thread.
HUGE_BYTES = 128 * 1024
MANY_COMMAS = 4000
# So many entries are read before whatever else there is to do.
MOST_AT_ONCE = 100


class ReadLately(Generic[T]):
    """What was read of large bodies lately, each once, by whichever thread asks for it first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[Hashable, Future[T]] = {}

    def get(self, key: tuple[Hashable, bytes], read: Callable[[], T]) -> T:
        """What `read` gives for the body that ends `key`."""
        if len(key[1]) < LARGE_BYTES:
            return read()
        with self._lock:
            known = self._known.pop(key, None)
            self._known[key] = future = known or Future()
            if len(self._known) > MOST_REMEMBERED:
                del self._known[next(iter(self._known))]
        if known is None:
            try:
                future.set_result(read())
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()


_REPLIES: ReadLately[Reply] = ReadLately()
_NOTIFICATIONS: ReadLately[Notification] = ReadLately()
_BODIES: ReadLately[Parsed] = ReadLately()


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """Reads the replies of an exchange, in its dialect and as answers to what was asked."""

    dialect: Dialect = DEFAULT
    operation: Operation | None = None

    def decode(self, frame: FrameReceived) -> Reply:
        """The reply in `frame`; it is silent for an event without data, such as a keep-alive.

        So it is for a part of a reply, of which nobody can say what the whole would have been.
        """
        if frame.is_unfinished:
            return Reply(None, is_silent=True)
        is_event, raw = frame.channel is Channel.SSE, frame.raw
        if is_cut(frame):
            return Reply(None, problem=problem_of_cut(frame))
        return _REPLIES.get(
            ((self.dialect, self.operation, is_event), raw),
            lambda: self.dialect.read(raw, self.operation, is_event=is_event),
        )


def read_json(raw: bytes) -> Parsed:
    """The JSON in a body outside the agent's protocol, such as its card."""
    return _BODIES.get(("body", raw), lambda: parse_json(raw))


# of an exchange whose request is not in the log
UNKNOWN = ReplyReader()


def read_sent(request: RequestSent) -> Request:
    """What `request` asked, as its dialect reads it."""
    return dialect_of(request.endpoint).read_request(request.body)


def reader_of(request: RequestSent) -> ReplyReader:
    """The reader of the replies to `request`."""
    return ReplyReader(dialect_of(request.endpoint), read_sent(request).operation)


def read_push(push: PushReceived) -> Notification:
    """The notification in `push`."""
    dialect, body = dialect_of(push.endpoint), push.body
    if is_cut(push):
        return Notification(None, problem=problem_of_cut(push))
    return _NOTIFICATIONS.get((dialect, body), lambda: dialect.read_notification(body))


def problem_of_cut(entry: WithBody) -> str:
    """Why an entry of which only the start is kept cannot be read any more."""
    return f"cut: {len(bytes_of(entry.content))} of {size_of(entry)} bytes are kept"


@dataclass(frozen=True, slots=True)
class Source:
    """An entry that reports on a task, and how it is read."""

    entry: FrameReceived | PushReceived
    reader: ReplyReader = UNKNOWN

    @property
    def seq(self) -> int:
        return self.entry.seq

    @property
    def exchange(self) -> int:
        return self.entry.exchange

    @property
    def at_ms(self) -> float:
        return self.entry.at_ms

    @property
    def reply(self) -> Reply | None:
        """The reply that it is; None for a notification, and for an event without data."""
        if isinstance(self.entry, PushReceived):
            return None
        reply = self.reader.decode(self.entry)
        return None if reply.is_silent else reply

    @property
    def result(self) -> Result | None:
        """What it reports, read from its bytes again; None where it reports nothing."""
        if isinstance(self.entry, PushReceived):
            return read_push(self.entry).result
        return self.reader.decode(self.entry).result

    @property
    def as_received(self) -> Json:
        """The result as the agent wrote it."""
        if isinstance(self.entry, PushReceived):
            return read_push(self.entry).value
        return self.reader.decode(self.entry).payload


@dataclass(frozen=True, slots=True)
class ChunkSource:
    """The artifact at `place` among those of one entry's result."""

    source: Source
    place: int

    def read(self) -> ArtifactChunk | None:
        """The artifact, read from its bytes again; None where there is none."""
        result = self.source.result
        return None if result is None else result.artifacts[self.place]


class Decoder:
    """Finds the readers of replies from the requests that it has taken."""

    def __init__(self) -> None:
        self._readers: dict[int, ReplyReader] = {}

    def take(self, entry: Entry) -> Source | None:
        """What `entry` may report on a task; None for a request and whatever reports nothing."""
        match entry:
            case RequestSent():
                self._readers[entry.exchange] = reader_of(entry)
                return None
            case FrameReceived():
                return Source(entry, self._readers.get(entry.exchange, UNKNOWN))
            case PushReceived():
                return Source(entry)
            case _:
                return None


def is_huge(entry: Entry) -> bool:
    """Say whether to read `entry` takes longer than a key may wait."""
    if not isinstance(entry, WithBody) or size_of(entry) < HUGE_BYTES:
        return False
    return bytes_of(entry.content).count(b",") >= MANY_COMMAS


class Collector:
    """Python's collector of cycles, which keeps all threads waiting while it walks all objects."""

    def __init__(self) -> None:
        self._pauses = 0

    @contextmanager
    def paused(self) -> Generator[None]:
        """Collect nothing meanwhile, nor walk what is there at the end ever again.

        What is read of an entry has no cycles: it goes when nobody holds it any more.
        """
        self._pauses += 1
        gc.disable()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                gc.freeze()
                gc.enable()


_COLLECTOR = Collector()


class InOrder(Generic[T]):
    """Reads entries and takes what was read, one at a time and in their order.

    That happens at once, but a huge entry is read in a thread, and those after it wait for it.
    """

    def __init__(self, read: Callable[[Entry], T], take: Callable[[T], None]) -> None:
        self._read = read
        self._take = take
        self._waiting: deque[Entry] = deque()
        self._reading: asyncio.Task[None] | None = None

    def put(self, entry: Entry) -> None:
        if self._reading is None and not is_huge(entry):
            self._take(self._read(entry))
            return
        self._waiting.append(entry)
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._catch_up())

    async def settle(self) -> None:
        """Wait until everything put in is taken."""
        while self._reading is not None:
            await asyncio.shield(self._reading)

    def close(self) -> None:
        """Take nothing of what still waits."""
        self._waiting.clear()
        if self._reading is not None:
            self._reading.cancel()

    async def _catch_up(self) -> None:
        try:
            for count in itertools.count(1):
                if not self._waiting:
                    return
                entry = self._waiting.popleft()
                if is_huge(entry):
                    with _COLLECTOR.paused():
                        read = await asyncio.to_thread(self._read, entry)
                else:
                    read = self._read(entry)
                self._take(read)
                if count % MOST_AT_ONCE == 0:
                    await asyncio.sleep(0)
        finally:
            self._reading = None
