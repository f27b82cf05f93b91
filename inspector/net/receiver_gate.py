"""What the receiver turns away by its head alone: foreign hosts, other methods, floods."""

from collections.abc import Callable, Iterable
from ipaddress import ip_address

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Allowance:
    """So many at once, and then so many a second: a token bucket."""

    def __init__(self, burst: int, per_second: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._left = float(burst)
        self._asked = clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._asked) * self._per_second)
        self._asked = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Gate:
    """Knows the hosts by which the receiver may be called, and how often.

    A page in a browser can lead a name of its own to this machine (DNS rebinding): only the names
    given, loopback and, where all interfaces are listened to, bare addresses are let in.
    """

    def __init__(
        self, hosts: Iterable[str], allowance: Allowance, *, takes_addresses: bool = False
    ) -> None:
        self._hosts = LOOPBACK_NAMES.union(host.lower() for host in hosts)
        self._allowance = allowance
        self._takes_addresses = takes_addresses

    def is_expected(self, host_header: str | None) -> bool:
        host = host_of(host_header or "")
        return host in self._hosts or (self._takes_addresses and _is_address(host))

    def is_within_rate(self) -> bool:
        return self._allowance.take()


def host_of(authority: str) -> str:
    """The host of `host:port` in lower case, an IPv6 address without its brackets."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0].lower()
    return authority.partition(":")[0].lower()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
