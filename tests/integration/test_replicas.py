"""`a2a-mock replicas`: two replicas behind HAProxy, and what each routing does to an orchestrator.

Round robin takes requests in turn, so which replica a request meets is known: it alternates.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from mock_server.errors import StartError
from mock_server.replicas import find_haproxy

if TYPE_CHECKING:
    from tests.conftest import WriteAssistant

Json = dict[str, Any]

FILES = {
    "endpoints.yml": "a2a_server: {description: A bank, push_notifications_enabled: true}\n",
    "mock.yml": "actions:\n  action_check: {delay_seconds: 60}\n",
}
COOKIE = "a2a-context-id={}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax"
CONTEXT_HEADER = "X-A2A-Context-Id"
TASK_NOT_FOUND = -32001
# So many dialogues do not all meet the same of two replicas by chance.
DIALOGUES = range(8)
numbers = count()


@dataclass(frozen=True, slots=True)
class Router:
    """A running `a2a-mock replicas`."""

    process: "subprocess.Popen[str]"
    url: str
    replica_urls: tuple[str, ...]
    replica_pids: tuple[int, ...]


@pytest.fixture(scope="module")
def project(
    tmp_path_factory: pytest.TempPathFactory,
    write_small_bank: "WriteAssistant",
) -> Path:
    try:
        find_haproxy()
    except StartError as reason:
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("bank")
    write_small_bank(folder, FILES)
    return folder


@contextmanager
def routing(project: Path, *flags: str) -> Generator[Router]:
    line = [sys.executable, "-m", "mock_server", "replicas", str(project), "--port", "0", *flags]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    with process:
        try:
            ready = process.stdout.readline()
            replicas = [process.stdout.readline() for _ in range(2)]
            found = [re.fullmatch(r"replica \d: (\S+) pid=(\d+)\n", line) for line in replicas]
            assert all(found), ready
            urls = tuple(match[1] for match in found if match)
            pids = tuple(int(match[2]) for match in found if match)
            yield Router(process, ready.split()[1], urls, pids)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def sticky(project: Path) -> Iterator[Router]:
    with routing(project, "--allow-local-push") as router:
        yield router


@pytest.fixture(scope="module")
def in_turn(project: Path) -> Iterator[Router]:
    with routing(project, "--allow-local-push", "--routing", "round-robin") as router:
        yield router


@pytest.fixture
def client(sticky: Router) -> Iterator[httpx.Client]:
    """Of the sticky router; it keeps no cookies unless a test gives it some."""
    with httpx.Client(base_url=sticky.url, timeout=60) as client:
        yield client


@pytest.fixture
def turning(in_turn: Router) -> Iterator[httpx.Client]:
    """Of the router that takes replicas in turn."""
    with httpx.Client(base_url=in_turn.url, timeout=60) as client:
        yield client


def call(client: httpx.Client, method: str, params: Json, headers: Json | None = None) -> Json:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = client.post("/", json=body, headers=headers).json()
    client.cookies.clear()
    return answer


def message(text: str, context_id: str | None) -> Json:
    context = {"contextId": context_id} if context_id else {}
    parts = [{"kind": "text", "text": text}]
    return {"messageId": f"m{next(numbers)}", "role": "user", "parts": parts, **context}


def send(client: httpx.Client, text: str, context_id: str | None = None, **more: Any) -> Json:
    return call(client, "message/send", {"message": message(text, context_id), **more})["result"]


def begin(client: httpx.Client, context_id: str) -> str:
    """Begin work that lasts, and return its task's id."""
    return send(client, "check the account", context_id, configuration={"blocking": False})["id"]


def said(task: Json) -> str:
    parts = task["status"]["message"]["parts"]
    return parts[0].get("text", "")


def contexts_of(url: str) -> set[str]:
    listed = httpx.get(f"{url}__admin/contexts", params={"limit": 1000}).json()["contexts"]
    return {context["context"] for context in listed}


@pytest.mark.req("STICKY-1")
def test_sticky_keeps_a_dialogue_together(client: httpx.Client) -> None:
    for number in DIALOGUES:
        context_id = f"together-{number}"
        assert said(send(client, "send money", context_id)) == "To whom?"
        assert said(send(client, "Joe", context_id)) == "Sent to Joe."


@pytest.mark.req("STICKY-1")
def test_sticky_uses_every_replica(client: httpx.Client, sticky: Router) -> None:
    begun = {f"spread-{number}" for number in range(16)}
    for context_id in begun:
        send(client, "send money", context_id)
    first, second = map(contexts_of, sticky.replica_urls)
    assert begun <= first ^ second
    assert begun & first
    assert begun & second


@pytest.mark.req("STICKY-1")
def test_sticky_keeps_a_context_that_the_server_made(client: httpx.Client) -> None:
    for _ in DIALOGUES:
        asked = send(client, "send money")
        assert said(send(client, "Joe", asked["contextId"])) == "Sent to Joe."


@pytest.mark.req("STICKY-1")
def test_sticky_keeps_a_context_that_a_stream_made(client: httpx.Client) -> None:
    for _ in DIALOGUES:
        params = {"message": message("send money", None)}
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params}
        stream = client.post("/", json=body)
        client.cookies.clear()
        made = re.search(r'"contextId":"([^"]+)"', stream.text)
        assert made
        assert stream.headers["set-cookie"] == COOKIE.format(made[1])
        assert said(send(client, "Joe", made[1])) == "Sent to Joe."


@pytest.mark.req("STICKY-1", "TURN-5")
def test_sticky_replays_a_repeated_message(client: httpx.Client) -> None:
    for number in DIALOGUES:
        repeated = {"message": message("send money", f"repeated-{number}")}
        first, second = (call(client, "message/send", repeated)["result"] for _ in range(2))
        assert first["id"] == second["id"]


@pytest.mark.req("STICKY-1", "TURN-10")
def test_sticky_finds_the_cancel_by_header(client: httpx.Client) -> None:
    for number in DIALOGUES:
        context_id = f"by-header-{number}"
        params = {"id": begin(client, context_id)}
        canceled = call(client, "tasks/cancel", params, {CONTEXT_HEADER: context_id})
        assert canceled["result"]["status"]["state"] == "canceled"


@pytest.mark.req("STICKY-1", "TURN-10")
def test_sticky_finds_the_cancel_by_cookie(client: httpx.Client) -> None:
    for number in DIALOGUES:
        context_id = f"by cookie/{number}"
        params = {"message": message("check the account", context_id)}
        params["configuration"] = {"blocking": False}
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}
        begun = client.post("/", json=body)
        assert dict(begun.cookies) == dict(client.cookies) != {}
        canceled = call(client, "tasks/cancel", {"id": begun.json()["result"]["id"]})
        assert canceled["result"]["status"]["state"] == "canceled"


@pytest.mark.req("STICKY-1")
def test_body_outranks_header_and_header_outranks_cookie(client: httpx.Client) -> None:
    for number in DIALOGUES:
        mine, other = f"mine-{number}", f"other-{number * 7}"
        params = {"message": message("check the account", mine)}
        params["configuration"] = {"blocking": False}
        begun = call(client, "message/send", params, {CONTEXT_HEADER: other})["result"]
        assert begun["contextId"] == mine
        headers = {CONTEXT_HEADER: mine, "Cookie": f"a2a-context-id={other}"}
        canceled = call(client, "tasks/cancel", {"id": begun["id"]}, headers)
        assert canceled["result"]["status"]["state"] == "canceled"


@pytest.mark.req("STICKY-1")
@pytest.mark.parametrize(
    ("context_id", "written"),
    [
        ("c1", "c1"),
        ("a b;c", "a%20b%3Bc"),
        ("x\r\nSet-Cookie: y=1", "x%0D%0ASet-Cookie%3A%20y%3D1"),
    ],
)
def test_cookie_names_the_context_and_nothing_else(
    client: httpx.Client, context_id: str, written: str
) -> None:
    params = {"message": message("send money", context_id)}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}
    answer = client.post("/", json=body)
    assert answer.headers.get_list("set-cookie") == [COOKIE.format(written)]


@pytest.mark.req("STICKY-1", "PUSH-1")
def test_sticky_finds_a_push_configuration(client: httpx.Client) -> None:
    for number in DIALOGUES:
        context_id = f"pushed-{number}"
        task_id = send(client, "send money", context_id)["id"]
        config = {"taskId": task_id, "pushNotificationConfig": {"url": "http://127.0.0.1:9/"}}
        headers = {CONTEXT_HEADER: context_id}
        assert "result" in call(client, "tasks/pushNotificationConfig/set", config, headers)
        found = call(client, "tasks/pushNotificationConfig/get", {"id": task_id}, headers)
        assert found["result"]["pushNotificationConfig"]["url"] == "http://127.0.0.1:9/"


@pytest.mark.req("STICKY-1", "CARD-5")
def test_card_gives_the_router(client: httpx.Client, sticky: Router) -> None:
    card = client.get("/.well-known/agent-card.json")
    assert card.json()["url"] == sticky.url
    assert "set-cookie" not in card.headers


@pytest.mark.req("STICKY-1")
def test_cookie_is_set_where_a_method_is_called_only(client: httpx.Client) -> None:
    headers = {CONTEXT_HEADER: "kept", "Cookie": "a2a-context-id=kept"}
    assert "set-cookie" not in client.get("/.well-known/agent-card.json", headers=headers).headers
    assert "set-cookie" not in client.get("/status", headers=headers).headers


@pytest.mark.req("STICKY-1")
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\nexit 3\n", "ended with status 3 before it routed anything"),
        ("no program", "cannot be run: Exec format error"),
    ],
)
def test_router_that_does_not_start_is_reported_in_a_line(
    project: Path, tmp_path: Path, program: str, reason: str
) -> None:
    haproxy = tmp_path / "haproxy"
    haproxy.write_text(program)
    haproxy.chmod(0o755)
    line = [sys.executable, "-m", "mock_server", "replicas", str(project), "--port", "0"]
    line += ["--haproxy", str(haproxy)]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"{haproxy} {reason}")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.req("STICKY-1")
def test_round_robin_begins_a_dialogue_anew(turning: httpx.Client) -> None:
    assert said(send(turning, "send money", "fresh")) == "To whom?"
    answer = send(turning, "Joe", "fresh")
    assert "Joe" not in said(answer)
    assert answer["status"]["message"]["parts"][-1]["data"]["slots"] == {}


@pytest.mark.req("STICKY-1")
def test_round_robin_runs_a_repeated_message_again(turning: httpx.Client) -> None:
    repeated = {"message": message("send money", "again")}
    first, second = (call(turning, "message/send", repeated)["result"] for _ in range(2))
    assert first["id"] != second["id"]


@pytest.mark.req("STICKY-1")
def test_round_robin_misses_the_cancel(turning: httpx.Client) -> None:
    task_id = begin(turning, "missed")
    missed = call(turning, "tasks/cancel", {"id": task_id}, {CONTEXT_HEADER: "missed"})
    assert missed["error"]["code"] == TASK_NOT_FOUND
    still = call(turning, "tasks/get", {"id": task_id})
    assert still["result"]["status"]["state"] == "working"
    call(turning, "tasks/get", {"id": task_id})
    assert "result" in call(turning, "tasks/cancel", {"id": task_id})


@pytest.mark.req("STICKY-1")
def test_round_robin_loses_a_push_configuration(turning: httpx.Client) -> None:
    task_id = send(turning, "send money", "lost")["id"]
    config = {"taskId": task_id, "pushNotificationConfig": {"url": "http://127.0.0.1:9/"}}
    elsewhere = call(turning, "tasks/pushNotificationConfig/set", config)
    assert elsewhere["error"]["code"] == TASK_NOT_FOUND
    assert "result" in call(turning, "tasks/pushNotificationConfig/set", config)
    unseen = call(turning, "tasks/pushNotificationConfig/get", {"id": task_id})
    assert unseen["error"]["code"] == TASK_NOT_FOUND


@pytest.mark.req("STICKY-1")
def test_dead_replica_is_reported_and_the_others_stop_cleanly(project: Path) -> None:
    with routing(project) as router:
        assert router.process.stderr
        os.kill(router.replica_pids[1], signal.SIGKILL)
        report = router.process.stderr.readline()
        assert report == f"replica 2 at {router.replica_urls[1]} ended: status -9\n"
        with httpx.Client(base_url=router.url, timeout=60) as client:
            for number in DIALOGUES:
                assert said(send(client, "send money", f"alone-{number}")) == "To whom?"
        router.process.send_signal(signal.SIGINT)
        _, log = router.process.communicate(timeout=60)
    assert router.process.returncode == 0
    assert [line for line in log.splitlines() if " a2a_mock.turn.ended " not in line] == []
    for url in (router.url, router.replica_urls[0]):
        with pytest.raises(httpx.ConnectError):
            httpx.get(url + "status")


@pytest.mark.req("STICKY-1")
def test_end_of_the_last_replica_ends_the_command(project: Path) -> None:
    with routing(project) as router:
        for pid in router.replica_pids:
            os.kill(pid, signal.SIGKILL)
        _, log = router.process.communicate(timeout=60)
    assert router.process.returncode == 1
    assert log.splitlines()[-1] == "no replica is left"


def test_problems_of_the_project_are_listed_once(project: Path, tmp_path: Path) -> None:
    (tmp_path / "endpoints.yml").write_text("a2a_server: {}\n")
    line = [sys.executable, "-m", "mock_server", "replicas", str(project), "--port", "0"]
    line += ["--endpoints", str(tmp_path / "endpoints.yml")]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stdout == ""
    described = [line for line in ended.stderr.splitlines() if "description" in line]
    assert len(described) == 1
    assert ended.stderr.splitlines()[-1] == "replica 1 did not start: status 2"


def test_port_in_use_is_one_line_and_status_2(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = [sys.executable, "-m", "mock_server", "replicas", str(project), "--port", str(port)]
        ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert re.fullmatch(rf"port {port} on '127.0.0.1' is unavailable: .*--port .*\n", ended.stderr)
