"""The faults of a connected mock: what is armed, what there is to arm, one key for each."""

from collections.abc import Coroutine
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.core.mock_client import MockClient, parse, spell, suggest
from inspector.errors import UsageError
from inspector.tui.ask_line import AskLine
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Line
from inspector.tui.drawing.safe_text import fault_words, safe_line, value_text
from inspector.tui.key_line import QUIT, KeyLine
from inspector.tui.log_view import LogView
from inspector.views.mock import MockView
from inspector.wire.json_values import Json
from inspector.wire.mock_admin import ArmedFault, FaultKind

NO_MOCK = (
    "No mock is connected. Faults can be armed in a2a-mock on this machine; for one elsewhere, "
    "name the variable with its admin token: --admin-token-env VARIABLE."
)
KEYS = "Esc back  {quit} quit  Enter or 1-9 once  a until disarmed  e edit  x disarm  X all"
ARMED, OFFERED = "armed ", "kind "
_DIGITS = 9
_KIND_WIDTH = 22


class FaultsScreen(Screen[None]):
    """Shows `mock`; what is armed and disarmed goes through `client`."""

    CSS_PATH = "list_screens.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f,f7", "dismiss", "Back", show=False),
        Binding("enter", "choose", "Arm once, or disarm", show=False),
        Binding("a", "arm_all", "Arm until disarmed", show=False),
        Binding("e", "edit", "Edit, then arm", show=False),
        Binding("x,delete", "disarm", "Disarm", show=False),
        Binding("X", "disarm_all", "Disarm all", show=False),
        QUIT,
        *(Binding(str(n), f"arm_number({n})", show=False) for n in range(1, _DIGITS + 1)),
    ]

    def __init__(self, mock: MockView, client: MockClient | None) -> None:
        super().__init__()
        self._mock = mock
        self._client = client

    def compose(self) -> ComposeResult:
        yield BlockList(wraps=True, follows=False, id="faults")
        yield AskLine(id="fault-line")
        yield Static("", id="fault-note", markup=False)
        yield KeyLine(KEYS)

    def on_mount(self) -> None:
        self.query_one(BlockList).border_title = "Faults"
        self.query_one(BlockList).focus()
        if self._client is not None and self._mock.model is not None and not self._mock.offer:
            self._ask(self._client.fetch_offer())
        self._fill()

    def show_view(self, view: LogView) -> None:
        if view.mock is not self._mock:
            self._mock = view.mock
            if self.is_mounted:
                self._fill()

    def action_choose(self) -> None:
        if (kind := self._kind) is not None:
            self._arm(suggest(kind))
        else:
            self.action_disarm()

    def action_arm_all(self) -> None:
        if (kind := self._kind) is not None:
            self._arm(suggest(kind, count=None))

    def action_arm_number(self, number: int) -> None:
        if number <= len(self._mock.offer):
            self._arm(suggest(self._mock.offer[number - 1]))

    def action_edit(self) -> None:
        if (kind := self._kind) is not None:
            self.query_one(AskLine).ask("arm", spell(suggest(kind), kind))

    def action_disarm(self) -> None:
        fault_id = self._named(ARMED)
        if fault_id is not None and self._client is not None:
            self._ask(self._client.disarm(fault_id))

    def action_disarm_all(self) -> None:
        if self._client is not None and self._mock.armed:
            self._ask(self._client.disarm_all())

    @on(AskLine.Taken)
    def take_line(self, event: AskLine.Taken) -> None:
        try:
            fault = parse(event.text, self._mock.offer)
        except UsageError as error:
            self._note(str(error))
            return
        self.query_one(AskLine).close()
        self.leave_line()
        self._arm(fault)

    @on(AskLine.Dropped)
    def leave_line(self) -> None:
        self._note(self._mock.complaint)

    @property
    def _kind(self) -> FaultKind | None:
        name = self._named(OFFERED)
        return next((kind for kind in self._mock.offer if kind.name == name), None)

    def _named(self, what: str) -> str | None:
        """Return the name of the selected row, if it is one of `what`."""
        block = self.query_one(BlockList).current
        is_such = block is not None and block.name.startswith(what)
        return block.name.removeprefix(what) if block is not None and is_such else None

    def _arm(self, fault: dict[str, Json]) -> None:
        if self._client is not None:
            self._ask(self._client.arm(fault))

    def _ask(self, request: Coroutine[None, None, object]) -> None:
        self.run_worker(request, group="faults")

    def _note(self, text: str) -> None:
        self.query_one("#fault-note", Static).update(Content.styled(safe_line(text), styles.BAD))

    def _fill(self) -> None:
        """Draw the rows again; the cursor stays on its row."""
        rows = self.query_one(BlockList)
        before = rows.current.name if rows.current is not None else ""
        blocks = fault_blocks(self._mock)
        rows.show(blocks)
        names = [block.name for block in blocks]
        first = next((place for place, name in enumerate(names) if name.startswith(OFFERED)), 0)
        if blocks:
            rows.cursor = names.index(before) if before and before in names else first
        self._note(self._mock.complaint)


def fault_blocks(mock: MockView) -> list[Block]:
    """Return the rows: the armed faults, then those that there are."""
    armed = [Block(None, (_armed(fault),), ARMED + fault.id) for fault in mock.armed]
    offered = [
        Block(None, _offered(kind, number), OFFERED + kind.name)
        for number, kind in enumerate(mock.offer, 1)
    ]
    if not armed and not offered:
        text = NO_MOCK if mock.model is None else "Asking the mock for its faults …"
        return [Block(None, (Line(Content.styled(text, styles.DIM)),))]
    nothing = Block(None, (Line(Content.styled("nothing", styles.DIM), 2),))
    return [_title("Armed"), *(armed or [nothing]), _title(""), _title("Available"), *offered]


def _title(text: str) -> Block:
    return Block(None, (Line(Content.styled(text, "bold")),))


def _armed(fault: ArmedFault) -> Line:
    left = "until disarmed" if fault.remaining is None else f"{fault.remaining} left"
    style = styles.DIM if fault.is_spent else styles.WARN
    criteria = " ".join(f"{safe_line(n)}={value_text(v)}" for n, v in fault.match.items())
    text = Content.assemble(
        ("▲ ", style),
        (fault_words(fault), style),
        (f"  {safe_line(fault.id)}", styles.DIM),
        (f"  for {criteria}" if criteria else "", styles.ACCENT),
    )
    tail = Content.styled(f"hits {fault.fired}  {'spent' if fault.is_spent else left}", styles.DIM)
    return Line(text, 2, tail)


def _offered(kind: FaultKind, number: int) -> tuple[Line, ...]:
    digit = str(number) if number <= _DIGITS else " "
    first = Content.assemble(
        (f"{digit} ", styles.KEY),
        (safe_line(kind.name).ljust(_KIND_WIDTH), "bold"),
        safe_line(kind.summary),
    )
    names = "  ".join(
        f"{safe_line(one.name)}"
        if one.is_required
        else f"{safe_line(one.name)}={value_text(one.default)}"
        for one in kind.parameters
        if one.is_required or one.default is not None
    )
    lines = [Line(first, 2, hang=_KIND_WIDTH + 2)]
    if names:
        lines.append(Line(Content.styled(names, styles.DIM), _KIND_WIDTH + 4))
    return tuple(lines)
