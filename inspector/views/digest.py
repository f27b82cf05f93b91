"""A session in one line: its turns and where each of them led."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from inspector.core.entries import Entry, RequestSent
from inspector.views import outcomes
from inspector.views.live import Change, compare
from inspector.views.outcomes import Outcome
from inspector.views.reading import STARTS_TASK, read_log


@dataclass(frozen=True, slots=True)
class ComparedTurns:
    """A turn and the one in its place; None where one of the sessions is shorter."""

    old: Outcome | None
    new: Outcome | None
    changes: tuple[Change, ...]


def turns_of(entries: Sequence[Entry]) -> tuple[Outcome, ...]:
    """What each turn came to, in the order in which they were sent."""
    view = outcomes.EMPTY
    for read in read_log(entries):
        view = outcomes.step(view, read)
    sent = (one for one in entries if isinstance(one, RequestSent))
    return tuple(view.by_exchange[one.exchange] for one in sent if one.purpose in STARTS_TASK)


def compare_sessions(
    before: Sequence[Outcome], after: Sequence[Outcome]
) -> tuple[ComparedTurns, ...]:
    """Turn by turn what is other in `after`; ids and times are masked."""
    return tuple(
        ComparedTurns(old, new, _changes(old, new)) for old, new in zip_longest(before, after)
    )


def _changes(old: Outcome | None, new: Outcome | None) -> tuple[Change, ...]:
    if old is None or new is None:
        return (Change("turn", "none" if old is None else old.title, new.title if new else "none"),)
    said = () if old.title == new.title else (Change("said", old.title, new.title),)
    return (*said, *compare(old, new))
