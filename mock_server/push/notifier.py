"""Push notifications: what is registered, and what is posted to it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self, TypeAlias

from mock_server.faults.matching import Delivery
from mock_server.faults.tampering import PushHook, untouched
from mock_server.push.guard import Destination, Guard
from mock_server.push.headers import push_headers
from mock_server.push.hosts import written
from mock_server.push.letters import HeldLetters, Letter
from mock_server.push.outbox import Limits, Outbox, Sleep
from mock_server.push.registrations import Registration, Registrations
from mock_server.tasks.push_config import PushConfig
from mock_server.tasks.task import Task, TaskState

ON_THE_WAY = frozenset({TaskState.SUBMITTED, TaskState.WORKING})

Send: TypeAlias = Callable[[Destination, Mapping[str, str], bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Checked:
    """A configuration whose URL and headers passed; `host` is what may be said of the URL."""

    config: PushConfig
    host: str


class Notifier:
    """Use as `async with`: on leaving, what is still pending is dropped.

    Its methods but `check` and `drain` never wait, so a turn is not delayed by a callback.
    `tamper` is what faults do to each notification.
    """

    def __init__(
        self,
        guard: Guard,
        send: Send,
        *,
        sends_authorization: bool = True,
        limits: Limits | None = None,
        tamper: PushHook = untouched,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._guard = guard
        self._send = send
        self._sends_authorization = sends_authorization
        self._registrations = Registrations()
        self._tamper = tamper
        self._held = HeldLetters()
        self._outbox = Outbox(self._post, limits, sleep)

    async def __aenter__(self) -> Self:
        await self._outbox.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._outbox.__aexit__(kind, error, traceback)

    async def check(self, config: PushConfig) -> Checked:
        """Judge `config`, its host's addresses included.

        Raises:
            PushRefused: it may not be registered.
        """
        self._headers(config)
        destination = await self._guard.check(config.url)
        return Checked(config, written(destination.target.host))

    def register(self, task_id: str, checked: Checked) -> PushConfig:
        """Tell the callback of what happens to the task from now on; return it with its id.

        Raises:
            PushRefused: the task has as many as it may have.
        """
        return self._registrations.add(task_id, checked.config, checked.host).config

    def configs(self, task_id: str) -> tuple[PushConfig, ...]:
        return tuple(registered.config for registered in self._registrations.of(task_id))

    def remove(self, task_id: str, config_id: str) -> None:
        self._registrations.remove(task_id, config_id)

    def forget(self, task_id: str) -> None:
        """Drop the configurations of a task that is no longer known."""
        self._registrations.forget(task_id)
        self._held.forget(task_id)

    def clear(self) -> None:
        """Drop the configurations of all tasks."""
        self._registrations.clear()
        self._held.release_all()

    def notify(self, task: Task, encode: Callable[[Task], bytes]) -> None:
        """Post `task` as it is now to each of its callbacks; `encode` runs once, if at all."""
        registered = self._registrations.touch(task.id)
        body = encode(task) if registered else b""
        for registration in registered:
            self._hand_over(registration, body, task)

    async def drain(self, seconds: float) -> None:
        """Wait up to `seconds` for what is pending, and drop the rest."""
        for letter in self._held.release_all():
            self._outbox.put(letter)
        await self._outbox.drain(seconds)

    def _hand_over(self, registration: Registration, body: bytes, task: Task) -> None:
        state = task.status.state
        tampering = self._tamper(Delivery(task.id, task.context_id, state))
        if tampering.is_lost:
            return
        if tampering.token is not None:
            config = replace(registration.config, token=tampering.token)
            registration = replace(registration, config=config)
        letter = Letter(registration, body, tampering.delay_seconds, tampering.copies)
        is_last = state not in ON_THE_WAY
        for due in self._held.release(letter, is_held=tampering.is_held, is_last=is_last):
            self._outbox.put(due)

    async def _post(self, letter: Letter) -> None:
        config = letter.registration.config
        destination = await self._guard.check(config.url)
        await self._send(destination, self._headers(config), letter.body)

    def _headers(self, config: PushConfig) -> Mapping[str, str]:
        return push_headers(config, sends_authorization=self._sends_authorization)
