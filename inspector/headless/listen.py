"""`a2a-inspect listen`: a push receiver that prints what comes, until it is interrupted."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from inspector.core.bodies import BodyMemory
from inspector.core.credentials import read_variable
from inspector.core.entries import Entry, Failed, Log, Purpose, PushVerdict
from inspector.core.exchanger import Exchanger
from inspector.core.push_receiver import Injection, Receiver, ReceiverOptions
from inspector.core.redaction import Redactor
from inspector.core.requests import ACCEPT_JSON
from inspector.errors import UsageError
from inspector.headless.options import ListenOptions
from inspector.headless.output import finding_json, finding_line, push_update_json
from inspector.headless.terminal import (
    BOLD,
    DIM,
    GREEN,
    RED,
    Ink,
    ink_for,
    milliseconds,
    print_json,
    print_notice,
    print_text,
)
from inspector.net.events import Outgoing
from inspector.net.http import HttpTransport
from inspector.settings import Connection
from inspector.views import reading
from inspector.views.reads import Began, Ended, Pushed, Read
from inspector.views.text import plain_line
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json
from inspector.wire.urls import split_url

FORWARD_TIMEOUT_SECONDS = 30.0
SIGNS = {PushVerdict.ACCEPTED: ("✓", GREEN)}


def run(options: ListenOptions) -> int:
    asyncio.run(_listen(options))
    raise AssertionError("only an interruption ends it")


async def _listen(options: ListenOptions) -> None:
    _refuse_unusable(options)
    exchanger = Exchanger(
        HttpTransport(Connection()),
        # what is printed is not shown again
        Log(time.perf_counter, memory=BodyMemory(most_bytes=0)),
        Redactor(),
        timeout_seconds=FORWARD_TIMEOUT_SECONDS,
    )
    async with _receiver(options, exchanger) as receiver:
        token = _given_token(options)
        registration = receiver.register(token=token, is_for_any=True)
        exchanger.log.subscribe(_Printer(is_json=options.json).take)
        # a token that the user gave is a secret of theirs, which no terminal needs to show
        shown = registration.token if token is None else f"${options.token_env}"
        if options.json:
            print_json({"ready": registration.url, "token": shown})
        else:
            print_text(f"ready: {registration.url} token={shown}")
        await asyncio.Event().wait()


def _given_token(options: ListenOptions) -> str | None:
    if options.token_env is None:
        return None
    return read_variable("--token-env", options.token_env, os.environ)


def _refuse_unusable(options: ListenOptions) -> None:
    """Refuse flags that would be ignored, or fail with the first notification only."""
    if options.ssl_keyfile is not None and options.ssl_certificate is None:
        raise UsageError("--ssl-keyfile has no effect without --ssl-certificate", "add it")
    if options.jwks is not None and split_url(options.jwks) is None:
        raise UsageError(f"--jwks {options.jwks!r} is not an http or https URL")


@asynccontextmanager
async def _receiver(options: ListenOptions, exchanger: Exchanger) -> AsyncGenerator[Receiver]:
    async def fetch_keys(url: str | None) -> bytes | None:
        """Keys come from where the user says; without a target no origin is the agent's."""
        if url is None:
            return None
        made = await exchanger.follow(Purpose.KEYS, Outgoing("GET", url, ACCEPT_JSON))
        return made.recorder.body if made.recorder.status == HTTPStatus.OK else None

    receiver = Receiver(exchanger, fetch_keys)
    receiver.injection = Injection(
        options.fail, options.delay, is_hanging=options.hang, is_dropping=options.drop
    )
    receiver.forward_url = options.forward
    listening = ReceiverOptions(
        interface=options.interface,
        public_url=options.public_url,
        certificate=options.ssl_certificate,
        key=options.ssl_keyfile,
        jwks_url=options.jwks,
    )
    try:
        await receiver.start(options.port, listening)
        yield receiver
    finally:
        await receiver.stop()
        await exchanger.aclose()


class _Printer:
    """Prints each notification as it comes, and on stderr the outcome of those forwarded."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json
        self._readings = reading.EMPTY

    def take(self, entry: Entry) -> None:
        self._readings, read = reading.step(self._readings, entry)
        if isinstance(read, Pushed):
            if self._is_json:
                print_json(_push_json(read))
            else:
                print_text(*_push_lines(ink_for(sys.stdout), read))
        elif read is not None and (line := _forward_line(read)):
            print_notice(line)


def _push_json(pushed: Pushed) -> dict[str, Json]:
    """One notification of `listen`, with what a single update has everywhere else."""
    entry, result = pushed.entry, pushed.result
    return {
        **push_update_json(entry, began_ms=0),
        "verdict": entry.verdict.value,
        "status": entry.status,
        "taskId": result.task_id if result else None,
        "contextId": result.context_id if result else None,
        "findings": [finding_json(finding) for finding in _findings_of(pushed)],
    }


def _findings_of(pushed: Pushed) -> tuple[Finding, ...]:
    """The findings to print where there is no turn to compare with.

    The body of a request that was refused was not read, so nothing can be said of it.
    """
    findings = tuple(one for one in pushed.findings if one.severity is not Severity.HINT)
    return findings[:1] if pushed.entry.verdict is PushVerdict.REFUSED else findings


def _push_lines(ink: Ink, pushed: Pushed) -> Iterator[str]:
    """`✓ accepted  ◐ input-required  task ab12  200`, and below it what is wrong."""
    entry, result = pushed.entry, pushed.result
    sign, style = SIGNS.get(entry.verdict, ("✗", RED))
    words = [f"{milliseconds(entry.at_ms):>8}", ink(f"{sign} {entry.verdict}", style)]
    if result is not None and result.state:
        words.append(ink.state(plain_line(result.state)))
    if result is not None and result.task_id:
        words.append(f"task {ink(plain_line(result.task_id), BOLD)}")
    words.append(ink(_answered(entry.status), DIM))
    yield "  ".join(words)
    yield from (f"          {finding_line(ink, finding)}" for finding in _findings_of(pushed))


def _answered(status: int | None) -> str:
    if status is None:
        return "not answered"
    known = {one.value: one.phrase for one in HTTPStatus}
    return f"answered {int(status)} {known.get(status, '')}".rstrip()


def _forward_line(read: Read) -> str:
    """The outcome of a forwarded notification; nothing for other exchanges."""
    match read:
        case Began(entry, call) if call.purpose is Purpose.FORWARD:
            return f"forwarded: HTTP {entry.status}"
        case Ended(Failed(message=message), call) if call.purpose is Purpose.FORWARD:
            return f"not forwarded: {message}"
        case _:
            return ""
