"""The dialects that are known, and the choice of the endpoint and dialect for an agent."""

from collections.abc import Iterable
from dataclasses import dataclass

from inspector.wire import v0_3, v0_3_types, v1_0
from inspector.wire.dialect import Binding, CardSections, Dialect, Endpoint
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json, list_at, text_at
from inspector.wire.urls import is_same_origin, is_unspecified, root, split_url, with_host_of

# A new generation is one more module here.
DEFAULT: Dialect = v0_3
_KNOWN: tuple[Dialect, ...] = (v0_3,)
DIALECTS: dict[tuple[str, Binding], Dialect] = {
    (dialect.version, dialect.binding): dialect for dialect in _KNOWN
}
# Names and values that stand in messages whatever is said: those of the protocols and of Rasa's
# DataParts, and the fields of SSE.
WORDS = (
    v0_3.WORDS
    | v1_0.SCHEMA.words
    | {"active_flow", "persisted_slots", "error_type", "error_info", "reason", "slots"}
    | {"event", "data", "retry", "id"}
)


@dataclass(frozen=True, slots=True)
class Interface:
    """One way to call the agent. `protocol` is the version, as far as the card says."""

    url: str
    transport: str
    protocol: str
    path: str


def dialect_of(endpoint: Endpoint | None) -> Dialect:
    """The dialect of `endpoint`; the default where it is unknown."""
    if endpoint is None:
        return DEFAULT
    return DIALECTS.get((endpoint.version, endpoint.binding), DEFAULT)


def is_newer(card: Json) -> bool:
    """The card has the shape of A2A 1.0 alone; one of both generations is read as 0.3."""
    return isinstance(card, dict) and "supportedInterfaces" in card and "url" not in card


def card_rules(card: Json) -> CardSections:
    """The sections of the specification that `card` follows."""
    return v1_0.CARD_RULES if is_newer(card) else v0_3_types.CARD_RULES


def interfaces(card: Json) -> tuple[Interface, ...]:
    """Every interface the card names, the preferred one first; 0.3 fields, then those of 1.0."""
    version = text_at(card, "protocolVersion") or ""
    found: list[Interface] = []
    if url := text_at(card, "url"):
        transport = text_at(card, "preferredTransport") or Binding.JSONRPC.value
        found.append(Interface(url, transport, version, "$.url"))
    for field in ("additionalInterfaces", "supportedInterfaces"):
        for index, item in enumerate(list_at(card, field)):
            transport = text_at(item, "transport") or text_at(item, "protocolBinding") or ""
            protocol = text_at(item, "protocolVersion") or version
            if url := text_at(item, "url"):
                found.append(Interface(url, transport, protocol, f"$.{field}[{index}].url"))
    return tuple(found)


def choose_endpoint(
    card: Json, source_url: str, allowed_origins: Iterable[str] = (), *, protocol: str | None = None
) -> Endpoint | None:
    """The interface to call for a card fetched from `source_url`; None if there is none.

    Of several, the first whose dialect is spoken here wins. A card from a file is its own origin.
    Credentials may go to the origin of the card and to `allowed_origins`. `protocol` forces a
    version, whatever the card offers.
    """
    offers = [(one, found) for one in interfaces(card) if (found := _speak(one, protocol))]
    usable = [(offer, dialect) for offer, dialect in offers if split_url(offer.url)]
    if not usable:
        return None
    spoken = (one for one in usable if _is_spoken(*one))
    sections = card_rules(card)
    chosen, dialect = next(spoken, usable[0])
    is_from_file = split_url(source_url) is None
    url, findings = _reachable(chosen, source_url, sections, is_from_file=is_from_file)
    origins = (source_url, *allowed_origins)
    is_trusted = is_from_file or any(is_same_origin(url, one) for one in origins)
    if not is_trusted:
        findings += (_elsewhere(chosen, source_url, sections),)
    if not _is_spoken(chosen, dialect):
        findings += (_not_spoken(chosen, dialect, sections),)
    reason = f"{chosen.path} offers {chosen.transport.upper()}"
    return Endpoint(url, dialect.version, dialect.binding, reason, is_trusted, findings)


def _speak(offer: Interface, protocol: str | None) -> Dialect | None:
    """The dialect to speak at `offer`: its own, else the default over its binding."""
    binding = offer.transport.upper()
    if binding not in list(Binding):
        return None
    version = protocol or ".".join(offer.protocol.split(".")[:2])
    for wanted in (version, protocol or DEFAULT.version):
        if (dialect := DIALECTS.get((wanted, Binding(binding)))) is not None:
            return dialect
    return None


def _is_spoken(offer: Interface, dialect: Dialect) -> bool:
    """Say whether `offer` may understand `dialect`; what is not newer than it should."""
    return offer.protocol.split(".")[0] <= dialect.version.split(".")[0]


def _reachable(
    chosen: Interface, source_url: str, sections: CardSections, *, is_from_file: bool
) -> tuple[str, tuple[Finding, ...]]:
    if not is_unspecified(chosen.url):
        return chosen.url, ()
    url = with_host_of(chosen.url, "http://localhost" if is_from_file else source_url)
    text = f"{chosen.url!r} is an address to listen on that no client can reach; using {url}"
    return url, (Finding(Severity.WARNING, sections.url, chosen.path, text),)


def _elsewhere(chosen: Interface, source_url: str, sections: CardSections) -> Finding:
    text = (
        f"{chosen.url!r} has another origin than the card ({root(source_url)}): "
        "credentials go there only if you allow it"
    )
    return Finding(Severity.WARNING, sections.credentials, chosen.path, text)


def _not_spoken(chosen: Interface, dialect: Dialect, sections: CardSections) -> Finding:
    text = (
        f"the card offers {dialect.binding.label} for protocol {chosen.protocol} only; "
        f"{dialect.version} is spoken here"
    )
    return Finding(Severity.WARNING, sections.card, chosen.path, text)
