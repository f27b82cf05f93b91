"""`a2a-inspect tasks`: look at a task, cancel it, follow it again."""

import argparse
import asyncio

from inspector.core.commands import CancelTask, Command, GetTask, Resubscribe
from inspector.core.requests import is_header_value
from inspector.errors import UsageError
from inspector.headless.connect import open_link
from inspector.headless.connection_flags import connection_of
from inspector.headless.follow import follow
from inspector.headless.terminal import print_notice
from inspector.views.text import plain_line

EXIT_OK = 0
EXIT_UNEXPECTED = 1


def run(arguments: argparse.Namespace) -> int:
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    if arguments.context is not None and not is_header_value(arguments.context):
        raise UsageError(
            f"--context {arguments.context!r} has characters no header may hold",
            "leave it out: TASK_ID alone finds the task, unless the agent has replicas",
        )
    async with open_link(arguments.target, connection_of(arguments)) as link:
        await link.connect()
        exchange = await follow(link, _command(arguments), arguments)
    context_id = exchange.progress.context_id
    if arguments.context is None or arguments.context == context_id:
        return EXIT_OK
    found = plain_line(context_id or "none")
    print_notice(f"expected context {arguments.context}, found {found}")
    return EXIT_UNEXPECTED


def _command(arguments: argparse.Namespace) -> Command:
    match arguments.action:
        case "get":
            return GetTask(arguments.task_id, arguments.context)
        case "cancel":
            return CancelTask(arguments.task_id, arguments.context)
        case _:
            return Resubscribe(arguments.task_id, arguments.context)
