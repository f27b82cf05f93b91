"""A project's problems, and the names to check when all of its files are read."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz, process

from mock_server.dialogue.model import Json
from mock_server.errors import Location, Problem, Severity

NEAR = 60
KIND = re.compile(r"^(utter|action)_(ask_)?")


class MentionKind(StrEnum):
    SLOT = "slot"
    VALUE = "value"
    RESPONSE = "response"
    ACTION = "action"
    FLOW = "flow"
    CONDITION = "condition"
    GUARD = "guard"
    PAYLOAD = "payload"
    TEXT = "text"
    TEMPLATE = "template"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class Mention:
    """`name` is the source of a condition, a button's payload, a text with holes, or Jinja.

    `by` says who mentions it, for a message.

    `own_slot` is the one slot that the condition of a rejection may look at. `value` is what the
    slot `name` is to get.
    """

    kind: MentionKind
    name: str
    location: Location
    by: str
    own_slot: str | None = None
    value: Json = None


class Findings:
    """The problems and mentions of one project; grows while its files are read.

    An error keeps a project from being loaded. A fault lets it run, and go wrong on the way. What
    files mention is checked when all of them are read.
    """

    def __init__(self) -> None:
        self.mentions: list[Mention] = []
        self.problems: list[Problem] = []
        self.faults: list[Problem] = []

    def error(self, location: Location, code: str, text: str, fix: str = "") -> None:
        self.problems.append(Problem(location, code, text, fix))

    def warn(self, location: Location, code: str, text: str, fix: str = "") -> None:
        self.problems.append(Problem(location, code, text, fix, Severity.WARNING))

    def fault(self, location: Location, code: str, text: str, fix: str = "") -> None:
        self.faults.append(Problem(location, code, text, fix))

    def mention(
        self,
        kind: MentionKind,
        name: str,
        location: Location,
        by: str,
        *,
        own_slot: str | None = None,
        value: Json = None,
    ) -> None:
        self.mentions.append(Mention(kind, name, location, by, own_slot, value))

    def take_mentions(self) -> tuple[Mention, ...]:
        """The mentions so far, which are then forgotten."""
        taken = tuple(self.mentions)
        self.mentions.clear()
        return taken

    def count(self, codes: Container[str]) -> int:
        """How many errors and faults have one of `codes`."""
        return sum(problem.code in codes for problem in (*self.problems, *self.faults))

    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)

    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.WARNING)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a misspelling of."""
    names = sorted(known)
    best = process.extractOne(
        name, names, scorer=fuzz.ratio, score_cutoff=NEAR, processor=_without_kind
    )
    return best[0] if best else None


def _without_kind(name: str) -> str:
    """Drop the prefix that all names of a kind share."""
    return KIND.sub("", name)


def suggestion(name: str, known: Iterable[str]) -> str:
    """The fix for an unknown `name`; empty if nothing is similar."""
    near = nearest(name, known)
    return f"did you mean {str(near)!r}?" if near else ""
