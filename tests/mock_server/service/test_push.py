"""The operations on push configurations, as the edges above the service see them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest

from mock_server.errors import RpcError
from mock_server.profiles import RASA, Profile
from mock_server.push.notifier import MAX_CONFIGS_PER_TASK, Notifier
from mock_server.push.policy import Address, Destination, Guard, UrlPolicy
from mock_server.service.service import PushOperations
from mock_server.service.store import LiveTask, Store, StoreLimits, snapshot
from mock_server.tasks.task import PushConfig, Status, Task, TaskState
from mock_server.wire.operations import (
    CallContext,
    DeletePushConfig,
    GetPushConfig,
    ListPushConfigs,
    SetPushConfig,
)
from mock_server.wire.v0_3 import V03, encode_task

CALL = CallContext(V03())

pytestmark = pytest.mark.anyio

STRICT = Profile("a2a", streams_begin_with_task=True, keeps_to_push_specification=True)
HOOK = PushConfig("https://hooks.example/", "p")


async def resolve(_: str) -> tuple[Address, ...]:
    return (ip_address("8.8.8.8"),)


async def send(_: Destination, __: Mapping[str, str], ___: bytes) -> None:
    return


def store() -> Store:
    tasks = Store(StoreLimits(60), lambda: 0.0)
    tasks.begin(LiveTask(Task("t", "c", Status(TaskState.WORKING))))
    return tasks


@asynccontextmanager
async def open_operations(profile: Profile = RASA) -> AsyncGenerator[PushOperations]:
    async with Notifier(Guard(UrlPolicy(), resolve), send) as notifier:
        yield PushOperations(store(), notifier, profile)


async def errors_of(operations: PushOperations, task_id: str) -> list[tuple[int, str]]:
    """What each operation is answered with."""
    found: list[tuple[int, str]] = []
    with pytest.raises(RpcError) as caught:
        await operations.set(SetPushConfig(task_id, HOOK), CALL)
    found.append((caught.value.code, caught.value.message))
    for ask in (
        lambda: operations.get(GetPushConfig(task_id)),
        lambda: operations.list(ListPushConfigs(task_id)),
        lambda: operations.delete(DeletePushConfig(task_id, "p")),
    ):
        with pytest.raises(RpcError) as caught:
            ask()
        found.append((caught.value.code, caught.value.message))
    return found


@pytest.mark.req("PUSH-1", "HTTP-5a")
async def test_push_that_is_off_is_unsupported_as_in_the_sdk() -> None:
    operations = PushOperations(store(), None, RASA)
    first, *others = await errors_of(operations, "t")
    assert first == (-32004, "Push notifications are not supported by the agent")
    assert others == [(-32004, "This operation is not supported")] * 3
    assert not operations.is_open


@pytest.mark.req("PUSH-1")
async def test_inline_configuration_is_ignored_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    operations = PushOperations(store(), None, RASA)
    assert await operations.check(None) is None
    assert caplog.text == ""
    assert await operations.check(PushConfig("not a URL")) is None
    assert "a2a_server.push.disabled" in caplog.text


@pytest.mark.req("PUSH-1")
async def test_push_that_is_off_is_an_error_of_its_own_in_the_specification() -> None:
    operations = PushOperations(store(), None, STRICT)
    assert {code for code, _ in await errors_of(operations, "t")} == {-32003}
    with pytest.raises(RpcError) as caught:
        await operations.check(HOOK)
    assert caught.value.code == -32003


@pytest.mark.req("PUSH-1", "HTTP-5")
async def test_unknown_task_has_no_configurations() -> None:
    async with open_operations() as operations:
        assert await errors_of(operations, "nope") == [(-32001, "Task not found")] * 4


@pytest.mark.req("PUSH-1", "HTTP-6")
async def test_configurations_are_set_found_listed_and_deleted() -> None:
    async with open_operations() as operations:
        assert await operations.set(SetPushConfig("t", HOOK), CALL) == HOOK
        nameless = await operations.set(SetPushConfig("t", PushConfig(HOOK.url)), CALL)
        assert nameless.id == "t"
        assert operations.list(ListPushConfigs("t")) == (HOOK, nameless)
        operations.delete(DeletePushConfig("t", "p"))
        operations.delete(DeletePushConfig("t", "p"))
        assert operations.list(ListPushConfigs("t")) == (nameless,)
        operations.clear()
        with pytest.raises(RpcError) as caught:
            operations.get(GetPushConfig("t"))
        assert (caught.value.code, caught.value.message) == (
            -32603,
            "Push notification config not found",
        )


@pytest.mark.req("HTTP-5a")
@pytest.mark.parametrize(("profile", "found"), [(RASA, "p"), (STRICT, "q")])
async def test_sdk_returns_the_first_configuration_whatever_its_id(
    profile: Profile, found: str
) -> None:
    async with open_operations(profile) as operations:
        for config_id in ("p", "q"):
            await operations.set(SetPushConfig("t", PushConfig(HOOK.url, config_id)), CALL)
        assert operations.get(GetPushConfig("t", "q")).id == found
        assert operations.get(GetPushConfig("t")).id == "p"


@pytest.mark.req("PUSH-3")
async def test_refused_configuration_is_invalid_params(caplog: pytest.LogCaptureFixture) -> None:
    async with open_operations() as operations:
        for url in ("http://127.0.0.1/secret", "ftp://secret.example/", "http://u:secret@x/"):
            config = PushConfig(url)
            with pytest.raises(RpcError) as caught:
                await operations.check(config)
            with pytest.raises(RpcError) as again:
                await operations.set(SetPushConfig("t", config), CALL)
            assert caught.value.code == again.value.code == -32602
            assert caught.value.message == again.value.message
            assert "127.0.0.1" not in caught.value.message
            assert "secret" not in caught.value.message
        assert operations.list(ListPushConfigs("t")) == ()
    assert "a2a_server.push.refused" in caplog.text
    assert "secret" not in caplog.text


async def test_one_configuration_too_many_is_invalid_params() -> None:
    async with open_operations() as operations:
        for number in range(MAX_CONFIGS_PER_TASK):
            await operations.set(SetPushConfig("t", PushConfig(HOOK.url, f"{number}")), CALL)
        with pytest.raises(RpcError) as caught:
            await operations.set(SetPushConfig("t", PushConfig(HOOK.url, "more")), CALL)
        assert caught.value.code == -32602


async def test_configurations_are_forgotten_with_their_task() -> None:
    async with Notifier(Guard(UrlPolicy(), resolve), send) as notifier:
        tasks = Store(StoreLimits(60, max_tasks=1), lambda: 0.0, notifier.forget)
        for task_id in ("t", "u"):
            notifier.register(task_id, await notifier.check(HOOK), encode_task)
            tasks.settle(snapshot(Task(task_id, "c", Status(TaskState.COMPLETED)), V03()))
        assert notifier.configs("t") == ()
        assert notifier.configs("u") == (HOOK,)


async def test_configurations_stay_while_their_task_is_continued() -> None:
    async with Notifier(Guard(UrlPolicy(), resolve), send) as notifier:
        tasks = Store(StoreLimits(60, max_tasks=1), lambda: 0.0, notifier.forget)
        superseded = Task("t", "c", Status(TaskState.INPUT_REQUIRED))
        notifier.register("t", await notifier.check(HOOK), encode_task)
        tasks.settle(snapshot(superseded, V03()))
        tasks.begin(LiveTask(superseded))
        for task_id in ("u", "v"):
            tasks.settle(snapshot(Task(task_id, "c", Status(TaskState.COMPLETED)), V03()))
        assert notifier.configs("t") == (HOOK,)
