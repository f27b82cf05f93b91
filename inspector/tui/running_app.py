"""What Textual leaves open in its types: the app that a widget runs in, the workers it has."""

from contextlib import suppress
from typing import TYPE_CHECKING

from textual.widget import Widget
from textual.worker import WorkerCancelled, WorkerFailed

if TYPE_CHECKING:
    from inspector.tui.app import InspectorApp


def app_of(widget: Widget) -> "InspectorApp":
    from inspector.tui.app import InspectorApp

    # Textual leaves the type of its result open
    app: object = widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    assert isinstance(app, InspectorApp)
    return app


async def end_workers(widget: Widget) -> None:
    """Cancel the workers of `widget` and await what they do at their end."""
    workers = widget.workers.cancel_node(widget)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    for worker in workers:  # pyright: ignore[reportUnknownVariableType]
        with suppress(WorkerCancelled, WorkerFailed):
            await worker.wait()
