"""Live replay as a view: each turn of a conversation beside the same turn of its last replay."""

from dataclasses import dataclass, replace

from inspector.views import outcomes
from inspector.views.outcomes import Change, Outcome, Outcomes, compare
from inspector.views.reads import STARTS_TASK, Asked, Read


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """A turn as it was and as it is now; `new` None: it is still to be sent again."""

    old: Outcome
    new: Outcome | None = None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class LiveView:
    """`runs` are the contexts of the replays of the conversation `context_id`, oldest first."""

    outcomes: Outcomes = outcomes.EMPTY
    context_id: str | None = None
    newest: int = 0
    runs: tuple[str, ...] = ()
    count: int = 0
    began_ms: float = 0.0


EMPTY = LiveView()


def step(view: LiveView, read: Read) -> LiveView:
    """Note which runs there are, and what each turn came to."""
    if isinstance(read, Asked) and read.call.purpose in STARTS_TASK:
        is_replay = read.call.is_replay
        view = _begin(view, read) if is_replay else replace(view, newest=read.entry.exchange)
    return replace(view, outcomes=outcomes.step(view.outcomes, read))


def _begin(view: LiveView, asked: Asked) -> LiveView:
    """The first turn of a replay opens a run; another conversation has runs of its own."""
    context_id = asked.call.context_id
    if context_id is None or context_id in view.runs[-1:]:
        return view
    newest = view.outcomes.by_exchange.get(view.newest)
    origin = newest.context_id if newest is not None else None
    runs = view.runs if origin == view.context_id else ()
    return replace(
        view,
        context_id=origin,
        runs=(*runs, context_id)[-MOST_RUNS:],
        count=view.count + 1,
        began_ms=asked.entry.at_ms,
    )


# Of older runs only the newest that got as far as a turn is compared with.
MOST_RUNS = 8


def compare_last(view: LiveView, *, to_first: bool = False) -> tuple[ReplayedTurn, ...]:
    """Each turn of the conversation as it went before the last change, and as it goes now.

    `to_first` compares with the conversation itself, however often it was replayed since.
    """
    if not view.runs or view.context_id is None:
        return ()
    originals = [one for one in _turns(view, view.context_id) if one.has_result]
    earlier = () if to_first else view.runs[-2::-1]
    runs = [_turns(view, run) for run in earlier]
    now = _turns(view, view.runs[-1])
    compared: list[ReplayedTurn] = []
    for place, original in enumerate(originals):
        before = (run[place] for run in runs if place < len(run) and _is_complete(run[place]))
        old = next(before, original)
        new = now[place] if place < len(now) else None
        compared.append(ReplayedTurn(old, new, compare(old, new) if new is not None else ()))
    return tuple(compared)


def _turns(view: LiveView, context_id: str) -> list[Outcome]:
    exchanges = view.outcomes.turns.get(context_id, ())
    return [view.outcomes.by_exchange[exchange] for exchange in exchanges]


def _is_complete(outcome: Outcome) -> bool:
    return outcome.is_over and not outcome.problem
