"""What a key copies to the clipboard."""

from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.tui.actions.turns import NOTHING_SENT
from inspector.tui.command_lines import send_command
from inspector.tui.running_app import app_of
from inspector.tui.selection import turn_as_sent
from inspector.tui.stage import Stage

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def selected(workspace: "Workspace") -> None:
    text = workspace.query_one(Stage).copied_text()
    if text is not None:
        app_of(workspace).copy_to_clipboard(text)
        workspace.notice("copied")


def command_line(workspace: "Workspace") -> None:
    turn = turn_as_sent(workspace)
    if turn is None:
        workspace.notice(NOTHING_SENT)
        return
    line = send_command(workspace.target, replace(turn, message_id=None))
    app_of(workspace).copy_to_clipboard(line)
    workspace.notice("copied as a2a-inspect send")
