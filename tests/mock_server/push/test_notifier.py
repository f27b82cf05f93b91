"""From a task's transition to the post at its callback."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

import pytest

from mock_server.errors import PushRefused
from mock_server.faults.matching import Delivery
from mock_server.faults.tampering import PushHook, Tampering, untouched
from mock_server.push.addresses import Address
from mock_server.push.guard import Destination, Guard
from mock_server.push.notifier import Notifier
from mock_server.push.policy import UrlPolicy
from mock_server.tasks.push_config import PushAuthentication, PushConfig
from mock_server.tasks.task import Status, Task, TaskState

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
        notifier.notify(Task(task_id, "ctx", Status(state)), lab.encode)


WHOLE_TURN = (TaskState.SUBMITTED, TaskState.WORKING, TaskState.COMPLETED)


@pytest.mark.req("PUSH-2", "PUSH-6")
async def test_every_transition_is_posted_in_order_to_every_callback() -> None:
    lab = Lab()
    async with lab.open() as notifier:
        checked = await notifier.check(HOOK)
        assert checked.host == "hooks.example"
        assert notifier.register("t", checked).id == "t"
        notifier.register("t", await notifier.check(PushConfig(HOOK.url, "second")))
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
        notifier.register("t", await notifier.check(config))
        tell(lab, notifier, TaskState.COMPLETED)
        await notifier.drain(10)
    (headers, _), *_ = lab.sent
    assert headers.get("Authorization") == ("Bearer c" if sends_authorization else None)


@pytest.mark.req("PUSH-3", "PUSH-5")
async def test_url_is_judged_again_before_each_post(caplog: pytest.LogCaptureFixture) -> None:
    lab = Lab()
    async with lab.open() as notifier:
        notifier.register("t", await notifier.check(HOOK))
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


async def test_removed_and_forgotten_callbacks_hear_nothing() -> None:
    lab = Lab()
    async with lab.open() as notifier:
        for task_id in ("removed", "forgotten", "cleared"):
            notifier.register(task_id, await notifier.check(HOOK))
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
    seen: list[Delivery] = []

    def tamper(delivery: Delivery) -> Tampering:
        seen.append(delivery)
        return tampering if delivery.state is at else Tampering()

    async with lab.open(tamper) as notifier:
        notifier.register("t", await notifier.check(HOOK))
        tell(lab, notifier, *WHOLE_TURN)
        await notifier.drain(10)
    assert seen == [Delivery("t", "ctx", state) for state in WHOLE_TURN]
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
        notifier.register("t", await notifier.check(HOOK))
        tell(lab, notifier, TaskState.WORKING)
        await notifier.drain(10)
    assert lab.bodies == ["working"]
