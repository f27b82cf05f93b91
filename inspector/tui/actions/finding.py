"""What a key finds: what passes a filter, the next thing that is wrong, the next task."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.tui.board import found_places
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.messages import Place
from inspector.tui.panels import Panels

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def filter_panels(workspace: "Workspace") -> None:
    workspace.query_one(Panels).open_filter()


def trouble(by: int) -> "Callable[[Workspace], None]":
    """Return the action that goes to the next place where something is wrong, or the one before."""

    def go(workspace: "Workspace") -> None:
        found = found_places(workspace.board)
        if not found:
            workspace.notice("nothing was found wrong")
            return
        stage = workspace.query_one(Panels)
        index = _next([one.place for one in found], stage.selected, by)
        # who reads the bytes goes on reading bytes
        panel = "wire" if stage.active == "wire" else found[index].panel
        stage.show_place(found[index].place, panel)
        told = safe_line(found[index].text)[:_MOST_TOLD]
        workspace.notice(f"{index + 1} of {len(found)}: {told}")

    return go


def task(by: int) -> "Callable[[Workspace], None]":
    """Return the action that goes to the next task, or the one before."""

    def go(workspace: "Workspace") -> None:
        tasks = [Place(row.exchange, row.exchange) for row in workspace.board.tasks]
        if not tasks:
            workspace.notice("no task yet")
            return
        stage = workspace.query_one(Panels)
        selected = stage.selected
        here = None if selected is None else Place(selected.exchange, selected.exchange)
        place = tasks[_next(tasks, here, by)]
        stage.show_place(Place(place.exchange, 0), stage.active)

    return go


_MOST_TOLD = 100


def _next(places: list[Place], here: Place | None, by: int) -> int:
    """Return the place after `here`, or the one before; beyond the last comes the first again."""
    seqs = [place.seq for place in places]
    if here is None:
        return 0 if by > 0 else len(places) - 1
    index = bisect_right(seqs, here.seq) if by > 0 else bisect_left(seqs, here.seq) - 1
    return index % len(places)
