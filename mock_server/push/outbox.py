"""Posts on their way: in order for each task and callback, in parallel otherwise, and bounded."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias
from weakref import WeakValueDictionary

from structlog.stdlib import get_logger

from mock_server.errors import PostFailed, PushRefused
from mock_server.push.letters import LaneKey, Letter

logger = get_logger("a2a_server")

Post: TypeAlias = Callable[[Letter], Awaitable[None]]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """`open_per_host` keeps a host that hangs from holding all `open_posts`."""

    pending_posts: int = 10_000
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
        self._lanes: dict[LaneKey, deque[Letter]] = {}
        self._carriers: set[asyncio.Task[None]] = set()
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

    def put(self, letter: Letter) -> None:
        """Post `letter` after what was put for the same task and callback before."""
        if self._pending >= self._limits.pending_posts:
            _log_failure(letter, "too many posts are pending")
            return
        self._pending += 1
        if letter.key in self._lanes:
            self._lanes[letter.key].append(letter)
            return
        self._lanes[letter.key] = deque([letter])
        carrier = self._group.create_task(self._carry(letter.key))
        self._carriers.add(carrier)
        carrier.add_done_callback(self._carriers.discard)

    async def drain(self, seconds: float) -> None:
        """Wait up to `seconds` for what is pending, and drop the rest."""
        if self._carriers:
            await asyncio.wait([*self._carriers], timeout=seconds)
        if self._pending:
            logger.warning("a2a_server.push.dropped", count=self._pending)
        self._drop_all()

    def _drop_all(self) -> None:
        for carrier in self._carriers:
            carrier.cancel()

    async def _carry(self, key: LaneKey) -> None:
        lane = self._lanes[key]
        try:
            while lane:
                await self._deliver(lane[0])
                lane.popleft()
                self._pending -= 1
        finally:
            self._pending -= len(lane)
            del self._lanes[key]

    async def _deliver(self, letter: Letter) -> None:
        if letter.delay_seconds > 0:
            await self._sleep(letter.delay_seconds)
        for _ in range(letter.copies):
            async with self._open_at(letter.registration.host), self._open:
                await self._try(letter)

    async def _try(self, letter: Letter) -> None:
        try:
            await self._post(letter)
        except PushRefused as refused:
            _log_failure(letter, f"refused: {refused.detail}")
        except PostFailed as failed:
            _log_failure(letter, failed.reason)
        except Exception as error:
            # Whatever breaks in a post fails this post; its text may quote a header.
            _log_failure(letter, type(error).__name__)

    def _open_at(self, host: str) -> asyncio.Semaphore:
        # Weakly held: a host is forgotten with its last post.
        open_here = self._open_by_host.get(host)
        if open_here is None:
            open_here = self._open_by_host[host] = asyncio.Semaphore(self._limits.open_per_host)
        return open_here


def _log_failure(letter: Letter, reason: str) -> None:
    logger.warning(
        "a2a_server.push.failed",
        task_id=letter.registration.task_id,
        host=letter.registration.host,
        reason=reason,
    )
