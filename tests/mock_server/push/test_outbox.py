"""Posts on their way: order, independence, bounds."""

import asyncio
from dataclasses import dataclass, field

import pytest

from mock_server.errors import PostFailed, PushRefused
from mock_server.push.letters import Letter
from mock_server.push.outbox import Limits, Outbox
from mock_server.push.registrations import Registration
from mock_server.tasks.push_config import PushConfig

pytestmark = pytest.mark.anyio


def to(task_id: str, config_id: str = "c", host: str = "h") -> Registration:
    return Registration(task_id, PushConfig("http://x/", config_id), host)


@dataclass
class Callbacks:
    """What was posted, as `task:body`; tasks named `stuck…` wait for `let_go`."""

    begun: list[str] = field(default_factory=list[str])
    done: list[str] = field(default_factory=list[str])
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    errors: dict[str, Exception] = field(default_factory=dict[str, Exception])
    most_open: int = 0
    _open: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def finish(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.done) < count:
                self._news.clear()
                await self._news.wait()

    async def post(self, letter: Letter) -> None:
        registration = letter.registration
        name = f"{registration.task_id}:{letter.body.decode()}"
        self.begun.append(name)
        self._open += 1
        self.most_open = max(self._open, self.most_open)
        try:
            if registration.task_id.startswith("stuck"):
                await self.let_go.wait()
            await asyncio.sleep(0)
            if name in self.errors:
                raise self.errors[name]
        finally:
            self._open -= 1
        self.done.append(name)
        self._news.set()


@pytest.mark.req("PUSH-6")
async def test_posts_of_a_task_arrive_in_order() -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post) as outbox:
        for number in range(5):
            outbox.put(Letter(to("a"), b"%d" % number))
        await outbox.drain(60)
        outbox.put(Letter(to("a"), b"later"))
        await outbox.drain(60)
    assert callbacks.done == [*(f"a:{number}" for number in range(5)), "a:later"]
    assert callbacks.most_open == 1


@pytest.mark.req("PUSH-6")
async def test_stuck_callback_delays_nobody_else() -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post) as outbox:
        for body in (b"1", b"2"):
            outbox.put(Letter(to("stuck"), body))
            outbox.put(Letter(to("free"), body))
        outbox.put(Letter(to("stuck", "other"), b"3"))
        await callbacks.finish(2)
        assert callbacks.done == ["free:1", "free:2"]
        assert "stuck:2" not in callbacks.begun
        callbacks.let_go.set()
        await outbox.drain(60)
    assert sorted(callbacks.done[2:]) == ["stuck:1", "stuck:2", "stuck:3"]


@pytest.mark.req("PUSH-4", "PUSH-6")
async def test_failed_post_is_logged_and_not_repeated(caplog: pytest.LogCaptureFixture) -> None:
    failures = [PostFailed("status 500"), PushRefused("r", "private address"), ValueError("secret")]
    callbacks = Callbacks(errors={f"a:{n}": error for n, error in enumerate(failures)})
    async with Outbox(callbacks.post) as outbox:
        for number in range(4):
            outbox.put(Letter(to("a", host="hooks.example"), b"%d" % number))
        await outbox.drain(60)
    assert callbacks.begun == ["a:0", "a:1", "a:2", "a:3"]
    assert callbacks.done == ["a:3"]
    for told in ("status 500", "refused: private address", "ValueError", "hooks.example"):
        assert told in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.req("PUSH-6")
async def test_pending_posts_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post, Limits(pending_posts=2)) as outbox:
        for body in (b"1", b"2", b"3"):
            outbox.put(Letter(to("stuck"), body))
        assert "too many posts are pending" in caplog.text
        callbacks.let_go.set()
        await outbox.drain(60)
        outbox.put(Letter(to("stuck"), b"4"))
        await outbox.drain(60)
    assert callbacks.done == ["stuck:1", "stuck:2", "stuck:4"]


@pytest.mark.req("PUSH-6")
async def test_hanging_host_does_not_hold_all_connections() -> None:
    callbacks = Callbacks()
    limits = Limits(open_posts=3, open_per_host=2)
    async with Outbox(callbacks.post, limits) as outbox:
        for number in range(5):
            outbox.put(Letter(to(f"stuck{number}", host="slow"), b""))
        for number in range(5):
            outbox.put(Letter(to(f"free{number}", host="fast"), b""))
        await callbacks.finish(5)
        assert all(name.startswith("free") for name in callbacks.done)
        assert sum(name.startswith("stuck") for name in callbacks.begun) == 2
        callbacks.let_go.set()
        await outbox.drain(60)
    assert len(callbacks.done) == 10
    assert callbacks.most_open <= 3


@pytest.mark.req("PUSH-6")
async def test_draining_gives_up_in_time(caplog: pytest.LogCaptureFixture) -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post) as outbox:
        await outbox.drain(60)
        outbox.put(Letter(to("stuck"), b"1"))
        outbox.put(Letter(to("stuck"), b"2"))
        await outbox.drain(0.01)
    assert callbacks.begun == ["stuck:1"]
    assert callbacks.done == []
    assert "a2a_server.push.dropped" in caplog.text


@pytest.mark.req("PUSH-6")
async def test_leaving_waits_for_nobody() -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post) as outbox:
        outbox.put(Letter(to("stuck"), b"1"))
        await asyncio.sleep(0)
    assert callbacks.done == []
