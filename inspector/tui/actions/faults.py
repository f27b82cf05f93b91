"""What a key does to the faults of a connected mock."""

from typing import TYPE_CHECKING

from inspector.tui.running_app import app_of

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def screen(workspace: "Workspace") -> None:
    from inspector.tui.faults_screen import FaultsScreen

    client = workspace.desk.client if workspace.desk is not None else None
    faults = FaultsScreen(workspace.board.mock, client)
    workspace.watchers.add(faults.show_board)
    app_of(workspace).push_screen(faults, lambda _: workspace.watchers.discard(faults.show_board))
