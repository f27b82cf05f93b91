"""How a push receiver is set up, and how it mistreats what it gets."""

from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from inspector.errors import UsageError
from inspector.net.events import Headers
from inspector.net.receiver_requests import Answer, Bounds
from inspector.wire.urls import split_url

REDIRECTS = frozenset({301, 302, 303, 307, 308})
REDIRECTED = "/redirected"
UNSPECIFIED = frozenset({"", "0.0.0.0", "::"})


@dataclass(frozen=True, slots=True)
class Injection:
    """How verified notifications are mistreated: answered with `status`, late, never or cut off."""

    status: int | None = None
    delay_seconds: float = 0.0
    is_hanging: bool = False
    is_dropping: bool = False

    def answer(self) -> Answer:
        """What a verified notification is answered; a redirect leads to another path here."""
        if self.is_hanging or self.is_dropping:
            return Answer(None, delay_seconds=self.delay_seconds, is_hanging=self.is_hanging)
        status = self.status or HTTPStatus.OK
        location: Headers = (("Location", REDIRECTED),) if status in REDIRECTS else ()
        return Answer(status, location, delay_seconds=self.delay_seconds)


@dataclass(frozen=True, slots=True)
class ReceiverOptions:
    """`public_url` is registered in place of the receiver's own; `jwks_url` makes JWTs a must."""

    interface: str = "127.0.0.1"
    public_url: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    jwks_url: str | None = None
    bounds: Bounds | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which agents may call the receiver, besides those of loopback.

        Raises:
            UsageError: the public URL is none.
        """
        if self.public_url is None:
            return (self.interface,)
        public = split_url(self.public_url)
        if public is None or public.hostname is None:
            raise UsageError(f"--public-url {self.public_url!r} is not an http or https URL")
        return (self.interface, public.hostname)

    @property
    def takes_addresses(self) -> bool:
        """All interfaces are listened to, whose addresses nobody has listed."""
        return self.interface in UNSPECIFIED

    def url(self, port: int) -> str:
        """What agents are given; all interfaces are told as loopback without a public URL."""
        if self.public_url is not None:
            return self.public_url
        host = "127.0.0.1" if self.takes_addresses else self.interface
        host = f"[{host}]" if ":" in host else host
        return f"{self.scheme}://{host}:{port}/"

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"
