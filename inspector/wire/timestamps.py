"""Times as statuses carry them: ISO 8601 with a zone (A2A 0.3 §6.2)."""

import re
from datetime import datetime

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def is_timestamp(text: str) -> bool:
    return _TIMESTAMP.fullmatch(text) is not None


def parse_timestamp(text: str) -> float | None:
    """Milliseconds since 1970 UTC; None for what is no timestamp, or a day that never was."""
    if not is_timestamp(text):
        return None
    try:
        return datetime.fromisoformat(text).timestamp() * 1000
    except ValueError:
        return None
