"""Live replay: at each change the turns of the conversation are sent again in a new context."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from inspector.core.commands import CancelTask, FollowMode, SendTurn, Turn
from inspector.core.decoding import Decoder, read_sent, reader_of
from inspector.core.entries import Entry, FrameReceived, Purpose, RequestSent
from inspector.core.requests import read_sent_turn
from inspector.core.session import Session
from inspector.wire.dialect import Message
from inspector.wire.endpoints import dialect_of
from inspector.wire.states import is_terminal, parse_state


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn, or the cancelling of a task, and what its first reply named."""

    request: RequestSent
    context_id: str | None = None
    task_id: str | None = None
    has_result: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """What the ids of a conversation are called in its replay, by their old names."""

    context_id: str
    messages: Mapping[str, str] = field(default_factory=dict[str, str])
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])


class LiveReplay:
    """`run` replays after each `trigger`; one that comes during a replay restarts it.

    An agent keeps a context whose task waits for the user: what a replay left waiting is cancelled
    when the next one begins, or by `tidy`.
    """

    def __init__(self, session: Session, *, new_id: Callable[[], str]) -> None:
        self._session = session
        self._new_id = new_id
        self._has_changed = asyncio.Event()
        self._waiting: dict[str, str] = {}

    def trigger(self) -> None:
        """What the agent runs has changed."""
        self._has_changed.set()

    async def run(self) -> None:
        """Replay whenever something has changed, until cancelled."""
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            async with asyncio.TaskGroup() as group:
                tidying = group.create_task(self.tidy())
                replaying = group.create_task(self._replay())
                stopping = group.create_task(self._stop_at_change(replaying))
                await asyncio.wait((replaying, tidying))
                stopping.cancel()

    async def tidy(self) -> None:
        """Cancel the tasks that earlier replays left waiting."""
        waiting, self._waiting = self._waiting, {}
        for context_id, task_id in waiting.items():
            await self._session.run(CancelTask(task_id, context_id, is_replay=True))

    async def _stop_at_change(self, replaying: asyncio.Task[None]) -> None:
        await self._has_changed.wait()
        replaying.cancel()

    async def _replay(self) -> None:
        said = conversation(self._session.log.entries)
        names = Names(CONTEXT_PREFIX + self._new_id())
        for one in said:
            if one.request.purpose is not Purpose.CANCEL:
                names = await self._send(one, names)
            elif one.task_id is not None and one.task_id in names.tasks:
                task_id = names.tasks[one.task_id]
                cancel = CancelTask(task_id, names.context_id, is_replay=True)
                await self._session.run(cancel)
                self._waiting.pop(names.context_id, None)

    async def _send(self, said: RecordedTurn, names: Names) -> Names:
        """Send one turn and learn what its task is called this time."""
        turn, names = again(said, names, self._new_id(), self._new_id())
        listener = _Listener(names.context_id)
        unsubscribe = self._session.subscribe(listener.take)
        try:
            await self._session.run(SendTurn(turn))
        finally:
            unsubscribe()
            self._keep_waiting(listener)
        if listener.task_id is None or said.task_id is None:
            return names
        return replace(names, tasks={**names.tasks, said.task_id: listener.task_id})

    def _keep_waiting(self, listener: "_Listener") -> None:
        """Note the task that holds the context; a turn that was broken off may hold it, too."""
        if listener.task_id is not None and not is_terminal(listener.state):
            self._waiting[listener.context_id] = listener.task_id
        elif listener.task_id is not None:
            self._waiting.pop(listener.context_id, None)


class _Listener:
    """Notes which task a context has, and its state."""

    def __init__(self, context_id: str) -> None:
        self.context_id = context_id
        self._decoder = Decoder()
        self.task_id: str | None = None
        self.state: str | None = None

    def take(self, entry: Entry) -> None:
        source = self._decoder.take(entry)
        result = source.result if source and isinstance(entry, FrameReceived) else None
        if result is None or result.context_id != self.context_id:
            return
        self.task_id = result.task_id or self.task_id
        self.state = parse_state(result.state) if result.state is not None else self.state


# What the agent's own logs know a replay by; here each request says itself whether it is of one.
CONTEXT_PREFIX = "inspect-live-"

_TURNS = frozenset({Purpose.SEND, Purpose.STREAM})


def conversation(entries: Iterable[Entry]) -> tuple[RecordedTurn, ...]:
    """What was said in the newest context, replays and turns without a result left out.

    It ends before a turn of which a saved session keeps only the masks.
    """
    said: dict[int, RecordedTurn] = {}
    for entry in entries:
        match entry:
            case RequestSent(
                purpose=Purpose.SEND | Purpose.STREAM | Purpose.CANCEL, is_replay=False
            ):
                said[entry.exchange] = _read_request(entry)
            case FrameReceived() if entry.exchange in said:
                said[entry.exchange] = _take_reply(said[entry.exchange], entry)
            case _:
                pass
    answered = [one for one in said.values() if one.has_result]
    turns = [one for one in answered if one.request.purpose in _TURNS]
    if not turns:
        return ()
    here = (one for one in answered if one.context_id == turns[-1].context_id)
    return tuple(takewhile(lambda one: not one.request.is_masked, here))


def again(said: RecordedTurn, names: Names, message_id: str, request_id: str) -> tuple[Turn, Names]:
    """The turn to send in place of `said`, and the names that later turns know its ids by.

    All of the message stays but its ids; no notifications are asked for.
    """
    dialect = dialect_of(said.request.endpoint)
    message = read_sent(said.request).ask.message or Message()
    old_id, old_task = message.message_id, message.task_id
    if old_id is not None:
        names = replace(names, messages={old_id: message_id, **names.messages})
    raw = dialect.readdress(
        said.request.sent_body,
        request_id=request_id,
        context_id=names.context_id,
        message_id=names.messages.get(old_id) if old_id is not None else None,
        task_id=names.tasks.get(old_task, old_task) if old_task is not None else None,
    )
    turn = read_sent_turn(said.request, as_sent=True)
    is_stream = turn.follow is FollowMode.STREAM
    follow = FollowMode.STREAM if is_stream else FollowMode.BLOCKING
    return Turn(turn.text, follow=follow, headers=turn.headers, raw=raw, is_replay=True), names


def _read_request(request: RequestSent) -> RecordedTurn:
    ask = read_sent(request).ask
    context_id = ask.message.context_id if ask.message is not None else None
    return RecordedTurn(request, context_id, ask.task_id)


def _take_reply(said: RecordedTurn, frame: FrameReceived) -> RecordedTurn:
    if said.has_result or (result := reader_of(said.request).decode(frame).result) is None:
        return said
    return replace(
        said,
        context_id=said.context_id or result.context_id,
        task_id=said.task_id or result.task_id,
        has_result=True,
    )


# Changes that follow each other faster than this are one.
QUIET_MILLISECONDS = 50


async def changes(folder: Path) -> AsyncGenerator[None]:
    """Yield after each save below `folder`; version control, caches and backups do not count."""
    # watchfiles brings a compiled module that only this needs
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]  # names trio, too

    async for _ in awatch(folder, step=QUIET_MILLISECONDS, debounce=QUIET_MILLISECONDS * 4):
        yield
