"""The first screen when no target was named: the choices there are, and nothing else."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalGroup
from textual.screen import Screen
from textual.widgets import Button, Input, Static

from inspector.tui.messages import TargetGiven


class StartScreen(Screen[None]):
    """Offers the demonstration and a target to type."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "demo", "Demo", show=False),
        Binding("u", "url", "URL", show=False),
        Binding("escape", "leave_field", "Back", show=False),
        Binding("up,k", "app.focus_previous", show=False),
        Binding("down,j", "app.focus_next", show=False),
        Binding("q,ctrl+q", "app.quit", "Quit", show=False),
    ]
    AUTO_FOCUS = "#demo"

    def __init__(self, problem: str = "", target: str = "") -> None:
        super().__init__()
        self._problem, self._target = problem, target

    def compose(self) -> ComposeResult:
        with VerticalGroup(id="choices"):
            yield Static("a2a-inspect", id="title", markup=False)
            yield Static("Talk to an A2A agent and see what passes.", id="tagline", markup=False)
            yield Button(
                "d  Demo: a bank's sub agent, here on this machine", id="demo", compact=True
            )
            yield Static("u  URL of an agent, of its card, or a card file", id="url", markup=False)
            yield Input(
                self._target, placeholder="http://localhost:5005", id="target", compact=True
            )
            yield Static(self._problem, id="problem", markup=False)
            yield Static("Enter chooses   Tab moves   q quits", id="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False
        if self._problem:
            self.query_one(Input).focus()

    def tell(self, text: str) -> None:
        """Say below the choices what went wrong or is under way."""
        self.query_one("#problem", Static).update(text)

    def action_demo(self) -> None:
        self.tell("Starting the bank on a free port …")
        self.post_message(TargetGiven(None))

    def action_url(self) -> None:
        self.query_one(Input).focus()

    def action_leave_field(self) -> None:
        self.query_one("#demo").focus()

    @on(Button.Pressed, "#demo")
    def choose_demo(self) -> None:
        self.action_demo()

    @on(Input.Submitted)
    def choose_target(self, event: Input.Submitted) -> None:
        target = event.value.strip()
        if target:
            self.post_message(TargetGiven(target))
        else:
            self.tell("Write a URL or the name of a card file.")
