"""`a2a-inspect send --twice`: one message twice at once, of which an agent refuses one (TURN-5)."""

import argparse
import uuid
from dataclasses import replace
from http import HTTPStatus

from inspector.core.commands import Turn
from inspector.errors import UsageError
from inspector.headless.connect import Link
from inspector.headless.follow import print_outcome
from inspector.headless.terminal import print_json, print_notice
from inspector.views.exchanges import Exchange
from inspector.views.problems import problem_of
from inspector.views.text import plain_line

EXIT_OK = 0
EXIT_UNEXPECTED = 1


async def send_twice(link: Link, turn: Turn, arguments: argparse.Namespace) -> int:
    """Print what came of both, and return 0 where one was answered and the other met a 409.

    Without a context each of the two would begin its own, so one is made for them.

    Raises:
        UsageError: with a flag that says how one turn is followed or ends.
    """
    if turn.also or arguments.expect_state is not None:
        raise UsageError("--twice compares two replies: leave out other ways and --expect-state")
    twin = replace(turn, context_id=turn.context_id or str(uuid.uuid4()))
    numbers = await link.session.run_twice(twin)
    exchanges = [link.exchange(number) for number in numbers]
    for exchange in exchanges:
        _print(link, exchange, arguments)
    refused = [exchange for exchange in exchanges if _is_refused(exchange)]
    if len(refused) == 1 and all(one in refused or problem_of(one) is None for one in exchanges):
        return EXIT_OK
    print_notice("expected one answer and one 409")
    return EXIT_UNEXPECTED


def _print(link: Link, exchange: Exchange, arguments: argparse.Namespace) -> None:
    print_outcome(link, exchange, is_json=arguments.json)
    problem = problem_of(exchange)
    if problem is None:
        return
    status = exchange.response.status if exchange.response else None
    if arguments.json:
        print_json({"status": status, "problem": problem.what})
    else:
        print_notice(plain_line(problem.what))


def _is_refused(exchange: Exchange) -> bool:
    return exchange.response is not None and exchange.response.status == HTTPStatus.CONFLICT
