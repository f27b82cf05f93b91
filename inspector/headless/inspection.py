"""A session whose log is folded into every view, from its first request to its errors."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

from inspector.core.commands import Command, FetchCard
from inspector.core.credentials import header_of, with_header
from inspector.core.entries import Entry
from inspector.core.recorded_session import open_session
from inspector.core.session import Session
from inspector.errors import InspectorError, NotA2A, Refused, TimedOut, Unreachable, UsageError
from inspector.headless.terminal import can_ask, print_error, print_notice
from inspector.settings import Connection
from inspector.views import exchanges, log_views
from inspector.views.data import TurnData
from inspector.views.exchanges import Exchange
from inspector.views.log_views import Views
from inspector.views.problems import Problem, ProblemKind, RefusalKind, problem_of, refusal_of
from inspector.views.text import plain_line
from inspector.wire.card import BEARER, Scheme, wanted_scheme, wants_credentials
from inspector.wire.dialect import Endpoint
from inspector.wire.urls import root

_ERRORS: dict[ProblemKind, type[InspectorError]] = {
    ProblemKind.UNREACHABLE: Unreachable,
    ProblemKind.NOT_A2A: NotA2A,
    ProblemKind.REFUSED: Refused,
    ProblemKind.TIMED_OUT: TimedOut,
    ProblemKind.STOPPED: TimedOut,
}


class Inspection:
    """A session and the views of its log, kept up to date with each entry."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.views: Views = log_views.EMPTY
        session.subscribe(self._take)

    def _take(self, entry: Entry) -> None:
        self.views = log_views.step(self.views, entry)

    def exchange(self, number: int) -> Exchange:
        found = exchanges.find(self.views.exchanges, number)
        assert found is not None
        return found

    def turn(self, exchange: Exchange) -> TurnData | None:
        """The data of the turn that `exchange` began; None where it brought none."""
        turns = reversed(self.views.data.turns)
        return next((one for one in turns if one.exchange == exchange.id), None)

    async def connect(self) -> None:
        """Fetch the card and find the agent's endpoint in it.

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
        shown = self.views.card.card
        card = shown.card if shown else None
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


@asynccontextmanager
async def inspect(
    target: str, connection: Connection, context_id: str | None = None
) -> AsyncGenerator[Inspection]:
    """An inspection of `target`; an interruption first reports what was under way.

    It is recorded in the saved session that holds `context_id`, if there is one.

    Raises:
        UsageError: as `open_session` does.
    """
    recorded = open_session(target, connection, print_notice, context_id)
    for remark in recorded.session.target.remarks:
        print_notice(plain_line(remark))
    inspection = Inspection(recorded.session)
    try:
        yield inspection
    except asyncio.CancelledError:
        made = inspection.views.exchanges
        if made and (problem := problem_of(made[-1])) is not None:
            print_error(error_of(problem))
        raise
    finally:
        await recorded.aclose()


def withheld(card_url: str, url: str) -> UsageError:
    """The error for credentials where the card points to an origin that is not allowed."""
    place = plain_line(root(url).rstrip("/"))
    return UsageError(
        f"the card at {plain_line(card_url)} points to {plain_line(url)}: "
        "credentials are not sent to another origin",
        f"--allow-origin {place} if you trust it",
    )


def raise_problem(problem: Problem | None) -> None:
    """Raise `problem`, if there is one, as the error with its exit status."""
    if problem is not None:
        raise error_of(problem)


def error_of(problem: Problem) -> InspectorError:
    lines = [plain_line(problem.what)]
    lines += [f"  {name:<11}  {plain_line(text)}" for name, text in problem.details]
    return _ERRORS[problem.kind]("\n".join(lines))


def ask_credentials(session: Session, scheme: Scheme, url: str) -> bool:
    """Ask for the secret that `url` wants, without showing it, and let `session` use it.

    False means that none was given.

    Raises:
        UsageError: what was typed cannot stand in a header.
    """
    from getpass import getpass

    place = plain_line(root(url).rstrip("/"))
    with _interruptible():
        secret = getpass(f"{scheme.label} for {place} (Enter goes on without): ").strip()
    if not secret:
        return False
    header = header_of(scheme, secret, f"the {scheme.label}")
    session.use(with_header(session.credentials, header), [secret, header[1]])
    return True


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C interrupts a blocking read at once; under asyncio it only asks the loop to end."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
