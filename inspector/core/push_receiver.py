"""The push receiver of a session: takes notifications, verifies, answers and logs them.

A turn with `Also.PUSH` opens it by itself. Everything it takes is a `PushReceived` in the log.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from inspector.core.decoding import read_push
from inspector.core.entries import FailureKind, Purpose, PushReceived, PushVerdict
from inspector.core.exchanger import REDIRECTS, Exchanger, ignore
from inspector.core.push_verification import PushVerifier, Registration, Registrations
from inspector.errors import UsageError
from inspector.net.events import (
    Headers,
    Outgoing,
    Transport,
    find_header,
    forwarded_headers,
    has_passed,
)
from inspector.net.receiver import Allowance, Answer, Bounds, Gate, Incoming
from inspector.settings import Connection
from inspector.wire.dialect import Endpoint
from inspector.wire.urls import below, is_same_origin, split_url

if TYPE_CHECKING:
    from inspector.net.receiver import HttpReceiver


RESENT_HEADER = "X-A2A-Inspect-Resent"
BURST, PER_SECOND = 200, 50.0
# Of refused requests, so many get into the log: at once, a second, bytes of each
MOST_REFUSED, REFUSED_PER_SECOND, MAX_LOGGED_BYTES = 50, 1.0, 4096
# Kept to be sent again, and waiting to be forwarded
MAX_KEPT, MAX_KEPT_BYTES = 200, 16 * 1024 * 1024
MAX_WAITING, MAX_WAITING_BYTES = 100, 16 * 1024 * 1024
REDIRECTED = "/redirected"
UNSPECIFIED = frozenset({"", "0.0.0.0", "::"})

_STATUSES = {
    PushVerdict.BAD_BODY: HTTPStatus.BAD_REQUEST,
    PushVerdict.FORGED: HTTPStatus.UNAUTHORIZED,
    PushVerdict.UNKNOWN_TASK: HTTPStatus.NOT_FOUND,
}


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault in answering verified notifications: `status`, late, never, or a cut connection."""

    status: int | None = None
    delay_seconds: float = 0.0
    is_hanging: bool = False
    is_dropping: bool = False

    def answer(self) -> Answer:
        """The answer to a verified notification; a redirect goes to another path here."""
        if self.is_hanging or self.is_dropping:
            return Answer(None, delay_seconds=self.delay_seconds, is_hanging=self.is_hanging)
        status = self.status or HTTPStatus.OK
        location: Headers = (("Location", REDIRECTED),) if status in REDIRECTS else ()
        return Answer(status, location, delay_seconds=self.delay_seconds)


@dataclass(frozen=True, slots=True)
class ReceiverOptions:
    """`public_url` is registered in place of the receiver's own; `jwks_url` makes JWTs a must."""

    interface: str = "127.0.0.1"
    public_url: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    jwks_url: str | None = None
    bounds: Bounds | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which agents may call the receiver, besides those of loopback.

        Raises:
            UsageError: the public URL is none.
        """
        if self.public_url is None:
            return (self.interface,)
        public = split_url(self.public_url)
        if public is None or public.hostname is None:
            raise UsageError(f"--public-url {self.public_url!r} is not an http or https URL")
        return (self.interface, public.hostname)

    @property
    def takes_addresses(self) -> bool:
        """It listens to all interfaces, whose addresses are not listed."""
        return self.interface in UNSPECIFIED

    def url(self, port: int) -> str:
        """What agents are given; all interfaces are given as loopback without a public URL."""
        if self.public_url is not None:
            return self.public_url
        host = "127.0.0.1" if self.takes_addresses else self.interface
        host = f"[{host}]" if ":" in host else host
        return f"{self.scheme}://{host}:{port}/"

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"


class RecentPushes:
    """The newest, by exchange, as far as they fit."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Outgoing] = OrderedDict()
        self._size_bytes = 0

    def keep(self, exchange: int, push: Outgoing) -> None:
        self._kept[exchange] = push
        self._size_bytes += len(push.body)
        while len(self._kept) > MAX_KEPT or self._size_bytes > MAX_KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._size_bytes -= len(oldest.body)

    def find(self, exchange: int) -> Outgoing | None:
        return self._kept.get(exchange)


class Receiver:
    """Closed until `start`; `fetch_keys` gets the agent's keys from a URL of its own origin.

    `endpoint` is the agent's whose notifications are expected, once that is known.
    """

    def __init__(
        self,
        exchanger: Exchanger,
        fetch_keys: Callable[[str | None], Awaitable[bytes | None]],
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.options = ReceiverOptions()
        self.injection = Injection()
        self.endpoint: Endpoint | None = None
        self.url = ""
        self.port = 0
        self._exchanger = exchanger
        self._clock = clock
        self._registrations = Registrations()
        self._kept = RecentPushes()
        self._pseudonym = f"a2a-inspect-{token_hex(8)}"
        self._make_verifier = partial(PushVerifier, self._registrations, fetch_keys, now)
        self._verifier = self._make_verifier(None)
        self._server: HttpReceiver | None = None
        self._forwarder: Forwarder | None = None
        self._forward_url: str | None = None
        self._unverified = Allowance(MOST_REFUSED, REFUSED_PER_SECOND, clock)

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def forward_url(self) -> str | None:
        """Where verified notifications are forwarded, from the next one on.

        Raises:
            UsageError: it is not an http or https URL, or leads back to this receiver.
        """
        return self._forward_url

    @forward_url.setter
    def forward_url(self, url: str | None) -> None:
        if url is not None and split_url(url) is None:
            raise UsageError(f"--forward {url!r} is not an http or https URL")
        if url is not None and self.url and is_same_origin(url, self.url):
            raise UsageError(f"--forward {url} leads back to this receiver")
        self._forward_url = url

    async def start(self, port: int = 0, options: ReceiverOptions | None = None) -> int:
        """Listen on `port`, or any free one for 0, and return it; an open one is closed first.

        Raises:
            UsageError: it cannot listen there, or a URL of the options is none.
        """
        from inspector.net.receiver import HttpReceiver

        await self.stop()
        options = self.options = options or self.options
        self._verifier = self._make_verifier(options.jwks_url)
        gate = Gate(
            options.hosts,
            Allowance(BURST, PER_SECOND, self._clock),
            takes_addresses=options.takes_addresses,
        )
        server = HttpReceiver(self._handle, gate, options.bounds)
        bound_port = await server.start(options.interface, port, options.certificate, options.key)
        self.url, self.port, self._server = options.url(bound_port), bound_port, server
        # a forward that was set while the port was unknown may lead back here
        self.forward_url = self._forward_url
        return bound_port

    async def stop(self) -> None:
        """Stop listening; what is registered stays known, for the next start."""
        server, self._server, self.url, self.port = self._server, None, "", 0
        if server is not None:
            await server.stop()
        forwarder, self._forwarder = self._forwarder, None
        if forwarder is not None:
            await forwarder.aclose()

    def register(
        self,
        watch: Callable[[PushReceived], None] = ignore,
        *,
        token: str | None = None,
        is_for_any: bool = False,
    ) -> Registration:
        """Expect notifications with a new secret token, and call `watch` with those accepted.

        Each task has a URL of its own, which says whose a notification is before its task is known.
        """
        token = token or token_urlsafe(32)
        self._exchanger.redactor.learn(token)
        url = self.url if is_for_any else below(self.url, token_hex(4))
        registration = Registration(url, token, watch, is_for_any)
        self._registrations.add(registration)
        return registration

    async def resend(self, exchange: int) -> bool:
        """Forward a received one again, or log it again if nothing is forwarded.

        In the log it has a header RESENT_HEADER with the number of the first. False means that it
        is no longer available.
        """
        push = self._kept.find(exchange)
        if push is None:
            return False
        if self._forward_url is not None:
            self._forward(push, self._forward_url)
            return True
        marked = (*push.headers, (RESENT_HEADER, str(exchange)))
        again = replace(push, headers=marked)
        verification = await self._verifier.verify(push)
        if verification.verdict is PushVerdict.ACCEPTED:
            self._accept(again, verification.registration, HTTPStatus.OK)
        else:
            self._refuse(again, verification.verdict, _STATUSES[verification.verdict], "")
        return True

    async def _handle(self, incoming: Incoming) -> Answer:
        """Verify, log and answer one request."""
        push = Outgoing(
            incoming.method, self._url_of(incoming), incoming.headers, incoming.body, self.endpoint
        )
        if (refusal := incoming.refusal) is not None:
            return self._refuse(push, PushVerdict.REFUSED, refusal.status, refusal.reason)
        verification = await self._verifier.verify(push)
        verdict = verification.verdict
        if verdict is not PushVerdict.ACCEPTED:
            return self._refuse(push, verdict, _STATUSES[verdict], verification.reason)
        answer = self.injection.answer()
        self._accept(push, verification.registration, answer.status)
        if self._forward_url is not None and not has_passed(push.headers, self._pseudonym):
            self._forward(push, self._forward_url)
        return answer

    def _refuse(self, push: Outgoing, verdict: PushVerdict, status: int, reason: str) -> Answer:
        """Log the start of it: unwanted notifications must not fill the log."""
        if self._unverified.take():
            cut = replace(push, body=push.body[:MAX_LOGGED_BYTES])
            self._exchanger.receive(cut, verdict, status)
        return Answer(status, text=f"{reason}\n")

    def _accept(
        self, push: Outgoing, registration: Registration | None, status: int | None
    ) -> None:
        """Log the notification and pass it to the turn that waits for it."""
        entry = self._exchanger.receive(push, PushVerdict.ACCEPTED, status)
        self._kept.keep(entry.exchange, push)
        if registration is not None:
            result = read_push(entry).result
            registration.task_id = result.task_id if result else None
            registration.watch(entry)

    def _forward(self, push: Outgoing, url: str) -> None:
        from inspector.net.http import HttpTransport

        if self._forwarder is None:
            self._forwarder = Forwarder(self._exchanger, HttpTransport(Connection()))
        headers = forwarded_headers(push.headers, self._pseudonym)
        self._forwarder.put(Outgoing(push.method, url, headers, push.body))

    def _url_of(self, incoming: Incoming) -> str:
        """The URL that the request was for, as far as its headers say."""
        host = find_header(incoming.headers, "host") or ""
        url = f"{self.options.scheme}://{host}{incoming.target}"
        return url if split_url(url) else urljoin(self.url, "/")


class Forwarder:
    """`put` never waits; `aclose` gives up what is still to go out.

    `transport` is not the agent's: no cookie or certificate of the agent goes with it. Redirects
    are not followed.
    """

    def __init__(self, exchanger: Exchanger, transport: Transport) -> None:
        self._exchanger = exchanger
        self._transport = transport
        self._waiting: asyncio.Queue[Outgoing] = asyncio.Queue(MAX_WAITING)
        self._waiting_bytes = 0
        self._worker = asyncio.create_task(self._run())

    def put(self, outgoing: Outgoing) -> None:
        """Send `outgoing` after those before it; where too many wait, the log says it was not."""
        count, size_bytes = self._waiting.qsize(), self._waiting_bytes + len(outgoing.body)
        if count == MAX_WAITING or (count and size_bytes > MAX_WAITING_BYTES):
            _, recorder = self._exchanger.begin(Purpose.FORWARD, outgoing)
            text = f"not forwarded: {count} others wait already"
            recorder.fail(FailureKind.STOPPED, text)
            return
        self._waiting_bytes = size_bytes
        self._waiting.put_nowait(outgoing)

    async def aclose(self) -> None:
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)
        await self._transport.aclose()

    async def _run(self) -> None:
        while True:
            outgoing = await self._waiting.get()
            self._waiting_bytes -= len(outgoing.body)
            await self._exchanger.make(Purpose.FORWARD, outgoing, transport=self._transport)
