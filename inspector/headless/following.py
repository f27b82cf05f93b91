"""Runs a command and prints its outcome, by however many channels its task is followed."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from inspector.core.commands import Also, Command, Json, SendTurn
from inspector.core.decoding import Decoder, Source
from inspector.core.entries import Entry, PushReceived, PushVerdict
from inspector.core.push_receiver import ReceiverOptions
from inspector.errors import TimedOut
from inspector.headless.inspection import Inspection, error_of, raise_problem
from inspector.headless.options import FollowOptions
from inspector.headless.output import (
    answer_json,
    answer_lines,
    data_lines,
    finding_line,
    frame_json,
    ids_line,
    push_update_json,
    said_lines,
    state_of,
    update_line,
)
from inspector.headless.terminal import (
    Written,
    ink_for,
    milliseconds,
    print_aside,
    print_error,
    print_json,
    print_lines,
    print_notice,
    print_text,
)
from inspector.views.channels import missing_pushes
from inspector.views.exchanges import Exchange
from inspector.views.problems import Problem, Remedy, problem_of, remedy_of_missing_push
from inspector.views.text import plain_line
from inspector.views.timeline import TaskRow
from inspector.wire.dialect import ErrorReason, Result, texts
from inspector.wire.endpoints import dialect_of
from inspector.wire.findings import Finding, Severity
from inspector.wire.states import is_resting, parse_state

MISSING_AFTER_MS = 500.0
# The section of a finding about what the inspector itself does not keep.
LIMITS = "a2a-inspect"


@dataclass(frozen=True, slots=True)
class Followed:
    """The exchange of the command, and the state at its end in the wire's spelling."""

    exchange: Exchange
    state: str | None


async def follow(
    inspection: Inspection, command: Command, options: FollowOptions, *, is_json: bool
) -> Followed:
    """Run `command` and print its outcome.

    Raises:
        InspectorError: no answer, a refusal, or a task that did not come to rest while polled;
            what had come before is printed.
    """
    also = command.turn.also if isinstance(command, SendTurn) else frozenset[Also]()
    if Also.PUSH in also:
        receiver = inspection.session.receiver
        await receiver.start(options.push_port, ReceiverOptions(public_url=options.public_url))
    if options.patience is not None:
        turns = inspection.session.turns
        turns.pace = replace(turns.pace, push_patience_seconds=options.patience)
    printer = UpdatePrinter(inspection, is_stream_only=not also, is_json=is_json)
    exchange = await inspection.run(command, printer.take)
    if also:
        return _conclude(inspection, exchange, also, printer.reports, is_json=is_json)
    print_answer(inspection, exchange, is_json=is_json)
    raise_problem(problem_of(exchange))
    return Followed(exchange, state_of(exchange))


def print_answer(inspection: Inspection, exchange: Exchange, *, is_json: bool) -> None:
    """Print the outcome of an exchange that is over.

    A reply with neither a task nor words, as to a raw body of another version, is printed as JSON.
    """
    reply = exchange.last_reply
    turn = inspection.turn(exchange)
    if is_json:
        if reply is not None and not reply.problem:
            found = (*_session_findings(inspection), *exchange.findings)
            print_json(answer_json(exchange, turn, found))
        return
    ink, err = ink_for(sys.stdout), ink_for(sys.stderr)
    said = [
        one
        for one in inspection.views.chat.said
        if one.exchange == exchange.id and one.speaker == "agent" and not one.problem
    ]
    if exchange.progress.task_id is not None or said:
        print_lines(answer_lines(ink, exchange, said[-1:], turn))
    elif reply is not None and problem_of(exchange) is None:
        print_json(reply.payload)
    found = (*_lost(inspection), *exchange.findings)
    print_aside(*(finding_line(err, finding) for finding in found))


class UpdatePrinter:
    """Prints each update as it comes, and keeps what reported it; times count from the request.

    A turn that is followed by its answer alone prints the updates of a stream only.
    """

    def __init__(
        self, inspection: Inspection, *, is_stream_only: bool, is_json: bool = False
    ) -> None:
        self.reports: list[Source] = []
        self._inspection = inspection
        self._decoder = Decoder()
        self._is_json = is_json
        self._is_stream_only = is_stream_only
        self._began_ms: float | None = None

    def take(self, entry: Entry) -> None:
        if self._began_ms is None:
            self._began_ms = entry.at_ms
        report = self._decoder.take(entry)
        if self._inspection.exchange(entry.exchange).is_redirect:
            return
        if self._is_stream_only and not self._inspection.exchange(entry.exchange).is_stream:
            return
        if report is None and not self._is_stream_only:
            return
        is_refused = isinstance(entry, PushReceived) and entry.verdict is not PushVerdict.ACCEPTED
        if report is not None and not is_refused:
            self.reports.append(report)
        if not self._is_json:
            self._print_line(entry.seq)
        elif report is not None:
            self._print_json(report, self._began_ms)

    def _print_json(self, report: Source, began_ms: float) -> None:
        if isinstance(report.entry, PushReceived):
            print_json(push_update_json(report.entry, began_ms))
        elif (update := frame_json(report, began_ms)) is not None:
            print_json(update)

    def _print_line(self, seq: int) -> None:
        """The line that an update adds to the timeline; a poll without news adds none."""
        for row in reversed(self._inspection.views.timeline.rows):
            if row.updates and row.updates[-1].seq == seq:
                print_text(update_line(ink_for(sys.stdout), row, row.updates[-1]))
                return


# The end of a turn that several channels reported


@dataclass(frozen=True, slots=True)
class Ending:
    """`task` is the last result as received; `state` its spelling on the wire."""

    state: str | None
    text: tuple[str, ...]
    task: Json
    task_id: str | None
    context_id: str | None
    elapsed_ms: float

    @property
    def is_resting(self) -> bool:
        return self.state is not None and is_resting(parse_state(self.state))


def _conclude(
    inspection: Inspection,
    exchange: Exchange,
    also: frozenset[Also],
    reports: list[Source],
    *,
    is_json: bool,
) -> Followed:
    rows = inspection.views.timeline.rows
    [row] = [row for row in rows if row.exchange == exchange.id]
    ending = _ending_of(row, reports)
    if ending is not None and is_json:
        print_json(_ending_json(inspection, exchange, ending))
    elif not is_json:
        _print_ending(inspection, row, ending)
    is_silent = Also.PUSH in also and not any(
        isinstance(one.entry, PushReceived) for one in reports
    )
    remedy = _remedy_of_missing_push(inspection) if is_silent else None
    _raise_problem(exchange, ending, remedy, is_polled=Also.POLL in also)
    if remedy is not None:
        print_notice(f"no notification came to {inspection.session.receiver.url}")
        for name, text in (("likely", remedy.cause), ("try", remedy.hint)):
            print_aside(f"  {name:<11}  {plain_line(text)}")
    return Followed(exchange, row.state)


def _ending_of(row: TaskRow, reports: list[Source]) -> Ending | None:
    """The last of `reports` that says that the task rests, or the last at all."""
    last = next(_results(reports), None)
    resting = (one for one in _results(reports) if is_resting(one[1].state))
    if last is None:
        return None
    source, result = next(resting, last)
    return Ending(
        state=result.spelling or row.state,
        text=next((said for _, one in _results(reports) if (said := texts(one.parts))), ()),
        task=source.as_received,
        task_id=result.task_id or row.task_id,
        context_id=result.context_id or row.context_id,
        elapsed_ms=source.at_ms - row.started_ms,
    )


def _results(reports: list[Source]) -> Iterator[tuple[Source, Result]]:
    """The reports that hold a result, the last first, each read when it is its turn."""
    for source in reversed(reports):
        if (result := source.result) is not None:
            yield source, result


def _ending_json(inspection: Inspection, exchange: Exchange, ending: Ending) -> dict[str, Written]:
    """The object of a turn's answer, with what the last of several channels reported."""
    found = [*_session_findings(inspection), *_findings(inspection)]
    return {
        **answer_json(exchange, inspection.turn(exchange), found),
        "contextId": exchange.progress.context_id or ending.context_id,
        "taskId": exchange.progress.task_id or ending.task_id,
        "state": ending.state,
        "text": list(ending.text),
        "elapsed_ms": round(ending.elapsed_ms, 1),
        "task": ending.task,
    }


def _print_ending(inspection: Inspection, row: TaskRow, ending: Ending | None) -> None:
    ink, err = ink_for(sys.stdout), ink_for(sys.stderr)
    if ending is not None:
        said = [one for one in inspection.views.chat.said if one.speaker == "agent"]
        for one in [one for one in said if not one.problem][-1:]:
            print_lines(said_lines(ink, replace(one, state=None)))
        if (turn := inspection.turn(inspection.exchange(row.exchange))) is not None:
            print_text(*data_lines(ink, turn, turn.slots))
        print_text(ids_line(ink, ending.elapsed_ms, row.context_id, row.task_id))
    found = (one for one in _findings(inspection) if one.severity is not Severity.HINT)
    print_aside(*(finding_line(err, finding) for finding in found))


def _session_findings(inspection: Inspection) -> tuple[Finding, ...]:
    """What is odd about the endpoint, and what of the session is not kept."""
    endpoint = inspection.session.endpoint
    return (*(endpoint.findings if endpoint else ()), *_lost(inspection))


def _lost(inspection: Inspection) -> tuple[Finding, ...]:
    """That bodies were cut, where they were."""
    problem = inspection.session.log.memory.problem
    return (Finding(Severity.WARNING, LIMITS, "$", problem),) if problem else ()


def _findings(inspection: Inspection) -> Iterator[Finding]:
    """What is wrong in what was reported, each once, and the notifications that did not come."""
    updates = (update for row in inspection.views.timeline.rows for update in row.updates)
    yield from dict.fromkeys(finding for update in updates for finding in update.findings)
    reports, now_ms = inspection.views.readings.reports, inspection.session.log.now_ms
    section = dialect_of(inspection.session.endpoint).sections.push
    for missing in missing_pushes(reports, now_ms, MISSING_AFTER_MS):
        text = (
            f"missing: {missing.channel} reported {missing.state} "
            f"{missing.since_ms / 1000:.1f} s ago, "
            "and no notification of it came"
        )
        yield Finding(Severity.ERROR, section, "$", text)


def _remedy_of_missing_push(inspection: Inspection) -> Remedy | None:
    endpoint, card = inspection.session.endpoint, inspection.views.card.card
    if endpoint is None:
        return None
    callback_url = inspection.session.receiver.url
    return remedy_of_missing_push(card.card if card else None, endpoint.url, callback_url)


def _raise_problem(
    exchange: Exchange, ending: Ending | None, remedy: Remedy | None, *, is_polled: bool
) -> None:
    """What one channel lacked is not a problem where another brought it."""
    problem = problem_of(exchange)
    if ending is not None and ending.is_resting:
        if problem is not None:
            print_error(error_of(problem))
        return
    if problem is not None:
        raise error_of(_with_remedy(problem, exchange, remedy))
    if is_polled and ending is not None:
        raise TimedOut(
            f"the task is still {plain_line(ending.state or 'without a state')} "
            f"after {milliseconds(ending.elapsed_ms)} of polling",
            f"a2a-inspect tasks get TARGET {plain_line(ending.task_id or 'TASK_ID')}",
        )


def _with_remedy(problem: Problem, exchange: Exchange, remedy: Remedy | None) -> Problem:
    """A request whose parameters are refused may be refused for its callback."""
    reply = exchange.last_reply
    if remedy is None or reply is None or reply.error is None:
        return problem
    if reply.error.reason is not ErrorReason.INVALID_PARAMS:
        return problem
    return replace(problem, cause=remedy.cause, hint=remedy.hint)
