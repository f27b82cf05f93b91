"""What a key does to turns: send one, send one again, cancel it, change how the next goes out."""

from typing import TYPE_CHECKING

from inspector.core.commands import CancelTask, FetchCard
from inspector.core.entries import Purpose
from inspector.tui.composer import Composer

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace

NOTHING_SENT = "nothing was sent yet"


async def send(workspace: "Workspace") -> None:
    await workspace.query_one(Composer).send()


def slots(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    if composer.is_table_open:
        composer.close_table()
    else:
        composer.open_table(workspace.board.slots())


def shape(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    composer.options = composer.options.next_shape()


def follow(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    composer.options = composer.options.next_follow()


def context(workspace: "Workspace") -> None:
    composer = workspace.query_one(Composer)
    composer.options = composer.options.toggled_context()


async def again(workspace: "Workspace") -> None:
    """Write the last turn back with its message id kept, or give it a new id again."""
    composer, open_task = workspace.query_one(Composer), workspace.board.open_task
    if composer.options.message_id is not None:
        composer.options = composer.options.with_message_id(None)
    elif composer.last_sent is None or open_task is None:
        workspace.notice(NOTHING_SENT)
    else:
        await composer.recall(composer.last_sent)
        composer.options = composer.options.with_message_id(open_task.message_id)
        composer.prompt.focus()


def resend(workspace: "Workspace") -> None:
    """Send the last turn anew; where no card came, fetch it first of all."""
    composer = workspace.query_one(Composer)
    if workspace.board.card is None:
        workspace.run_command(FetchCard())
    elif composer.last_sent is None:
        workspace.notice(NOTHING_SENT)
    else:
        turn = composer.options.turn(composer.last_sent.text, composer.last_sent.slots)
        composer.remember(turn)
        workspace.send(turn)


def stop(workspace: "Workspace") -> None:
    """Cancel the newest task; hang up where a cancel is already out or no task is known."""
    task, running = workspace.board.open_task, workspace.board.running
    is_cancelling = any(one.request.purpose is Purpose.CANCEL for one in running)
    if task is not None and task.task_id is not None and not is_cancelling:
        workspace.run_command(CancelTask(task.task_id, task.context_id))
    elif running and workspace.session is not None:
        for exchange in running:
            workspace.session.stop(exchange.id)
    else:
        workspace.notice("nothing to cancel")
