"""Origins of URLs, the secrets in them, and hosts that no client can reach."""

import re
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from inspector.wire.tokens import MASK

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSPECIFIED = frozenset({"0.0.0.0", "::"})
_PASSWORD = re.compile(r"^([A-Za-z][\w+.-]*://[^/?#:@]*:)([^/?#]*)@")
_QUERY = re.compile(
    r"([?&;][\w.-]*(?:key|token|secret|password|passwd|pwd|auth|signature|sig)=)([^&;#]+)",
    re.IGNORECASE,
)


def parts_of(url: str) -> SplitResult:
    """The parts of `url`; of what is none, all of it as its path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def split_url(url: str) -> SplitResult | None:
    """The parts of an http or https URL with a host and a valid port; None for anything else."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in _DEFAULT_PORTS and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if is_usable else None


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port (RFC 6454 §4), with the names of loopback as one host."""
    parts = split_url(url)
    if parts is None or parts.hostname is None:
        return None
    host = "localhost" if parts.hostname in _LOOPBACK else parts.hostname
    return parts.scheme, host, parts.port or _DEFAULT_PORTS[parts.scheme]


def is_same_origin(one: str, other: str) -> bool:
    return origin(one) is not None and origin(one) == origin(other)


def is_loopback(url: str) -> bool:
    """Say whether the host is this machine, by one of its usual names."""
    parts = split_url(url)
    return parts is not None and parts.hostname in _LOOPBACK


def is_unspecified(url: str) -> bool:
    """Say whether the host is an address to listen on, to which no client can connect."""
    parts = split_url(url)
    return parts is not None and parts.hostname in _UNSPECIFIED


def with_host_of(url: str, source: str) -> str:
    """`url` with the host of `source` in place of its own; port and path stay."""
    parts, source_parts = parts_of(url), parts_of(source)
    host = source_parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    netloc = f"{host}:{parts.port}" if parts.port else host
    return urlunsplit(parts._replace(netloc=netloc))


def root(url: str) -> str:
    """Scheme and authority of `url`, with a slash."""
    parts = parts_of(url)
    return f"{parts.scheme}://{parts.netloc}/"


def below(url: str, name: str) -> str:
    """`url` with `name` as a further segment of its path."""
    parts = parts_of(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def last_segment(url: str) -> str:
    """The last segment of the path, which stays through tunnels and proxies."""
    return url.partition("?")[0].rpartition("/")[2]


def mask_url(url: str) -> str:
    """`url` without the password before its host and what its query names as a secret."""
    return _QUERY.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1{MASK}@", url))


def secrets_in_url(url: str) -> tuple[str, ...]:
    """The password and the secrets of the query in `url`, as they are spelled and decoded."""
    password = _PASSWORD.match(url)
    found = [password[2]] if password else []
    found += [value for _, value in _QUERY.findall(url)]
    return tuple(dict.fromkeys((*found, *map(unquote, found))))
