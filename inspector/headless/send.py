"""`a2a-inspect send`: one message to an agent, and what comes of it."""

import argparse
import asyncio
import os

from inspector.core.commands import SendTurn, Turn
from inspector.core.credentials import fill_headers
from inspector.errors import UsageError
from inspector.headless.connect import open_link
from inspector.headless.connection_flags import connection_of
from inspector.headless.follow import follow
from inspector.headless.follow_ways import follow_ways
from inspector.headless.report import state_of
from inspector.headless.terminal import print_notice
from inspector.headless.turn_flags import read_turn
from inspector.headless.twice import send_twice
from inspector.views.text import plain_line
from inspector.wire.states import STATES, parse_state

EXIT_OK = 0
EXIT_UNEXPECTED = 1


def run(arguments: argparse.Namespace) -> int:
    # stdin is read before the loop runs, in which an interruption would wait for its end
    expected = _expected_state(arguments.expect_state)
    turn, secrets = fill_headers(read_turn(arguments), os.environ)
    return asyncio.run(_send(arguments, turn, secrets, expected))


async def _send(
    arguments: argparse.Namespace, turn: Turn, secrets: tuple[str, ...], expected: str | None
) -> int:
    async with open_link(arguments.target, connection_of(arguments)) as link:
        link.session.conceal(secrets)
        await link.connect()
        if arguments.twice:
            return await send_twice(link, turn, arguments)
        if turn.also:
            state = await follow_ways(link, turn, arguments)
        else:
            state = state_of(await follow(link, SendTurn(turn), arguments))
    if expected is None or (state is not None and parse_state(state) == expected):
        return EXIT_OK
    found = plain_line(state) if state else "no state"
    print_notice(f"expected the state {expected}, found {found}")
    return EXIT_UNEXPECTED


def _expected_state(spelling: str | None) -> str | None:
    if spelling is None:
        return None
    if (state := parse_state(spelling)) is None:
        raise UsageError(f"--expect-state {spelling!r} is no state", f"one of {', '.join(STATES)}")
    return state
