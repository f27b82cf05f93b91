"""The project's own action server as a child process: `python -m rasa_sdk --actions actions`."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
from structlog.stdlib import get_logger

from mock_server.actions import leash
from mock_server.actions.client import ActionClient
from mock_server.actions.webhook import ActionCall, failed
from mock_server.dialogue.action_server import ActionServer
from mock_server.dialogue.outcome import ActionResult
from mock_server.errors import ActionServerFailed

START_SECONDS = 60.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.1
STDERR = 2

logger = get_logger("a2a_server")


class ChildServer:
    """Starts, health-checks, restarts and stops the process; performs actions in it.

    The process ends with ours, however ours ends (`leash`).

    Its output goes to our stderr: that is where a developer looks for a `print` or a traceback.
    """

    def __init__(self, server: ActionServer, http: httpx.AsyncClient) -> None:
        self._server = server
        self._http = http
        self._process: asyncio.subprocess.Process | None = None
        self._client: ActionClient | None = None
        self._changing = asyncio.Lock()

    async def perform(self, call: ActionCall) -> ActionResult:
        """Run the action in the child; one that has died is started again."""
        if self._process is None or self._process.returncode is not None:
            try:
                await self.restart()
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
            old = self._process
            with _held_port() as port:
                self._process = await self._start(port)
            self._client = ActionClient(self._http, f"http://127.0.0.1:{port}/webhook")
            if old is not None:
                await _stop(old)

    async def stop(self) -> None:
        if self._process is not None:
            await _stop(self._process)

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
    leashed = f"import runpy; runpy.run_path({leash.__file__!r}, run_name='__main__')"
    return [server.python, "-c", leashed, "--actions", server.module, "--port", str(port)]


@contextmanager
def _held_port() -> Generator[int]:
    """A free port; on Linux nobody else is given it meanwhile, and who asks for it may listen."""
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
