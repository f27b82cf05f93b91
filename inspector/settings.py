"""How to reach an agent: what the connection flags said."""

from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Connection:
    """`headers` are credentials: they are masked wherever shown and stay with the card's origin.

    `timeout_seconds` bounds one exchange from its first to its last byte; None waits for ever.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS
    is_insecure: bool = False
    ca_file: Path | None = None
