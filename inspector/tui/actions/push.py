"""What a key does to the push receiver."""

from typing import TYPE_CHECKING

from inspector.core.commands import Also
from inspector.tui.composing.composer import Composer
from inspector.tui.messages import Place
from inspector.tui.panels import Panels
from inspector.tui.running_app import app_of

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def screen(workspace: "Workspace") -> None:
    """Open the receiver if it is closed, and show what it got; turns register it from now on."""
    from inspector.tui.push_screen import PushScreen

    def set_registers(registers: bool) -> None:
        options = composer.options
        if (Also.PUSH in options.also) is not registers:
            composer.options = options.toggled_also(Also.PUSH)

    def leave(place: Place | None) -> None:
        workspace.watchers.discard(pushes.show_board)
        if place is not None:
            stage.select(place)
            stage.go_to("wire")

    composer, stage = workspace.query_one(Composer), workspace.query_one(Panels)
    pushes = PushScreen(
        workspace.session.receiver if workspace.session is not None else None,
        workspace.board,
        started=workspace.started,
        now_ms=workspace.now_ms,
        symbols=stage.symbols,
        registers=Also.PUSH in composer.options.also,
        set_registers=set_registers,
    )
    workspace.watchers.add(pushes.show_board)
    app_of(workspace).push_screen(pushes, leave)
