"""How to reach an agent: what the connection flags said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_TIMEOUT_SECONDS = 120.0
DEFAULT_TTL_SECONDS = 600.0

# In which a development token can be signed: those that Rasa's A2A server takes (server.md CFG-2).
ALGORITHMS = ("HS256", "HS512", "RS256", "RS512", "ES256", "ES512", "PS256")


@dataclass(frozen=True, slots=True)
class Mint:
    """How a development token is made. `key` is a shared secret (HS*) or a private key in PEM.

    `claims` are JSON and win over what is added by itself, `iat` and `exp`.
    """

    algorithm: str
    key: str = field(repr=False)
    claims: Mapping[str, object] = field(default_factory=dict[str, object])
    ttl_seconds: float = DEFAULT_TTL_SECONDS


@dataclass(frozen=True, slots=True)
class Connection:
    """`headers` are credentials: as headers they are masked, and they stay with the card's origin.

    `secrets` are masked wherever they occur. `allowed_origins` are those besides the card's to
    which credentials may go. `timeout_seconds` bounds one exchange from its first to its last byte;
    None waits for ever. `client_cert` holds a certificate and, without `client_key`, its key.
    `is_saved`: the session is written to a file of its own as it goes. `admin_token` opens the
    admin API of a mock; a save in the folder `watched` replays the conversation where live is on.
    `protocol` forces a version of A2A. `is_authenticated`: flags gave the credentials, so
    those of a sub agent's config are not used.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS
    is_insecure: bool = False
    ca_file: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    mint: Mint | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    allowed_origins: tuple[str, ...] = ()
    jwks_file: Path | None = None
    protocol: str | None = None
    is_saved: bool = True
    is_authenticated: bool = False
    admin_token: str = field(default="", repr=False)
    watched: Path | None = None
