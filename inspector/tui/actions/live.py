"""What a key does to live replay and to the explanation of turns."""

from typing import TYPE_CHECKING

from inspector.tui.data_panel import DataPanel
from inspector.tui.header import Header
from inspector.tui.layout import panel_of
from inspector.tui.live_drawer import LiveDrawer
from inspector.tui.panels import Panels

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace

WORKERS = "live"


def toggle(workspace: "Workspace") -> None:
    """Let each save run the conversation again, or no longer."""
    drawer, desk = workspace.query_one(LiveDrawer), workspace.desk
    if drawer.is_open:
        drawer.close()
        if desk is not None:
            workspace.run_worker(desk.tidy(), group=WORKERS, exclusive=True)
    else:
        drawer.open()
        if desk is not None:
            workspace.run_worker(desk.live(), group=WORKERS)
    workspace.query_one(Header).is_live = drawer.is_open


def base(workspace: "Workspace") -> None:
    """Compare the last run with the conversation, or with the run before."""
    workspace.query_one(LiveDrawer).toggle_base()


def trace(workspace: "Workspace") -> None:
    """Show in place of the data which rules the mock's turn came by, or the data again."""
    data, stage = workspace.query_one(DataPanel), workspace.query_one(Panels)
    is_seen = bool(data.region)
    if is_seen or not data.explains:
        data.toggle_rules()
    if not is_seen:
        is_writing = panel_of(workspace.focused) == "compose"
        (stage.reveal if is_writing else stage.go_to)("data")
