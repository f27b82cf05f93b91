"""The mock on a real socket, with its pauses and its clock in the test's hand."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

import httpx
import pytest
from starlette.types import ASGIApp

from mock_server.actions.runner import ChunkStreamed, Paused, Progress, RunAction
from mock_server.card import agent_card
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.faults.fault import Fault
from mock_server.profiles import RASA, Profile
from mock_server.project.endpoints import A2AServer, A2AServerEntry, JwtAuth
from mock_server.project.load import Model, assemble
from mock_server.push.delivery import Delivery
from mock_server.push.notifier import Notifier
from mock_server.push.policy import Guard, Resolver, UrlPolicy
from mock_server.service.conversation import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.runtime import real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.web.admin import ModelSwitch
from mock_server.web.app import App, Page, Site, arm_faults, status, with_admin
from mock_server.web.http_server import Server, bind, port_of

if TYPE_CHECKING:
    from tests.conftest import Files, SuiteLog, WriteAssistant

# What the tests here add to the small assistant: a slow action, and one that streams.
MORE = {
    "domain/slow.yml": """
responses:
  utter_checked: [{text: "All is well."}]
actions: [action_check, action_explain]
""",
    "data/slow.yml": """
flows:
  check_account:
    description: check the account
    run_pattern_completed: false
    steps:
      - action: action_check
      - action: utter_checked
  explain_fees:
    description: explain the fees
    run_pattern_completed: false
    steps:
      - action: action_explain
""",
}
STUBS = """
actions:
  action_check: {delay_seconds: 1.5}
  action_explain: {stream: ["Your ", "fee."]}
"""


CHUNKS = ("Your ", "fee ", "is ", "2 %.")


def request(method: str, rpc_id: object = "r1", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}


def turn(
    text: str,
    message_id: str | None = None,
    method: str = "message/send",
    *,
    context: str | None = "c1",
    task: str | None = None,
    fields: Mapping[str, Any] | None = None,
    **params: Any,
) -> dict[str, Any]:
    """The request of a turn; `fields` are further ones of its message, `params` are beside it."""
    message_id = message_id or f"{context}: {text}"
    message = {"messageId": message_id, "role": "user", "parts": [{"kind": "text", "text": text}]}
    message |= {"taskId": task} if task else {"contextId": context} if context else {}
    return request(method, message={**message, **(fields or {})}, **params)


@dataclass
class Mock:
    """A running mock: `paused` is set while action_check waits for `let_go`.

    Its clock stands still, and its timers fire, when the test says so. `slept` are the pauses that
    faults made; none of them took any time.
    """

    request = staticmethod(request)
    turn = staticmethod(turn)

    url: str
    client: httpx.AsyncClient
    paused: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    clock_seconds: float = 0.0
    timers: list[tuple[float, Callable[[], None]]] = field(
        default_factory=list[tuple[float, Callable[[], None]]]
    )
    slept: list[float] = field(default_factory=list[float])

    @property
    def port(self) -> int:
        return httpx.URL(self.url).port or 0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.clock_seconds)

    def start_timer(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        timer = (self.clock_seconds + seconds, callback)
        self.timers.append(timer)
        return lambda: self.timers.remove(timer) if timer in self.timers else None

    def pass_time(self, seconds: float) -> None:
        """Let the clock go on and the timers fire that are due by then."""
        self.clock_seconds += seconds
        due = [timer for timer in self.timers if timer[0] <= self.clock_seconds]
        for timer in due:
            self.timers.remove(timer)
            timer[1]()

    async def sleep(self, _: float) -> None:
        self.paused.set()
        await self.let_go.wait()

    async def sleep_for_fault(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def post(self, body: object, headers: dict[str, str] | None = None) -> httpx.Response:
        return await self.client.post("/", json=body, headers=headers)

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What a method answers: its envelope."""
        return (await self.post(request(method, **params))).json()

    async def say(
        self, text: str, *ids: str, headers: dict[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        """Send a turn; the arguments are those of `turn`."""
        return await self.post(turn(text, *ids, **more), headers)

    async def send(self, text: str, *ids: str, **more: Any) -> dict[str, Any]:
        """The result of a turn."""
        return (await self.say(text, *ids, **more)).json()["result"]

    async def start(self, text: str, context: str = "c1") -> dict[str, Any]:
        """Begin a turn that pauses."""
        self.paused.clear()
        begun = await self.send(text, context=context, configuration={"blocking": False})
        await self.paused.wait()
        return begun

    async def get(self, task: dict[str, Any]) -> dict[str, Any]:
        """The task as it is now."""
        return (await self.call("tasks/get", id=task["id"]))["result"]

    async def wait(self, task: dict[str, Any]) -> None:
        """Wait until the task rests."""
        await self.post(request("tasks/resubscribe", id=task["id"]))

    async def arm(self, *faults: Mapping[str, Json]) -> list[str]:
        """Arm `faults` by the admin API and return their ids."""
        response = await self.client.post("/__admin/faults", json=[*faults])
        assert response.status_code == 201, response.text
        return [armed["id"] for armed in response.json()["faults"]]

    async def admin(self, path: str, /, **query: str | int) -> httpx.Response:
        """What a route of the admin API answers."""
        response = await self.client.get(f"/__admin/{path}", params=query)
        assert response.status_code == 200, response.text
        return response


def run_action(
    name: str,
    _: DialogueState,
    __: Tracker,
    chunks: Sequence[str] = ("Your ", "fee."),
    pause_seconds: float = 1,
) -> Iterator[Progress]:
    if name == "action_check":
        yield Paused(1)
    if name == "action_explain":
        for index, chunk in enumerate(chunks):
            if index and pause_seconds:
                yield Paused(pause_seconds)
            yield ChunkStreamed(chunk, is_first=index == 0, is_last=index == len(chunks) - 1)
    yield ActionResult()


class Limits(TypedDict, total=False):
    replay_seconds: float
    timeout_seconds: float
    max_contexts: int
    profile: Profile


Serving: TypeAlias = Callable[..., AbstractAsyncContextManager[Mock]]


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The loop that the mock serves on."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def small_bank(small_assistant: "Files") -> Assistant:
    """The assistant of nearly all tests here: one question, one slow action, one that streams."""
    return assemble({**small_assistant, **MORE})


@pytest.fixture
def serving(small_bank: Assistant) -> Serving:
    """Serve the small assistant; the keywords are those of `Site` and of the service."""
    return partial(_serving, small_bank)


@asynccontextmanager
async def _serving(
    assistant: Assistant,
    *,
    max_body_bytes: int = 100_000,
    ping_seconds: float = 15.0,
    auth: JwtAuth | None = None,
    run_action: RunAction = run_action,
    notifier: Notifier | None = None,
    **settings: Unpack[Limits],
) -> AsyncGenerator[Mock]:
    async with _client() as (mock, listener):
        keys = A2AServerEntry(push_notifications_enabled=notifier is not None)
        card = agent_card(assistant, A2AServer("A small bank", keys), mock.url)
        shown = status(Model("bank", "abc"))
        site = Site(Page(card), Page(shown), max_body_bytes, ping_seconds, auth)
        runtime = replace(
            real_runtime(),
            now=mock.now,
            sleep=mock.sleep,
            start_timer=mock.start_timer,
            elapsed_seconds=lambda: mock.clock_seconds,
        )
        agent = AgentVersion(assistant, run_action)
        async with (
            Service(agent, runtime, ServiceSettings(**settings), notifier) as service,
            _listening(App(service, site, runtime.now), mock, listener),
        ):
            yield mock


@pytest.fixture
def serving_with_admin(small_bank: Assistant) -> Serving:
    """Serve the small assistant with its admin API; pauses and chance are in the test's hand."""
    return partial(_serving_with_admin, small_bank)


@asynccontextmanager
async def _serving_with_admin(
    assistant: Assistant,
    *,
    faults: tuple[Fault, ...] = (),
    seed: int | None = 1,
    token: str | None = None,
    pushes: bool = False,
    profile: Profile = RASA,
) -> AsyncGenerator[Mock]:
    async with _client() as (mock, listener):
        card = agent_card(assistant, A2AServer("A small bank"), mock.url)
        # what a stream says here comes of turns, never of a ping
        site = Site(Page(card), Page({}), 100_000, ping_seconds=3600)
        runtime = replace(real_runtime(), sleep=mock.sleep)
        events = EventBus()
        armed = arm_faults(faults, seed, events)
        agent = AgentVersion(assistant, partial(run_action, chunks=CHUNKS, pause_seconds=0))
        guard = Guard(UrlPolicy(opens_loopback=True), Resolver())
        async with (
            Notifier(
                guard, Delivery(), tamper=armed.tamper, sleep=mock.sleep_for_fault
            ) as notifier,
            Service(
                agent,
                runtime,
                ServiceSettings(profile=profile),
                notifier if pushes else None,
                events,
            ) as service,
        ):
            app = with_admin(
                App(service, site, runtime.now),
                service,
                replace(runtime, sleep=mock.sleep_for_fault),
                armed,
                ModelSwitch(service.load, service.unload),
                max_body_bytes=site.max_body_bytes,
                token=token,
            )
            async with _listening(app, mock, listener):
                try:
                    yield mock
                finally:
                    service.reset()
                    events.close()


@asynccontextmanager
async def _client() -> AsyncGenerator[tuple[Mock, socket.socket]]:
    """A client, and the socket on which its mock is to listen."""
    with bind("127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{port_of(listener)}/"
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            yield Mock(url, client), listener


@asynccontextmanager
async def _listening(app: ASGIApp, mock: Mock, listener: socket.socket) -> AsyncGenerator[None]:
    ready = asyncio.Event()
    server = Server(app, ready.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await ready.wait()
    try:
        yield
    finally:
        mock.let_go.set()
        server.should_exit = True
        await serving


@pytest.fixture
async def mock(serving: Serving) -> AsyncGenerator[Mock]:
    """The small assistant, served as it is by default."""
    async with serving() as mock:
        yield mock


@pytest.fixture(scope="session")
def write_small_bank(write_assistant: "WriteAssistant") -> "WriteAssistant":
    """Write the assistant of the tests here into a folder, with more files."""
    return lambda folder, more: write_assistant(folder, {**MORE, **more})


@pytest.fixture
def project(tmp_path: Path, write_small_bank: "WriteAssistant") -> Path:
    write_small_bank(tmp_path, {"mock.yml": STUBS})
    return tmp_path


@dataclass
class Command:
    """A running `a2a-mock serve`; `ready` is the line that it printed, `log` what it writes."""

    turn = staticmethod(turn)

    process: "subprocess.Popen[str]"
    ready: str
    client: httpx.Client

    def send(self, text: str, *ids: str, **more: Any) -> dict[str, Any]:
        """The result of a turn."""
        return self.client.post("/", json=turn(text, *ids, **more)).json()["result"]

    @property
    def url(self) -> str:
        return self.ready.split()[1]

    @property
    def log(self) -> IO[str]:
        assert self.process.stderr
        return self.process.stderr

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit status and what it wrote to stderr."""
        self.process.send_signal(number)
        _, log = self.process.communicate(timeout=60)
        return self.process.returncode, log


RunMock: TypeAlias = Callable[..., AbstractContextManager[Command]]


@pytest.fixture
def run_mock(suite_log: "SuiteLog") -> RunMock:
    """Run the command itself on a free port; the arguments are those of `serve`."""
    return partial(_run_mock, suite_log)


@contextmanager
def _run_mock(suite_log: "SuiteLog", *arguments: str | Path) -> Generator[Command]:
    line = [sys.executable, "-m", "mock_server", "serve", "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        ready = process.stdout.readline()
        assert ready, process.communicate()
        with httpx.Client(base_url=ready.split()[1], timeout=60) as client:
            yield Command(process, ready, client)
    finally:
        process.kill()
        _, log = process.communicate()
        suite_log.lines += log.splitlines()
