"""The line of keys at the foot of every screen but the main one; each says how to quit."""

from typing import Any

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input, Static

from inspector.tui.messages import app_of

# named as on the main screen, so that it follows the user's own keys
QUIT = Binding("q", "app.quit", "Quit", show=False, id="quit.letters")
QUIT_ANYWHERE = "^Q"


def quit_key(screen: Screen[Any]) -> str:
    """Return the key that quits where the focus is; in a text field letters are text."""
    if isinstance(screen.focused, Input):
        return QUIT_ANYWHERE
    bindings = (active.binding for active in screen.active_bindings.values())
    own = next((binding for binding in bindings if binding.id == QUIT.id), None)
    return QUIT_ANYWHERE if own is None else app_of(screen).get_key_display(own)


class KeyLine(Static):
    """`keys` is the line with the key that quits as `{quit}`."""

    def __init__(self, keys: str) -> None:
        super().__init__(id="keys", markup=False)
        self._keys = keys

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self.show_keys)

    def show_keys(self) -> None:
        self.update(self._keys.format(quit=quit_key(self.screen)))
