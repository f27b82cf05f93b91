"""`a2a-inspect send`: sends one message to an agent and prints the outcome."""

import asyncio
import json
import os
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import reduce
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from inspector.core.commands import Also, FollowMode, Json, SendTurn, SlotShape, Turn
from inspector.core.credentials import fill_headers
from inspector.core.requests import read_part, read_to_end, read_user_file
from inspector.core.saved.recording import read_session
from inspector.core.saved.session_store import find_conversation
from inspector.core.saved.targets import decode_turn, read_targets, targets_file
from inspector.errors import EXIT_OK, EXIT_UNEXPECTED, UsageError
from inspector.folders import sessions_folder
from inspector.headless.connection import connection_of
from inspector.headless.following import follow, print_answer
from inspector.headless.inspection import Inspection, inspect
from inspector.headless.options import FollowOptions, MessageOptions, SendOptions
from inspector.headless.terminal import print_json, print_notice
from inspector.views import waiting
from inspector.views.exchanges import Exchange
from inspector.views.problems import problem_of
from inspector.views.reading import read_log
from inspector.views.text import plain_line
from inspector.wire.json_values import parse_json
from inspector.wire.states import STATES, parse_state

T = TypeVar("T")


def run(options: SendOptions) -> int:
    # stdin is read before the loop runs, in which an interruption would wait for its end
    expected = _expected_state(options.expect_state)
    turn = read_turn(options.target, options.message, options.follow)
    turn, secrets = fill_headers(turn, os.environ)
    return asyncio.run(_send(options, turn, secrets, expected))


async def _send(
    options: SendOptions, turn: Turn, secrets: tuple[str, ...], expected: str | None
) -> int:
    connection, context_id = connection_of(options.connection), options.message.context
    if context_id is not None and turn.task_id is None and not options.message.new_task:
        turn = replace(turn, task_id=_waiting_task(options.target, context_id))
    async with inspect(options.target, connection, context_id) as inspection:
        inspection.session.conceal(secrets)
        await inspection.connect()
        if options.twice:
            return await _send_twice(inspection, turn, options)
        command = SendTurn(turn)
        state = (await follow(inspection, command, options.follow, is_json=options.json)).state
    if expected is None or (state is not None and parse_state(state) == expected):
        return EXIT_OK
    found = plain_line(state) if state else "no state"
    print_notice(f"expected the state {expected}, found {found}")
    return EXIT_UNEXPECTED


def _waiting_task(target: str, context_id: str) -> str | None:
    """The task to continue in the context, as the saved session that holds it says."""
    path = find_conversation(sessions_folder(), target, context_id)
    if path is None:
        return None
    reads = read_log(read_session(path).entries)
    task_id = reduce(waiting.step, reads, waiting.EMPTY).continued_in(context_id)
    if task_id is not None:
        print_notice(f"continues the task {plain_line(task_id)}; --new-task begins another one")
    return task_id


def _expected_state(spelling: str | None) -> str | None:
    if spelling is None:
        return None
    if (state := parse_state(spelling)) is None:
        raise UsageError(
            f"--expect-state {spelling!r} is not a state", f"use one of {', '.join(STATES)}"
        )
    return state


# Twice


async def _send_twice(inspection: Inspection, turn: Turn, options: SendOptions) -> int:
    """Print both outcomes, and return 0 where one was answered and the other met a 409.

    An agent refuses one of two equal messages (TURN-5). Without a context each of the two would
    begin its own, so one is made for them.

    Raises:
        UsageError: with a flag that says how one turn is followed or ends.
    """
    if turn.also or options.expect_state is not None:
        raise UsageError(
            "--twice compares two replies: leave out --expect-state and other channels"
        )
    twin = replace(turn, context_id=turn.context_id or str(uuid.uuid4()))
    numbers = await inspection.session.run_twice(twin)
    exchanges = [inspection.exchange(number) for number in numbers]
    for exchange in exchanges:
        _print_reply(inspection, exchange, is_json=options.json)
    refused = [
        one for one in exchanges if one.response and one.response.status == HTTPStatus.CONFLICT
    ]
    if len(refused) == 1 and all(one in refused or problem_of(one) is None for one in exchanges):
        return EXIT_OK
    print_notice("expected one answer and one 409")
    return EXIT_UNEXPECTED


def _print_reply(inspection: Inspection, exchange: Exchange, *, is_json: bool) -> None:
    print_answer(inspection, exchange, is_json=is_json)
    problem = problem_of(exchange)
    if problem is None:
        return
    if is_json:
        status = exchange.response.status if exchange.response else None
        print_json({"status": status, "problem": problem.what})
    else:
        print_notice(plain_line(problem.what))


# From options to a turn


def read_turn(target: str, message: MessageOptions, follow: FollowOptions) -> Turn:
    """The turn that the options describe; those that are given win over a snippet's.

    Raises:
        UsageError: a pair without `=`, a file that cannot be read as what it should be, a name
            that nothing is kept under, or nothing to send.
    """
    if message.raw is not None:
        return _read_raw(message.raw, message, follow)
    _refuse_shapes_of_nothing(message)
    kept = _read_snippet(target, message.snippet)
    text = _read_stdin() if message.text == "-" else message.text
    if text is None and kept is None:
        raise UsageError("nothing to send", "add a TEXT, which may be '', --snippet or --raw")
    base = kept or Turn("")
    is_following = follow.stream or follow.no_blocking or follow.poll
    shapes = tuple(SlotShape(name) for name in message.slots_as)
    return Turn(
        text=base.text if text is None else text,
        slots={**base.slots, **_read_slots(target, message)},
        slot_shapes=shapes or base.slot_shapes,
        context_id=message.context,
        message_id=message.message_id,
        task_id=message.task,
        metadata={**base.metadata, **_read_pairs("--metadata", message.metadata)},
        parts=(*base.parts, *(read_part(source) for source in message.part)),
        history_length=_given(message.history_length, base.history_length),
        accepted_output_modes=message.accept or base.accepted_output_modes,
        follow=_follow(follow) if is_following or kept is None else base.follow,
        also=_also(follow) or base.also,
        headers=base.headers,
        raw=base.raw,
    )


def _read_stdin() -> str:
    """The text on stdin, without a byte order mark and the line end that most programs leave."""
    content = read_to_end(sys.stdin.buffer, "stdin")
    try:
        text = content.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        found = content[error.start : error.start + 8]
        raise UsageError(
            f"stdin is not UTF-8: {found!r} at byte {error.start}",
            "--part FILE sends a file as it is, --raw - a whole body",
        ) from error
    if not text:
        raise UsageError("stdin has no text", "'' in the place of - sends an empty message")
    return text


def _refuse_shapes_of_nothing(message: MessageOptions) -> None:
    sources = (message.slot, message.slots, message.slot_set, message.snippet)
    if message.slots_as and not any(sources):
        raise UsageError("--slots-as has no effect without slots", "add --slot NAME=VALUE")


def _read_raw(raw: str, message: MessageOptions, follow: FollowOptions) -> Turn:
    if message.text is not None or message.snippet is not None:
        raise UsageError("--raw is a whole body: it takes neither a TEXT nor --snippet")
    for name, value in asdict(replace(message, raw=None)).items():
        if value is not False and value not in (None, ()):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"--raw is a whole body: {flag} would be ignored", f"leave out {flag}")
    body = (
        read_to_end(sys.stdin.buffer, "stdin")
        if raw == "-"
        else read_user_file(Path(raw), f"--raw {raw}")
    )
    return Turn("", follow=_follow(follow), also=_also(follow), raw=body)


def _read_snippet(target: str, name: str | None) -> Turn | None:
    if name is None:
        return None
    kept = read_targets(targets_file()).snippets(target)
    return decode_turn(_named("--snippet", name, kept))


def _read_slots(target: str, message: MessageOptions) -> dict[str, Json]:
    """Slots of a set, a file and flags; the later win."""
    slots: dict[str, Json] = {}
    if message.slot_set is not None:
        kept = read_targets(targets_file()).slot_sets(target)
        slots |= _named("--slot-set", message.slot_set, kept)
    if message.slots is not None:
        slots |= _read_slots_file(message.slots)
    return slots | _read_pairs("--slot", message.slot)


def _named(flag: str, name: str, kept: Mapping[str, T]) -> T:
    if name not in kept:
        names = ", ".join(sorted(kept))
        hint = f"one of {names}" if kept else "in the terminal app, F12 keeps what is written"
        raise UsageError(f"{flag} {name!r}: nothing is kept for this target under it", hint)
    return kept[name]


def _given(number: int | None, otherwise: int | None) -> int | None:
    return otherwise if number is None else number


def _follow(options: FollowOptions) -> FollowMode:
    """Polling has a point only where the answer does not wait for the task's end."""
    if options.stream:
        return FollowMode.STREAM
    is_free = options.no_blocking or options.poll or options.resubscribe
    return FollowMode.NO_BLOCKING if is_free else FollowMode.BLOCKING


def _also(options: FollowOptions) -> frozenset[Also]:
    """The further channels.

    Raises:
        UsageError: a flag for --push without it.
    """
    if not options.push:
        for flag, value in (
            ("--push-port", options.push_port),
            ("--public-url", options.public_url),
            ("--patience", options.patience),
        ):
            if value:
                raise UsageError(f"{flag} is for --push", "add --push, or leave it out")
    channels = {
        Also.POLL: options.poll,
        Also.PUSH: options.push,
        Also.SUBSCRIBE: options.resubscribe,
    }
    return frozenset(channel for channel, is_asked in channels.items() if is_asked)


def _read_pairs(flag: str, pairs: Sequence[str]) -> dict[str, Json]:
    read: dict[str, Json] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {pair!r} is not NAME=VALUE", f"write it as {flag} amount=50")
        read[name] = _read_value(text)
    return read


def _read_value(text: str) -> Json:
    """JSON where `text` is JSON, else the text: `50`, `true`, `"50"`, `Joe`."""
    parsed = parse_json(text.encode(errors="surrogateescape"))
    return text if parsed.problem or parsed.warning else parsed.value


def _read_slots_file(path: Path) -> dict[str, Json]:
    parsed = parse_json(read_user_file(path, f"--slots {path}"))
    if not isinstance(parsed.value, dict) or parsed.warning:
        found = parsed.problem or parsed.warning or f"found {json.dumps(parsed.value)[:40]}"
        raise UsageError(f"{path}: expected a JSON object of slots; {found}")
    return parsed.value
