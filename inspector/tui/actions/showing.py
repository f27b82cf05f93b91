"""What a key does to the screen: other panels, other screens, other symbols and colours.

A screen is imported when it is opened, so that the first frame waits for none.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.core.commands import FetchCard
from inspector.tui.composing.composer import Composer
from inspector.tui.drawing.styles import ASCII, THEMES, UNICODE, Symbols
from inspector.tui.header import Header
from inspector.tui.layout import PANELS, Layout, SplitLayout
from inspector.tui.panels import Panels
from inspector.tui.running_app import app_of

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def help_page(workspace: "Workspace") -> None:
    from inspector.tui.help import HelpScreen

    app_of(workspace).push_screen(HelpScreen(workspace.keymap))


def palette(workspace: "Workspace") -> None:
    app_of(workspace).action_command_palette()


def target(workspace: "Workspace") -> None:
    """Ask which agent to talk to in the place of this one."""
    from inspector.tui.start import StartScreen

    if workspace.board.running:
        workspace.notice("still running: x cancels, then N again")
    else:
        app_of(workspace).push_screen(StartScreen(is_beside=True))


def panel(name: str) -> "Callable[[Workspace], None]":
    """Return the action that brings the focus to the panel `name`."""

    def go_to(workspace: "Workspace") -> None:
        if name == "compose":
            workspace.query_one(Composer).field.focus()
        else:
            workspace.query_one(Panels).go_to(name)

    return go_to


def wire(workspace: "Workspace") -> None:
    workspace.query_one(Panels).toggle_wire()


def card(workspace: "Workspace") -> None:
    from inspector.tui.card_screen import CardScreen

    memory = workspace.cards
    screen = CardScreen(
        workspace.board,
        fetch=lambda: workspace.run_command(FetchCard()),
        last=lambda: memory.last if memory is not None else None,
        started=workspace.started,
        symbols=workspace.query_one(Panels).symbols,
    )

    def after(example: str | None) -> None:
        workspace.watchers.discard(screen.show_board)
        if example is not None:
            prompt = workspace.query_one(Composer).prompt
            prompt.load_text(example)
            prompt.move_cursor(prompt.document.end)
            prompt.focus()

    workspace.watchers.add(screen.show_board)
    app_of(workspace).push_screen(screen, after)


def zoom(workspace: "Workspace") -> None:
    workspace.query_one(Panels).toggle_zoom()


def resize(by: int) -> "Callable[[Workspace], None]":
    """Return the action that makes the active panel wider, or the wire higher, by `by` steps."""

    def arrange(workspace: "Workspace") -> None:
        stage = workspace.query_one(Panels)
        layout = stage.query_one(SplitLayout).layout_shown
        stage.lay_out(layout.resized(stage.active, by))

    return arrange


def hide(workspace: "Workspace") -> None:
    """Hide the active panel; its number brings it back."""
    stage = workspace.query_one(Panels)
    if stage.active == "wire":
        stage.toggle_wire()
        return
    layout = stage.query_one(SplitLayout).layout_shown
    if len(layout.shown) == 1:
        workspace.notice("one panel stays")
        return
    hidden = stage.active
    stage.lay_out(layout.without(hidden))
    workspace.notice(f"{PANELS.index(hidden) + 1} brings it back")


def even(workspace: "Workspace") -> None:
    workspace.query_one(Panels).lay_out(Layout())


def symbols(workspace: "Workspace") -> None:
    stage = workspace.query_one(Panels)
    chosen = ASCII if stage.symbols is UNICODE else UNICODE
    app_of(workspace).letters.enabled = chosen is ASCII
    draw_with(workspace, chosen)


def draw_with(workspace: "Workspace", chosen: Symbols) -> None:
    workspace.query_one(Header).symbols = chosen
    workspace.query_one(Panels).draw_with(chosen)


def theme(workspace: "Workspace") -> None:
    """Take the next theme, and remember it."""
    app, names = app_of(workspace), list(THEMES)
    app.theme = names[(names.index(app.theme) + 1) % len(names)]
    app.remember(replace(app.look, theme=app.theme))
    workspace.notice(f"theme {app.theme}")


def quit_app(workspace: "Workspace") -> None:
    """Leave; while something runs, only when asked a second time."""
    if workspace.board.running and not workspace.is_quit_asked:
        workspace.is_quit_asked = True
        workspace.notice("still running: q again quits, x cancels")
        return
    app_of(workspace).exit()
