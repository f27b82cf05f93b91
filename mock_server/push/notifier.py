"""Push notifications: what is registered, and what is posted to it, in order and bounded."""

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self, TypeAlias
from weakref import WeakValueDictionary

from structlog.stdlib import get_logger

from mock_server.errors import PostFailed, PushRefused
from mock_server.faults.matching import OutgoingPush
from mock_server.faults.tampering import PushHook, untouched
from mock_server.project.endpoints import A2AServerEntry
from mock_server.push.policy import (
    Destination,
    Guard,
    Host,
    Resolver,
    UrlPolicy,
    parse_host,
    written,
)
from mock_server.tasks.task import PushConfig, Task, TaskState

logger = get_logger("a2a_server")
LOCAL = (
    "push notifications may go to loopback addresses; a real server refuses them, and so should "
    "a mock that others can reach"
)
MAX_CONFIGS_PER_TASK = 16
MAX_TASKS = 10_000
ON_THE_WAY = frozenset({TaskState.SUBMITTED, TaskState.WORKING})
TOKEN_HEADER = "X-A2A-Notification-Token"
MAX_VALUE_LENGTH = 8 * 1024
VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
SCHEME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
QueueKey: TypeAlias = tuple[str, str]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]
Send: TypeAlias = Callable[[Destination, Mapping[str, str], bytes], Awaitable[None]]


EncodePush: TypeAlias = Callable[[Task], bytes]


@dataclass(frozen=True, slots=True)
class Registration:
    """`config` as it was checked; `host` is the part of its URL that may be logged.

    `encode` writes a task in the version that the caller spoke.
    """

    task_id: str
    config: PushConfig
    host: str
    encode: EncodePush

    @property
    def config_id(self) -> str:
        return self.config.id or self.task_id


class Registrations:
    """By task, in order of registration; past `max_tasks` the one that was quiet longest goes."""

    def __init__(self, max_tasks: int = MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self._by_task: OrderedDict[str, dict[str, Registration]] = OrderedDict()

    def of(self, task_id: str) -> tuple[Registration, ...]:
        return tuple(self._by_task.get(task_id, {}).values())

    def touch(self, task_id: str) -> tuple[Registration, ...]:
        """As `of`, for a task that something happens to."""
        if task_id in self._by_task:
            self._by_task.move_to_end(task_id)
        return self.of(task_id)

    def add(self, task_id: str, config: PushConfig, host: str, encode: EncodePush) -> Registration:
        """Register `config`; without an id it has the task's, and one of the same id is replaced.

        Raises:
            PushRefused: the task has as many as it may have.
        """
        registration = Registration(task_id, replace(config, id=config.id or task_id), host, encode)
        registered = self._by_task.get(task_id, {})
        registered.pop(registration.config_id, None)
        if len(registered) >= MAX_CONFIGS_PER_TASK:
            raise PushRefused(f"the task has {MAX_CONFIGS_PER_TASK} configurations already")
        registered[registration.config_id] = registration
        self._by_task[task_id] = registered
        self._by_task.move_to_end(task_id)
        if len(self._by_task) > self._max_tasks:
            self._by_task.popitem(last=False)
        return registration

    def remove(self, task_id: str, config_id: str) -> None:
        registered = self._by_task.get(task_id, {})
        registered.pop(config_id, None)
        if not registered:
            self.forget(task_id)

    def forget(self, task_id: str) -> None:
        self._by_task.pop(task_id, None)

    def clear(self) -> None:
        self._by_task.clear()


def push_headers(config: PushConfig, *, sends_authorization: bool) -> Mapping[str, str]:
    """The headers that identify us to the callback (PUSH-2), without empty tokens and credentials.

    Raises:
        PushRefused: a part of it does not fit into a header.
    """
    headers = {"Content-Type": "application/json"}
    if config.token:
        headers[TOKEN_HEADER] = _value("token", config.token)
    authentication = config.authentication
    if sends_authorization and authentication and authentication.credentials:
        scheme = _scheme(authentication.schemes)
        credentials = _value("authentication.credentials", authentication.credentials)
        headers["Authorization"] = f"{scheme} {credentials}"
    return headers


def _scheme(schemes: tuple[str, ...]) -> str:
    scheme = schemes[0] if schemes else ""
    if len(scheme) > MAX_VALUE_LENGTH or not SCHEME.fullmatch(scheme):
        raise PushRefused(
            "authentication.schemes does not begin with a name that a header can hold"
        )
    return scheme


def _value(name: str, text: str) -> str:
    if len(text) > MAX_VALUE_LENGTH or not VALUE.fullmatch(text):
        raise PushRefused(f"{name} does not fit into a header")
    return text


@dataclass(frozen=True, slots=True)
class Notification:
    """`body` is the task as it was at a transition; faults ask for a delay or for copies."""

    registration: Registration
    body: bytes = field(repr=False)
    delay_seconds: float = 0.0
    copies: int = 1

    @property
    def key(self) -> QueueKey:
        """Notifications of the same key are posted in order."""
        return (self.registration.task_id, self.registration.config_id)


class HeldNotifications:
    """Notifications that go out after the next one for the same task and callback."""

    def __init__(self) -> None:
        self._held: dict[QueueKey, tuple[Notification, ...]] = {}

    def release(
        self, notification: Notification, *, is_held: bool, is_last: bool
    ) -> tuple[Notification, ...]:
        """What is posted now that `notification` is due; the last one cannot wait for a next."""
        held = self._held.pop(notification.key, ())
        if is_held and not is_last:
            self._held[notification.key] = (*held, notification)
            return ()
        return (notification, *held)

    def release_all(self) -> tuple[Notification, ...]:
        held = tuple(
            notification for notifications in self._held.values() for notification in notifications
        )
        self._held.clear()
        return held

    def forget(self, task_id: str) -> None:
        for key in [key for key in self._held if key[0] == task_id]:
            del self._held[key]


Post: TypeAlias = Callable[[Notification], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """`open_per_host` keeps a host that hangs from holding all `open_posts`."""

    pending_posts: int = 10_000
    pending_bytes: int = 256 * 1024 * 1024
    open_posts: int = 256
    open_per_host: int = 32


class Outbox:
    """Use as `async with`: on leaving, what is still pending is dropped."""

    def __init__(
        self, post: Post, limits: Limits | None = None, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._post = post
        self._sleep = sleep
        self._limits = limits or Limits()
        self._pending = 0
        self._pending_bytes = 0
        self._queues: dict[QueueKey, deque[Notification]] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._open = asyncio.Semaphore(self._limits.open_posts)
        self._open_by_host: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._drop_all()
        await self._group.__aexit__(kind, error, traceback)

    def put(self, notification: Notification) -> None:
        """Post `notification` after what was put for the same task and callback before."""
        size_bytes = self._pending_bytes + len(notification.body)
        if self._pending >= self._limits.pending_posts or (
            self._pending and size_bytes > self._limits.pending_bytes
        ):
            _log_failure(notification, "too many posts are pending")
            return
        self._pending += 1
        self._pending_bytes = size_bytes
        if notification.key in self._queues:
            self._queues[notification.key].append(notification)
            return
        self._queues[notification.key] = deque([notification])
        worker = self._group.create_task(self._work_off(notification.key))
        self._workers.add(worker)
        worker.add_done_callback(self._workers.discard)

    async def drain(self, seconds: float) -> None:
        """Wait up to `seconds` for what is pending, and drop the rest."""
        if self._workers:
            await asyncio.wait([*self._workers], timeout=seconds)
        if self._pending:
            logger.warning("a2a_server.push.dropped", count=self._pending)
        self._drop_all()

    def _drop_all(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _work_off(self, key: QueueKey) -> None:
        queue = self._queues[key]
        try:
            while queue:
                await self._deliver(queue[0])
                self._no_longer_pending(queue.popleft())
        finally:
            for dropped in queue:
                self._no_longer_pending(dropped)
            del self._queues[key]

    def _no_longer_pending(self, notification: Notification) -> None:
        self._pending -= 1
        self._pending_bytes -= len(notification.body)

    async def _deliver(self, notification: Notification) -> None:
        if notification.delay_seconds > 0:
            await self._sleep(notification.delay_seconds)
        for _ in range(notification.copies):
            async with self._open_at(notification.registration.host), self._open:
                await self._try(notification)

    async def _try(self, notification: Notification) -> None:
        try:
            await self._post(notification)
        except PushRefused as refused:
            _log_failure(notification, f"refused: {refused.detail}")
        except PostFailed as failed:
            _log_failure(notification, failed.reason)
        except Exception as error:
            # Whatever breaks in a post fails this post; its text may quote a header.
            _log_failure(notification, type(error).__name__)

    def _open_at(self, host: str) -> asyncio.Semaphore:
        # Weakly held: a host is forgotten with its last post.
        open_here = self._open_by_host.get(host)
        if open_here is None:
            open_here = self._open_by_host[host] = asyncio.Semaphore(self._limits.open_per_host)
        return open_here


def _log_failure(notification: Notification, reason: str) -> None:
    logger.warning(
        "a2a_server.push.failed",
        task_id=notification.registration.task_id,
        host=notification.registration.host,
        reason=reason,
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """A configuration whose URL and headers passed; `host` is the part that may be logged."""

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
        self._held = HeldNotifications()
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

    def register(self, task_id: str, checked: Checked, encode: EncodePush) -> PushConfig:
        """Notify the callback of the task's transitions from now on; return it with its id.

        Raises:
            PushRefused: the task has as many as it may have.
        """
        return self._registrations.add(task_id, checked.config, checked.host, encode).config

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

    def notify(self, task: Task) -> None:
        """Post `task` as it is now to each of its callbacks; it is encoded once a version."""
        bodies: dict[EncodePush, bytes] = {}
        for registration in self._registrations.touch(task.id):
            encode = registration.encode
            if encode not in bodies:
                bodies[encode] = encode(task)
            self._hand_over(registration, bodies[encode], task)

    async def drain(self, seconds: float) -> None:
        """Wait up to `seconds` for what is pending, and drop the rest."""
        for notification in self._held.release_all():
            self._outbox.put(notification)
        await self._outbox.drain(seconds)

    def _hand_over(self, registration: Registration, body: bytes, task: Task) -> None:
        state = task.status.state
        tampering = self._tamper(OutgoingPush(task.id, task.context_id, state))
        if tampering.is_lost:
            return
        if tampering.token is not None:
            config = replace(registration.config, token=tampering.token)
            registration = replace(registration, config=config)
        notification = Notification(registration, body, tampering.delay_seconds, tampering.copies)
        is_last = state not in ON_THE_WAY
        for due in self._held.release(notification, is_held=tampering.is_held, is_last=is_last):
            self._outbox.put(due)

    async def _post(self, notification: Notification) -> None:
        config = notification.registration.config
        destination = await self._guard.check(config.url)
        await self._send(destination, self._headers(config), notification.body)

    def _headers(self, config: PushConfig) -> Mapping[str, str]:
        return push_headers(config, sends_authorization=self._sends_authorization)


@asynccontextmanager
async def open_notifier(
    server: A2AServerEntry,
    *,
    opens_loopback: bool,
    sends_authorization: bool,
    limits: Limits | None = None,
    tamper: PushHook = untouched,
) -> AsyncGenerator[Notifier | None]:
    """What posts to callbacks as `server` allows; None if push is off there."""
    if not server.push_notifications_enabled:
        yield None
        return
    from mock_server.push.delivery import Delivery

    if opens_loopback:
        logger.warning("a2a_mock.push.local", flag="--allow-local-push", text=LOCAL)
    allowed = server.allowed_hosts
    policy = UrlPolicy(None if allowed is None else tuple(_hosts(allowed)), opens_loopback)
    guard = Guard(policy, Resolver())
    async with Notifier(
        guard,
        Delivery(),
        sends_authorization=sends_authorization,
        limits=limits,
        tamper=tamper,
    ) as notifier:
        yield notifier


def _hosts(entries: Iterable[str]) -> Iterable[Host]:
    """The entries as hosts; one that is not a hostname is logged and admits nobody."""
    for entry in entries:
        try:
            yield parse_host(entry)
        except ValueError:
            logger.warning("a2a_mock.push.no_host", entry=entry, text="expected a bare hostname")
