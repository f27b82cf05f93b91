"""The project's action server over HTTP, at its URL or as a child process (flows.md §8)."""

import asyncio
import json
import os
import signal
import socket
import ssl
import sys
from asyncio.subprocess import PIPE
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
from structlog.stdlib import get_logger

from mock_server.actions import child
from mock_server.actions.webhook import (
    ActionCall,
    Domain,
    describe_domain,
    encode_call,
    failed,
    read_reply,
)
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionResult, ActionServer
from mock_server.errors import ActionServerFailed

DOMAIN_IS_MISSING = 449
JSON_BODY = {"Content-Type": "application/json"}
LONGEST_REASON = 200

START_SECONDS = 60.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.1
STDERR = 2
logger = get_logger("a2a_server")


class ActionClient:
    """The action server at `url`, its `/webhook`; use as long as `http` is open."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self._described: tuple[Assistant, Domain] | None = None
        self._known_digest = ""

    async def perform(self, call: ActionCall) -> ActionResult:
        """Run the action there; whatever goes wrong is a failure of the action."""
        domain = self._domain(call.assistant)
        with_domain = domain.digest != self._known_digest
        try:
            response = await self._post(call, domain, with_domain=with_domain)
            if response.status_code == DOMAIN_IS_MISSING and not with_domain:
                response = await self._post(call, domain, with_domain=True)
        except httpx.HTTPError as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return failed(call.name, f"{self._url} is unavailable: {reason}")
        if response.status_code != HTTPStatus.OK:
            return failed(call.name, _reason(response))
        self._known_digest = domain.digest
        outcome = read_reply(call.name, call.assistant, _json(response))
        return outcome or failed(call.name, f"{self._url} sent no object with events and responses")

    def _domain(self, assistant: Assistant) -> Domain:
        if self._described is None or self._described[0] is not assistant:
            self._described = (assistant, describe_domain(assistant))
        return self._described[1]

    async def _post(self, call: ActionCall, domain: Domain, *, with_domain: bool) -> httpx.Response:
        body = encode_call(call, domain, with_domain=with_domain)
        # Escaped: what a user sends may hold half of a surrogate pair, which UTF-8 has not.
        return await self._http.post(self._url, content=json.dumps(body), headers=JSON_BODY)


def open_http(timeout_seconds: float, cafile: str | None = None) -> httpx.AsyncClient:
    """A client that trusts `cafile` alone, where one is given."""
    verify = ssl.create_default_context(cafile=cafile) if cafile else True
    return httpx.AsyncClient(timeout=timeout_seconds, verify=verify, trust_env=False)


def _reason(response: httpx.Response) -> str:
    """The status, and the `error` that the SDK's replies have."""
    body = _json(response)
    error = body.get("error") if isinstance(body, dict) else None
    said = f": {error[:LONGEST_REASON]}" if isinstance(error, str) and error else ""
    return f"the action server replied {response.status_code}{said}"


def _json(response: httpx.Response) -> Json:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


class ChildServer:
    """Starts, health-checks, restarts and stops the process; performs actions in it.

    The process ends with ours, however ours ends (`child`).

    Its output goes to our stderr, where a developer looks for a `print` or a traceback.
    """

    def __init__(self, server: ActionServer, http: httpx.AsyncClient) -> None:
        self._server = server
        self._http = http
        self._process: asyncio.subprocess.Process | None = None
        self._client: ActionClient | None = None
        self._changing = asyncio.Lock()

    async def perform(self, call: ActionCall) -> ActionResult:
        """Run the action in the child; one that has died is started again."""
        try:
            await self._revive()
        except ActionServerFailed as error:
            return failed(call.name, str(error))
        assert self._client
        return await self._client.perform(call)

    async def restart(self) -> None:
        """Let a new process take over from the one that runs, if one does.

        Raises:
            ActionServerFailed: the new one does not come up; the old one stays.
        """
        async with self._changing:
            await self._replace()

    async def stop(self) -> None:
        if self._process is not None:
            await _stop(self._process)

    @property
    def _is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _revive(self) -> None:
        """Start a process if none runs; of several actions that find it dead, one does so."""
        if self._is_running:
            return  # at once, also while a restart makes the next one
        async with self._changing:
            if not self._is_running:
                await self._replace()

    async def _replace(self) -> None:
        old = self._process
        with _held_port() as port:
            self._process = await self._start(port)
        self._client = ActionClient(self._http, f"http://127.0.0.1:{port}/webhook")
        if old is not None:
            await _stop(old)

    async def _start(self, port: int) -> asyncio.subprocess.Process:
        server = self._server
        try:
            process = await asyncio.create_subprocess_exec(
                *_command_line(server, port),
                cwd=server.folder,
                stdin=PIPE,
                stdout=STDERR,
                stderr=STDERR,
                start_new_session=True,
            )
        except OSError as error:
            raise ActionServerFailed(f"{server.python} cannot be run: {error.strerror}") from error
        try:
            await self._wait_until_healthy(process, port)
        except BaseException:
            await _stop(process)
            raise
        logger.info("a2a_mock.action_server.started", port=port, folder=Path(server.folder).name)
        return process

    async def _wait_until_healthy(self, process: asyncio.subprocess.Process, port: int) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                while not await self._is_healthy(port):
                    if process.returncode is not None:
                        raise ActionServerFailed(
                            f"the action server has ended with {process.returncode}; its output "
                            f"says why. Has {self._server.python} the package rasa-sdk?"
                        )
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            text = f"the action server did not come up within {START_SECONDS:g} seconds"
            raise ActionServerFailed(text) from error

    async def _is_healthy(self, port: int) -> bool:
        try:
            reply = await self._http.get(f"http://127.0.0.1:{port}/health")
        except httpx.TransportError:
            return False
        return reply.is_success


def _command_line(server: ActionServer, port: int) -> list[str]:
    # A script would put its own folder, where our modules are, before the project's.
    started = f"import runpy; runpy.run_path({child.__file__!r}, run_name='__main__')"
    return [server.python, "-c", started, "--actions", server.module, "--port", str(port)]


@contextmanager
def _held_port() -> Generator[int]:
    """A free port; on Linux nobody else gets it meanwhile, and whoever asks for it may listen."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        if sys.platform != "linux":
            holder.close()
        yield port


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the process and, where it hangs, those it has started: a session of their own."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
