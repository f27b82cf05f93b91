"""What a turn's exchanges and notifications have told of its task so far."""

import asyncio
from collections.abc import Callable

from inspector.core.entries import Channel, Entry, FrameReceived, PushReceived
from inspector.wire.jsonrpc import read_reply
from inspector.wire.notifications import read_notification
from inspector.wire.results import Result, read_result
from inspector.wire.sse import parse_event
from inspector.wire.states import is_resting, parse_state


class TaskWatch:
    """Takes the entries of one turn, whatever way they came, and wakes who waits for them.

    `exchange` is the one that the turn was sent with; `is_sent` tells that it is over. `answered`
    holds the exchanges whose last reply is a result.
    """

    def __init__(self) -> None:
        self.exchange: int | None = None
        self.task_id: str | None = None
        self.context_id: str | None = None
        self.is_sent = False
        self.notifications = 0
        self.answered: set[int] = set()
        self._states: dict[Channel, str] = {}
        self._news = asyncio.Event()

    @property
    def is_resting(self) -> bool:
        """Some way has told that the agent has stopped."""
        return any(is_resting(state) for state in self._states.values())

    def has_told_rest(self, *channels: Channel) -> bool:
        """One of `channels` has told that the agent has stopped."""
        return any(is_resting(self._states.get(channel)) for channel in channels)

    def take_sending(self, entry: Entry) -> None:
        """Take an entry of the turn's own exchange; a redirect goes on with the next."""
        self.exchange = entry.exchange
        self.take(entry)

    def take(self, entry: Entry) -> None:
        match entry:
            case FrameReceived():
                self._take_frame(entry)
            case PushReceived():
                self.notifications += 1
                self._learn(Channel.PUSH, read_notification(entry.body).result)
            case _:
                return
        self._tell()

    def end_sending(self) -> None:
        self.is_sent = True
        self._tell()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until `is_so`, which is asked again after everything learnt."""
        while not is_so():
            await self._news.wait()

    async def until_named(self) -> str | None:
        """The task's id, once it is known; None where the sending ended without one."""
        await self.until(lambda: self.task_id is not None or self.is_sent)
        return self.task_id

    def _take_frame(self, frame: FrameReceived) -> None:
        raw = parse_event(frame.raw).data if frame.channel is Channel.SSE else frame.raw
        reply = read_reply(raw) if raw is not None else None
        if reply is None:
            return
        if reply.problem or reply.error is not None:
            self.answered.discard(frame.exchange)
        else:
            self.answered.add(frame.exchange)
            self._learn(frame.channel, read_result(reply.result))

    def _learn(self, channel: Channel, result: Result | None) -> None:
        if result is None:
            return
        self.task_id = self.task_id or result.task_id
        self.context_id = self.context_id or result.context_id
        if result.state is not None and (state := parse_state(result.state)) is not None:
            self._states[channel] = state

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
