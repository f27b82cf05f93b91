"""The headers of a push notification, and whether they can be written."""

import re
from collections.abc import Mapping

from mock_server.errors import PushRefused
from mock_server.tasks.push_config import PushConfig

TOKEN_HEADER = "X-A2A-Notification-Token"
MAX_VALUE_LENGTH = 8 * 1024
VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
SCHEME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def push_headers(config: PushConfig, *, sends_authorization: bool) -> Mapping[str, str]:
    """What tells the callback who is posting (PUSH-2); empty tokens and credentials are left out.

    Raises:
        PushRefused: a part of it does not fit into a header.
    """
    headers = {"Content-Type": "application/json"}
    if config.token:
        headers[TOKEN_HEADER] = _value("token", config.token)
    authentication = config.authentication
    if sends_authorization and authentication and authentication.credentials:
        scheme = _scheme(authentication.schemes)
        credentials = _value("authentication.credentials", authentication.credentials)
        headers["Authorization"] = f"{scheme} {credentials}"
    return headers


def _scheme(schemes: tuple[str, ...]) -> str:
    scheme = schemes[0] if schemes else ""
    if len(scheme) > MAX_VALUE_LENGTH or not SCHEME.fullmatch(scheme):
        raise PushRefused(
            "authentication.schemes does not begin with a name that a header can hold"
        )
    return scheme


def _value(name: str, text: str) -> str:
    if len(text) > MAX_VALUE_LENGTH or not VALUE.fullmatch(text):
        raise PushRefused(f"{name} does not fit into a header")
    return text
