"""What differs between two cards of one agent (inspector.md CARDV-1)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from inspector.core.commands import Json
from inspector.wire.schema import join


class ChangeKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class CardChange:
    """`path` is a JSON path; an element of a list with ids is named by its id."""

    kind: ChangeKind
    path: str
    before: Json
    after: Json


def card_changes(before: Json, after: Json, path: str = "$") -> tuple[CardChange, ...]:
    """Every difference, in the order of `after`, what is gone behind it.

    Where all elements of both lists have ids their order says nothing, as with skills.
    """
    return tuple(_compare(before, after, path))


def _compare(before: Json, after: Json, path: str) -> Iterator[CardChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = {name: join(path, name) for name in (*after, *before)}
        yield from _compare_members(before, after, names)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(before, after, path)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield CardChange(ChangeKind.CHANGED, path, before, after)


def _compare_members(
    before: Mapping[str, Json], after: Mapping[str, Json], paths: Mapping[str, str]
) -> Iterator[CardChange]:
    for name, value in after.items():
        if name in before:
            yield from _compare(before[name], value, paths[name])
        else:
            yield CardChange(ChangeKind.ADDED, paths[name], None, value)
    for name, value in before.items():
        if name not in after:
            yield CardChange(ChangeKind.REMOVED, paths[name], value, None)


def _compare_lists(before: list[Json], after: list[Json], path: str) -> Iterator[CardChange]:
    old, new = _by_id(before), _by_id(after)
    if old is None or new is None:
        old = {str(index): value for index, value in enumerate(before)}
        new = {str(index): value for index, value in enumerate(after)}
        paths = {name: f"{path}[{name}]" for name in (*new, *old)}
    else:
        paths = {name: f"{path}[{name!r}]" for name in (*new, *old)}
    yield from _compare_members(old, new, paths)


def _by_id(values: list[Json]) -> dict[str, Json] | None:
    """The elements by their ids; None where one has none or two share one."""
    named: dict[str, Json] = {}
    for value in values:
        id_ = value.get("id") if isinstance(value, dict) else None
        if not isinstance(id_, str) or id_ in named:
            return None
        named[id_] = value
    return named


def told(change: CardChange, show: Callable[[Json], str]) -> str:
    """`old → new`, or the one of them that there is; `show` makes a value fit to be read."""
    match change.kind:
        case ChangeKind.ADDED:
            return show(change.after)
        case ChangeKind.REMOVED:
            return show(change.before)
        case ChangeKind.CHANGED:
            return f"{show(change.before)} → {show(change.after)}"
