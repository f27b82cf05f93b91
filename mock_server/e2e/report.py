"""Test cases played against a conversation, and their results as people and programs read them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Protocol, assert_never
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.state import (
    COLLECT_PATTERN,
    VALIDATE_PATTERN,
    ActionExecuted,
    BotUttered,
    CommandDropped,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    SlotSet,
    Understood,
    Warned,
)
from mock_server.e2e.assertions import observe, unmet
from mock_server.e2e.model import (
    ActionRuns,
    BotSays,
    Case,
    ClarificationOffers,
    Expectation,
    ExpectedButton,
    FlowEnds,
    FlowStarts,
    JudgeNeeded,
    SlotIsSet,
)
from mock_server.errors import Location
from mock_server.tasks.trace import TracedTurn, spell_command
from mock_server.xml_text import xml_text

SESSION_START = "(start of the session)"


class CaseOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Partner(Protocol):
    """The tested side of a conversation."""

    def begin(self, slots: Sequence[tuple[str, Json]]) -> TracedTurn:
        """Start the session, then write `slots`."""
        ...

    def say(self, text: str, metadata: Mapping[str, Json]) -> TracedTurn:
        """The turn that `text` begins."""
        ...


@dataclass(frozen=True, slots=True)
class CaseFailure:
    """The turn in which a case failed: what the user said, what was missed, what came.

    `misplaced` are those of the missed that came, but not in the order that the case demands.
    """

    said: str
    location: Location
    missed: tuple[Expectation, ...]
    observed: tuple[Event, ...]
    turn: TracedTurn
    misplaced: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """`judged` are the expectations that only a language model could judge."""

    case: Case
    failure: CaseFailure | None = None
    judged: tuple[Expectation, ...] = ()

    @property
    def outcome(self) -> CaseOutcome:
        """A case of which a part could not be checked is not called passed."""
        if self.failure:
            return CaseOutcome.FAILED
        return CaseOutcome.SKIPPED if self.judged else CaseOutcome.PASSED


def play(case: Case, partner: Partner, assistant: Assistant) -> CaseResult:
    """Play the case up to the first turn that does not meet its expectations."""
    judged = tuple(
        expectation
        for step in case.steps
        for expectation in step.expectations
        if isinstance(expectation.assertion, JudgeNeeded)
    )
    opened = partner.begin(case.slots)
    observed = observe(assistant, opened.before, opened.events)
    missed = unmet(case.opening, observed, assistant)
    if missed:
        failure = CaseFailure(SESSION_START, case.location, missed, observed, opened)
        return CaseResult(case, failure, judged)
    for step in case.steps:
        turn = partner.say(step.text, step.metadata)
        observed = observe(assistant, turn.before, turn.events)
        missed = unmet(step.expectations, observed, assistant, is_ordered=step.is_ordered)
        if missed:
            absent = unmet(missed, observed, assistant)
            misplaced = tuple(one for one in missed if one not in absent)
            failure = CaseFailure(step.text, step.location, missed, observed, turn, misplaced)
            return CaseResult(case, failure, judged)
    return CaseResult(case, None, judged)


def spell(expectation: Expectation) -> str:
    """An expectation on one line, e.g. `slot_was_set: amount = 50`."""
    assertion, is_negated = expectation.assertion, expectation.is_negated
    match assertion:
        case BotSays(text=str(text)):
            return f"bot: {_quoted(text)}"
        case BotSays(response=str(response), pattern=None, buttons=None):
            return f"{'bot_did_not_utter' if is_negated else 'utter'}: {response}"
        case BotSays():
            return f"{'bot_did_not_utter' if is_negated else 'bot_uttered'}: {_details(assertion)}"
        case SlotIsSet(name=name, value=value, has_value=has_value):
            assigned = f"{name} = {_quoted(value)}" if has_value else name
            return f"{'slot_was_not_set' if is_negated else 'slot_was_set'}: {assigned}"
        case FlowStarts(flow_ids=flow_ids):
            return f"flow_started: {' or '.join(flow_ids)}"
        case FlowEnds(flow_id=flow_id, step_id=step_id, is_cancelled=is_cancelled):
            return f"flow_{'cancelled' if is_cancelled else 'completed'}: {_at(flow_id, step_id)}"
        case ClarificationOffers(flows=flows, is_any_enough=is_any_enough):
            offered = (" or " if is_any_enough else ", ").join(flows)
            return f"pattern_clarification_contains: {offered}"
        case ActionRuns(name=name):
            return f"action_executed: {name}"
        case JudgeNeeded(name=name):
            return name
        case _:
            assert_never(assertion)


def spell_event(event: Event) -> str | None:
    """An event as the test files would ask for it; None for those they cannot ask for."""
    match event:
        case BotUttered(text=text, response=response, buttons=buttons):
            said = f"bot: {_quoted(text)}" + (f" ({response})" if response else "")
            titles = ", ".join(_quoted(button.title) for button in buttons)
            return f"{said} [{titles}]" if titles else said
        case SlotSet(name=name, value=value):
            return f"slot_was_set: {name} = {_quoted(value)}"
        case FlowStarted(flow_id=flow_id):
            return f"flow_started: {flow_id}"
        case FlowCompleted(flow_id=flow_id, step_id=step_id):
            return f"flow_completed: {_at(flow_id, step_id)}"
        case FlowCancelled(flow_id=flow_id, step_id=step_id):
            return f"flow_cancelled: {_at(flow_id, step_id)}"
        case ActionExecuted(name=name, failure=failure):
            return f"action_executed: {name}" if failure is None else f"action {name} failed"
        case _:
            return None


def _details(said: BotSays) -> str:
    parts = [
        f"utter_name {said.response}" if said.response is not None else "",
        f"text_matches {_quoted(said.pattern)}" if said.pattern is not None else "",
        f"buttons {_buttons(said.buttons)}" if said.buttons is not None else "",
    ]
    return ", ".join(filter(None, parts))


def _buttons(buttons: tuple[ExpectedButton, ...]) -> str:
    spelled = (
        _quoted(button.title) + (f" ({button.payload})" if button.payload is not None else "")
        for button in buttons
    )
    return f"[{', '.join(spelled)}]"


def _at(flow_id: str, step_id: str | None) -> str:
    return flow_id if step_id is None else f"{flow_id} at {step_id}"


def _quoted(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


MARKS = {CaseOutcome.PASSED: "✓", CaseOutcome.FAILED: "✗", CaseOutcome.SKIPPED: "-"}
ASKING = frozenset({COLLECT_PATTERN, VALIDATE_PATTERN})
OUT_OF_ORDER = "; it came too early: assertion_order_enabled"
JUDGE_REASON = "needs a language model as judge"


@dataclass(frozen=True, slots=True)
class Report:
    """The results in the order of the cases, and how long each took."""

    results: tuple[CaseResult, ...]
    seconds: tuple[float, ...]

    def count(self, outcome: CaseOutcome) -> int:
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
    counts = ", ".join(f"{report.count(outcome)} {outcome}" for outcome in CaseOutcome)
    total = len(report.results)
    yield f"{total} test {'case' if total == 1 else 'cases'}: {counts}"


def failure_lines(failure: CaseFailure) -> Iterator[str]:
    """What was expected, what came instead, and how the message was understood."""
    yield f"{failure.location}: user: {failure.said}"
    for expectation in failure.missed:
        order = OUT_OF_ORDER if expectation in failure.misplaced else ""
        yield f"expected  {spell(expectation)}  (line {expectation.location.line}{order})"
    came = came_lines(failure)
    yield f"came      {came[0] if came else 'nothing'}"
    yield from (f"          {line}" for line in came[1:])
    for index, line in enumerate(trace_lines(failure.turn.events)):
        yield f"{'' if index else 'trace':<10}{line}"


def came_lines(failure: CaseFailure) -> tuple[str, ...]:
    """The turn's events, but for those that every question brings along."""
    spelled = (spell_event(event) for event in failure.observed if not _is_routine(event))
    return tuple(line for line in spelled if line is not None)


def _is_routine(event: Event) -> bool:
    match event:
        case FlowStarted(flow_id=flow_id) | FlowCompleted(flow_id=flow_id):
            return flow_id in ASKING
        case ActionExecuted(name=name, failure=None):
            # The message has a line of its own.
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
    kinds = sorted({spell(expectation) for expectation in result.judged})
    return f"{', '.join(kinds)}: {JUDGE_REASON}"


def as_json(report: Report) -> dict[str, object]:
    """The object that `a2a-mock test --json` prints."""
    return {
        **{outcome.value: report.count(outcome) for outcome in CaseOutcome},
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
                {"text": spell(expectation), "line": expectation.location.line}
                for expectation in failure.missed
            ],
            "came": list(came_lines(failure)),
            "trace": list(trace_lines(failure.turn.events)),
        }
    return encoded


def as_xml(report: Report) -> str:
    """One `testsuite` a file, one `testcase` a case."""
    root = Element("testsuites", _totals(report))
    timed = zip(report.results, report.seconds, strict=True)
    for file, of_file in groupby(timed, key=lambda pair: pair[0].case.location.file):
        results, seconds = zip(*of_file, strict=True)
        suite = SubElement(
            root, "testsuite", _totals(Report(results, seconds)), name=xml_text(file)
        )
        for result, took in zip(results, seconds, strict=True):
            _add_case(suite, result, took)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _totals(report: Report) -> dict[str, str]:
    return {
        "tests": str(len(report.results)),
        "failures": str(report.count(CaseOutcome.FAILED)),
        "errors": "0",
        "skipped": str(report.count(CaseOutcome.SKIPPED)),
        "time": f"{sum(report.seconds):.6f}",
    }


def _add_case(suite: Element, result: CaseResult, seconds: float) -> None:
    case = result.case
    element = SubElement(
        suite,
        "testcase",
        name=xml_text(case.name),
        classname=xml_text(case.location.file),
        file=xml_text(case.location.file),
        line=str(case.location.line),
        time=f"{seconds:.6f}",
    )
    if result.failure:
        missed = "; ".join(spell(expectation) for expectation in result.failure.missed)
        failure = SubElement(element, "failure", message=xml_text(f"expected {missed}"))
        failure.text = xml_text("\n".join(failure_lines(result.failure)))
    elif result.judged:
        SubElement(element, "skipped", message=xml_text(skip_reason(result)))
