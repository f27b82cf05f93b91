"""One conversation with one target: runs commands and is the only writer of the log."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus
from urllib.parse import urljoin

from inspector.core.commands import (
    CancelTask,
    Command,
    FetchCard,
    FollowMode,
    GetTask,
    Resubscribe,
    SendTurn,
)
from inspector.core.compose import compose_params
from inspector.core.entries import Entry, FailureKind, Headers, Purpose
from inspector.core.log import Log
from inspector.core.recorder import Limits, Recorder
from inspector.core.redact import Redactor
from inspector.core.target import Target
from inspector.net.events import Broken, Chunk, Ended, Outgoing, Sending, Transport
from inspector.wire import jsonrpc
from inspector.wire.card import Endpoint, choose_endpoint
from inspector.wire.tree import Json, parse_json
from inspector.wire.urls import is_same_origin

MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_CARD_HERE = frozenset({404, 405, 410})

JSON_HEADERS: Headers = (("Content-Type", "application/json"),)
ACCEPT_JSON: Headers = (("Accept", "application/json"),)
ACCEPT_STREAM: Headers = (("Accept", "text/event-stream"),)


class Session:
    """Everything that happens is in `log`; views are folds of it.

    `credentials` go to the target's own origin only (inspector.md TUI-6). `new_id` makes message
    and request ids. `run` may be called while another command runs.
    """

    def __init__(
        self,
        target: Target,
        transport: Transport,
        log: Log,
        *,
        new_id: Callable[[], str],
        credentials: Headers = (),
        timeout_seconds: float | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.target = target
        self.log = log
        self.endpoint: Endpoint | None = None
        self._transport = transport
        self._new_id = new_id
        self._credentials = credentials
        self._timeout_seconds = timeout_seconds
        self._limits = limits or Limits()
        self._redactor = Redactor(credentials)
        self._last_exchange = 0
        self._running: dict[int, asyncio.Timeout] = {}
        self._stopped: set[int] = set()

    @property
    def running(self) -> Mapping[int, object]:
        """The exchanges under way, by number."""
        return self._running

    def subscribe(self, subscriber: Callable[[Entry], None]) -> Callable[[], None]:
        """Call `subscriber` with each new entry, until the returned function is called."""
        return self.log.subscribe(subscriber)

    async def run(self, command: Command) -> int:
        """Carry out `command` and return the exchange that answers it.

        Whatever the agent does is in the log, never raised. Without a card there is no address to
        call, so a command that needs one returns the failed exchange of the card instead.
        """
        if isinstance(command, FetchCard):
            return await self._fetch_card()
        if self.endpoint is None:
            card_exchange = await self._fetch_card()
            if self.endpoint is None:
                return card_exchange
        purpose, method, params = self._request_of(command)
        routing = () if isinstance(command, SendTurn) else _routing(command.context_id)
        return await self._call(self.endpoint, purpose, method, params, routing)

    async def fetch(self, purpose: Purpose, outgoing: Outgoing) -> int:
        """Make one exchange beside the conversation and return its number; its bytes are logged."""
        exchange, _, _ = await self._follow(purpose, outgoing)
        return exchange

    def stop(self, exchange: int) -> None:
        """Break off a running exchange; the log gets a Failed of kind STOPPED."""
        if scope := self._running.get(exchange):
            self._stopped.add(exchange)
            scope.reschedule(asyncio.get_running_loop().time())

    async def aclose(self) -> None:
        """Stop what runs and close the connections."""
        for exchange in tuple(self._running):
            self.stop(exchange)
        await self._transport.aclose()

    async def _fetch_card(self) -> int:
        if self.target.card_file is not None:
            return self._read_card_file()
        exchange = 0
        for url in self.target.card_urls:
            outgoing = Outgoing("GET", url, ACCEPT_JSON + self._credentials)
            exchange, recorder, source_url = await self._follow(Purpose.CARD, outgoing)
            if recorder.status == HTTPStatus.OK:
                self.endpoint = choose_endpoint(parse_json(recorder.body).value, source_url)
            if recorder.status not in _NO_CARD_HERE:
                break
        return exchange

    def _read_card_file(self) -> int:
        """Log the file as an exchange, so that the card's view has one source."""
        assert self.target.card_file is not None
        path = self.target.card_file
        self._last_exchange += 1
        outgoing = Outgoing("READ", path.absolute().as_uri())
        recorder = self._recorder(Purpose.CARD, outgoing)
        recorder.take(Sending(()))
        try:
            content = path.read_bytes()
        except OSError as error:
            recorder.take(Broken(FailureKind.CONNECT, f"{path}: {error.strerror}"))
        else:
            recorder.take(Chunk(content))
            if not recorder.is_done:
                recorder.take(Ended())
            self.endpoint = choose_endpoint(parse_json(content).value, outgoing.url)
        return self._last_exchange

    def _request_of(
        self, command: SendTurn | GetTask | CancelTask | Resubscribe
    ) -> tuple[Purpose, str, dict[str, Json]]:
        """What `command` asks of the agent: A2A 0.3 §7."""
        match command:
            case SendTurn(turn):
                params = compose_params(turn, self._new_id())
                if turn.follow is FollowMode.STREAM:
                    return Purpose.STREAM, jsonrpc.MESSAGE_STREAM, params
                return Purpose.SEND, jsonrpc.MESSAGE_SEND, params
            case GetTask(task_id, _, history_length):
                params: dict[str, Json] = {"id": task_id}
                if history_length is not None:
                    params["historyLength"] = history_length
                return Purpose.GET, jsonrpc.TASKS_GET, params
            case CancelTask(task_id):
                return Purpose.CANCEL, jsonrpc.TASKS_CANCEL, {"id": task_id}
            case Resubscribe(task_id):
                return Purpose.RESUBSCRIBE, jsonrpc.TASKS_RESUBSCRIBE, {"id": task_id}

    async def _call(
        self,
        endpoint: Endpoint,
        purpose: Purpose,
        method: str,
        params: dict[str, Json],
        routing: Headers,
    ) -> int:
        is_stream = purpose in (Purpose.STREAM, Purpose.RESUBSCRIBE)
        headers = JSON_HEADERS + (ACCEPT_STREAM if is_stream else ACCEPT_JSON) + routing
        if endpoint.is_trusted:
            headers += self._credentials
        body = jsonrpc.encode_request(self._new_id(), method, params)
        exchange, _, _ = await self._follow(purpose, Outgoing("POST", endpoint.url, headers, body))
        return exchange

    async def _follow(self, purpose: Purpose, outgoing: Outgoing) -> tuple[int, Recorder, str]:
        """Make the exchange, and again where the same origin redirects it with its method kept."""
        for _ in range(MAX_REDIRECTS):
            exchange, recorder = await self._exchange(purpose, outgoing)
            location = urljoin(outgoing.url, recorder.header("location"))
            if not _may_follow(outgoing, recorder, location):
                return exchange, recorder, outgoing.url
            outgoing = Outgoing(outgoing.method, location, outgoing.headers, outgoing.body)
        exchange, recorder = await self._exchange(purpose, outgoing)
        return exchange, recorder, outgoing.url

    async def _exchange(self, purpose: Purpose, outgoing: Outgoing) -> tuple[int, Recorder]:
        self._last_exchange += 1
        exchange = self._last_exchange
        recorder = self._recorder(purpose, outgoing)
        try:
            async with asyncio.timeout(self._timeout_seconds) as scope:
                self._running[exchange] = scope
                async with aclosing(self._transport.exchange(outgoing)) as events:
                    async for event in events:
                        recorder.take(event)
                        if recorder.is_done:
                            break
        except TimeoutError:
            if exchange in self._stopped:
                recorder.fail(FailureKind.STOPPED, "stopped by the user")
            else:
                recorder.fail(FailureKind.TIMEOUT, f"no end within {self._timeout_seconds:g} s")
        except asyncio.CancelledError:
            recorder.fail(FailureKind.STOPPED, "interrupted")
            raise
        finally:
            self._running.pop(exchange, None)
            self._stopped.discard(exchange)
        return exchange, recorder

    def _recorder(self, purpose: Purpose, outgoing: Outgoing) -> Recorder:
        return Recorder(
            self.log,
            exchange=self._last_exchange,
            purpose=purpose,
            outgoing=outgoing,
            redactor=self._redactor,
            limits=self._limits,
        )


def _routing(context_id: str | None) -> Headers:
    """What leads a call without a contextId in its body to the replica that holds the context."""
    return (("X-A2A-Context-Id", context_id),) if context_id else ()


def _may_follow(outgoing: Outgoing, recorder: Recorder, location: str) -> bool:
    """A redirect to the same origin; one that would turn a POST into a GET is not followed."""
    if recorder.status not in _REDIRECTS or not recorder.header("location"):
        return False
    keeps_method = outgoing.method == "GET" or recorder.status in (307, 308)
    return keeps_method and is_same_origin(outgoing.url, location)
