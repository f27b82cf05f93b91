"""A list of blocks that draws only the lines in sight, whatever its length."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.markup import parse_style
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block
from inspector.tui.drawing.pile import LaidOut, Pile
from inspector.tui.messages import NewsCame, Picked, Place


class BlockList(ScrollView, can_focus=True):
    """Stays where it is and counts what is new; with `follows`, at its end it goes along."""

    DEFAULT_CSS = """
    BlockList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"blocks--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "move_to_start", "First", show=False),
        Binding("end,G", "move_to_end", "Last", show=False),
    ]
    ALLOW_SELECT = False

    cursor: reactive[int] = reactive(-1)

    def __init__(
        self, *, wraps: bool, follows: bool = True, id: str | None = None, empty: str = ""
    ) -> None:
        super().__init__(id=id)
        self.auto_links = False
        self.follows = follows
        self.empty = empty
        self._laid_out = LaidOut(wraps=wraps)
        self.pile: Pile = self._laid_out
        self._styles: dict[str, Style] = {}
        self._seen = 0
        self._fresh: int = 0

    @property
    def blocks(self) -> Sequence[Block]:
        """Return every block, drawn."""
        return [self.pile[index] for index in range(len(self.pile))]

    @property
    def is_at_end(self) -> bool:
        return self.cursor >= len(self.pile) - 1

    @property
    def current(self) -> Block | None:
        return self.pile[self.cursor] if 0 <= self.cursor < len(self.pile) else None

    def show(self, blocks: Sequence[Block]) -> None:
        """Draw `blocks`; those that stand where they stood are not laid out again."""
        self.refill(lambda: self._laid_out.take(blocks))

    def refill(self, change: Callable[[], bool]) -> None:
        """Draw what the pile holds after `change`, which says whether that is other."""
        follows = self.follows and self.is_at_end and self._is_scrolled_to_end()
        if not change():
            return
        self._measure()
        if follows:
            self.cursor = len(self.pile) - 1
            self._follow()
        elif self.cursor >= len(self.pile):
            self.cursor = len(self.pile) - 1
        self._tell_news()
        self.refresh()

    def open_at_start(self, blocks: Sequence[Block]) -> None:
        """Draw other blocks, from their beginning."""
        self.show(blocks)
        self.cursor = 0 if blocks else -1
        self.scroll_home(animate=False, immediate=True)

    def mark(self, place: Place | None) -> None:
        """Bring the cursor to the block nearest to `place`; None is the end."""
        index = len(self.pile) - 1 if place is None else self.pile.index_of(place)
        if index is not None and index != self.cursor:
            self.cursor = index
            self._bring_into_sight()
            self._tell_news()

    def relay(self) -> None:
        """Lay everything out again, as after a change of width or symbols."""
        self.pile.lay_out(max(8, self.scrollable_content_region.width - 1))
        self._measure()
        self.refresh()

    def watch_cursor(self) -> None:
        self.refresh()

    def on_resize(self) -> None:
        follows = self.follows and self.is_at_end
        self.relay()
        if follows:
            self._follow()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()
        self.refresh()

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        line = self.pile.top(max(0, self.cursor)) if len(self.pile) else 0
        wanted = line + by * max(1, self.scrollable_content_region.height - 1)
        self.go(self.pile.at(max(0, wanted)) if len(self.pile) else 0)

    def action_move_to_start(self) -> None:
        self.go(0)

    def action_move_to_end(self) -> None:
        self.go(len(self.pile) - 1)

    def on_click(self, event: events.Click) -> None:
        line = event.get_content_offset(self)
        if line is not None and len(self.pile):
            self.go(self.pile.at(self.scroll_offset.y + line.y))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        base = self.visual_style
        if line >= self.pile.top(len(self.pile)):
            text = Content.styled(self.empty if not len(self.pile) and y == 0 else "", ink.DIM)
            return self._strip(Content(" ") + text, base, width)
        index = self.pile.at(line)
        is_marked = index == self.cursor and self._shows_cursor(index)
        if is_marked:
            base = self.get_visual_style("blocks--cursor")
        edge = Content.styled("▌", ink.KEY) if is_marked else Content(" ")
        drawn = self.pile.lines(index)[line - self.pile.top(index)]
        return self._strip(edge + drawn, base, width)

    def _shows_cursor(self, index: int) -> bool:
        """Say whether the cursor is worth a mark: a place that other panels mark too, or focus."""
        return len(self.pile) > 1 and (self.has_focus or self.pile[index].place is not None)

    def _strip(self, content: Content, base: Style, width: int) -> Strip:
        segments = [
            Segment(text, style.rich_style)
            for text, style in content.render(base, end="", parse_style=self._resolve)
        ]
        return Strip(segments).adjust_cell_length(width, base.rich_style)

    def _resolve(self, style: str | Style) -> Style:
        """Return a style by its name in the theme, parsed once until the theme changes."""
        if isinstance(style, Style):
            return style
        if style not in self._styles:
            self._styles[style] = parse_style(style)
        return self._styles[style]

    def _measure(self) -> None:
        height = self.pile.top(len(self.pile))
        self.virtual_size = Size(self.scrollable_content_region.width, height)

    def _follow(self) -> None:
        self.scroll_end(animate=False, immediate=True)
        # the scroll bar's coming or going may still change how lines wrap
        self.call_after_refresh(self.scroll_end, animate=False, immediate=True)

    def _is_scrolled_to_end(self) -> bool:
        return self.scroll_offset.y >= self.max_scroll_y

    def go(self, index: int) -> None:
        """Bring the cursor to a block and into sight; beyond the ends, to the nearest."""
        if not len(self.pile):
            return
        self.cursor = min(max(index, 0), len(self.pile) - 1)
        self._bring_into_sight()
        self._tell_news()
        place = self.pile[self.cursor].place
        if place is not None:
            self.post_message(Picked(place, self.is_at_end))

    def _bring_into_sight(self) -> None:
        top, bottom = self.pile.top(self.cursor), self.pile.top(self.cursor + 1)
        self.scroll_to_region(
            Region(0, top, 1, bottom - top), animate=False, immediate=True, x_axis=False
        )

    def _tell_news(self) -> None:
        if self.is_at_end or self.pile[len(self.pile) - 1].place is None:
            self._seen = len(self.pile)
        fresh = max(0, len(self.pile) - self._seen)
        if fresh != self._fresh:
            self._fresh = fresh
            self.border_subtitle = Content(f"{fresh} new · End") if fresh else Content("")
            self.post_message(NewsCame(self.id or "", fresh))
