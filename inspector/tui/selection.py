"""The turn and the task that a key acts on: those selected in any panel, else the newest."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inspector.core.commands import Turn
from inspector.core.entries import RequestSent
from inspector.core.requests import TURNS
from inspector.tui.composing.composer import Composer
from inspector.tui.panels import Panels
from inspector.tui.wire_panel import WirePanel

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace
    from inspector.views.exchanges import Exchange


@dataclass(frozen=True, slots=True)
class KnownTask:
    id: str
    context_id: str | None


def selected_exchange(workspace: "Workspace") -> "Exchange | None":
    """Return the exchange of the selected turn; of what came after a turn, that of this turn."""
    place = workspace.query_one(Panels).selected
    for exchange in reversed(workspace.board.exchanges):
        if exchange.purpose in TURNS and (place is None or exchange.id <= place.exchange):
            return exchange
    return None


def pointed_exchange(workspace: "Workspace") -> "Exchange | None":
    """Return the exchange under the cursor of the wire view, else that of the selected turn."""
    stage = workspace.query_one(Panels)
    if stage.active == "wire":
        return workspace.query_one(WirePanel).selected
    return selected_exchange(workspace)


def turn_as_sent(workspace: "Workspace") -> Turn | None:
    """Return the selected turn as it went out."""
    exchange = selected_exchange(workspace)
    if exchange is None or not isinstance(exchange.request, RequestSent):
        return None
    return workspace.query_one(Composer).history.read(exchange.request)


def selected_turn(workspace: "Workspace") -> Turn | None:
    """Return the selected turn in the context that it was answered in, its message id kept."""
    turn, exchange = turn_as_sent(workspace), selected_exchange(workspace)
    if turn is None or exchange is None:
        return None
    return replace(turn, context_id=turn.context_id or exchange.progress.context_id)


def selected_task(workspace: "Workspace") -> KnownTask | None:
    """Return the task of what is selected; where that told of none, the one told of before."""
    place = workspace.query_one(Panels).selected
    for exchange in reversed(workspace.board.exchanges):
        task_id = exchange.progress.task_id
        if task_id is not None and (place is None or exchange.id <= place.exchange):
            return KnownTask(task_id, exchange.progress.context_id)
    return None
