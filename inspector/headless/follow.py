"""Runs one command on a task and prints it: as it happens for a stream, else at its end."""

import argparse
import sys
from collections.abc import Callable

from inspector.core.commands import Command
from inspector.core.entries import Entry, FrameReceived
from inspector.headless.connect import Link, raise_problem
from inspector.headless.prose import tell_answer, tell_finding, tell_update
from inspector.headless.report import describe_answer, describe_frame
from inspector.headless.terminal import ink_for, print_aside, print_json, print_text
from inspector.views.data import TurnData
from inspector.views.exchanges import Exchange
from inspector.views.problems import problem_of
from inspector.wire.findings import Finding


async def follow(link: Link, command: Command, arguments: argparse.Namespace) -> Exchange:
    """Run `command` and print what comes of it.

    Raises:
        InspectorError: no answer, or a refusal; what had come before is printed.
    """
    watch = _print_frame(link) if arguments.json else _print_update(link)
    exchange = await link.run(command, watch)
    print_outcome(link, exchange, is_json=arguments.json)
    raise_problem(problem_of(exchange))
    return exchange


def print_outcome(link: Link, exchange: Exchange, *, is_json: bool) -> None:
    """Print what an exchange that is over has brought."""
    reply = exchange.last_reply
    if is_json and reply is not None and not reply.problem:
        print_json(describe_answer(exchange, _turn(link, exchange), _findings(link, exchange)))
    elif not is_json:
        _print_answer(link, exchange)


def _print_frame(link: Link) -> Callable[[Entry], None]:
    """Prints each update of a stream as JSON."""

    def print_frame(entry: Entry) -> None:
        if not isinstance(entry, FrameReceived):
            return
        exchange = link.exchange(entry.exchange)
        update = describe_frame(entry, exchange.request.at_ms)
        if exchange.is_stream and update is not None:
            print_json(update)

    return print_frame


def _print_update(link: Link) -> Callable[[Entry], None]:
    """Prints each line that a stream adds to the timeline."""
    ink = ink_for(sys.stdout)

    def print_update(entry: Entry) -> None:
        if not link.exchange(entry.exchange).is_stream:
            return
        for row in reversed(link.timeline.rows[-2:]):
            if row.updates and row.updates[-1].seq == entry.seq:
                print_text(tell_update(ink, row, row.updates[-1]))
                return

    return print_update


def _print_answer(link: Link, exchange: Exchange) -> None:
    ink, err = ink_for(sys.stdout), ink_for(sys.stderr)
    said = [
        one
        for one in link.chat.said
        if one.exchange == exchange.id and one.speaker == "agent" and not one.problem
    ]
    if exchange.progress.task_id is not None or said:
        print_text(*tell_answer(ink, exchange, said[-1:], _turn(link, exchange)))
    print_aside(*(tell_finding(err, finding) for finding in exchange.findings))


def _turn(link: Link, exchange: Exchange) -> TurnData | None:
    return next((one for one in reversed(link.data.turns) if one.exchange == exchange.id), None)


def _findings(link: Link, exchange: Exchange) -> tuple[Finding, ...]:
    """Those of the reply, after those of the way to the agent."""
    endpoint = link.session.endpoint
    return (*(endpoint.findings if endpoint else ()), *exchange.findings)
