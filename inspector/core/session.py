"""One conversation with one target: runs commands, and leaves the log to its exchanger."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urljoin

from inspector.core.commands import Command, FetchCard, SendTurn, Turn
from inspector.core.decoding import read_json
from inspector.core.entries import Entry, FailureKind, Headers, Log, Purpose
from inspector.core.exchanger import Exchanger, Limits, ignore
from inspector.core.following import Pace, Sleep, Turns
from inspector.core.push_receiver import Receiver
from inspector.core.push_verification import WELL_KNOWN_KEYS
from inspector.core.redaction import Redactor
from inspector.core.requests import ACCEPT_JSON, AgentRequest, request_of, unmasked
from inspector.core.target import Target
from inspector.net.events import Broken, Chunk, Ended, Outgoing, Sending, Transport
from inspector.settings import Connection
from inspector.wire.dialect import Endpoint
from inspector.wire.endpoints import choose_endpoint, dialect_of
from inspector.wire.json_values import Json, list_at
from inspector.wire.signatures import key_urls
from inspector.wire.urls import is_same_origin, secrets_in_url

_NO_CARD_HERE = frozenset({404, 405, 410})


class Session:
    """Everything that happens is in `log`; views are folds of it.

    `connection` says how the agent is reached and what goes to it. `new_id` makes message and
    request ids. `run` may be called while another command runs. `receiver` takes push
    notifications; `turns` are followed at their `pace`, `sleep` and `clock` count its seconds.
    """

    def __init__(
        self,
        target: Target,
        transport: Transport,
        log: Log,
        *,
        new_id: Callable[[], str],
        connection: Connection | None = None,
        limits: Limits | None = None,
        pace: Pace | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.target = target
        self.log = log
        self.endpoint: Endpoint | None = None
        self._new_id = new_id
        self._connection = connection = connection or Connection()
        self._card: tuple[Json, str] = (None, "")
        self._exchanger = Exchanger(
            transport,
            log,
            Redactor(connection.headers),
            timeout_seconds=connection.timeout_seconds,
            limits=limits,
        )
        self.conceal(connection.secrets)
        for url in (target.name, *target.card_urls):
            self.conceal(secrets_in_url(url))
        self.receiver = Receiver(self._exchanger, self._fetch_keys)
        self.turns = Turns(
            self._exchanger,
            self.receiver,
            self._address,
            lambda: dialect_of(self.endpoint),
            new_id=new_id,
            pace=pace or Pace(),
            sleep=sleep,
            clock=clock,
        )

    @property
    def credentials(self) -> Headers:
        """The headers that go with each request; `use` replaces them."""
        return self._connection.headers

    @property
    def is_withholding(self) -> bool:
        """Say whether credentials are kept back because the card points to another origin."""
        is_foreign = self.endpoint is not None and not self.endpoint.is_trusted
        return is_foreign and bool(self.credentials)

    def use(self, credentials: Headers, secrets: Iterable[str] = ()) -> None:
        """Send `credentials` from now on, masked as headers; `secrets` are masked anywhere."""
        self._exchanger.redactor.learn_headers(credentials)
        self.conceal(secrets)
        self._connection = replace(self._connection, headers=credentials)

    def allow_origin(self, url: str) -> None:
        """Send credentials to the origin of `url` too, if the card points there."""
        origins = (*self._connection.allowed_origins, url)
        self._connection = replace(self._connection, allowed_origins=origins)
        self._lead_on(*self._card)

    @property
    def running(self) -> frozenset[int]:
        """The numbers of the exchanges under way, and of those whose turn is still followed."""
        return self.turns.running | self._exchanger.running

    def subscribe(self, subscriber: Callable[[Entry], None]) -> Callable[[], None]:
        """Call `subscriber` with each new entry, until the returned function is called."""
        return self.log.subscribe(subscriber)

    async def run(self, command: Command) -> int:
        """Carry out `command` and return the exchange that answers it.

        A turn is followed by all its channels; the exchange is the one it was sent with. Whatever
        the agent does is in the log, never raised. Without a card there is no address to call, so
        a command that needs one returns the failed exchange of the card instead.

        Raises:
            UsageError: a turn asks for push notifications and no receiver can be opened, or an
                id is masked and this session never saw what the mask hides.
        """
        if isinstance(command, FetchCard):
            return await self._fetch_card()
        if self.endpoint is None:
            card_exchange = await self._fetch_card()
            if self.endpoint is None:
                return card_exchange
        if isinstance(command, SendTurn):
            return await self.turns.run(unmasked(command, self._exchanger.redactor).turn)
        command = unmasked(command, self._exchanger.redactor)
        request = request_of(command, self._new_id())
        return (await self._exchanger.follow(request.purpose, self._address(request))).number

    async def run_twice(self, turn: Turn) -> tuple[int, int]:
        """Send `turn` twice at once with one message id: an agent answers one of them with 409."""
        twin = SendTurn(replace(turn, message_id=turn.message_id or self._new_id()))
        if self.endpoint is None:
            await self._fetch_card()
        first, second = await asyncio.gather(self.run(twin), self.run(twin))
        return first, second

    async def fetch(
        self, purpose: Purpose, outgoing: Outgoing, watch: Callable[[Entry], None] = ignore
    ) -> int:
        """Make one exchange beside the conversation and return its number; its bytes are logged."""
        return (await self._exchanger.follow(purpose, outgoing, watch)).number

    async def listen(
        self, purpose: Purpose, outgoing: Outgoing, watch: Callable[[Entry], None]
    ) -> int:
        """Make one exchange that may last as long as the session; `watch` sees its entries."""
        return (await self._exchanger.make(purpose, outgoing, watch, is_endless=True)).number

    def conceal(self, secrets: Iterable[str]) -> None:
        """Mask `secrets` in the log from now on, wherever they occur."""
        self._exchanger.redactor.learn(*secrets)

    def stop(self, exchange: int) -> None:
        """Break off a running exchange; that of a turn, with all that follow it."""
        self._exchanger.stop(exchange)
        self.turns.stop(exchange)

    async def aclose(self) -> None:
        """Stop what runs and close the connections."""
        for exchange in self.running:
            self.stop(exchange)
        await self.receiver.stop()
        await self._exchanger.aclose()

    def _address(self, request: AgentRequest) -> Outgoing:
        """`request` as it goes to the agent; only once a card has said where that is."""
        assert self.endpoint is not None
        return request.outgoing(self.endpoint, self.credentials)

    async def _fetch_card(self) -> int:
        if self.target.card_file is not None:
            exchange, content = read_file(self._exchanger, Purpose.CARD, self.target.card_file)
            if content is not None:
                await self._take_card(content, self.target.card_file.absolute().as_uri())
            return exchange
        exchange = 0
        for url in self.target.card_urls:
            outgoing = Outgoing("GET", url, ACCEPT_JSON + self.credentials)
            made = await self._exchanger.follow(Purpose.CARD, outgoing)
            exchange = made.number
            if made.recorder.status == HTTPStatus.OK:
                await self._take_card(made.recorder.body, made.url)
            if made.recorder.status not in _NO_CARD_HERE:
                break
        return exchange

    async def _take_card(self, content: bytes, source_url: str) -> None:
        card = (await asyncio.to_thread(read_json, content)).value
        self._lead_on(card, source_url)
        await fetch_card_keys(self._exchanger, card, source_url, self._connection.jwks_file)

    def _lead_on(self, card: Json, source_url: str) -> None:
        """Call the endpoint of `card` from now on."""
        self._card = card, source_url
        self.endpoint = choose_endpoint(
            card,
            source_url,
            self._connection.allowed_origins,
            protocol=self._connection.protocol,
        )
        self.receiver.endpoint = self.endpoint and replace(self.endpoint, findings=())

    async def _fetch_keys(self, url: str | None) -> bytes | None:
        """The agent's public keys from its own origin; None where there are none."""
        if self.endpoint is None:
            return None
        place = url or urljoin(self.endpoint.url, WELL_KNOWN_KEYS)
        if not is_same_origin(place, self.endpoint.url):
            return None
        made = await self._exchanger.follow(Purpose.KEYS, Outgoing("GET", place, ACCEPT_JSON))
        return made.recorder.body if made.recorder.status == HTTPStatus.OK else None


MOST_KEY_URLS = 3


async def fetch_card_keys(
    exchanger: Exchanger, card: Json, source_url: str, jwks_file: Path | None
) -> None:
    """Log the keys of `card`: those of the user's file, else what its own origin publishes.

    Keys are public, so no credentials go with the request.
    """
    if not list_at(card, "signatures"):
        return
    if jwks_file is not None:
        read_file(exchanger, Purpose.KEYS, jwks_file)
        return
    for url in key_urls(card, source_url)[:MOST_KEY_URLS]:
        await exchanger.follow(Purpose.KEYS, Outgoing("GET", url, ACCEPT_JSON))


def read_file(exchanger: Exchanger, purpose: Purpose, path: Path) -> tuple[int, bytes | None]:
    """Read a file as an exchange, so that views and saved logs have its bytes; None without."""
    outgoing = Outgoing("READ", path.absolute().as_uri())
    number, recorder = exchanger.begin(purpose, outgoing)
    recorder.take(Sending(()))
    try:
        content = path.read_bytes()
    except OSError as error:
        recorder.take(Broken(FailureKind.CONNECT, f"{path}: {error.strerror}"))
        return number, None
    recorder.take(Chunk(content))
    if not recorder.is_done:
        recorder.take(Ended())
    return number, content
