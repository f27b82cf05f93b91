"""The first screen when no target was named: the choices there are, and nothing else."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalGroup
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Button, Input, Static

from inspector.errors import InspectorError
from inspector.tui.key_line import QUIT, KeyLine
from inspector.tui.messages import TargetGiven

if TYPE_CHECKING:
    from inspector.core.saved.targets import KnownTarget

MOST_KNOWN = 6
_SETTLED_SECONDS = 0.05


class StartScreen(Screen[None]):
    """Offers the demonstration, a URL or project to type, and the targets known already.

    `is_beside` is true over a main screen, to which Esc goes back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "demo", "Demo", show=False),
        Binding("u", "write('target')", "URL", show=False),
        Binding("p", "write('project')", "Project", show=False),
        Binding("escape", "leave_field", "Back", show=False),
        Binding("up,k", "app.focus_previous", show=False),
        Binding("down,j", "app.focus_next", show=False),
        QUIT,
        *(Binding(str(n), f"take({n})", show=False) for n in range(1, MOST_KNOWN + 1)),
    ]
    AUTO_FOCUS = "#demo"

    def __init__(self, problem: str = "", target: str = "", *, is_beside: bool = False) -> None:
        super().__init__()
        self.is_beside = is_beside
        self._problem, self._target = problem, target
        self._known: Sequence[KnownTarget] = ()

    def compose(self) -> ComposeResult:
        with VerticalGroup(id="choices"):
            yield Static("a2a-inspect", id="title", markup=False)
            yield Static("Talk to an A2A agent and see what passes.", id="tagline", markup=False)
            yield Button(
                "d  Demo: a bank's sub agent, here on this machine", id="demo", compact=True
            )
            yield Static("u  URL of an agent, of its card, or a card file", markup=False)
            yield Input(
                self._target, placeholder="http://localhost:5005", id="target", compact=True
            )
            yield Static("p  Project folder of a Rasa assistant with sub agents", markup=False)
            yield Input(placeholder=".", id="project", compact=True)
            yield VerticalGroup(id="known")
            yield Static(self._problem, id="problem", markup=False)
            back = "Esc back   " if self.is_beside else ""
            yield KeyLine(f"Enter chooses   Tab moves   {back}{{quit}} quits")

    def on_mount(self) -> None:
        for line in self.query(Input):
            line.cursor_blink = False
        if self._problem:
            self.query_one("#target").focus()
        # what is known is read once the choices stand on the terminal
        self.set_timer(_SETTLED_SECONDS, self._look_up)

    def tell(self, text: str) -> None:
        """Say below the choices what went wrong or is under way."""
        self.query_one("#problem", Static).update(text)

    def action_demo(self) -> None:
        self.tell("Starting the bank on a free port …")
        self.post_message(TargetGiven(None))

    def action_write(self, field: str) -> None:
        self.query_one(f"#{field}").focus()

    def action_take(self, number: int) -> None:
        """Connect to the known target of that number."""
        if number <= len(self._known):
            known = self._known[number - 1]
            self.post_message(TargetGiven(known.name or known.target))

    def action_leave_field(self) -> None:
        if self.is_beside and not isinstance(self.focused, Input):
            self.dismiss()
        else:
            self.query_one("#demo").focus()

    @on(Button.Pressed, "#demo")
    def choose_demo(self) -> None:
        self.action_demo()

    @on(Button.Pressed, ".known")
    def choose_known(self, event: Button.Pressed) -> None:
        self.action_take(int(event.button.name or "0"))

    @on(Input.Submitted, "#target")
    def choose_target(self, event: Input.Submitted) -> None:
        target = event.value.strip()
        if target:
            self.post_message(TargetGiven(target))
        else:
            self.tell("Write a URL or the name of a card file.")

    @on(Input.Submitted, "#project")
    async def choose_project(self, event: Input.Submitted) -> None:
        """Connect to the project's sub agent; of several, offer each."""
        from pathlib import Path

        from inspector.core.saved.targets import KnownTarget
        from inspector.core.sub_agents import find_sub_agents

        folder = Path(event.value.strip() or ".")
        try:
            agents = await asyncio.to_thread(find_sub_agents, folder)
        except InspectorError as error:
            self.tell(str(error))
            return
        usable = [KnownTarget(str(one.config.parent), one.name) for one in agents if one.card]
        problems = [text for one in agents for text in one.problems]
        if not usable or (len(usable) == 1 and not problems):
            # without one, connecting says of each why it cannot be reached
            self.post_message(TargetGiven(str(folder)))
            return
        self.tell("\n".join(("Which of its sub agents?", *problems)))
        await self._offer([KnownTarget(one.target) for one in usable], [o.name for o in usable])
        self.query(".known").first().focus()

    def _look_up(self) -> None:
        self.run_worker(self._offer_known(), group="known", exclusive=True)

    async def _offer_known(self) -> None:
        from inspector.core.saved.targets import known_targets, read_targets, targets_file
        from inspector.folders import sessions_folder

        try:
            targets = await asyncio.to_thread(read_targets, targets_file())
        except InspectorError as error:
            self.tell(str(error))
            return
        known = await asyncio.to_thread(known_targets, targets, sessions_folder(), MOST_KNOWN)
        await self._offer(known, [one.name for one in known])

    async def _offer(self, known: "Sequence[KnownTarget]", names: Sequence[str]) -> None:
        """Show a numbered line for each of the first targets."""
        from inspector.tui.drawing.safe_text import safe_line

        self._known = known[:MOST_KNOWN]
        if not self.query("#known"):
            # the app has ended meanwhile
            return
        group = self.query_one("#known")
        await group.remove_children()
        buttons: list[Button] = []
        for number, (one, name) in enumerate(zip(self._known, names, strict=False), 1):
            words = (str(number), safe_line(name), safe_line(one.target))
            label = "  ".join(word for word in words if word)
            buttons.append(Button(Content(label), name=str(number), classes="known", compact=True))
        # who leaves at once is gone by now
        if group.is_attached:
            await group.mount(*buttons)
