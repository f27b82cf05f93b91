"""The results of test cases, as people and as programs read them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mock_server.dialogue.events import (
    ActionExecuted,
    CommandDropped,
    Event,
    FlowCompleted,
    FlowStarted,
    Understood,
    Warned,
)
from mock_server.dialogue.stack import COLLECT_PATTERN, VALIDATE_PATTERN
from mock_server.e2e.results import CaseResult, Failure, Outcome
from mock_server.e2e.spelling import spell, spell_event
from mock_server.tasks.trace import spell_command

MARKS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.SKIPPED: "-"}
ASKING = frozenset({COLLECT_PATTERN, VALIDATE_PATTERN})
OUT_OF_ORDER = "; it came too early: assertion_order_enabled"
JUDGE_REASON = "needs a language model as judge"


@dataclass(frozen=True, slots=True)
class Report:
    """The results in the order of the cases, and how long each took."""

    results: tuple[CaseResult, ...]
    seconds: tuple[float, ...]

    def count(self, outcome: Outcome) -> int:
        return sum(result.outcome is outcome for result in self.results)


def as_lines(report: Report) -> Iterator[str]:
    """A line a case, what went wrong below it, and the counts."""
    for result in report.results:
        case = result.case
        yield f"{MARKS[result.outcome]} {case.location} {case.name}"
        if result.failure:
            yield from (f"    {line}" for line in failure_lines(result.failure))
        elif result.judged:
            yield f"    {skip_reason(result)}"
    counts = ", ".join(f"{report.count(outcome)} {outcome}" for outcome in Outcome)
    total = len(report.results)
    yield f"{total} test {'case' if total == 1 else 'cases'}: {counts}"


def failure_lines(failure: Failure) -> Iterator[str]:
    """What was expected, what came instead, and why the message was understood as it was."""
    yield f"{failure.location}: user: {failure.said}"
    for expectation in failure.missed:
        order = OUT_OF_ORDER if expectation in failure.misplaced else ""
        yield f"expected  {spell(expectation.demand)}  (line {expectation.location.line}{order})"
    came = came_lines(failure)
    yield f"came      {came[0] if came else 'nothing'}"
    yield from (f"          {line}" for line in came[1:])
    for index, line in enumerate(trace_lines(failure.turn.events)):
        yield f"{'' if index else 'trace':<10}{line}"


def came_lines(failure: Failure) -> tuple[str, ...]:
    """The turn's events, but for those that every question brings along."""
    spelled = (spell_event(event) for event in failure.observed if not _is_routine(event))
    return tuple(line for line in spelled if line is not None)


def _is_routine(event: Event) -> bool:
    match event:
        case FlowStarted(flow_id=flow_id) | FlowCompleted(flow_id=flow_id):
            return flow_id in ASKING
        case ActionExecuted(name=name, failure=None):
            # What it said is a line of its own.
            return name.startswith("utter_") or name == "action_run_slot_rejections"
        case _:
            return False


def trace_lines(events: Sequence[Event]) -> Iterator[str]:
    """The rules of the understanding, the commands they gave, and what was warned of."""
    for event in events:
        match event:
            case Understood(commands=commands, trace=trace):
                for rule in trace:
                    yield f"{'✓' if rule.fired else '✗'} {rule.rule}: {rule.reason}"
                for command in commands:
                    yield f"→ {spell_command(command)}"
            case CommandDropped(command=command, reason=reason):
                yield f"→ {spell_command(command)} is dropped: {reason}"
            case Warned(text=text):
                yield f"! {text}"
            case _:
                pass


def skip_reason(result: CaseResult) -> str:
    kinds = sorted({spell(expectation.demand) for expectation in result.judged})
    return f"{', '.join(kinds)}: {JUDGE_REASON}"


def as_json(report: Report) -> dict[str, object]:
    """The object that `a2a-mock test --json` prints."""
    return {
        **{outcome.value: report.count(outcome) for outcome in Outcome},
        "cases": [
            _case(result, seconds)
            for result, seconds in zip(report.results, report.seconds, strict=True)
        ],
    }


def _case(result: CaseResult, seconds: float) -> dict[str, object]:
    case, failure = result.case, result.failure
    encoded: dict[str, object] = {
        "name": case.name,
        "file": case.location.file,
        "line": case.location.line,
        "status": result.outcome.value,
        "seconds": round(seconds, 6),
    }
    if result.judged:
        encoded["reason"] = skip_reason(result)
    if failure:
        encoded["failure"] = {
            "user": failure.said,
            "line": failure.location.line,
            "expected": [
                {"text": spell(expectation.demand), "line": expectation.location.line}
                for expectation in failure.missed
            ],
            "came": list(came_lines(failure)),
            "trace": list(trace_lines(failure.turn.events)),
        }
    return encoded
