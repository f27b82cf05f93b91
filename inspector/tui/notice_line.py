"""What is said in passing: one line above a screen's keys, gone after three seconds."""

from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

NOTICE_SECONDS = 3.0


class NoticeLine(Static):
    """Lies over the line above the last one, so that nothing moves and no key is hidden."""

    DEFAULT_CSS = """
    Screen { layers: default notice; }
    NoticeLine {
        layer: notice; dock: bottom; margin-bottom: 1;
        width: auto; max-width: 100%; height: 1; padding: 0 1;
        text-style: reverse; text-wrap: nowrap; text-overflow: ellipsis;
        display: none;
    }
    """
    SCOPED_CSS = False
    text: reactive[str] = reactive("", init=False, always_update=True)

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._timer: Timer | None = None

    def watch_text(self, text: str) -> None:
        if self._timer is not None:
            self._timer.stop()
        self.update(text)
        self.display = bool(text)
        if text:
            self._timer = self.set_timer(NOTICE_SECONDS, self._hide)

    def _hide(self) -> None:
        self.display = False


def say(screen: Screen[object], text: str) -> None:
    """Show `text` at the foot of `screen`; "" takes back what is shown there."""
    line = next(iter(screen.query(NoticeLine)), None)
    if line is None and text:
        line = NoticeLine()
        screen.mount(line)
    if line is not None:
        line.text = text
