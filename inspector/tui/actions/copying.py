"""What a key copies to the clipboard."""

from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.tui.actions.turns import NOTHING_SENT
from inspector.tui.copying import send_command, task_command
from inspector.tui.panels import Panels
from inspector.tui.running_app import app_of
from inspector.tui.selection import pointed_exchange, turn_as_sent
from inspector.views.exchanges import find

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def selected(workspace: "Workspace") -> None:
    text = workspace.query_one(Panels).copied_text()
    if text is not None:
        app_of(workspace).copy_to_clipboard(text)
        workspace.notice("copied")


def menu(workspace: "Workspace") -> None:
    """Copy the selected exchange in the form that is chosen."""
    from inspector.tui.copying import CopyMenu, exchange_as

    exchange = pointed_exchange(workspace)
    if exchange is None:
        workspace.notice(NOTHING_SENT)
        return

    def after(form: str | None) -> None:
        if form is None:
            return
        text = exchange_as(form, exchange, workspace.started)
        app_of(workspace).copy_to_clipboard(text)
        workspace.notice(f"copied as {form}")

    app_of(workspace).push_screen(CopyMenu(), after)


def command_line(workspace: "Workspace") -> None:
    """Copy what sends the selected turn again, or asks again what was asked about its task."""
    line = _task_line(workspace) or _turn_line(workspace)
    if line is None:
        workspace.notice(NOTHING_SENT)
        return
    app_of(workspace).copy_to_clipboard(line)
    workspace.notice("copied as a command line")


def _turn_line(workspace: "Workspace") -> str | None:
    turn = turn_as_sent(workspace)
    return turn and send_command(workspace.target, replace(turn, message_id=None))


def _task_line(workspace: "Workspace") -> str | None:
    place = workspace.query_one(Panels).selected
    exchange = None if place is None else find(workspace.board.exchanges, place.exchange)
    if exchange is None or exchange.purpose is None or exchange.progress.task_id is None:
        return None
    task_id, context_id = exchange.progress.task_id, exchange.progress.context_id
    return task_command(workspace.target, exchange.purpose, task_id, context_id)
