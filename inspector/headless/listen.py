"""`a2a-inspect listen`: a push receiver that prints what comes, until it is interrupted."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus

from inspector.core.credentials import read_variable
from inspector.core.entries import Entry, Log, Purpose
from inspector.core.exchanger import Exchanger
from inspector.core.push_receiver import Injection, Receiver, ReceiverOptions
from inspector.core.redaction import Redactor
from inspector.core.requests import ACCEPT_JSON
from inspector.errors import UsageError
from inspector.headless.pushes import describe_push, tell_forward, tell_push
from inspector.headless.terminal import ink_for, print_json, print_notice, print_text
from inspector.net.events import Outgoing
from inspector.net.http import HttpTransport
from inspector.settings import Connection
from inspector.views import reading
from inspector.views.reads import Pushed
from inspector.wire.urls import split_url

FORWARD_TIMEOUT_SECONDS = 30.0


def run(arguments: argparse.Namespace) -> int:
    asyncio.run(_listen(arguments))
    raise AssertionError("only an interruption ends it")


async def _listen(arguments: argparse.Namespace) -> None:
    _refuse_unusable(arguments)
    exchanger = Exchanger(
        HttpTransport(Connection()),
        Log(time.perf_counter),
        Redactor(),
        timeout_seconds=FORWARD_TIMEOUT_SECONDS,
    )
    async with _receiver(arguments, exchanger) as receiver:
        is_given = arguments.token_env is not None
        token = read_variable("--token-env", arguments.token_env, os.environ) if is_given else None
        registration = receiver.register(token=token, is_for_any=True)
        exchanger.log.subscribe(_Printer(is_json=arguments.json).take)
        # a token that the user gave is a secret of theirs, which no terminal needs to show
        shown = f"${arguments.token_env}" if is_given else registration.token
        if arguments.json:
            print_json({"ready": registration.url, "token": shown})
        else:
            print_text(f"ready: {registration.url} token={shown}")
        await asyncio.Event().wait()


def _refuse_unusable(arguments: argparse.Namespace) -> None:
    """Flags that would be ignored, or fail with the first notification only."""
    if arguments.ssl_keyfile is not None and arguments.ssl_certificate is None:
        raise UsageError("--ssl-keyfile says nothing without --ssl-certificate", "add it")
    if arguments.jwks is not None and split_url(arguments.jwks) is None:
        raise UsageError(f"--jwks {arguments.jwks!r} is not an http or https URL")


@asynccontextmanager
async def _receiver(
    arguments: argparse.Namespace, exchanger: Exchanger
) -> AsyncGenerator[Receiver]:
    async def fetch_keys(url: str | None) -> bytes | None:
        """Keys come from where the user says; without a target no origin is the agent's."""
        if url is None:
            return None
        made = await exchanger.follow(Purpose.KEYS, Outgoing("GET", url, ACCEPT_JSON))
        return made.recorder.body if made.recorder.status == HTTPStatus.OK else None

    receiver = Receiver(exchanger, fetch_keys)
    receiver.injection = Injection(
        arguments.fail, arguments.delay, is_hanging=arguments.hang, is_dropping=arguments.drop
    )
    receiver.forward_url = arguments.forward
    options = ReceiverOptions(
        interface=arguments.interface,
        public_url=arguments.public_url,
        certificate=arguments.ssl_certificate,
        key=arguments.ssl_keyfile,
        jwks_url=arguments.jwks,
    )
    try:
        await receiver.start(arguments.port, options)
        yield receiver
    finally:
        await receiver.stop()
        await exchanger.aclose()


class _Printer:
    """Prints each notification as it comes, and on stderr what became of those handed on."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json
        self._readings = reading.EMPTY

    def take(self, entry: Entry) -> None:
        self._readings, read = reading.step(self._readings, entry)
        if isinstance(read, Pushed):
            if self._is_json:
                print_json(describe_push(read))
            else:
                print_text(*tell_push(ink_for(sys.stdout), read))
        elif read is not None and (line := tell_forward(read)):
            print_notice(line)
