"""Asks for a secret at the terminal, without showing it."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager

from inspector.core.credentials import header_of, with_header
from inspector.core.session import Session
from inspector.views.text import plain_line
from inspector.wire.card import Scheme
from inspector.wire.urls import root


def can_ask() -> bool:
    """Say whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_credentials(session: Session, scheme: Scheme, url: str) -> bool:
    """Ask for the secret that `url` wants and let `session` use it; False where none is given.

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
    session.use(with_header(session.credentials, header))
    return True


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C interrupts a blocking read at once; under asyncio it only asks the loop to end."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
