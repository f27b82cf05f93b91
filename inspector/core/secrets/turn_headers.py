"""A turn's headers as they go out: variables filled in, and what of that nobody may see."""

import re
from collections.abc import Mapping
from dataclasses import replace

from inspector.core.commands import Turn
from inspector.core.secrets.credentials import parse_header, read_variable

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def fill_headers(turn: Turn, environment: Mapping[str, str]) -> tuple[Turn, tuple[str, ...]]:
    """Return `turn` with each `${VARIABLE}` of its headers filled in, and the values of these.

    Raises:
        UsageError: a name or value that HTTP does not allow, a variable that is not set, or a
            secret in plain words.
    """
    headers = tuple(parse_header(f"{name}: {value}", environment) for name, value in turn.headers)
    named = [name for _, value in turn.headers for name in _VARIABLE.findall(value)]
    secrets = tuple(read_variable("header", name, environment) for name in named)
    return replace(turn, headers=headers), secrets
