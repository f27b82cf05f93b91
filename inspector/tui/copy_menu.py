"""One line at the bottom that asks in which form an exchange is to be copied."""

import json
from datetime import datetime
from importlib.metadata import version
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Static

from inspector.tui.drawing import styles
from inspector.views.exchanges import Exchange
from inspector.views.exports import curl, exchange_json, har, har_entry, httpx_script
from inspector.wire.json_values import Json

FORMS = {"c": "curl", "p": "Python", "j": "JSON", "h": "HAR entry", "a": "HAR archive"}


class CopyMenu(ModalScreen[str | None]):
    """Answers the form that was chosen."""

    CSS_PATH = "copy_menu.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,C", "dismiss(None)", "Back", show=False),
        *(Binding(key, f"dismiss('{form}')", form, show=False) for key, form in FORMS.items()),
    ]

    def compose(self) -> ComposeResult:
        line = Content.styled(" copy as ", styles.DIM)
        for key, form in FORMS.items():
            entry = Content.assemble(" ", (key, f"{styles.KEY} bold"), " ", form, " ")
            line += entry.stylize(Style.from_meta({"@click": f"screen.dismiss('{form}')"}))
        yield Static(line + Content.styled("  Esc back", styles.DIM), id="forms")

    def on_mount(self) -> None:
        self.query_one(Static).auto_links = False


def exchange_as(form: str, exchange: Exchange, started: datetime) -> str:
    """Return `exchange` in one of FORMS; `started` is the zero of its log."""
    match form:
        case "curl":
            return curl(exchange.request)
        case "Python":
            return httpx_script(exchange.request)
        case "JSON":
            return _pretty(exchange_json(exchange, started))
        case "HAR entry":
            return _pretty(har_entry(exchange, started))
        case _:
            return _pretty(har((exchange,), started, version("a2a-inspect")))


def _pretty(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
