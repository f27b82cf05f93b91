"""`a2a-inspect [TARGET]`: the terminal app."""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from inspector.core.credentials import read_variable
from inspector.core.project import read_slot_domain
from inspector.core.saved.session_store import find_session
from inspector.core.target import parse_target
from inspector.errors import UsageError
from inspector.folders import sessions_folder
from inspector.headless.connection_flags import connection_of
from inspector.headless.targets import use_saved_target
from inspector.headless.terminal import print_aside
from inspector.settings import Connection


def run(arguments: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the app needs a terminal",
            "a2a-inspect send TARGET TEXT, or a2a-inspect --help for the other commands",
        )
    if arguments.target is not None:
        parse_target(arguments.target)
    if arguments.project is not None:
        read_slot_domain(arguments.project)
    connection = _with_mock(connection_of(arguments), arguments)
    session = (
        None if arguments.session is None else find_session(sessions_folder(), arguments.session)
    )

    def resolve(target: str, is_recorded: bool) -> tuple[str, Connection]:
        if target == arguments.target:
            return target, connection
        named = argparse.Namespace(**{**vars(arguments), "target": target})
        use_saved_target(named, arguments.read_connection, by_address=is_recorded)
        return named.target, _with_mock(connection_of(named), arguments)

    from inspector.tui.app import run as run_app

    status = run_app(arguments.target, connection, session, arguments.project, resolve)
    # what a terminal that has gone did not take must not fail once more at the exit
    print_aside()
    return status


def _with_mock(connection: Connection, arguments: argparse.Namespace) -> Connection:
    """The folder whose saves replay the conversation, and what lets in to a mock elsewhere.

    Raises:
        UsageError: there is no such folder, or the variable is not set.
    """
    token = ""
    if arguments.admin_token_env is not None:
        token = read_variable("--admin-token-env", arguments.admin_token_env, os.environ)
    watched: Path | None = arguments.watch or arguments.project
    if arguments.watch is not None and not arguments.watch.is_dir():
        raise UsageError(f"--watch {arguments.watch} is no folder")
    if watched is None and arguments.target is not None and Path(arguments.target).is_dir():
        watched = Path(arguments.target)
    return replace(connection, admin_token=token, watched=watched)
