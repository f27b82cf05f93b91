"""Runs a turn that is followed by several ways at once, and prints each update as it comes."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace

from inspector.core.commands import Also, Json, SendTurn, Turn
from inspector.core.entries import Entry, FrameReceived, PushReceived
from inspector.core.push_receiver import ReceiverOptions
from inspector.errors import TimedOut
from inspector.headless.connect import Link, error_of
from inspector.headless.ending import Ending, ending_of, findings_of, is_told
from inspector.headless.prose import tell_data, tell_finding, tell_said, tell_update
from inspector.headless.pushes import describe_update
from inspector.headless.report import describe_answer, describe_frame
from inspector.headless.terminal import (
    DIM,
    Ink,
    ink_for,
    milliseconds,
    print_aside,
    print_error,
    print_json,
    print_notice,
    print_text,
)
from inspector.views.channels import Silence, explain_silence
from inspector.views.data import TurnData
from inspector.views.exchanges import Exchange
from inspector.views.problems import Problem, problem_of
from inspector.views.reads import Source
from inspector.views.text import plain_line
from inspector.views.timeline import TaskRow
from inspector.wire.findings import Finding, Severity
from inspector.wire.v0_3 import INVALID_PARAMS


async def follow_ways(link: Link, turn: Turn, arguments: argparse.Namespace) -> str | None:
    """Run `turn`, print what comes of it by each way, and return the state at its end.

    Raises:
        InspectorError: no answer, a refusal, or a task that did not come to rest while polled.
    """
    if Also.PUSH in turn.also:
        options = ReceiverOptions(public_url=arguments.public_url)
        await link.session.receiver.start(arguments.push_port, options)
    if arguments.patience is not None:
        link.session.pace = replace(link.session.pace, push_patience_seconds=arguments.patience)
    watcher = _Watcher(link, is_json=arguments.json)
    exchange = await link.run(SendTurn(turn), watcher.take)
    [row] = [row for row in link.timeline.rows if row.exchange == exchange.id]
    ending = ending_of(row, watcher.told)
    if ending is not None and arguments.json:
        print_json(_describe(link, exchange, ending))
    elif not arguments.json:
        _tell(link, row, ending)
    silence = _silence(link, turn, watcher.told)
    _raise_problem(exchange, turn, ending, silence)
    if silence is not None:
        print_notice(f"no notification came to {link.session.receiver.url}")
        for name, text in (("likely", silence.cause), ("try", silence.hint)):
            print_aside(f"  {name:<11}  {plain_line(text)}")
    return row.state


class _Watcher:
    """Prints what is told as it comes, and keeps it. Times count from the turn's request."""

    def __init__(self, link: Link, *, is_json: bool) -> None:
        self.told: list[Source] = []
        self._link = link
        self._is_json = is_json
        self._began_ms: float | None = None

    def take(self, entry: Entry) -> None:
        if self._began_ms is None:
            self._began_ms = entry.at_ms
        if not isinstance(entry, FrameReceived | PushReceived):
            return
        if is_told(entry):
            self.told.append(entry)
        if self._is_json:
            self._print_json(entry, self._began_ms)
        else:
            self._print_text(entry)

    def _print_json(self, entry: Source, began_ms: float) -> None:
        if isinstance(entry, PushReceived):
            print_json(describe_update(entry, began_ms))
        elif (update := describe_frame(entry, began_ms)) is not None:
            print_json(update)

    def _print_text(self, entry: Source) -> None:
        """The line that an update adds to the timeline; a poll without news adds none."""
        for row in reversed(self._link.timeline.rows):
            if row.updates and row.updates[-1].seq == entry.seq:
                print_text(tell_update(ink_for(sys.stdout), row, row.updates[-1]))
                return


def _describe(link: Link, exchange: Exchange, ending: Ending) -> dict[str, Json]:
    """The object of a single way, with what the last of several has told."""
    found = [*_endpoint_findings(link), *_findings(link)]
    return {
        **describe_answer(exchange, _turn(link, exchange), found),
        "contextId": exchange.progress.context_id or ending.context_id,
        "taskId": exchange.progress.task_id or ending.task_id,
        "state": ending.state,
        "text": list(ending.text),
        "elapsed_ms": round(ending.elapsed_ms, 1),
        "task": ending.task,
    }


def _tell(link: Link, row: TaskRow, ending: Ending | None) -> None:
    ink, err = ink_for(sys.stdout), ink_for(sys.stderr)
    if ending is not None:
        print_text(*_tell_ending(ink, link, row, ending))
    found = (one for one in _findings(link) if one.severity is not Severity.HINT)
    print_aside(*(tell_finding(err, finding) for finding in found))


def _tell_ending(ink: Ink, link: Link, row: TaskRow, ending: Ending) -> Iterator[str]:
    said = [one for one in link.chat.said if one.speaker == "agent" and not one.problem]
    for one in said[-1:]:
        yield from tell_said(ink, replace(one, state=None))
    turn = _turn(link, link.exchange(row.exchange))
    if turn is not None:
        yield from tell_data(ink, turn, turn.slots)
    ids = (("context", row.context_id), ("task", row.task_id))
    shown = "   ".join(f"{name} {plain_line(value)}" for name, value in ids if value)
    yield ink(f"{milliseconds(ending.elapsed_ms)}   {shown}", DIM)


def _turn(link: Link, exchange: Exchange) -> TurnData | None:
    return next((one for one in reversed(link.data.turns) if one.exchange == exchange.id), None)


def _findings(link: Link) -> tuple[Finding, ...]:
    now_ms = link.session.log.now_ms
    return tuple(findings_of(link.timeline.rows, link.views.readings.lives, now_ms))


def _endpoint_findings(link: Link) -> tuple[Finding, ...]:
    return link.session.endpoint.findings if link.session.endpoint else ()


def _silence(link: Link, turn: Turn, told: list[Source]) -> Silence | None:
    """Why no notification came, where one was to come."""
    is_heard = any(isinstance(one, PushReceived) for one in told)
    endpoint = link.session.endpoint
    if Also.PUSH not in turn.also or is_heard or endpoint is None:
        return None
    card = link.card.card.card if link.card.card else None
    return explain_silence(card, endpoint.url, link.session.receiver.url)


def _raise_problem(
    exchange: Exchange, turn: Turn, ending: Ending | None, silence: Silence | None
) -> None:
    """What one way lacked is no problem where another brought it."""
    problem = problem_of(exchange)
    if ending is not None and ending.is_resting:
        if problem is not None:
            print_error(error_of(problem))
        return
    if problem is not None:
        raise error_of(_with_silence(problem, exchange, silence))
    if Also.POLL in turn.also and ending is not None:
        raise TimedOut(
            f"the task is still {plain_line(ending.state or 'without a state')} "
            f"after {milliseconds(ending.elapsed_ms)} of polling",
            f"a2a-inspect tasks get TARGET {plain_line(ending.task_id or 'TASK_ID')}",
        )


def _with_silence(problem: Problem, exchange: Exchange, silence: Silence | None) -> Problem:
    """A request whose parameters are refused may be refused for its callback."""
    reply = exchange.last_reply
    if silence is None or reply is None or reply.error is None:
        return problem
    if reply.error.code != INVALID_PARAMS:
        return problem
    return replace(problem, cause=silence.cause, hint=silence.hint)
