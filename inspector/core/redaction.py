"""Secrets kept out of the log: what is masked here can be neither shown nor saved."""

import json
import time
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit, urlunsplit

from inspector.core.entries import Headers
from inspector.wire.tokens import MASK, mask_header

SECRET_HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "x-api-key",
        "api-key",
        "x-auth-token",
        "x-a2a-notification-token",
    }
)

# A shorter value would mask ordinary text: `--header 'X-Debug: 1'` must not mask every 1.
MIN_SECRET_LENGTH = 6


class Redactor:
    """Masks the values of `headers`, and of headers known to carry secrets, wherever they occur.

    `now` is seconds since 1970.
    """

    def __init__(self, headers: Headers = (), now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._names = SECRET_HEADERS
        self._secrets: tuple[str, ...] = ()
        self.learn_headers(headers)

    def learn(self, *secrets: str) -> None:
        """Mask `secrets` from now on."""
        self._secrets = _longest_first({*self._secrets, *_spellings(secrets)})

    def learn_headers(self, headers: Headers) -> None:
        """Mask these headers, and their values wherever they stand, from now on."""
        self._names |= {name.lower() for name, _ in headers}
        self.learn(*(value for _, value in headers))

    def headers(self, headers: Headers) -> Headers:
        """`headers` masked; for a JWT with how long it is valid."""
        now = self._now()
        return tuple(
            (name, mask_header(value, now) if name.lower() in self._names else self.text(value))
            for name, value in headers
        )

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def raw(self, raw: bytes) -> bytes:
        for secret in self._secrets:
            raw = raw.replace(secret.encode(), MASK.encode())
        return raw

    def url(self, url: str) -> str:
        """`url` without the password that may stand before its host."""
        parts = urlsplit(url)
        if parts.password is None:
            return self.text(url)
        host = parts.netloc.rpartition("@")[2]
        return self.text(urlunsplit(parts._replace(netloc=f"{parts.username}:{MASK}@{host}")))


def _spellings(values: Iterable[str]) -> set[str]:
    """Each value and its credential without the scheme, plain and in JSON."""
    found: set[str] = set()
    for value in values:
        for secret in (value, value.rpartition(" ")[2]):
            if len(secret) >= MIN_SECRET_LENGTH:
                found |= {secret, json.dumps(secret)[1:-1]}
    return found


def _longest_first(secrets: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(secrets, key=lambda secret: (-len(secret), secret)))
