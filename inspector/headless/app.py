"""`a2a-inspect [TARGET]`: the terminal app."""

import argparse
import sys

from inspector.core.sessions import find_session
from inspector.core.slot_domain import read_slot_domain
from inspector.core.target import parse_target
from inspector.errors import UsageError
from inspector.folders import sessions_folder
from inspector.headless.connection_flags import connection_of
from inspector.headless.targets import use_saved_target
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
    connection = connection_of(arguments)
    session = (
        None if arguments.session is None else find_session(sessions_folder(), arguments.session)
    )

    def resolve(target: str, is_recorded: bool) -> tuple[str, Connection]:
        if target == arguments.target:
            return target, connection
        named = argparse.Namespace(**{**vars(arguments), "target": target})
        use_saved_target(named, arguments.connection_defaults, by_address=is_recorded)
        return named.target, connection_of(named)

    from inspector.tui.app import run as run_app

    return run_app(arguments.target, connection, session, arguments.project, resolve)
