"""The app that a widget runs in, with its type known."""

from typing import TYPE_CHECKING

from textual.widget import Widget

if TYPE_CHECKING:
    from inspector.tui.app import InspectorApp


def app_of(widget: Widget) -> "InspectorApp":
    from inspector.tui.app import InspectorApp

    # Textual leaves the type of its result open
    app: object = widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    assert isinstance(app, InspectorApp)
    return app
