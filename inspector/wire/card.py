"""Where an agent's card says to call it, and what is odd about that (A2A 0.3 §5.6)."""

from collections.abc import Iterable
from dataclasses import dataclass

from inspector.wire.findings import Finding, Severity
from inspector.wire.tree import Json, list_at, text_at
from inspector.wire.urls import (
    is_loopback,
    is_same_origin,
    is_unspecified,
    root,
    split_url,
    with_host_of,
)

WELL_KNOWN = "/.well-known/agent-card.json"
WELL_KNOWN_DEPRECATED = "/.well-known/agent.json"
JSON_RPC = "JSONRPC"

_CROSSED = frozenset({("http", 443), ("https", 80)})


@dataclass(frozen=True, slots=True)
class Interface:
    """One way to call the agent. `protocol` is the version, as far as the card tells it."""

    url: str
    transport: str
    protocol: str
    path: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The JSON-RPC URL to call. `is_trusted`: credentials may go to its origin."""

    url: str
    reason: str
    is_trusted: bool
    findings: tuple[Finding, ...]


def interfaces(card: Json) -> tuple[Interface, ...]:
    """Every interface the card names, the preferred one first; 0.3 fields, then those of 1.0."""
    version = text_at(card, "protocolVersion") or ""
    found: list[Interface] = []
    if url := text_at(card, "url"):
        transport = text_at(card, "preferredTransport") or JSON_RPC
        found.append(Interface(url, transport, version, "$.url"))
    for field in ("additionalInterfaces", "supportedInterfaces"):
        for index, item in enumerate(list_at(card, field)):
            transport = text_at(item, "transport") or text_at(item, "protocolBinding") or ""
            protocol = text_at(item, "protocolVersion") or version
            if url := text_at(item, "url"):
                found.append(Interface(url, transport, protocol, f"$.{field}[{index}].url"))
    return tuple(found)


def choose_endpoint(
    card: Json, source_url: str, allowed_origins: Iterable[str] = ()
) -> Endpoint | None:
    """The JSON-RPC interface to call for a card fetched from `source_url`; None if there is none.

    Of several, the first that speaks 0.3 wins. A card from a file is its own origin. Credentials
    may go to the origin of the card and to `allowed_origins`.
    """
    offers = [offer for offer in interfaces(card) if offer.transport.upper() == JSON_RPC]
    usable = [offer for offer in offers if split_url(offer.url)]
    if not usable:
        return None
    chosen = next((offer for offer in usable if not offer.protocol.startswith("1")), usable[0])
    is_from_file = split_url(source_url) is None
    url, findings = _reachable(chosen, source_url, is_from_file)
    origins = (source_url, *allowed_origins)
    is_trusted = is_from_file or any(is_same_origin(url, one) for one in origins)
    if not is_trusted:
        findings += (_elsewhere(chosen, source_url),)
    if chosen.protocol.startswith("1"):
        findings += (_only_newer(chosen),)
    return Endpoint(url, f"{chosen.path} offers {JSON_RPC}", is_trusted, findings)


def check_placement(card: Json, source_url: str) -> tuple[Finding, ...]:
    """What is odd about where the card lies and where its URLs point (inspector.md CARDV-2)."""
    found: list[Finding] = []
    if source_url.endswith(WELL_KNOWN_DEPRECATED):
        text = f"found at {WELL_KNOWN_DEPRECATED}, which 0.3 replaced by {WELL_KNOWN}"
        found.append(Finding(Severity.WARNING, "A2A 0.3 §5.3", "$", text))
    for offer in interfaces(card):
        if offer.transport.upper() != "GRPC":
            found += _check_place(offer, source_url)
    return tuple(found)


def _check_place(offer: Interface, source_url: str) -> list[Finding]:
    """A scheme, port or host that cannot be right, seen from where the card came from."""
    parts, source = split_url(offer.url), split_url(source_url)
    if parts is None:
        text = f"{offer.url[:80]!r} is not an http or https URL with a host and a valid port"
        return [Finding(Severity.ERROR, "A2A 0.3 §5.6.1", offer.path, text)]
    odd: list[str] = []
    if (parts.scheme, parts.port) in _CROSSED:
        odd.append(f"{parts.scheme} on port {parts.port}, which is the other scheme's")
    if parts.password is not None:
        odd.append("it holds a password, which everybody who reads the card can see")
    if source is not None and is_loopback(offer.url) and not is_loopback(source_url):
        odd.append(f"it leads each caller to itself; the card came from {source.hostname}")
    found = [Finding(Severity.WARNING, "A2A 0.3 §5.6.1", offer.path, text) for text in odd]
    if source is not None and source.scheme == "https" and parts.scheme == "http":
        text = "plain http, although the card came by https"
        found.append(Finding(Severity.WARNING, "A2A 0.3 §4.1", offer.path, text))
    return found


def _reachable(
    chosen: Interface, source_url: str, is_from_file: bool
) -> tuple[str, tuple[Finding, ...]]:
    if not is_unspecified(chosen.url):
        return chosen.url, ()
    url = with_host_of(chosen.url, "http://localhost" if is_from_file else source_url)
    return url, (
        Finding(
            Severity.WARNING,
            "A2A 0.3 §5.6.1",
            chosen.path,
            f"{chosen.url!r} is an address to listen on that no client can reach; using {url}",
        ),
    )


def _elsewhere(chosen: Interface, source_url: str) -> Finding:
    return Finding(
        Severity.WARNING,
        "A2A 0.3 §5.4",
        chosen.path,
        f"{chosen.url!r} has another origin than the card ({root(source_url)}): "
        "credentials go there only if you allow it",
    )


def _only_newer(chosen: Interface) -> Finding:
    return Finding(
        Severity.WARNING,
        "A2A 0.3 §5.5",
        chosen.path,
        f"the card offers JSON-RPC for protocol {chosen.protocol} only; 0.3 is spoken here",
    )
