"""From a task's transition to the post at its callback."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.errors import PostFailed, PushRefused
from mock_server.faults.matching import OutgoingPush
from mock_server.faults.tampering import PushHook, Tampering, untouched
from mock_server.project.endpoints import A2AServerEntry
from mock_server.push.notifier import (
    MAX_CONFIGS_PER_TASK,
    HeldNotifications,
    Limits,
    Notification,
    Notifier,
    Outbox,
    Registration,
    Registrations,
    open_notifier,
    push_headers,
)
from mock_server.push.policy import Address, Destination, Guard, UrlPolicy
from mock_server.tasks.task import PushAuthentication, PushConfig, Status, Task, TaskState
from mock_server.wire.v0_3 import encode_task

pytestmark = pytest.mark.anyio

HOOK = PushConfig("https://hooks.example/x", token="tok")


@dataclass
class Lab:
    """A notifier whose names resolve to `address`, and what it sent: headers and body."""

    address: str = "8.8.8.8"
    sent: list[tuple[Mapping[str, str], str]] = field(
        default_factory=list[tuple[Mapping[str, str], str]]
    )
    slept: list[float] = field(default_factory=list[float])
    encoded: int = 0

    async def resolve(self, _: str) -> tuple[Address, ...]:
        return (ip_address(self.address),)

    async def send(self, destination: Destination, headers: Mapping[str, str], body: bytes) -> None:
        assert destination.addresses == (ip_address(self.address),)
        self.sent.append((headers, body.decode()))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def encode(self, task: Task) -> bytes:
        self.encoded += 1
        return task.status.state.value.encode()

    @property
    def bodies(self) -> list[str]:
        return [body for _, body in self.sent]

    @asynccontextmanager
    async def open(
        self, tamper: PushHook = untouched, *, sends_authorization: bool = True
    ) -> AsyncGenerator[Notifier]:
        guard = Guard(UrlPolicy(), self.resolve)
        async with Notifier(
            guard,
            self.send,
            sends_authorization=sends_authorization,
            tamper=tamper,
            sleep=self.sleep,
        ) as notifier:
            yield notifier


def tell(lab: Lab, notifier: Notifier, *states: TaskState, task_id: str = "t") -> None:
    for state in states:
        notifier.notify(Task(task_id, "ctx", Status(state)))


WHOLE_TURN = (TaskState.SUBMITTED, TaskState.WORKING, TaskState.COMPLETED)


@pytest.mark.req("PUSH-2", "PUSH-6")
async def test_every_transition_is_posted_in_order_to_every_callback() -> None:
    lab = Lab()
    async with lab.open() as notifier:
        checked = await notifier.check(HOOK)
        assert checked.host == "hooks.example"
        assert notifier.register("t", checked, lab.encode).id == "t"
        notifier.register("t", await notifier.check(PushConfig(HOOK.url, "second")), lab.encode)
        tell(lab, notifier, *WHOLE_TURN)
        tell(lab, notifier, *WHOLE_TURN, task_id="nobody")
        await notifier.drain(10)
    with_token = [body for headers, body in lab.sent if "X-A2A-Notification-Token" in headers]
    without = [body for headers, body in lab.sent if "X-A2A-Notification-Token" not in headers]
    assert with_token == without == [state.value for state in WHOLE_TURN]
    assert lab.encoded == 3


@pytest.mark.req("PUSH-2")
@pytest.mark.parametrize("sends_authorization", [True, False])
async def test_authorization_is_sent_or_not(sends_authorization: bool) -> None:
    lab = Lab()
    config = PushConfig(HOOK.url, authentication=PushAuthentication(("Bearer",), "c"))
    async with lab.open(sends_authorization=sends_authorization) as notifier:
        notifier.register("t", await notifier.check(config), lab.encode)
        tell(lab, notifier, TaskState.COMPLETED)
        await notifier.drain(10)
    (headers, _), *_ = lab.sent
    assert headers.get("Authorization") == ("Bearer c" if sends_authorization else None)


@pytest.mark.req("PUSH-3", "PUSH-5")
async def test_url_is_judged_again_before_each_post(caplog: pytest.LogCaptureFixture) -> None:
    lab = Lab()
    async with lab.open() as notifier:
        notifier.register("t", await notifier.check(HOOK), lab.encode)
        tell(lab, notifier, TaskState.WORKING)
        await notifier.drain(10)
        lab.address = "127.0.0.1"
        tell(lab, notifier, TaskState.COMPLETED)
        await notifier.drain(10)
        with pytest.raises(PushRefused):
            await notifier.check(HOOK)
    assert lab.bodies == ["working"]
    assert "refused: loopback address" in caplog.text
    assert "tok" not in caplog.text


@pytest.mark.req("PUSH-3")
async def test_configuration_whose_headers_cannot_be_written_is_refused() -> None:
    async with Lab().open() as notifier:
        with pytest.raises(PushRefused):
            await notifier.check(PushConfig(HOOK.url, token="a\r\nb"))


async def test_removed_and_forgotten_callbacks_get_nothing() -> None:
    lab = Lab()
    async with lab.open() as notifier:
        for task_id in ("removed", "forgotten", "cleared"):
            notifier.register(task_id, await notifier.check(HOOK), lab.encode)
        assert [config.id for config in notifier.configs("removed")] == ["removed"]
        notifier.remove("removed", "removed")
        notifier.forget("forgotten")
        tell(lab, notifier, TaskState.WORKING, task_id="cleared")
        notifier.clear()
        for task_id in ("removed", "forgotten", "cleared"):
            assert notifier.configs(task_id) == ()
            tell(lab, notifier, TaskState.COMPLETED, task_id=task_id)
        await notifier.drain(10)
    assert lab.bodies == ["working"]


async def post_with(tampering: Tampering, at: TaskState = TaskState.WORKING) -> Lab:
    lab = Lab()
    seen: list[OutgoingPush] = []

    def tamper(delivery: OutgoingPush) -> Tampering:
        seen.append(delivery)
        return tampering if delivery.state is at else Tampering()

    async with lab.open(tamper) as notifier:
        notifier.register("t", await notifier.check(HOOK), lab.encode)
        tell(lab, notifier, *WHOLE_TURN)
        await notifier.drain(10)
    assert seen == [OutgoingPush("t", "ctx", state) for state in WHOLE_TURN]
    return lab


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("tampering", "bodies"),
    [
        (Tampering(), "submitted working completed"),
        (Tampering(is_lost=True), "submitted completed"),
        (Tampering(copies=3), "submitted working working working completed"),
        (Tampering(is_held=True), "submitted completed working"),
        (Tampering(delay_seconds=7), "submitted working completed"),
        (Tampering(token="wrong"), "submitted working completed"),
    ],
)
async def test_faults_tamper_with_a_notification(tampering: Tampering, bodies: str) -> None:
    lab = await post_with(tampering)
    assert " ".join(lab.bodies) == bodies
    assert lab.slept == ([7] if tampering.delay_seconds else [])
    tokens = [headers["X-A2A-Notification-Token"] for headers, _ in lab.sent]
    if tampering.token:
        assert tokens == ["tok", "wrong", "tok"]
    else:
        assert {*tokens} == {"tok"}


@pytest.mark.req("ADMIN-1")
async def test_held_notification_is_not_kept_for_ever() -> None:
    lab = Lab()
    async with lab.open(lambda _: Tampering(is_held=True)) as notifier:
        notifier.register("t", await notifier.check(HOOK), lab.encode)
        tell(lab, notifier, TaskState.WORKING)
        await notifier.drain(10)
    assert lab.bodies == ["working"]


def urls(registrations: Registrations, task_id: str) -> list[str]:
    return [registered.config.url for registered in registrations.of(task_id)]


@pytest.mark.req("PUSH-1")
def test_configuration_without_an_id_has_the_tasks() -> None:
    registrations = Registrations()
    added = registrations.add("t", PushConfig("http://a/"), "a", encode_task)
    assert added.config.id == added.config_id == "t"
    assert registrations.of("t") == (added,)


@pytest.mark.req("PUSH-1")
def test_same_id_is_replaced_and_others_stay_in_order() -> None:
    registrations = Registrations()
    for url, config_id in (("http://a/", "1"), ("http://b/", "2"), ("http://c/", "1")):
        registrations.add("t", PushConfig(url, config_id), "h", encode_task)
    assert urls(registrations, "t") == ["http://b/", "http://c/"]
    assert urls(registrations, "u") == []


def test_removed_configuration_is_gone() -> None:
    registrations = Registrations()
    registrations.add("t", PushConfig("http://a/", "1"), "h", encode_task)
    registrations.add("t", PushConfig("http://b/", "2"), "h", encode_task)
    for config_id, left in (("nope", 2), ("1", 1), ("1", 1), ("2", 0), ("2", 0)):
        registrations.remove("t", config_id)
        assert len(registrations.of("t")) == left


def test_forgotten_task_has_none() -> None:
    registrations = Registrations()
    registrations.add("t", PushConfig("http://a/"), "h", encode_task)
    registrations.forget("t")
    registrations.forget("t")
    assert registrations.of("t") == ()


def test_task_has_room_for_so_many() -> None:
    registrations = Registrations()
    for number in range(MAX_CONFIGS_PER_TASK):
        registrations.add("t", PushConfig("http://a/", f"{number}"), "h", encode_task)
    with pytest.raises(PushRefused):
        registrations.add("t", PushConfig("http://a/", "more"), "h", encode_task)
    assert registrations.add("t", PushConfig("http://b/", "0"), "h", encode_task)
    assert registrations.add("u", PushConfig("http://b/"), "h", encode_task)


def test_task_that_was_quiet_longest_is_dropped() -> None:
    registrations = Registrations(max_tasks=2)
    for task_id in ("a", "b"):
        registrations.add(task_id, PushConfig("http://a/"), "h", encode_task)
    assert registrations.touch("a")
    assert registrations.touch("nope") == ()
    registrations.add("c", PushConfig("http://a/"), "h", encode_task)
    assert [bool(registrations.of(task_id)) for task_id in "abc"] == [True, False, True]


JSON_ONLY = {"Content-Type": "application/json"}


def config(token: str | None = None, *schemes: str, credentials: str | None = None) -> PushConfig:
    return PushConfig("http://x/", None, token, PushAuthentication(schemes, credentials))


@pytest.mark.req("PUSH-2")
def test_token_and_credentials_are_sent() -> None:
    wanted = config("tok", "Bearer", "Basic", credentials="a b")
    assert push_headers(wanted, sends_authorization=True) == {
        **JSON_ONLY,
        "X-A2A-Notification-Token": "tok",
        "Authorization": "Bearer a b",
    }


@pytest.mark.req("PUSH-2")
def test_authorization_can_be_left_out_as_the_sdk_does() -> None:
    wanted = config("tok", "not a scheme", credentials="\n")
    headers = push_headers(wanted, sends_authorization=False)
    assert headers == {**JSON_ONLY, "X-A2A-Notification-Token": "tok"}


@pytest.mark.req("PUSH-2")
@pytest.mark.parametrize(
    "bare", [PushConfig("http://x/"), config(""), config(None, "Bearer"), config()]
)
def test_what_was_not_given_is_not_sent(bare: PushConfig) -> None:
    assert push_headers(bare, sends_authorization=True) == JSON_ONLY


@pytest.mark.req("PUSH-2", "HTTP-5")
@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        (config("a\r\nX-Evil: 1"), "token"),
        (config("\x00"), "token"),
        (config(" a"), "token"),
        (config("a "), "token"),
        (config("ü"), "token"),
        (config("a" * 8193), "token"),
        (config(None, "Bearer", credentials="a\nb"), "authentication.credentials"),
        (config(None, "Bea rer", credentials="a"), "authentication.schemes"),
        (config(None, "", credentials="a"), "authentication.schemes"),
        (config(None, credentials="a"), "authentication.schemes"),
    ],
)
def test_what_no_header_can_hold_is_refused(wanted: PushConfig, named: str) -> None:
    with pytest.raises(PushRefused, match=named) as caught:
        push_headers(wanted, sends_authorization=True)
    assert caught.value.reason.startswith(named)


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_headers_are_writable_or_refused(token: str, scheme: str, credentials: str) -> None:
    try:
        headers = push_headers(
            config(token, scheme, credentials=credentials), sends_authorization=True
        )
    except PushRefused:
        return
    assert all(value.isascii() and value.isprintable() for value in headers.values())


def test_configuration_shows_no_secret() -> None:
    shown = repr(config("secret", "Bearer", credentials="secret"))
    assert "secret" not in shown
    assert "http" not in shown


def notification(body: bytes, task_id: str = "t", config_id: str = "c") -> Notification:
    return Notification(
        Registration(task_id, PushConfig("http://x/", config_id), "h", encode_task), body
    )


FIRST, SECOND, THIRD, ELSEWHERE = (
    notification(b"1"),
    notification(b"2"),
    notification(b"3"),
    notification(b"4", "u"),
)


def test_notification_that_is_not_held_goes_out() -> None:
    assert HeldNotifications().release(FIRST, is_held=False, is_last=False) == (FIRST,)


def test_held_notification_goes_out_after_the_tasks_next() -> None:
    held = HeldNotifications()
    assert held.release(FIRST, is_held=True, is_last=False) == ()
    assert held.release(ELSEWHERE, is_held=False, is_last=False) == (ELSEWHERE,)
    other_callback = notification(b"2", config_id="d")
    assert held.release(other_callback, is_held=False, is_last=False) == (other_callback,)
    assert held.release(SECOND, is_held=False, is_last=False) == (SECOND, FIRST)
    assert held.release(THIRD, is_held=False, is_last=True) == (THIRD,)


def test_last_notification_does_not_wait() -> None:
    held = HeldNotifications()
    held.release(FIRST, is_held=True, is_last=False)
    held.release(SECOND, is_held=True, is_last=False)
    assert held.release(THIRD, is_held=True, is_last=True) == (THIRD, FIRST, SECOND)


def test_held_notifications_are_released_or_forgotten() -> None:
    held = HeldNotifications()
    held.release(FIRST, is_held=True, is_last=False)
    held.release(ELSEWHERE, is_held=True, is_last=False)
    held.forget("t")
    assert held.release_all() == (ELSEWHERE,)
    assert held.release_all() == ()


def to(task_id: str, config_id: str = "c", host: str = "h") -> Registration:
    return Registration(task_id, PushConfig("http://x/", config_id), host, encode_task)


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

    async def post(self, notification: Notification) -> None:
        registration = notification.registration
        name = f"{registration.task_id}:{notification.body.decode()}"
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
            outbox.put(Notification(to("a"), b"%d" % number))
        await outbox.drain(60)
        outbox.put(Notification(to("a"), b"later"))
        await outbox.drain(60)
    assert callbacks.done == [*(f"a:{number}" for number in range(5)), "a:later"]
    assert callbacks.most_open == 1


@pytest.mark.req("PUSH-6")
async def test_stuck_callback_delays_nobody_else() -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post) as outbox:
        for body in (b"1", b"2"):
            outbox.put(Notification(to("stuck"), body))
            outbox.put(Notification(to("free"), body))
        outbox.put(Notification(to("stuck", "other"), b"3"))
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
            outbox.put(Notification(to("a", host="hooks.example"), b"%d" % number))
        await outbox.drain(60)
    assert callbacks.begun == ["a:0", "a:1", "a:2", "a:3"]
    assert callbacks.done == ["a:3"]
    for logged in ("status 500", "refused: private address", "ValueError", "hooks.example"):
        assert logged in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.req("PUSH-6")
async def test_pending_posts_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post, Limits(pending_posts=2)) as outbox:
        for body in (b"1", b"2", b"3"):
            outbox.put(Notification(to("stuck"), body))
        assert "too many posts are pending" in caplog.text
        callbacks.let_go.set()
        await outbox.drain(60)
        outbox.put(Notification(to("stuck"), b"4"))
        await outbox.drain(60)
    assert callbacks.done == ["stuck:1", "stuck:2", "stuck:4"]


@pytest.mark.req("PUSH-6")
async def test_pending_posts_are_bounded_in_bytes(caplog: pytest.LogCaptureFixture) -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post, Limits(pending_bytes=4)) as outbox:
        for body in (b"first", b"2"):
            outbox.put(Notification(to("stuck"), body))
        assert "too many posts are pending" in caplog.text
        callbacks.let_go.set()
        await outbox.drain(60)
        for body in (b"3", b"4"):
            outbox.put(Notification(to("stuck"), body))
        await outbox.drain(60)
    assert callbacks.done == ["stuck:first", "stuck:3", "stuck:4"]


@pytest.mark.req("PUSH-6")
async def test_hanging_host_does_not_hold_all_connections() -> None:
    callbacks = Callbacks()
    limits = Limits(open_posts=3, open_per_host=2)
    async with Outbox(callbacks.post, limits) as outbox:
        for number in range(5):
            outbox.put(Notification(to(f"stuck{number}", host="slow"), b""))
        for number in range(5):
            outbox.put(Notification(to(f"free{number}", host="fast"), b""))
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
        outbox.put(Notification(to("stuck"), b"1"))
        outbox.put(Notification(to("stuck"), b"2"))
        await outbox.drain(0.01)
    assert callbacks.begun == ["stuck:1"]
    assert callbacks.done == []
    assert "a2a_server.push.dropped" in caplog.text


@pytest.mark.req("PUSH-6")
async def test_leaving_waits_for_nobody() -> None:
    callbacks = Callbacks()
    async with Outbox(callbacks.post) as outbox:
        outbox.put(Notification(to("stuck"), b"1"))
        await asyncio.sleep(0)
    assert callbacks.done == []


ON = A2AServerEntry(push_notifications_enabled=True)


@pytest.mark.req("PUSH-1")
async def test_without_push_there_is_none() -> None:
    server = A2AServerEntry()
    async with open_notifier(server, opens_loopback=True, sends_authorization=True) as notifier:
        assert notifier is None


@pytest.mark.req("PUSH-5")
@pytest.mark.parametrize("opens_loopback", [True, False])
async def test_loopback_is_opened_with_a_warning(
    opens_loopback: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_notifier(
        ON, opens_loopback=opens_loopback, sends_authorization=True
    ) as notifier:
        assert notifier is not None
        if opens_loopback:
            assert (await notifier.check(PushConfig("http://localhost:1/"))).host == "localhost"
        else:
            with pytest.raises(PushRefused):
                await notifier.check(PushConfig("http://localhost:1/"))
    assert ("--allow-local-push" in caplog.text) is opens_loopback


@pytest.mark.req("CFG-1", "PUSH-3")
async def test_entry_that_is_no_host_admits_nobody_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = A2AServerEntry(
        push_notifications_enabled=True,
        push_notification_allowed_hosts=["https://a.example", "LOCALHOST."],
    )
    async with open_notifier(server, opens_loopback=True, sends_authorization=True) as notifier:
        assert notifier is not None
        assert await notifier.check(PushConfig("http://localhost/"))
        with pytest.raises(PushRefused, match="not allowed"):
            await notifier.check(PushConfig("http://a.example/"))
    assert "https://a.example" in caplog.text


def test_httpx_is_imported_by_those_who_push() -> None:
    code = "import sys, mock_server.serve, mock_server.web.app; print('httpx' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "False\n"
