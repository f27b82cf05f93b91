"""Headers that carry secrets, made from variables, prompts and keys; never from plain words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from inspector.core.commands import Turn
from inspector.core.redaction import SECRET_HEADERS
from inspector.core.requests import is_header_value
from inspector.errors import UsageError
from inspector.net.events import Headers
from inspector.wire.card import BEARER, KEY, Scheme
from inspector.wire.tokens import expiry_of

_VARIABLE = re.compile(r"\$\{(\w+)\}")
# one that did not fit the body would break the connection, not try the agent
_FRAMING = frozenset({"content-length", "transfer-encoding"})
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def parse_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Read `Name: value`, filling in each `${VARIABLE}` of the value.

    Raises:
        UsageError: no colon, a name that HTTP does not allow, a variable that is not set, or a
            secret in plain words, which the list of processes would show.
    """
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not colon or not _TOKEN.fullmatch(name):
        # the text may hold a secret: only its length is shown
        raise UsageError(
            f"--header: {len(text)} characters that are not 'Name: value'",
            "write it as --header 'Authorization: Bearer ${TOKEN}'",
        )
    variables = _VARIABLE.findall(value)
    if name.lower() in SECRET_HEADERS and not variables:
        raise UsageError(
            f"--header {name}: a secret on the command line is seen by everybody on this machine",
            f"export TOKEN=… and write --header '{name}: ${{TOKEN}}'",
        )
    filled = _VARIABLE.sub(
        lambda match: read_variable(f"--header {name}", match[1], environment), value
    )
    return _checked(f"--header {name}", name, filled)


def parse_headers(
    texts: Sequence[str], environment: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    return tuple(parse_header(text, environment) for text in texts)


def read_variable(flag: str, variable: str, environment: Mapping[str, str]) -> str:
    """Return the secret in `variable`, without the line end that `cat` leaves.

    Raises:
        UsageError: it is not set.
    """
    if variable not in environment:
        raise UsageError(
            f"{flag}: the variable {variable} is not set", f"export {variable}=… first"
        )
    return environment[variable].strip()


def header_of(scheme: Scheme, secret: str, where: str) -> tuple[str, str]:
    """Return the header that carries `secret`; `where` names in errors what gave it.

    Raises:
        UsageError: no secret, a format without `{key}`, or what no header may hold.
    """
    if not secret:
        raise UsageError(f"{where}: it is empty")
    if KEY not in scheme.template:
        raise UsageError(
            f"--header-format {scheme.template!r} has no place for the key",
            f"write {KEY} where it goes: --header-format 'Key {KEY}'",
        )
    return _checked(where, scheme.header, scheme.template.replace(KEY, secret))


def api_key_scheme(header_name: str | None, header_format: str | None) -> Scheme:
    """As Rasa sends it: a bearer token, unless a header is named, which has the bare key."""
    if header_name is None:
        return Scheme(template=header_format or BEARER.template)
    return Scheme(header_name, header_format or KEY)


def with_header(headers: Headers, header: tuple[str, str]) -> Headers:
    """Return `headers` with `header` in place of those of its name."""
    return (*(one for one in headers if one[0].lower() != header[0].lower()), header)


def token_expiry(headers: Headers) -> float | None:
    """Return when the first JWT among `headers` expires, in seconds since 1970."""
    expiries = (expiry_of(value.rpartition(" ")[2]) for _, value in headers)
    return next((expiry for expiry in expiries if expiry is not None), None)


def _checked(where: str, name: str, value: str) -> tuple[str, str]:
    if not _TOKEN.fullmatch(name):
        raise UsageError(f"{where}: {name!r} is not a header name")
    if name.lower() in _FRAMING:
        raise UsageError(f"{where}: {name} follows from what is sent, and cannot be given")
    if not is_header_value(value):
        raise UsageError(f"{where}: the value has characters no header may hold")
    return name, value


def fill_headers(turn: Turn, environment: Mapping[str, str]) -> tuple[Turn, tuple[str, ...]]:
    """Return `turn` with each `${VARIABLE}` of its headers filled in, and the values of these.

    Raises:
        UsageError: a name or value that HTTP does not allow, a variable that is not set, or a
            secret in plain words.
    """
    headers = tuple(parse_header(f"{name}: {value}", environment) for name, value in turn.headers)
    secrets = variable_values((value for _, value in turn.headers), environment)
    return replace(turn, headers=headers), secrets


def variable_values(texts: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """What the variables named in `texts` hold: the secrets of headers.

    Raises:
        UsageError: one is not set.
    """
    named = [name for text in texts for name in _VARIABLE.findall(text)]
    return tuple(read_variable("--header", name, environment) for name in named)
