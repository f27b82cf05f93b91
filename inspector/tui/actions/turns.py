"""What a key does to turns and their tasks: send, edit, send again, cancel, look, follow."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.core.commands import CancelTask, Command, FetchCard, GetTask, Resubscribe
from inspector.core.entries import Purpose
from inspector.tui.composing.composer import Composer
from inspector.tui.selection import KnownTask, selected_task, selected_turn

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace

NOTHING_SENT = "nothing was sent yet"
_NO_TASK = "no task is known here"


async def send(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    await composer.settle()
    await composer.send()


async def edit(workspace: "Workspace") -> None:
    """Write the selected turn back, all it carried with it, as a new message of its context."""
    turn = selected_turn(workspace)
    if turn is None:
        workspace.notice(NOTHING_SENT)
        return
    await workspace.query_one(Composer).write(replace(turn, message_id=None))


def resend(workspace: "Workspace") -> None:
    """Send the selected turn as a new message; where no card came, fetch it first of all."""
    turn = selected_turn(workspace)
    if workspace.board.card is None:
        workspace.run_command(FetchCard())
    elif turn is None:
        workspace.notice(NOTHING_SENT)
    else:
        workspace.send(replace(turn, message_id=None))


def again(workspace: "Workspace") -> None:
    """Send the selected turn with the id that it had: an agent answers as it did (TURN-5)."""
    turn = selected_turn(workspace)
    if turn is None:
        workspace.notice(NOTHING_SENT)
        return
    workspace.send(turn)
    workspace.notice(f"sent again with message id {turn.message_id or 'of its body'}")


def twice(workspace: "Workspace") -> None:
    """Send the selected turn twice at once with one new id: one of the two meets a 409.

    Without a context each of the two would begin its own.
    """
    turn = selected_turn(workspace)
    if turn is None:
        workspace.notice(NOTHING_SENT)
        return
    context_id = turn.context_id or workspace.new_id()
    workspace.send(replace(turn, message_id=workspace.new_id(), context_id=context_id), times=2)


def stop(workspace: "Workspace") -> None:
    """Cancel the newest task; hang up where that was asked before or no task is known."""
    board = workspace.board
    task, running = board.open_task, board.running
    # an agent may answer a cancel and go on all the same
    is_asked = bool(running) and any(
        one.purpose is Purpose.CANCEL and one.id >= running[0].id for one in board.exchanges
    )
    if task is not None and task.task_id is not None and not is_asked:
        workspace.run_command(CancelTask(task.task_id, task.context_id))
    elif running and workspace.session is not None:
        for exchange in running:
            workspace.session.stop(exchange.id)
    else:
        workspace.notice("nothing to cancel")


def get_task(workspace: "Workspace") -> None:
    _ask(workspace, lambda task: GetTask(task.id, task.context_id))


def resubscribe(workspace: "Workspace") -> None:
    _ask(workspace, lambda task: Resubscribe(task.id, task.context_id))


def _ask(workspace: "Workspace", command: Callable[[KnownTask], Command]) -> None:
    task = selected_task(workspace)
    if task is None:
        workspace.notice(_NO_TASK)
    else:
        workspace.run_command(command(task))
