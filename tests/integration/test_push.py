"""Push notifications over real sockets: registered, refused, delivered, and never in the way."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from a2a.compat.v0_3 import types

from mock_server.push.delivery import Delivery, Times
from mock_server.push.notifier import Notifier
from mock_server.push.policy import Address, Guard, Resolve, Resolver, UrlPolicy

if TYPE_CHECKING:
    from tests.conftest import Hosting, Posted, Secret
    from tests.integration.conftest import Mock, RunMock, Serving


pytestmark = pytest.mark.anyio


LOCAL = UrlPolicy(opens_loopback=True)
# A turn that waited for a post that hangs would never end.
ENDLESS = Times(connect_seconds=3600, overall_seconds=3600)
MONEY = "To whom?"


@asynccontextmanager
async def pushing(
    serving: "Serving", policy: UrlPolicy = LOCAL, resolve: Resolve | None = None
) -> AsyncGenerator[tuple["Mock", Notifier]]:
    """A mock with push on."""
    guard = Guard(policy, resolve or Resolver())
    notifier = Notifier(guard, Delivery(ENDLESS))
    async with notifier, serving(notifier=notifier) as mock:
        yield mock, notifier


def request(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": "r1", "method": method, "params": params}


def turn(
    text: str,
    message_id: str = "m1",
    *,
    context: str = "c1",
    push: object = None,
    method: str = "message/send",
    blocking: bool = True,
) -> dict[str, object]:
    parts = [{"kind": "text", "text": text}]
    message = {"messageId": message_id, "contextId": context, "role": "user", "parts": parts}
    configuration: dict[str, object] = {"blocking": blocking}
    if push is not None:
        configuration["pushNotificationConfig"] = push
    return request(method, message=message, configuration=configuration)


async def answer(client: httpx.AsyncClient, body: object) -> types.Task:
    reply = await client.post("/", json=body)
    return types.Task.model_validate(reply.json()["result"])


async def error(client: httpx.AsyncClient, body: object) -> types.JSONRPCError:
    reply = await client.post("/", json=body)
    assert reply.status_code == 200
    text = reply.text.removeprefix("data: ")
    return types.JSONRPCError.model_validate(json.loads(text)["error"])


def told(task: types.Task) -> tuple[str, str]:
    """A task's state and what the bot said."""
    parts = task.status.message.parts if task.status.message else []
    texts = [part.root.text for part in parts if isinstance(part.root, types.TextPart)]
    return task.status.state.value, "".join(texts)


def tasks_in(posted: list["Posted"]) -> list[types.Task]:
    return [types.Task.model_validate_json(one.body) for one in posted]


def states_in(posted: list["Posted"]) -> list[str]:
    return [task.status.state.value for task in tasks_in(posted)]


def recorded(shared: Path, name: str) -> tuple[str, str]:
    """The request of an exchange with a2a-sdk 0.3.26, and the reply."""
    text = (shared / "wire" / "sdk0326_v03.txt").read_text()
    match = re.search(rf"^### {name}\nREQ (.*)\nHTTP 200 .*\n(.*)$", text, re.MULTILINE)
    assert match
    return match[1], match[2]


@pytest.mark.req("PUSH-1", "HTTP-5a", "HTTP-6")
async def test_operations_are_answered_as_recorded(
    serving: "Serving", callback_host: "Hosting", shared: Path
) -> None:
    async with callback_host() as host, pushing(serving) as (mock, _):
        task = await answer(mock.client, turn("send money"))
        for name in ("set", "set unknown task", "get", "list", "delete"):
            sent, expected = (
                text.replace("<uuid1>", task.id).replace("<host>", f"127.0.0.1:{host.port}")
                for text in recorded(shared, f"push {name}")
            )
            headers = {"content-type": "application/json"}
            reply = await mock.client.post("/", content=sent, headers=headers)
            assert (reply.status_code, reply.text) == (200, expected), name
        listed = request("tasks/pushNotificationConfig/list", id=task.id)
        assert (await mock.client.post("/", json=listed)).json()["result"] == []


@pytest.mark.req("PUSH-1")
async def test_push_is_off_until_it_is_on(serving: "Serving", callback_host: "Hosting") -> None:
    async with callback_host() as host, serving() as mock:
        card = (await mock.client.get("/.well-known/agent-card.json")).json()
        assert card["capabilities"]["pushNotifications"] is False
        config = {"url": f"{host.url}/hook"}
        task = await answer(mock.client, turn("send money", push=config))
        assert told(task) == ("input-required", MONEY)
        set_config = request(
            "tasks/pushNotificationConfig/set", taskId=task.id, pushNotificationConfig=config
        )
        assert (await error(mock.client, set_config)).code == -32004
        for verb in ("get", "list", "delete"):
            asked = request(
                f"tasks/pushNotificationConfig/{verb}", id=task.id, pushNotificationConfigId="p"
            )
            assert (await error(mock.client, asked)).code == -32004
        assert host.posted == []


@pytest.mark.req("PUSH-2", "HTTP-5a", "CARD-4")
async def test_every_transition_is_posted(
    serving: "Serving", callback_host: "Hosting", secret: "Secret", shared: Path
) -> None:
    token, credentials = secret("token-9f31c7"), secret("credentials-5be2a0")
    async with callback_host() as host, pushing(serving) as (mock, _):
        card = (await mock.client.get("/.well-known/agent-card.json")).json()
        assert card["capabilities"]["pushNotifications"] is True
        config = {
            "url": f"{host.url}/hook?key={secret('key-77aa01')}",
            "token": token,
            "authentication": {"schemes": ["Bearer"], "credentials": credentials},
        }
        reply = await mock.client.post("/", json=turn("send money", push=config))
        posted = await host.wait_for(3)
        assert states_in(posted) == ["submitted", "working", "input-required"]
        assert posted[-1].body == reply.content[len(b'{"id":"r1","jsonrpc":"2.0","result":') : -1]
        assert [one.headers["x-a2a-notification-token"] for one in posted] == [token] * 3
        assert [one.headers["authorization"] for one in posted] == [f"Bearer {credentials}"] * 3
        deliveries = (shared / "wire" / "sdk0326_v03.txt").read_text().split("### PUSH DELIV")[1]
        for name in json.loads(deliveries.split("\n")[1]):
            assert name.lower() in posted[0].headers


@pytest.mark.req("PUSH-2", "PUSH-6")
async def test_body_is_the_task_as_it_was(serving: "Serving", callback_host: "Hosting") -> None:
    async with callback_host() as host, pushing(serving) as (mock, _):
        config = {"url": host.url}
        begun = await answer(mock.client, turn("check the account", push=config, blocking=False))
        await mock.paused.wait()
        posted = await host.wait_for(2)
        mock.let_go.set()
        posted = await host.wait_for(3)
        tasks = tasks_in(posted)
        assert {task.id for task in tasks} == {begun.id}
        assert [told(task) for task in tasks] == [
            ("submitted", ""),
            ("working", ""),
            ("completed", "All is well."),
        ]


@pytest.mark.req("PUSH-1", "PUSH-2")
async def test_callback_registered_on_the_way_hears_the_rest(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    async with callback_host() as host, pushing(serving) as (mock, _):
        begun = await answer(mock.client, turn("check the account", blocking=False))
        await mock.paused.wait()
        for path in ("/a", "/b"):
            config = {"url": f"{host.url}{path}", "id": path}
            body = request(
                "tasks/pushNotificationConfig/set", taskId=begun.id, pushNotificationConfig=config
            )
            assert "result" in (await mock.client.post("/", json=body)).json()
        mock.let_go.set()
        posted = await host.wait_for(2)
        assert states_in(posted) == ["completed"] * 2
        assert {one.line for one in posted} == {"POST /a HTTP/1.1", "POST /b HTTP/1.1"}


@pytest.mark.req("PUSH-2", "TURN-10")
async def test_canceled_task_is_posted_too(serving: "Serving", callback_host: "Hosting") -> None:
    async with callback_host() as host, pushing(serving) as (mock, _):
        resting = await answer(mock.client, turn("send money", push={"url": host.url}))
        running = await answer(
            mock.client,
            turn("check the account", context="c2", push={"url": host.url}, blocking=False),
        )
        await mock.paused.wait()
        for task in (resting, running):
            canceled = await answer(mock.client, request("tasks/cancel", id=task.id))
            assert told(canceled)[0] == "canceled"
        posted = tasks_in(await host.wait_for(7))
        for task, states in (
            (resting, ["submitted", "working", "input-required", "canceled"]),
            (running, ["submitted", "working", "canceled"]),
        ):
            assert [one.status.state.value for one in posted if one.id == task.id] == states


@pytest.mark.req("TURN-11")
async def test_stream_begins_with_the_task_where_push_is_on(serving: "Serving") -> None:
    async with pushing(serving) as (mock, _):
        reply = await mock.client.post("/", json=turn("send money", method="message/stream"))
        frames = [frame for frame in reply.text.split("\r\n\r\n") if frame]
        results = [json.loads(frame.removeprefix("data: "))["result"] for frame in frames]
        assert [(one["kind"], one["status"]["state"]) for one in results] == [
            ("task", "submitted"),
            ("status-update", "working"),
            ("status-update", "input-required"),
        ]


@pytest.mark.req("TURN-5", "PUSH-2")
async def test_replayed_turn_is_not_posted_again(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    async with callback_host() as host, pushing(serving) as (mock, notifier):
        body = turn("send money", push={"url": host.url})
        first = await mock.client.post("/", json=body)
        again = await mock.client.post("/", json=body)
        assert again.content == first.content
        await notifier.drain(60)
        assert len(host.posted) == 3


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://LOCALHOST.:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
        "http://inside.example:{port}/",
        "http://nowhere.invalid:{port}/",
        "http://user:pass@example.com:{port}/",
        "ftp://example.com:{port}/",
    ],
)
async def test_refused_url_runs_nothing(
    serving: "Serving", callback_host: "Hosting", url: str
) -> None:
    machine = Resolver()

    async def resolve(name: str) -> tuple[Address, ...]:
        return (ip_address("10.1.2.3"),) if name == "inside.example" else await machine(name)

    async with callback_host() as host, pushing(serving, UrlPolicy(), resolve) as (mock, _):
        task = await answer(mock.client, turn("send money"))
        config = {"url": url.format(port=host.port)}
        refused = [
            await error(mock.client, turn("Joe", "m2", push=config)),
            await error(mock.client, turn("Joe", "m2", push=config, method="message/stream")),
            await error(
                mock.client,
                request(
                    "tasks/pushNotificationConfig/set",
                    taskId=task.id,
                    pushNotificationConfig=config,
                ),
            ),
        ]
        assert {(one.code, one.message) for one in refused} == {(-32602, refused[0].message)}
        assert not re.search(r"\d|localhost|resol", refused[0].message or "")
        assert told(await answer(mock.client, turn("Joe", "m2"))) == ("completed", "Sent to Joe.")
        assert host.posted == []


REFERENCE = [("input-required", MONEY), ("completed", "Sent to Joe.")]


async def converse(mock: "Mock", url: str, context: str = "c1") -> list[tuple[str, str]]:
    """Two turns of a conversation whose tasks are to be posted to `url`."""
    answers: list[tuple[str, str]] = []
    for number, text in enumerate(("send money", "Joe")):
        body = turn(text, f"m{number}", context=context, push={"url": url})
        answers.append(told(await answer(mock.client, body)))
    return answers


@pytest.mark.req("PUSH-4", "PUSH-6")
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(None, id="hangs"),
        pytest.param(
            b"HTTP/1.1 307 Temporary Redirect\r\nlocation: {other}/elsewhere\r\n"
            b"content-length: 0\r\n\r\n",
            id="redirects",
        ),
        pytest.param(b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n", id="fails"),
        pytest.param(b"", id="hangs up"),
        pytest.param(b"\x00\xff\r\n\r\n", id="talks nonsense"),
    ],
)
async def test_bad_callback_changes_no_turn_and_delays_no_other(
    serving: "Serving", callback_host: "Hosting", reply: bytes | None
) -> None:
    async with (
        callback_host() as host,
        callback_host() as other,
        pushing(serving) as (mock, notifier),
    ):
        host.replies["/bad"] = reply and reply.replace(b"{other}", other.url.encode())
        assert await converse(mock, f"{host.url}/bad") == REFERENCE
        assert await converse(mock, f"{host.url}/good", "c2") == REFERENCE
        assert await converse(mock, f"{other.url}/good", "c3") == REFERENCE
        # Two tasks of three transitions each: no retry, and a lane waits for its first post.
        expected = {"POST /good HTTP/1.1": 6, "POST /bad HTTP/1.1": 2 if reply is None else 6}
        await host.wait_for(sum(expected.values()))
        await notifier.drain(0.2 if reply is None else 60)
        assert Counter(one.line for one in host.posted) == expected
        assert Counter(one.line for one in other.posted) == {"POST /good HTTP/1.1": 6}


MORTAL = """
import socket
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    print(connection.recv(100_000)[:4].decode(), flush=True)
    listener.accept()
"""


@pytest.fixture
def mortal_host() -> Generator["subprocess.Popen[str]"]:
    """A callback host in a process of its own, that reads and never answers."""
    line = [sys.executable, "-c", MORTAL]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as host:
        yield host
        host.kill()


@pytest.mark.req("PUSH-4", "PUSH-6")
async def test_killed_callback_host_changes_no_turn(
    serving: "Serving",
    callback_host: "Hosting",
    mortal_host: "subprocess.Popen[str]",
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert mortal_host.stdout
    port = await asyncio.to_thread(mortal_host.stdout.readline)
    url = f"http://127.0.0.1:{port.strip()}/"
    async with callback_host() as other, pushing(serving) as (mock, notifier):
        slow = turn("check the account", context="c9", push={"url": url}, blocking=False)
        begun = await answer(mock.client, slow)
        assert await asyncio.to_thread(mortal_host.stdout.readline) == "POST\n"
        mortal_host.send_signal(signal.SIGKILL)
        assert await converse(mock, url) == REFERENCE
        assert await converse(mock, other.url, "c2") == REFERENCE
        mock.let_go.set()
        await notifier.drain(60)
        assert len(other.posted) == 6
        done = await answer(mock.client, request("tasks/get", id=begun.id))
        assert told(done) == ("completed", "All is well.")
    assert caplog.text.count("a2a_server.push.failed") == 9


@pytest.mark.req("PUSH-3", "PUSH-5", "PUSH-6")
async def test_name_that_comes_to_mean_this_machine_is_not_posted_to(
    serving: "Serving", callback_host: "Hosting", caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    async def resolve(name: str) -> tuple[Address, ...]:
        """Public when it is registered, local when it is posted to."""
        asked.append(name)
        is_registration = asked.count(name) == 1
        return (ip_address("8.8.8.8" if is_registration else "127.0.0.1"),)

    async with callback_host() as host, pushing(serving, UrlPolicy(), resolve) as (mock, notifier):
        url = f"http://rebound.example:{host.port}/"
        body = turn("send money", push={"url": url})
        assert told(await answer(mock.client, body)) == REFERENCE[0]
        await notifier.drain(60)
        assert host.posted == []
    assert caplog.text.count("refused: loopback address") == 3


@pytest.mark.req("PUSH-3", "PUSH-6")
async def test_slow_resolver_holds_up_nobody_else(
    serving: "Serving", callback_host: "Hosting"
) -> None:
    answered: set[str] = set()

    async def resolve(name: str) -> tuple[Address, ...]:
        if name == "slow.example" and name in answered:
            await asyncio.Event().wait()
        answered.add(name)
        return (ip_address("127.0.0.1"),)

    async with callback_host() as host, pushing(serving, LOCAL, resolve) as (mock, notifier):
        slow = turn("send money", push={"url": f"http://slow.example:{host.port}/"})
        assert told(await answer(mock.client, slow)) == REFERENCE[0]
        assert await converse(mock, f"http://fast.example:{host.port}/", "c2") == REFERENCE
        posted = await host.wait_for(6)
        assert {one.headers["host"].partition(":")[0] for one in posted} == {"fast.example"}
        await notifier.drain(0)


PUSH_ON = """
a2a_server:
  description: A small bank
  push_notifications_enabled: true
"""


@pytest.mark.req("PUSH-5", "PUSH-2")
async def test_command_opens_this_machine_aloud(
    run_mock: "RunMock", project: Path, callback_host: "Hosting", secret: "Secret"
) -> None:
    (project / "endpoints.yml").write_text(PUSH_ON)
    async with callback_host() as host:
        config = {
            "url": f"http://localhost:{host.port}/hook",
            "token": secret("token-0c55d1"),
            "authentication": {"schemes": ["Bearer"], "credentials": secret("cred-0f1d44")},
        }
        flags = ("--allow-local-push", "--push-authorization", "off")
        with run_mock(project, *flags) as mock:
            async with httpx.AsyncClient(base_url=mock.url, timeout=60) as client:
                assert told(await answer(client, turn("send money", push=config))) == REFERENCE[0]
            posted = await host.wait_for(3)
            assert states_in(posted) == ["submitted", "working", "input-required"]
            assert posted[0].headers["x-a2a-notification-token"] == config["token"]
            assert "authorization" not in posted[0].headers
            status, log = await asyncio.to_thread(mock.stop)
            assert status == 0
            assert "--allow-local-push" in log


@pytest.mark.req("PUSH-3", "PUSH-5")
async def test_command_refuses_this_machine_without_the_flag(
    run_mock: "RunMock", project: Path, callback_host: "Hosting"
) -> None:
    (project / "endpoints.yml").write_text(PUSH_ON)
    async with callback_host() as host:
        with run_mock(project) as mock:
            async with httpx.AsyncClient(base_url=mock.url, timeout=60) as client:
                body = turn("send money", push={"url": f"http://localhost:{host.port}/"})
                assert (await error(client, body)).code == -32602
                assert told(await answer(client, turn("send money"))) == REFERENCE[0]
        assert host.posted == []


@pytest.mark.req("PUSH-6")
async def test_what_is_pending_is_posted_before_the_end(
    run_mock: "RunMock", project: Path, callback_host: "Hosting"
) -> None:
    (project / "endpoints.yml").write_text(PUSH_ON)
    async with callback_host() as host:
        with run_mock(project, "--allow-local-push") as mock:
            async with httpx.AsyncClient(base_url=mock.url, timeout=60) as client:
                body = turn("check the account", push={"url": host.url}, blocking=False)
                await answer(client, body)
                await host.wait_for(1)
            status, _ = await asyncio.to_thread(mock.stop)
            assert status == 0
        assert states_in(host.posted) == ["submitted", "working", "completed"]
