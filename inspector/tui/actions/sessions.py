"""What a key does with saved sessions and pictures of the screen."""

from typing import TYPE_CHECKING

from inspector.tui.messages import SessionGiven
from inspector.tui.panels import Panels
from inspector.tui.running_app import app_of

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.tui.workspace import Workspace


def screen(workspace: "Workspace") -> None:
    """Show the saved sessions, and reopen the one that is chosen."""
    from inspector.folders import sessions_folder
    from inspector.tui.sessions_screen import SessionsScreen

    def after(chosen: "Path | None") -> None:
        if chosen is None:
            return
        if workspace.board.running:
            workspace.notice("still running: x cancels, then S again")
        else:
            workspace.post_message(SessionGiven(chosen))

    symbols = workspace.query_one(Panels).symbols
    app_of(workspace).push_screen(
        SessionsScreen(sessions_folder(), workspace.recorded_in, symbols), after
    )


def picture(workspace: "Workspace") -> None:
    """Write the screen as SVG to the user's folder of pictures."""
    from datetime import datetime

    from inspector.core.saved.session_store import make_private_folder
    from inspector.folders import pictures_folder

    folder = pictures_folder()
    file = folder / f"{datetime.now():%Y%m%dT%H%M%S}.svg"
    try:
        make_private_folder(folder)
        file.write_text(app_of(workspace).export_screenshot(), encoding="utf-8")
    except OSError as error:
        workspace.notice(f"no picture: {error.strerror}")
        return
    workspace.notice(f"picture: {file}")
