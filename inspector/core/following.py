"""Follows a turn by its channels: polls, resubscribed streams and notifications."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from inspector.core.commands import Also, FollowMode, GetTask, Resubscribe, Turn
from inspector.core.decoding import Decoder, InOrder
from inspector.core.entries import Channel, Entry, FailureKind, FrameReceived, Purpose, PushReceived
from inspector.core.exchanger import Exchanger, Made
from inspector.core.push_receiver import Receiver
from inspector.core.push_verification import Registration
from inspector.core.requests import AgentRequest, overlay, request_of, request_of_turn
from inspector.wire.dialect import Dialect, Outgoing, Reply, Result
from inspector.wire.states import STATES, is_resting


@dataclass(frozen=True, slots=True)
class Pace:
    """Polling as Rasa's orchestrator does it (inspector.md ORCH-4); the rest is ours.

    `poll_failures` in a row end the polls, `look_failures` the wait for notifications.
    `push_patience_seconds` is how long no notification may come once the task is known to rest,
    `push_settle_seconds` how long stragglers may follow the last one.
    """

    poll_initial_seconds: float = 0.5
    poll_factor: float = 2.0
    poll_longest_seconds: float = 5.0
    poll_total_seconds: float = 60.0
    poll_failures: int = 3
    resubscribe_attempts: int = 3
    look_failures: int = 2
    push_patience_seconds: float = 5.0
    push_settle_seconds: float = 0.5
    push_total_seconds: float = 600.0


def next_delay(pace: Pace, polls: int, elapsed_seconds: float) -> float | None:
    """Seconds until the next poll after `polls` of them; None once the time for polling is up.

    The last delay is cut short, so that the last poll falls on the end of that time.
    """
    left = pace.poll_total_seconds - elapsed_seconds
    if left <= 0:
        return None
    # past the longest delay the power only grows, in time beyond what a float can hold
    factor = pace.poll_factor ** min(polls, 64)
    return min(pace.poll_initial_seconds * factor, pace.poll_longest_seconds, left)


class TaskWatch:
    """Takes the entries of one turn, from every channel, and wakes who waits for them.

    `exchange` is the one that the turn was sent with; `is_sent` says that it is over. `answered`
    holds the exchanges whose last reply is a result.
    """

    def __init__(self) -> None:
        self.exchange: int | None = None
        self.task_id: str | None = None
        self.context_id: str | None = None
        self.is_sent = False
        self.notifications = 0
        self.answered: set[int] = set()
        self._decoder = Decoder()
        self._entries = InOrder(self._read, self._take)
        self._states: dict[Channel, str] = {}
        self._news = asyncio.Event()

    @property
    def is_resting(self) -> bool:
        """Some channel has reported that the agent has stopped."""
        return any(is_resting(state) for state in self._states.values())

    def has_reported_rest(self, *channels: Channel) -> bool:
        """One of `channels` has reported that the agent has stopped."""
        return any(is_resting(self._states.get(channel)) for channel in channels)

    def take_sending(self, entry: Entry) -> None:
        """Take an entry of the turn's own exchange; a redirect goes on with the next."""
        self.exchange = entry.exchange
        self.take(entry)

    def take(self, entry: Entry) -> None:
        self._entries.put(entry)

    async def settle(self) -> None:
        """Wait until everything that came is read, however large it is."""
        await self._entries.settle()

    def end_sending(self) -> None:
        self.is_sent = True
        self._notify()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until `is_so`, which is asked again after everything learnt."""
        while not is_so():
            await self._news.wait()

    async def until_named(self) -> str | None:
        """The task's id, once it is known; None where the sending ended without one."""
        await self.until(lambda: self.task_id is not None or self.is_sent)
        return self.task_id

    def _read(self, entry: Entry) -> "tuple[Entry, Reply | Result | None]":
        """The entry with what it reports: a reply, or the result of a notification."""
        source = self._decoder.take(entry)
        if source is None:
            return entry, None
        return entry, source.result if isinstance(entry, PushReceived) else source.reply

    def _take(self, read: "tuple[Entry, Reply | Result | None]") -> None:
        match read:
            case PushReceived(), Result() | None as result:
                self.notifications += 1
                self._learn(Channel.PUSH, result)
            case FrameReceived() as frame, Reply() as reply:
                self._take_reply(frame, reply)
            case FrameReceived(), None:
                pass
            case _:
                return
        self._notify()

    def _take_reply(self, frame: FrameReceived, reply: Reply) -> None:
        if reply.problem or reply.error is not None:
            self.answered.discard(frame.exchange)
        else:
            self.answered.add(frame.exchange)
            self._learn(frame.channel, reply.result)

    def _learn(self, channel: Channel, result: Result | None) -> None:
        if result is None:
            return
        self.task_id = self.task_id or result.task_id
        self.context_id = self.context_id or result.context_id
        if result.state is not None and result.state in STATES:
            self._states[channel] = result.state

    def _notify(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


Ask: TypeAlias = Callable[[], Awaitable[Made]]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Follower:
    """Follows one turn by each channel; `sleep` and `clock` count seconds."""

    watch: TaskWatch
    pace: Pace
    sleep: Sleep
    clock: Callable[[], float]

    async def poll(self, get_task: Ask) -> None:
        """Ask for the task until a poll, or the reply to the turn itself, says that it rests."""
        if await self.watch.until_named() is None:
            return
        began, polls, failures = self.clock(), 0, 0
        while not self.watch.has_reported_rest(Channel.RESPONSE, Channel.POLL):
            delay = next_delay(self.pace, polls, self.clock() - began)
            if delay is None:
                return
            await self.sleep(delay)
            made = await get_task()
            polls += 1
            failures = failures + 1 if made.recorder.failure else 0
            if self._is_final_word(made) or failures >= self.pace.poll_failures:
                return

    async def resubscribe(self, resubscribe: Ask, follow: FollowMode) -> None:
        """Follow the task's stream, and again where it drops before its end.

        A turn that was itself sent as a stream is followed from where that stream broke off.
        """
        watch = self.watch
        if follow is FollowMode.STREAM:
            await watch.until(lambda: watch.is_sent)
        if await watch.until_named() is None:
            return
        for attempt in range(self.pace.resubscribe_attempts):
            if watch.is_resting:
                return
            if attempt:
                await self.sleep(next_delay(self.pace, attempt - 1, 0) or 0)
            made = await resubscribe()
            if self._is_final_word(made):
                return

    async def await_notifications(self, look: Ask, is_alone: Callable[[], bool]) -> None:
        """Wait until a notification says that the task rests, and shortly for stragglers.

        A silence as long as the pace's patience ends the wait if another channel has reported that
        the task rests; while no other channel is open, each such silence leads to a look at it.
        """
        try:
            async with asyncio.timeout(self.pace.push_total_seconds):
                if await self._has_last_notification(look, is_alone):
                    await self.sleep(self.pace.push_settle_seconds)
        except TimeoutError:
            return

    async def _has_last_notification(self, look: Ask, is_alone: Callable[[], bool]) -> bool:
        watch, failures = self.watch, 0
        await watch.until(lambda: watch.is_sent or watch.has_reported_rest(Channel.PUSH))
        while not watch.has_reported_rest(Channel.PUSH):
            if watch.task_id is None:
                return False
            was_resting = watch.is_resting
            if await self._has_news():
                continue
            if was_resting or failures >= self.pace.look_failures:
                return False
            if is_alone():
                made = await look()
                failures = failures + 1 if made.recorder.failure else 0
                if self._is_final_word(made):
                    return False
        return True

    async def _has_news(self) -> bool:
        """A notification comes within the patience."""
        watch, before = self.watch, self.watch.notifications
        try:
            async with asyncio.timeout(self.pace.push_patience_seconds):
                await watch.until(lambda: watch.notifications > before)
        except TimeoutError:
            return False
        return True

    def _is_final_word(self, made: Made) -> bool:
        """Asking again is no use: the user stopped it, or the agent answered without a result."""
        if made.recorder.failure is not None:
            return made.recorder.failure is FailureKind.STOPPED
        return made.number not in self.watch.answered


@dataclass(frozen=True, slots=True)
class _FollowedTurn:
    """One turn, what is known of its task, and where its notifications go."""

    turn: Turn
    watch: TaskWatch
    registration: Registration | None


class Turns:
    """Knows which turns are followed. `address` gives a request its URL and its credentials.

    `dialect` is the one in use, `pace` that of the turns to come.
    """

    def __init__(
        self,
        exchanger: Exchanger,
        receiver: Receiver,
        address: Callable[[AgentRequest], Outgoing],
        dialect: Callable[[], Dialect],
        *,
        new_id: Callable[[], str],
        pace: Pace,
        sleep: Sleep,
        clock: Callable[[], float],
    ) -> None:
        self._exchanger = exchanger
        self._receiver = receiver
        self._address = address
        self._dialect = dialect
        self._new_id = new_id
        self.pace = pace
        self._sleep = sleep
        self._clock = clock
        self._followed: dict[asyncio.Timeout, TaskWatch] = {}

    @property
    def running(self) -> frozenset[int]:
        """The exchanges that the turns followed were sent with."""
        sent = (watch.exchange for watch in self._followed.values())
        return frozenset(exchange for exchange in sent if exchange is not None)

    def stop(self, exchange: int) -> None:
        """Stop following the turn that was sent with `exchange`, by all its channels."""
        for scope, watch in self._followed.items():
            if watch.exchange == exchange:
                scope.reschedule(asyncio.get_running_loop().time())

    async def run(self, turn: Turn) -> int:
        """Send `turn`, follow it, and return the exchange that it was sent with.

        Raises:
            UsageError: it asks for push notifications and the receiver cannot be opened.
        """
        followed = _FollowedTurn(turn, TaskWatch(), await self._register(turn))
        if followed.registration is not None:
            followed.registration.watch = followed.watch.take
        scope = asyncio.timeout(None)
        self._followed[scope] = followed.watch
        # each exchange that is under way when the turn is stopped notes it in the log
        with suppress(TimeoutError):
            try:
                async with scope:
                    await self._follow(followed)
            finally:
                del self._followed[scope]
        return followed.watch.exchange or 0

    async def _register(self, turn: Turn) -> Registration | None:
        """Where notifications of this turn go; a raw body says that itself."""
        if Also.PUSH not in turn.also or turn.raw is not None:
            return None
        if not self._receiver.is_open:
            await self._receiver.start()
        return self._receiver.register()

    async def _follow(self, followed: _FollowedTurn) -> None:
        watch, also = followed.watch, followed.turn.also
        follower = Follower(watch, self.pace, self._sleep, self._clock)
        async with asyncio.TaskGroup() as group:
            others = [group.create_task(self._send(followed))]
            if Also.POLL in also:
                poll = partial(self._ask, followed, GetTask, Purpose.POLL)
                others.append(group.create_task(follower.poll(poll)))
            if Also.SUBSCRIBE in also:
                stream = partial(self._ask, followed, Resubscribe, Purpose.RESUBSCRIBE)
                following = follower.resubscribe(stream, followed.turn.follow)
                others.append(group.create_task(following))
            if followed.registration is not None:
                look = partial(self._ask, followed, GetTask, Purpose.GET)
                waiting = follower.await_notifications(
                    look, lambda: all(other.done() for other in others)
                )
                group.create_task(waiting)

    async def _send(self, followed: _FollowedTurn) -> None:
        request = request_of_turn(
            followed.turn,
            self._dialect(),
            message_id=self._new_id(),
            request_id=self._new_id(),
            callback=followed.registration.callback if followed.registration else None,
        )
        outgoing = self._address(request)
        await self._exchanger.follow(request.purpose, outgoing, followed.watch.take_sending)
        await followed.watch.settle()
        if followed.registration is not None:
            registration = followed.registration
            registration.task_id = registration.task_id or followed.watch.task_id
        followed.watch.end_sending()

    async def _ask(
        self, followed: _FollowedTurn, kind: type[GetTask | Resubscribe], purpose: Purpose
    ) -> Made:
        """Ask about the task of the turn, whose headers go with everything asked for it."""
        watch = followed.watch
        request = request_of(kind(watch.task_id or "", watch.context_id), self._new_id())
        request = replace(request, headers=overlay(request.headers, followed.turn.headers))
        made = await self._exchanger.follow(purpose, self._address(request), watch.take)
        await watch.settle()
        return made
