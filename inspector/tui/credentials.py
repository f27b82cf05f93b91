"""The credentials of a session: when they end, when to ask for some, how to renew them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from inspector.core.credentials import header_of, token_expiry, with_header
from inspector.core.session import Session
from inspector.net.events import Headers
from inspector.settings import Connection, Mint
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import span
from inspector.tui.log_view import LogView
from inspector.views.problems import RefusalKind, refusal_of
from inspector.wire.card import BEARER, Scheme, wanted_scheme, wants_credentials

# From here on a token's end is worth a colour.
SOON_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Words:
    """A text on how long they are valid and the style it is drawn in; "" shows nothing.

    `are_sent`: requests carry some.
    """

    text: str = ""
    style: str = styles.DIM
    are_sent: bool = False


def words_of(left_seconds: float | None) -> Words:
    """Return how long a token is still valid; None is for ever."""
    if left_seconds is None:
        return Words()
    if left_seconds <= 0:
        return Words("token expired · K renews", styles.BAD)
    is_soon = left_seconds < SOON_SECONDS
    return Words(f"token expires in {span(left_seconds)}", styles.WARN if is_soon else styles.DIM)


SecretHeader: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SecretWanted:
    """`reason` says why a secret is asked for; it is sent as `scheme` says."""

    reason: str
    scheme: Scheme


@dataclass(frozen=True, slots=True)
class OriginDoubted:
    """The card at `card_url` leads to `url`, another origin: may credentials go there?"""

    card_url: str
    url: str


Question: TypeAlias = SecretWanted | OriginDoubted


class Credentials:
    """Asks each question once by itself; `now` is seconds since 1970."""

    def __init__(
        self, session: Session, connection: Connection, now: Callable[[], float] = time.time
    ) -> None:
        self.session = session
        self.mint = connection.mint
        self._now = now
        self._asked: set[Question] = set()
        self._secret_header = BEARER.header.lower()
        self._made_before = session.log.last_exchange

    @property
    def left_seconds(self) -> float | None:
        """How long the token is still valid; None without one that says."""
        expiry = token_expiry(self.session.credentials)
        return None if expiry is None else expiry - self._now()

    def words(self) -> Words:
        are_sent = bool(self.session.credentials) and not self.session.is_withholding
        return replace(words_of(self.left_seconds), are_sent=are_sent)

    def use(self, given: SecretHeader | Mint) -> str:
        """Send `given` from now on, and return what there is to say about it.

        Raises:
            UsageError: no token can be made, or no header can carry it.
        """
        if isinstance(given, Mint):
            from inspector.core.minting import mint_token

            self.mint = given
            header = header_of(BEARER, mint_token(given, self._now()), "the token")
            self.session.use(self._with(header), [given.key, header[1]])
        else:
            self.mint = None
            self.session.use(self._with(given), [given[1]])
        left = self.left_seconds
        return "new credentials" if left is None else f"new token, expires in {span(left)}"

    def _with(self, header: SecretHeader) -> Headers:
        """`header` in place of the secret before it, which may have gone in another header."""
        before, self._secret_header = self._secret_header, header[0].lower()
        kept = (one for one in self.session.credentials if one[0].lower() != before)
        return with_header(tuple(kept), header)

    def question(self, view: LogView) -> Question | None:
        """Return what has to be asked now and was not asked before."""
        found = self._doubt(view) or self._want(view)
        if found is None or found in self._asked:
            return None
        self._asked.add(found)
        return found

    @property
    def place(self) -> str:
        """Where they go: the endpoint, before it is known the card; "" for a card file."""
        if self.session.endpoint is not None:
            return self.session.endpoint.url
        return next(iter(self.session.target.card_urls), "")

    def wanted(self, view: LogView) -> SecretWanted:
        """Return what to ask where the user wants to enter others."""
        return SecretWanted("They go with every request from now on.", self.scheme(view))

    def scheme(self, view: LogView) -> Scheme:
        """Return how a secret is sent: as the card says, else as a bearer token."""
        return (wanted_scheme(view.card.card) if view.card else None) or BEARER

    def _doubt(self, view: LogView) -> OriginDoubted | None:
        endpoint = self.session.endpoint
        if not self.session.is_withholding or endpoint is None or view.card is None:
            return None
        return OriginDoubted(view.card.source_url, endpoint.url)

    def _want(self, view: LogView) -> SecretWanted | None:
        if self.session.credentials:
            return None
        last = view.exchanges[-1] if view.exchanges else None
        is_old = last is None or last.id <= self._made_before
        refusal = None if last is None or is_old else refusal_of(last)
        if refusal is not None and refusal.kind is RefusalKind.MISSING:
            return SecretWanted(refusal.cause, self.scheme(view))
        card = view.card.card if view.card else None
        is_near = self.session.endpoint is not None and self.session.endpoint.is_trusted
        scheme = wanted_scheme(card)
        if scheme is None or not is_near or not wants_credentials(card):
            return None
        return SecretWanted(f"the card asks for a {scheme.label}", scheme)
