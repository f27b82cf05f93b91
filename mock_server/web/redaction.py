"""Secrets of requests and answers, hidden wherever the admin API shows them.

JSON is hidden by its keys. What is not JSON, or was cut, is searched for the same names as JSON,
a form, a URL or a header writes them: nobody knows what it was meant to be, so more is hidden
rather than less.
"""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import parse_json

HIDDEN = "[hidden]"
# Headers, and keys of JSON and of forms; a hyphen stands for one, for an underscore or for nothing.
NAMES = (
    "access-token", "api-key", "auth-token", "authorization", "client-assertion", "client-secret",
    "cookie", "credentials", "id-token", "password", "private-key", "proxy-authorization",
    "refresh-token", "secret", "set-cookie", "token", "x-a2a-notification-token", "x-api-key",
    "x-auth-token",
)  # fmt: skip
NAME = "|".join(name.replace("-", "[-_]?") for name in NAMES)
SECRET = re.compile(NAME, re.IGNORECASE)
# Printable ASCII as JSON escapes it, also in JSON within JSON.
ESCAPED = re.compile(r"(?<!\\)\\++u00([2-7][0-9a-f])", re.IGNORECASE)
# A name, what divides it from its value, and the value: between quotes, which JSON within JSON
# escapes; an object or a list, whose end is not looked for; or up to a blank or a delimiter. The
# value of a header may have its scheme before it. Before a name may stand an escaped line feed.
NAMED = re.compile(
    rf"""(?P<name>(?:(?<![\w-])|(?<=\\[nrt]))(?:{NAME})(?![\w-]))
    (?P<between>\s*+(?:\\*+["']\s*+[:=,]?|[:=])\s*+)
    (?:
        (?P<quote>\\*+["'])(?:.*?(?<!\\)(?P=quote)|.*)
      | [\[{{].*
      | (?:(?:bearer|basic)\s++)?[^\s,;&"'}}\]\\]++
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# of a URL
PASSWORD = re.compile(r"(?<=://)[^\s/@:]*+:[^\s/@]*+(?=@)")


def is_secret(name: str) -> bool:
    """Whether what goes by `name`, a header or a key, is a secret."""
    return SECRET.fullmatch(name) is not None


def hide_in_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: HIDDEN if is_secret(name) else value for name, value in headers.items()}


def hide_in_document(document: bytes) -> JsonValue:
    """The value of JSON, all else as text; both without their secrets."""
    try:
        return _hide_in_json(parse_json(document))
    except ValueError:
        return hide_in_text(document.decode(json.detect_encoding(document), "replace"))


def hide_in_text(text: str) -> str:
    """`text`, which need not be JSON, without what looks like a secret in it."""
    plain = ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    hidden = PASSWORD.sub(HIDDEN, NAMED.sub(_hide_named, plain))
    return text if hidden == plain else hidden


def _hide_in_json(value: Json) -> JsonValue:
    match value:
        case dict():
            return {
                key: HIDDEN if inner and is_secret(key) else _hide_in_json(inner)
                for key, inner in value.items()
            }
        case list():
            return [_hide_in_json(inner) for inner in value]
        # a URL, or JSON within JSON
        case str() if "://" in value or value.lstrip().startswith(("{", "[")):
            return hide_in_text(value)
        case _:
            return value


def _hide_named(found: re.Match[str]) -> str:
    quote = found["quote"] or ""
    return f"{found['name']}{found['between']}{quote}{HIDDEN}{quote}"
