"""The app that a widget runs in, with its type known."""

from textual.app import App
from textual.widget import Widget


def app_of(widget: Widget) -> App[object]:
    # Textual leaves the type of its result open
    return widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
