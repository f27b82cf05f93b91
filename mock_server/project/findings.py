"""The problems met while a project is read, collected so that all are reported at once."""

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from mock_server.errors import Location, Problem, Severity

NEAR = 60


class Findings:
    """What the readers of one project found wrong; grows while they read.

    An error keeps a project from being loaded. A fault lets it run, and go wrong on the way.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.faults: list[Problem] = []

    def error(self, location: Location, code: str, text: str, mend: str = "") -> None:
        self.problems.append(Problem(location, code, text, mend))

    def warn(self, location: Location, code: str, text: str, mend: str = "") -> None:
        self.problems.append(Problem(location, code, text, mend, Severity.WARNING))

    def fault(self, location: Location, code: str, text: str, mend: str = "") -> None:
        self.faults.append(Problem(location, code, text, mend))

    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)

    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.WARNING)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a misspelling of."""
    best = process.extractOne(name, sorted(known), scorer=fuzz.ratio, score_cutoff=NEAR)
    return best[0] if best else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """The mending half of a message about an unknown `name`; empty if nothing is near."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else ""
