"""The further ways of following a turn's task, each until the agent has stopped (COMP-3)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from inspector.core.commands import FollowMode
from inspector.core.entries import Channel, FailureKind
from inspector.core.exchanger import Made
from inspector.core.following.pace import Pace, next_delay
from inspector.core.following.task_watch import TaskWatch

Ask: TypeAlias = Callable[[], Awaitable[Made]]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


class Follower:
    """One turn's ways. `sleep` and `clock` count seconds; `watch` knows what has been told."""

    def __init__(
        self, watch: TaskWatch, pace: Pace, *, sleep: Sleep, clock: Callable[[], float]
    ) -> None:
        self._watch = watch
        self._pace = pace
        self._sleep = sleep
        self._clock = clock

    async def poll(self, get_task: Ask) -> None:
        """Ask for the task until a poll, or the reply to the turn itself, tells that it rests."""
        if await self._watch.until_named() is None:
            return
        began, polls, failures = self._clock(), 0, 0
        while not self._watch.has_told_rest(Channel.RESPONSE, Channel.POLL):
            delay = next_delay(self._pace, polls, self._clock() - began)
            if delay is None:
                return
            await self._sleep(delay)
            made = await get_task()
            polls += 1
            failures = failures + 1 if made.recorder.failure else 0
            if self._is_final_word(made) or failures >= self._pace.poll_failures:
                return

    async def resubscribe(self, resubscribe: Ask, follow: FollowMode) -> None:
        """Follow the task's stream, and again where it drops before its end.

        A turn that was itself sent as a stream is followed from where that stream broke off.
        """
        watch = self._watch
        if follow is FollowMode.STREAM:
            await watch.until(lambda: watch.is_sent)
        if await watch.until_named() is None:
            return
        for attempt in range(self._pace.resubscribe_attempts):
            if watch.is_resting:
                return
            if attempt:
                await self._sleep(next_delay(self._pace, attempt - 1, 0) or 0)
            made = await resubscribe()
            if self._is_final_word(made):
                return

    async def await_notifications(self, look: Ask, is_alone: Callable[[], bool]) -> None:
        """Wait until a notification tells that the task rests, and shortly for stragglers.

        A silence as long as the pace's patience ends the wait if another way has told that the
        task rests; while no other way runs, the task is looked at after each such silence.
        """
        try:
            async with asyncio.timeout(self._pace.push_total_seconds):
                if await self._has_last_notification(look, is_alone):
                    await self._sleep(self._pace.push_settle_seconds)
        except TimeoutError:
            return

    async def _has_last_notification(self, look: Ask, is_alone: Callable[[], bool]) -> bool:
        watch, failures = self._watch, 0
        await watch.until(lambda: watch.is_sent or watch.has_told_rest(Channel.PUSH))
        while not watch.has_told_rest(Channel.PUSH):
            if watch.task_id is None:
                return False
            was_resting = watch.is_resting
            if await self._has_news():
                continue
            if was_resting or failures >= self._pace.look_failures:
                return False
            if is_alone():
                made = await look()
                failures = failures + 1 if made.recorder.failure else 0
                if self._is_final_word(made):
                    return False
        return True

    async def _has_news(self) -> bool:
        """A notification comes within the patience."""
        watch, before = self._watch, self._watch.notifications
        try:
            async with asyncio.timeout(self._pace.push_patience_seconds):
                await watch.until(lambda: watch.notifications > before)
        except TimeoutError:
            return False
        return True

    def _is_final_word(self, made: Made) -> bool:
        """Asking again is no use: the user stopped it, or the agent answered without a result."""
        if made.recorder.failure is not None:
            return made.recorder.failure is FailureKind.STOPPED
        return made.number not in self._watch.answered
