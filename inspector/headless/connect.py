"""From connection flags to a session whose log is folded into every view."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from inspector.core.commands import Command, FetchCard
from inspector.core.entries import Entry
from inspector.core.saved.session_store import record
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.errors import InspectorError, NotA2A, Refused, TimedOut, Unreachable, UsageError
from inspector.headless.asking import ask_credentials, can_ask
from inspector.headless.terminal import print_error, print_notice
from inspector.net.http import HttpTransport
from inspector.settings import Connection
from inspector.views import exchanges, log_views
from inspector.views.exchanges import Exchange
from inspector.views.log_views import Views
from inspector.views.problems import Problem, ProblemKind, RefusalKind, problem_of, refusal_of
from inspector.views.text import plain_line
from inspector.wire.card import BEARER, Endpoint, wanted_scheme, wants_credentials
from inspector.wire.urls import root

_ERRORS: dict[ProblemKind, type[InspectorError]] = {
    ProblemKind.UNREACHABLE: Unreachable,
    ProblemKind.NOT_A2A: NotA2A,
    ProblemKind.REFUSED: Refused,
    ProblemKind.TIMED_OUT: TimedOut,
    ProblemKind.STOPPED: TimedOut,
}


class Link:
    """A session and the folds of its log, kept up to date with each entry."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._show(log_views.EMPTY)
        session.subscribe(self._take)

    def _take(self, entry: Entry) -> None:
        self._show(log_views.step(self.views, entry))

    def _show(self, views: Views) -> None:
        self.views = views
        self.card = views.card
        self.chat = views.chat
        self.data = views.data
        self.exchanges = views.exchanges
        self.timeline = views.timeline

    def exchange(self, number: int) -> Exchange:
        found = exchanges.find(self.exchanges, number)
        assert found is not None
        return found

    async def connect(self) -> None:
        """Fetch the card; without one that leads to an agent there is nothing to talk to.

        Raises:
            InspectorError: what went wrong, with its exit status.
        """
        exchange = await self.fetch_card()
        if self.session.endpoint is None:
            raise NotA2A(
                f"the card at {plain_line(exchange.request.url)} offers no JSON-RPC interface "
                "with a usable URL",
                "a2a-inspect card TARGET shows what it offers",
            )
        self._ask_what_the_card_wants(self.session.endpoint)
        if self.session.is_withholding:
            raise withheld(exchange.request.url, self.session.endpoint.url)
        for finding in self.session.endpoint.findings:
            print_notice(plain_line(finding.message))

    async def fetch_card(self) -> Exchange:
        """Fetch the card; where it is itself behind credentials, ask for them at the terminal.

        Raises:
            InspectorError: what went wrong, with its exit status.
        """
        exchange = self.exchange(await self.session.run(FetchCard()))
        refusal = refusal_of(exchange)
        is_asked = refusal is not None and refusal.kind is RefusalKind.MISSING
        if is_asked and can_ask() and ask_credentials(self.session, BEARER, exchange.request.url):
            exchange = self.exchange(await self.session.run(FetchCard()))
        raise_problem(problem_of(exchange))
        return exchange

    def _ask_what_the_card_wants(self, endpoint: Endpoint) -> None:
        card = self.card.card.card if self.card.card else None
        if self.session.credentials or not endpoint.is_trusted or not wants_credentials(card):
            return
        scheme = wanted_scheme(card)
        if scheme is not None and can_ask():
            ask_credentials(self.session, scheme, endpoint.url)

    async def run(
        self, command: Command, watch: Callable[[Entry], None] = lambda _: None
    ) -> Exchange:
        """Run `command`, calling `watch` with each entry after the views have taken it."""
        unsubscribe = self.session.subscribe(watch)
        try:
            return self.exchange(await self.session.run(command))
        finally:
            unsubscribe()


def withheld(card_url: str, url: str) -> UsageError:
    """Credentials are given, and the card leads to where nobody said that they may go."""
    place = plain_line(root(url).rstrip("/"))
    return UsageError(
        f"the card at {plain_line(card_url)} points to {plain_line(url)}: "
        "credentials are not sent to another origin",
        f"--allow-origin {place} if you trust it",
    )


def raise_problem(problem: Problem | None) -> None:
    """Raise `problem` as the error with its exit status; do nothing where there is none."""
    if problem is not None:
        raise error_of(problem)


def error_of(problem: Problem) -> InspectorError:
    lines = [plain_line(problem.what)]
    lines += [f"  {name:<11}  {plain_line(text)}" for name, text in problem.details]
    return _ERRORS[problem.kind]("\n".join(lines))


@asynccontextmanager
async def open_link(target: str, connection: Connection) -> AsyncGenerator[Link]:
    """A link to `target`, closed at the end; an interruption first says what was under way.

    Raises:
        UsageError: `target` is neither a URL nor a file.
    """
    agent = parse_target(target)
    recording = record(
        target, is_saved=connection.is_saved, clock=time.perf_counter, tell=print_notice
    )
    session = Session(
        agent,
        HttpTransport(connection),
        recording.log,
        new_id=lambda: str(uuid.uuid4()),
        credentials=connection.headers,
        secrets=connection.secrets,
        allowed_origins=connection.allowed_origins,
        jwks_file=connection.jwks_file,
        timeout_seconds=connection.timeout_seconds,
    )
    link = Link(session)
    try:
        yield link
    except asyncio.CancelledError:
        problem = problem_of(link.exchanges[-1]) if link.exchanges else None
        if problem is not None:
            print_error(error_of(problem))
        raise
    finally:
        await session.aclose()
        recording.close()
