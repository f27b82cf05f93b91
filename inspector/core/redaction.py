"""Secrets kept out of the log: what is masked here can be neither shown nor saved."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from inspector.core.entries import Headers
from inspector.wire.tokens import MASK, mask_header
from inspector.wire.urls import mask_url

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

# A shorter secret could be part of ordinary text, so it is masked as a whole value only.
MIN_SECRET_LENGTH = 8

_TEXT = r'"((?:[^"\\]|\\.)*+)"'
_ID = re.compile(rf'"(?:contextId|taskId|id)"\s*+:\s*+{_TEXT}'.encode())


class Redactor:
    """Masks `headers` by their names, and secrets wherever they occur.

    The values of headers known to carry secrets are secrets. `now` is seconds since 1970.
    """

    def __init__(self, headers: Headers = (), now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._names = SECRET_HEADERS
        self._secrets: frozenset[str] = frozenset()
        self._plain: tuple[str, ...] = ()
        self._dressed: re.Pattern[bytes] | None = None
        self._whole: re.Pattern[bytes] | None = None
        self._ids: dict[str, str] = {}
        self.learn_headers(headers)

    def learn(self, *secrets: str) -> None:
        """Mask `secrets` from now on; one of them may be a scheme and its credential."""
        found = self._secrets.union(*map(_parts, secrets))
        if found == self._secrets:
            return
        self._secrets = found
        long = _longest_first(secret for secret in found if len(secret) >= MIN_SECRET_LENGTH)
        self._plain = _longest_first({*long, *(quote(secret, safe="") for secret in long)})
        self._dressed = _pattern(long, rb"(?<!\\)%b")
        short = [one for one in found - set(long) if one[0].isalnum() and one[-1].isalnum()]
        # between two quotes that are a value's: no escaped ones, and not a name's
        self._whole = _pattern(_longest_first(short), rb'(?<=")(?<!\\")%b(?=")(?!"\s*+:)')

    def learn_headers(self, headers: Headers) -> None:
        """Mask these headers from now on; what credential headers hold, wherever it stands."""
        self._names |= {name.lower() for name, _ in headers}
        self.learn(*(value for name, value in headers if name.lower() in SECRET_HEADERS))

    def headers(self, headers: Headers) -> Headers:
        """`headers` masked; for a JWT with how long it is valid."""
        now = self._now()
        return tuple(
            (name, mask_header(value, now) if name.lower() in self._names else self.text(value))
            for name, value in headers
        )

    def text(self, text: str) -> str:
        if text in self._secrets:
            return MASK
        for secret in self._plain:
            text = text.replace(secret, MASK)
        return text

    def raw(self, raw: bytes) -> bytes:
        """`raw` masked, however JSON spells a secret; JSON stays JSON.

        What becomes of the ids in it is remembered, for `original`.
        """
        masked = raw
        if self._dressed is not None and b"\\" in raw:
            masked = self._dressed.sub(MASK.encode(), masked)
        for secret in self._plain:
            masked = masked.replace(secret.encode(), MASK.encode())
        if self._whole is not None:
            masked = self._whole.sub(MASK.encode(), masked)
        if MASK.encode() in masked:
            self._remember_ids(raw)
        return masked

    def original(self, id: str) -> str | None:
        """The id that the log shows as `id`; None where a mask hides one never seen here."""
        return self._ids.get(id, None if MASK in id else id)

    def restored(self, raw: bytes) -> bytes:
        """`raw` with the ids that this session saw in place of what masks them."""

        def restore(found: re.Match[bytes]) -> bytes:
            id = _read_text(found[1])
            start, end = found.start(1) - found.start(), found.end(1) - found.start()
            real = json.dumps(self._ids.get(id, id))[1:-1].encode()
            return found[0][:start] + real + found[0][end:] if id in self._ids else found[0]

        return _ID.sub(restore, raw) if self._ids else raw

    def url(self, url: str) -> str:
        """`url` without the password before its host and the secrets in its query."""
        return self.text(mask_url(url))

    def _remember_ids(self, raw: bytes) -> None:
        for found in _ID.finditer(raw):
            id = _read_text(found[1])
            masked = self._masked_id(id)
            if MASK in masked:
                self._ids[masked] = id

    def _masked_id(self, id: str) -> str:
        if id in self._secrets and not (id[0].isalnum() and id[-1].isalnum()):
            return id
        return self.text(id)


def _parts(value: str) -> set[str]:
    """`value`, and the credential of `Scheme credential`."""
    scheme, _, credential = value.partition(" ")
    parts = {value} if " " in credential or not credential else {value, credential}
    return {part for part in parts if part and scheme}


def _longest_first(secrets: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(secrets, key=lambda secret: (-len(secret), secret)))


def _pattern(secrets: Iterable[str], around: bytes) -> re.Pattern[bytes] | None:
    """A pattern that finds `secrets` in any spelling of JSON, JSON within JSON included."""
    spelled = [b"".join(_spell(secret)) for secret in secrets]
    return re.compile(around % (b"(?:%b)" % b"|".join(spelled))) if spelled else None


def _spell(secret: str) -> Iterator[bytes]:
    # possessive, so that a body of backslashes takes no longer than another
    for character in re.findall(r"\\+|[^\\]", secret, re.DOTALL):
        if character[0] == "\\":
            yield rb"\\++(?:u005[cC]\\*+)*+"
            continue
        units = character.encode("utf-16-be", errors="surrogatepass").hex()
        escaped = rb"\\*+".join(
            b"u(?i:%b)" % units[start : start + 4].encode() for start in range(0, len(units), 4)
        )
        plain = re.escape(character.encode(errors="surrogatepass"))
        yield rb"\\*+(?:%b|%b)" % (plain, escaped)


def _read_text(spelled: bytes) -> str:
    """The text that JSON spells so; bytes that JSON does not allow as they are."""
    text = spelled.decode(errors="replace")
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text
