"""`a2a-inspect tasks`: look at a task, cancel it, follow it again."""

import asyncio

from inspector.core.commands import CancelTask, GetTask, Resubscribe
from inspector.core.requests import is_header_value
from inspector.errors import EXIT_OK, EXIT_UNEXPECTED, UsageError
from inspector.headless.connection import connection_of
from inspector.headless.following import follow
from inspector.headless.inspection import inspect
from inspector.headless.options import FollowOptions, TasksOptions
from inspector.headless.terminal import print_notice
from inspector.views.text import plain_line

_COMMANDS = {"get": GetTask, "cancel": CancelTask, "resubscribe": Resubscribe}


def run(options: TasksOptions) -> int:
    return asyncio.run(_run(options))


async def _run(options: TasksOptions) -> int:
    if options.context is not None and not is_header_value(options.context):
        raise UsageError(
            f"--context {options.context!r} has characters no header may hold",
            "leave it out: TASK_ID alone finds the task, unless the agent has replicas",
        )
    connection = connection_of(options.connection)
    async with inspect(options.target, connection, options.context) as inspection:
        await inspection.connect()
        command = _COMMANDS[options.action](options.task_id, options.context)
        followed = await follow(inspection, command, FollowOptions(), is_json=options.json)
    context_id = followed.exchange.progress.context_id
    if options.context is None or options.context == context_id:
        return EXIT_OK
    found = plain_line(context_id or "none")
    print_notice(f"expected context {options.context}, found {found}")
    return EXIT_UNEXPECTED
