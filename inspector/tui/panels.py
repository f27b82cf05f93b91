"""The panels' names and order, and the tabs that stand for them where there is no room for all."""

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from inspector.tui.drawing import styles

PANELS = ("conversation", "timeline", "data", "wire")
_AREAS = (*PANELS, "compose", "filter", "save")


def panel_of(widget: Widget | None) -> str | None:
    """Return the name of the panel that `widget` is or is inside."""
    if widget is None:
        return None
    return next((node.id for node in widget.ancestors_with_self if node.id in _AREAS), None)


class TabBar(Widget):
    """The active panel's tab is marked; a count tells what came unseen."""

    active: reactive[str] = reactive("conversation")
    news: reactive[tuple[tuple[str, int], ...]] = reactive(())

    def __init__(self) -> None:
        super().__init__()
        self.auto_links = False

    def tell(self, panel: str, count: int) -> None:
        self.news = tuple({**dict(self.news), panel: count}.items())

    def render(self) -> Content:
        bar = Content("")
        for number, name in enumerate(PANELS, 1):
            style = f"{styles.KEY} bold reverse" if name == self.active else styles.DIM
            count = dict(self.news).get(name, 0)
            badge = f" +{count}" if count else ""
            tab = Content.styled(f" {number} {name.capitalize()}{badge} ", style)
            click = Style.from_meta({"@click": f"screen.do('go_{name}')"})
            bar += tab.stylize(click) + " "
        return bar
