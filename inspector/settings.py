"""How to reach an agent: what the connection flags said, with variables filled in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inspector.errors import UsageError

DEFAULT_TIMEOUT_SECONDS = 120.0
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Connection:
    """`headers` are credentials: they are masked wherever shown and stay with the card's origin.

    `timeout_seconds` bounds one exchange from its first to its last byte; None waits for ever.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS
    is_insecure: bool = False
    ca_file: Path | None = None


def parse_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Read `Name: value`, filling in each `${VARIABLE}` of the value.

    Raises:
        UsageError: no colon, a name that HTTP does not allow, or a variable that is not set.
    """
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name.strip()):
        # the text may hold a secret: only its length is told
        raise UsageError(
            f"--header: {len(text)} characters that are not 'Name: value'",
            "write it as --header 'Authorization: Bearer ${TOKEN}'",
        )
    missing = [key for key in _VARIABLE.findall(value) if key not in environment]
    if missing:
        raise UsageError(
            f"--header {name.strip()}: the variable {missing[0]} is not set",
            f"export {missing[0]}=… first",
        )
    filled = _VARIABLE.sub(lambda match: environment[match[1]], value).strip()
    if not filled.isprintable() or not filled.isascii():
        raise UsageError(f"--header {name.strip()}: the value has characters no header may hold")
    return name.strip(), filled


def parse_headers(
    texts: Sequence[str], environment: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    return tuple(parse_header(text, environment) for text in texts)
