"""Headers given as `--header 'Name: value'`, whose values may name variables."""

import re
from collections.abc import Mapping, Sequence

from inspector.errors import UsageError

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def parse_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Read `Name: value`, filling in each `${VARIABLE}` of the value.

    Raises:
        UsageError: no colon, a name that HTTP does not allow, or a variable that is not set.
    """
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name.strip()):
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
