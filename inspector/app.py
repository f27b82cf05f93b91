"""The commands that open the terminal app: `a2a-inspect [TARGET]` and `a2a-inspect demo`."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType

from inspector.core.credentials import read_variable
from inspector.core.project import read_slot_domain
from inspector.core.saved.session_store import find_session
from inspector.core.target import authenticated, parse_target
from inspector.demo import serve_bank
from inspector.errors import UsageError
from inspector.folders import sessions_folder
from inspector.headless.connection import connection_of
from inspector.headless.options import AppOptions, DemoOptions
from inspector.headless.targets import resolve_target
from inspector.headless.terminal import print_aside
from inspector.settings import Connection

SIGNAL_EXIT = 128


def run(options: AppOptions | DemoOptions) -> int:
    return _run_app(options) if isinstance(options, AppOptions) else _run_demo()


def _run_app(options: AppOptions) -> int:
    if not _has_terminal():
        raise UsageError(
            "the app needs a terminal",
            "a2a-inspect send TARGET TEXT, or a2a-inspect --help for the other commands",
        )
    if options.project is not None:
        read_slot_domain(options.project)
    connection = _with_mock(connection_of(options.connection), options)
    if options.target is not None:
        # what is wrong is told here rather than on the screen that asks for a target
        authenticated(connection, parse_target(options.target))
    session = None if options.session is None else find_session(sessions_folder(), options.session)

    def resolve(target: str, is_recorded: bool) -> tuple[str, Connection]:
        if target == options.target:
            return target, connection
        address, named = resolve_target(target, options.connection, by_address=is_recorded)
        return address, _with_mock(connection_of(named), options)

    from inspector.tui.app import run as run_app

    status = run_app(options.target, connection, session, options.project, resolve)
    # output that a closed terminal did not take must not fail again at exit
    print_aside()
    return status


def _with_mock(connection: Connection, options: AppOptions) -> Connection:
    """Return `connection` with the folder to watch and the token for a mock's admin API.

    Raises:
        UsageError: there is no such folder, or the variable is not set.
    """
    token = ""
    if options.admin_token_env is not None:
        token = read_variable("--admin-token-env", options.admin_token_env, os.environ)
    watched: Path | None = options.watch or options.project
    if options.watch is not None and not options.watch.is_dir():
        raise UsageError(f"--watch {options.watch} is not a folder")
    if watched is None and options.target is not None and os.path.isdir(options.target):
        watched = Path(options.target)
    return replace(connection, admin_token=token, watched=watched)


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


# Demo


def _run_demo() -> int:
    # a closed terminal or SIGTERM must stop the agent too
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    with serve_bank() as url:
        if _has_terminal():
            from inspector.tui.app import run as run_app

            return run_app(url, Connection())
        return asyncio.run(_guide(url))


def _leave(number: int, _: FrameType | None) -> None:
    sys.exit(SIGNAL_EXIT + number)


async def _guide(url: str) -> int:
    """Walk the tour; a signal cancels it, because exiting inside a task leaves a traceback."""
    from inspector.headless.tour import tour

    walk = asyncio.ensure_future(tour(url))
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        walk.cancel()

    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        return await walk
    except asyncio.CancelledError:
        if not received:
            raise
        return SIGNAL_EXIT + received[0]
