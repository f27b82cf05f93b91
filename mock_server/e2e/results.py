"""A test case is played against a conversation, turn by turn, and comes to a result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import Event
from mock_server.dialogue.model import Json
from mock_server.e2e.matching import observe, unmet
from mock_server.e2e.model import Case, Expectation, JudgeNeeded
from mock_server.errors import Location
from mock_server.tasks.trace import TracedTurn

SESSION_START = "(start of the session)"


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Partner(Protocol):
    """Whoever is tested: holds a conversation."""

    def begin(self, slots: Sequence[tuple[str, Json]]) -> TracedTurn:
        """Start the session, then write `slots`."""
        ...

    def say(self, text: str, metadata: Mapping[str, Json]) -> TracedTurn:
        """The turn that `text` begins."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """The turn in which a case went wrong: what the user said, what was missed, what came.

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
    failure: Failure | None = None
    judged: tuple[Expectation, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """A case of which a part could not be checked is not called passed."""
        if self.failure:
            return Outcome.FAILED
        return Outcome.SKIPPED if self.judged else Outcome.PASSED


def play(case: Case, partner: Partner, assistant: Assistant) -> CaseResult:
    """Say what the case says, as far as the first turn that does not bring what it should."""
    judged = tuple(
        expectation
        for step in case.steps
        for expectation in step.expectations
        if isinstance(expectation.demand, JudgeNeeded)
    )
    opened = partner.begin(case.slots)
    observed = observe(assistant, opened.before, opened.events)
    missed = unmet(case.opening, observed, assistant)
    if missed:
        failure = Failure(SESSION_START, case.location, missed, observed, opened)
        return CaseResult(case, failure, judged)
    for step in case.steps:
        turn = partner.say(step.text, step.metadata)
        observed = observe(assistant, turn.before, turn.events)
        missed = unmet(step.expectations, observed, assistant, is_ordered=step.is_ordered)
        if missed:
            absent = unmet(missed, observed, assistant)
            misplaced = tuple(one for one in missed if one not in absent)
            failure = Failure(step.text, step.location, missed, observed, turn, misplaced)
            return CaseResult(case, failure, judged)
    return CaseResult(case, None, judged)
