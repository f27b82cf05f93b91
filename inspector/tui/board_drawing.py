"""A board handed out: to each part of the main screen what that part draws."""

from typing import TYPE_CHECKING

from inspector.tui.actions.credentials import look_after
from inspector.tui.board import Board
from inspector.tui.composing.composer import Composer
from inspector.tui.data_panel import DataPanel
from inspector.tui.footer import KeyBar
from inspector.tui.header import Header, header_view
from inspector.tui.live_drawer import LiveDrawer, SaveProblems
from inspector.tui.panels import Panels
from inspector.tui.timeline_panel import TimelinePanel

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def draw_board(workspace: "Workspace", board: Board) -> None:
    """Make `board` the one of `workspace`, and draw it."""
    workspace.board = board
    workspace.query_one(DataPanel).know_mock(board.mock)
    workspace.query_one(TimelinePanel).know_marks(board.mock.marks)
    stage = workspace.query_one(Panels)
    stage.show(board)
    workspace.query_one(KeyBar).found = stage.found.total
    composer = workspace.query_one(Composer)
    composer.options = composer.options.in_context(board.context_id)
    composer.offers = board.offers
    composer.exchanges = board.exchanges
    workspace.query_one(LiveDrawer).show_live(board.live)
    workspace.query_one(SaveProblems).reload = board.mock.reload
    for show in tuple(workspace.watchers):
        show(board)
    workspace.query_one(Header).view = header_view(workspace.target, board, workspace.reopened_to)
    workspace.show_waiting()
    look_after(workspace)
