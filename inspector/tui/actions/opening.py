"""What a key opens elsewhere or keeps: the selected payload in a pager, an editor, a file."""

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.errors import UsageError
from inspector.tui.ask_line import SaveLine
from inspector.tui.data_panel import DataPanel
from inspector.tui.panels import Panels
from inspector.tui.running_app import app_of
from inspector.tui.wire_panel import WirePanel
from inspector.views.exchanges import Exchange, find
from inspector.views.exports import entry_bytes, exchange_bytes, received_bytes

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace

NOTHING = "nothing is selected"


async def pager(workspace: "Workspace") -> None:
    from inspector.tui.external_programs import pager_of

    await _view(workspace, lambda: pager_of(os.environ))


async def editor(workspace: "Workspace") -> None:
    from inspector.tui.external_programs import editor_of

    await _view(workspace, lambda: editor_of(os.environ))


def save(workspace: "Workspace") -> None:
    """Ask where to save the file under the cursor, or what came over the wire."""
    stage, line = workspace.query_one(Panels), workspace.query_one(SaveLine)
    file = workspace.query_one(DataPanel).file if stage.active == "data" else None
    if file is not None and not file.encoded:
        workspace.notice(f"{file.safe_name} was not sent along, only where it is")
    elif file is not None:
        line.ask(file.safe_name, file.content)
    elif (exchange := _exchange(workspace)) is not None:
        line.ask(f"exchange-{exchange.id}.body", lambda: received_bytes(exchange))
    else:
        workspace.notice(NOTHING)


async def _view(workspace: "Workspace", command: Callable[[], list[str]]) -> None:
    from inspector.tui.external_programs import view_outside, visible

    found = _selected(workspace)
    if found is None:
        workspace.notice(NOTHING)
        return
    raw, suffix = found
    try:
        await view_outside(app_of(workspace), visible(raw), suffix, command())
    except UsageError as error:
        workspace.notice(str(error))


def _selected(workspace: "Workspace") -> tuple[bytes, str] | None:
    """Return the bytes to show: of the wire all, of the data its parts, else of one entry."""
    stage = workspace.query_one(Panels)
    exchange = _exchange(workspace)
    if stage.active == "data":
        turn = workspace.board.turn_at(stage.selected)
        return None if turn is None else (_pretty(turn.parts), ".json")
    if exchange is None:
        return None
    if stage.active == "wire":
        return exchange_bytes(exchange), ".http"
    seq = exchange.request.seq if stage.selected is None else stage.selected.seq
    if stage.selected is None and exchange.frames:
        seq = exchange.frames[-1].seq
    return entry_bytes(exchange, seq), ".json"


def _exchange(workspace: "Workspace") -> Exchange | None:
    stage, exchanges = workspace.query_one(Panels), workspace.board.exchanges
    if stage.active == "wire":
        return workspace.query_one(WirePanel).selected
    if stage.selected is None:
        return exchanges[-1] if exchanges else None
    return find(exchanges, stage.selected.exchange)


def _pretty(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode(errors="replace")
