"""Secrets kept out of the log: what is masked here can be neither shown nor saved.

What is masked reads as it did: JSON stays JSON, and no word of the protocol is ever a secret.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

from inspector.core.entries import Headers
from inspector.wire.endpoints import WORDS
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
# a text, or a number outside of texts
_TOKEN = re.compile(rf"{_TEXT}|[-+.\deE]++".encode())
_NUMBER = re.compile(r"[-+.\deE]+")


class Redactor:
    """Masks `headers` by their names, and secrets wherever they occur.

    The values of headers known to carry secrets are secrets. `now` is seconds since 1970.
    """

    def __init__(self, headers: Headers = (), now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._names = SECRET_HEADERS
        self._secrets: frozenset[str] = frozenset()
        self._plain: tuple[str, ...] = ()
        self._plain_raw: list[bytes] = []
        self._dressed: re.Pattern[bytes] | None = None
        self._whole: re.Pattern[bytes] | None = None
        self._numbers: re.Pattern[bytes] | None = None
        self._ids: dict[str, str] = {}
        self._aliases: dict[str, str] = {}
        self.learn_headers(headers)

    def learn(self, *secrets: str) -> None:
        """Mask `secrets` from now on; one of them may be a scheme and its credential.

        One that is a word of the protocol stands in every message and is not masked.
        """
        found = self._secrets.union(*map(_parts, secrets)) - WORDS
        if found == self._secrets:
            return
        self._secrets = found
        long = [one for one in found if len(one) >= MIN_SECRET_LENGTH and not _is_in_a_word(one)]
        numbers = [secret for secret in long if _NUMBER.fullmatch(secret)]
        words = [secret for secret in long if secret not in numbers]
        self._plain = _longest_first({*long, *(quote(secret, safe="") for secret in long)})
        self._plain_raw = [one.encode() for one in self._plain if one not in numbers]
        self._dressed = _pattern(_longest_first(words), rb"(?<!\\)%b")
        self._numbers = _pattern(_longest_first(numbers), rb"(?<!\\)%b")
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
            return self._aliases.get(text, MASK)
        if text in self._aliases:
            return self._aliases[text]
        for secret in self._plain:
            text = text.replace(secret, MASK)
        return text

    def raw(self, raw: bytes) -> bytes:
        """`raw` masked, however JSON spells a secret; JSON stays JSON.

        Each id has a mask of its own, which `original` knows.
        """
        masked = self._mask(raw)
        return self._mask(_ID.sub(self._rename, raw)) if MASK.encode() in masked else raw

    def _mask(self, raw: bytes) -> bytes:
        masked, mask = raw, MASK.encode()
        if self._dressed is not None and b"\\" in raw:
            masked = self._dressed.sub(mask, masked)
        for secret in self._plain_raw:
            masked = masked.replace(secret, mask)
        if self._numbers is not None and self._numbers.search(masked):
            masked = _TOKEN.sub(self._mask_token, masked)
        if self._whole is not None:
            masked = self._whole.sub(mask, masked)
        return masked

    def _mask_token(self, found: re.Match[bytes]) -> bytes:
        """A text with digits of a secret masked, or a text in place of a number that holds some."""
        assert self._numbers is not None
        if found[1] is not None:
            return self._numbers.sub(MASK.encode(), found[0])
        return f'"{MASK}"'.encode() if self._numbers.search(found[0]) else found[0]

    def original(self, id: str) -> str | None:
        """The id that the log shows as `id`; None where a mask hides one never seen here."""
        return self._ids.get(id, None if MASK in id else id)

    def restored(self, raw: bytes) -> bytes:
        """`raw` with the ids that this session saw in place of what masks them."""

        return _ID.sub(lambda found: _respell(found, self._ids), raw) if self._ids else raw

    def url(self, url: str) -> str:
        """`url` without the password before its host and the secrets in its query."""
        return self.text(mask_url(url))

    def _rename(self, found: re.Match[bytes]) -> bytes:
        """The member in which an id stands, with the mask of that id."""
        id = _read_text(found[1])
        if id not in self._aliases:
            masked = alias = self.text(id)
            if MASK not in masked:
                return found[0]
            others = 1
            while self._ids.setdefault(alias, id) != id:
                others += 1
                alias = f"{masked}~{others}"
            self._aliases[id] = alias
        return _respell(found, self._aliases)


def _respell(found: re.Match[bytes], names: Mapping[str, str]) -> bytes:
    """The member in which an id stands, with its new name in `names`, if it has one."""
    name = names.get(_read_text(found[1]))
    if name is None:
        return found[0]
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + json.dumps(name)[1:-1].encode() + found[0][end:]


def _is_in_a_word(secret: str) -> bool:
    return any(secret in word for word in WORDS)


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
