"""The bank of the demonstration: the mock server as a process of its own, on a free port."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from inspector.errors import Unreachable

_READY = "ready: "


@asynccontextmanager
async def serve_bank() -> AsyncGenerator[str]:
    """Start the server and yield its URL; it ends with the context.

    Raises:
        Unreachable: the process ended before it was ready.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mock_server", "serve", "--port", "0"),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        if not line.startswith(_READY):
            raise Unreachable(
                f"the bank's server ended with status {await process.wait()}",
                "a2a-mock serve says why",
            )
        yield line.removeprefix(_READY).split()[0]
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
