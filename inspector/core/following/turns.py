"""Turns under way: each sent once and followed by all the ways that it asks for (COMP-3)."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from inspector.core.commands import Also, GetTask, Resubscribe, Turn
from inspector.core.entries import Purpose
from inspector.core.exchanger import Exchanger, Made
from inspector.core.following.follower import Follower, Sleep
from inspector.core.following.pace import Pace
from inspector.core.following.task_watch import TaskWatch
from inspector.core.push_receiver import Receiver
from inspector.core.push_verification import Registration
from inspector.core.requests import Request, overlay, request_of, request_of_turn
from inspector.net.events import Outgoing


class Turns:
    """Knows which turns are followed. `address` gives a request its URL and its credentials.

    `pace` is that of the turns to come.
    """

    def __init__(
        self,
        exchanger: Exchanger,
        receiver: Receiver,
        address: Callable[[Request], Outgoing],
        *,
        new_id: Callable[[], str],
        pace: Pace,
        sleep: Sleep,
        clock: Callable[[], float],
    ) -> None:
        self._exchanger = exchanger
        self._receiver = receiver
        self._address = address
        self._new_id = new_id
        self.pace = pace
        self._sleep = sleep
        self._clock = clock
        self._followed: dict[asyncio.Timeout, TaskWatch] = {}

    @property
    def running(self) -> Mapping[int, object]:
        """The turns that are followed, by the exchange that each was sent with."""
        return {
            watch.exchange: watch for watch in self._followed.values() if watch.exchange is not None
        }

    def stop(self, exchange: int) -> None:
        """Stop following the turn that was sent with `exchange`, by all its ways."""
        for scope, watch in self._followed.items():
            if watch.exchange == exchange:
                scope.reschedule(asyncio.get_running_loop().time())

    async def run(self, turn: Turn) -> int:
        """Send `turn`, follow it, and return the exchange that it was sent with.

        Raises:
            UsageError: it asks for push notifications and the receiver cannot be opened.
        """
        ways = _Ways(turn, TaskWatch(), await self._register(turn))
        if ways.registration is not None:
            ways.registration.watch = ways.watch.take
        scope = asyncio.timeout(None)
        self._followed[scope] = ways.watch
        # each exchange that is under way when the turn is stopped notes it in the log
        with suppress(TimeoutError):
            try:
                async with scope:
                    await self._follow(ways)
            finally:
                del self._followed[scope]
        return ways.watch.exchange or 0

    async def _register(self, turn: Turn) -> Registration | None:
        """Where notifications of this turn go; a raw body says that itself."""
        if Also.PUSH not in turn.also or turn.raw is not None:
            return None
        if not self._receiver.is_open:
            await self._receiver.start()
        return self._receiver.register()

    async def _follow(self, ways: "_Ways") -> None:
        watch, also = ways.watch, ways.turn.also
        follower = Follower(watch, self.pace, sleep=self._sleep, clock=self._clock)
        async with asyncio.TaskGroup() as group:
            others = [group.create_task(self._send(ways))]
            if Also.POLL in also:
                poll = partial(self._get, ways, Purpose.POLL)
                others.append(group.create_task(follower.poll(poll)))
            if Also.SUBSCRIBE in also:
                stream = partial(self._resubscribe, ways)
                following = follower.resubscribe(stream, ways.turn.follow)
                others.append(group.create_task(following))
            if ways.registration is not None:
                look = partial(self._get, ways, Purpose.GET)
                waiting = follower.await_notifications(
                    look, lambda: all(other.done() for other in others)
                )
                group.create_task(waiting)

    async def _send(self, ways: "_Ways") -> None:
        request = request_of_turn(
            ways.turn,
            message_id=self._new_id(),
            request_id=self._new_id(),
            push_config=ways.registration.config if ways.registration else None,
        )
        outgoing = self._address(request)
        await self._exchanger.follow(request.purpose, outgoing, ways.watch.take_sending)
        if ways.registration is not None:
            ways.registration.task_id = ways.registration.task_id or ways.watch.task_id
        ways.watch.end_sending()

    async def _get(self, ways: "_Ways", purpose: Purpose) -> Made:
        watch = ways.watch
        command = GetTask(watch.task_id or "", watch.context_id)
        return await self._ask(ways, request_of(command, self._new_id()), purpose)

    async def _resubscribe(self, ways: "_Ways") -> Made:
        watch = ways.watch
        command = Resubscribe(watch.task_id or "", watch.context_id)
        return await self._ask(ways, request_of(command, self._new_id()), Purpose.RESUBSCRIBE)

    async def _ask(self, ways: "_Ways", request: Request, purpose: Purpose) -> Made:
        """The headers of the turn go with everything that is asked for it."""
        request = replace(request, headers=overlay(request.headers, ways.turn.headers))
        outgoing = self._address(request)
        return await self._exchanger.follow(purpose, outgoing, ways.watch.take)


@dataclass(frozen=True, slots=True)
class _Ways:
    """One turn, what is known of its task, and where its notifications go."""

    turn: Turn
    watch: TaskWatch
    registration: Registration | None
