"""What goes out from the main screen: turns, and commands whose refusal is told at its foot."""

import os
from typing import TYPE_CHECKING

from inspector.core.commands import Command, SendTurn, Turn
from inspector.core.credentials import fill_headers
from inspector.core.session import Session
from inspector.errors import UsageError
from inspector.tui.composing.composer import Composer
from inspector.tui.stage import Stage

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def send_turn(workspace: "Workspace", turn: Turn, times: int) -> None:
    """Send `turn`, its variables filled in; what cannot go out is kept for ↑."""
    try:
        filled, secrets = fill_headers(turn, os.environ)
    except UsageError as error:
        workspace.query_one(Composer).history.keep_unsent(turn)
        workspace.notice(f"not sent: {error}; ↑ brings it back")
        return
    if workspace.session is not None:
        workspace.session.conceal(secrets)
    workspace.query_one(Stage).select(None)
    desk = workspace.desk
    for _ in range(times):
        workspace.run_command(SendTurn(filled if desk is None else desk.client.traced(filled)))


async def carry_out(workspace: "Workspace", session: Session, command: Command) -> None:
    """Run `command` to its end; once an agent is known, follow the mock that it may be."""
    try:
        await session.run(command)
    except UsageError as error:
        workspace.notice(str(error))
    if workspace.desk is not None and session.endpoint is not None:
        workspace.run_worker(workspace.desk.client.attend(), group="mock")
    if isinstance(command, SendTurn) and session.endpoint is None:
        workspace.query_one(Composer).history.keep_unsent(command.turn)
        workspace.notice("not sent: no card names where to; ↑ brings it back")
