"""An agent's card: what is odd about it, and which credentials it asks for.

Each rule is a function from a card to findings; `RULES` lists those that hold for every card.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inspector.wire.dialect import CardSections
from inspector.wire.endpoints import Interface, card_rules, interfaces, is_newer
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json, at, list_at, object_at, text_at
from inspector.wire.urls import is_loopback, split_url
from inspector.wire.v0_3_types import SCHEMA as SCHEMA_0_3
from inspector.wire.v1_0 import SCHEMA as SCHEMA_1_0

WELL_KNOWN = "/.well-known/agent-card.json"
WELL_KNOWN_DEPRECATED = "/.well-known/agent.json"

_CROSSED = frozenset({("http", 443), ("https", 80)})


def check_placement(card: Json, source_url: str) -> tuple[Finding, ...]:
    """What is odd about the place of the card and those of its URLs (inspector.md CARDV-2)."""
    sections = card_rules(card)
    found: list[Finding] = []
    if source_url.endswith(WELL_KNOWN_DEPRECATED):
        text = f"found at {WELL_KNOWN_DEPRECATED}, which 0.3 replaced by {WELL_KNOWN}"
        found.append(Finding(Severity.WARNING, sections.discovery, "$", text))
    for offer in interfaces(card):
        if offer.transport.upper() != "GRPC":
            found += _check_place(offer, source_url, sections)
    return tuple(found)


def _check_place(offer: Interface, source_url: str, sections: CardSections) -> list[Finding]:
    """A scheme, port or host that cannot be right, seen from where the card came from."""
    parts, source = split_url(offer.url), split_url(source_url)
    if parts is None:
        text = f"{offer.url[:80]!r} is not an http or https URL with a host and a valid port"
        return [Finding(Severity.ERROR, sections.url, offer.path, text)]
    odd: list[str] = []
    if (parts.scheme, parts.port) in _CROSSED:
        odd.append(f"{parts.scheme} on port {parts.port}, which is the other scheme's")
    if parts.password is not None:
        odd.append("it holds a password, which everybody who reads the card can see")
    if source is not None and is_loopback(offer.url) and not is_loopback(source_url):
        odd.append(f"it leads each caller to itself; the card came from {source.hostname}")
    found = [Finding(Severity.WARNING, sections.url, offer.path, text) for text in odd]
    if source is not None and source.scheme == "https" and parts.scheme == "http":
        text = "plain http, although the card came by https"
        found.append(Finding(Severity.WARNING, sections.tls, offer.path, text))
    return found


TRANSPORTS = ("JSONRPC", "GRPC", "HTTP+JSON")
_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+*-]+(\s*;.*)?|\*/\*")


def check_card(card: Json) -> tuple[Finding, ...]:
    """Every place where `card` breaks the schema of its version or its own promises."""
    found = (SCHEMA_1_0 if is_newer(card) else SCHEMA_0_3).check(card, "AgentCard")
    return found + tuple(finding for rule in RULES for finding in rule(card, card_rules(card)))


def _check_version(card: Json, sections: CardSections) -> Iterator[Finding]:
    version = text_at(card, "protocolVersion")
    if version is None:
        return
    if not _VERSION.fullmatch(version):
        text = f"expected a version such as 0.3.0, found {version[:40]!r}"
        yield _warning(sections.card, "$.protocolVersion", text)
    elif version.startswith("1") and not is_newer(card):
        text = f"says {version}, but the card has the fields of 0.3 (1.0 has supportedInterfaces)"
        yield _warning(sections.card, "$.protocolVersion", text)


def _check_texts(card: Json, sections: CardSections) -> Iterator[Finding]:
    for name in ("name", "description", "version"):
        if text_at(card, name) == "":
            yield _warning(sections.card, f"$.{name}", "is empty; people and agents choose by it")


def _check_transports(card: Json, sections: CardSections) -> Iterator[Finding]:
    for offer in interfaces(card):
        if offer.transport not in TRANSPORTS:
            path = "$.preferredTransport" if offer.path == "$.url" else offer.path
            text = f"{offer.transport[:40]!r} is none of {', '.join(TRANSPORTS)}"
            yield _warning(sections.transports, path, text)
    also = {(one.url, one.transport) for one in interfaces(card)[1:]}
    main = (text_at(card, "url") or "", text_at(card, "preferredTransport") or TRANSPORTS[0])
    if list_at(card, "additionalInterfaces") and main not in also:
        text = "should list the main url with its transport too, for clients that read only this"
        yield Finding(Severity.HINT, sections.interfaces, "$.additionalInterfaces", text)


def _check_security(card: Json, sections: CardSections) -> Iterator[Finding]:
    known = object_at(card, "securitySchemes")
    required = list(_required(card))
    for path, name in required:
        if name not in known:
            text = f"requires {name[:40]!r}, which `securitySchemes` does not describe"
            yield Finding(Severity.ERROR, sections.security, path, text)
    if known and not required:
        text = "described, but no `security` requires any of them: callers may come without"
        yield Finding(Severity.HINT, sections.security, "$.securitySchemes", text)


def _required(card: Json) -> Iterator[tuple[str, str]]:
    """Where the card and its skills name a scheme; 0.3, then 1.0."""
    skills = ((f"$.skills[{n}]", skill) for n, skill in enumerate(list_at(card, "skills")))
    for path, owner in (("$", card), *skills):
        for index, requirement in enumerate(list_at(owner, "security")):
            yield from ((f"{path}.security[{index}]", name) for name in object_at(requirement))
        for index, requirement in enumerate(list_at(owner, "securityRequirements")):
            names = object_at(requirement, "schemes")
            yield from ((f"{path}.securityRequirements[{index}]", name) for name in names)


def _check_skills(card: Json, sections: CardSections) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for index, skill in enumerate(list_at(card, "skills")):
        id_ = text_at(skill, "id")
        if id_ is not None and (first := seen.setdefault(id_, index)) != index:
            text = f"{id_[:40]!r} is the id of $.skills[{first}] too; ids tell skills apart"
            yield Finding(Severity.ERROR, sections.skills, f"$.skills[{index}].id", text)


def _check_modes(card: Json, sections: CardSections) -> Iterator[Finding]:
    skills = ((f"$.skills[{n}]", skill) for n, skill in enumerate(list_at(card, "skills")))
    for path, owner, names in (
        ("$", card, ("defaultInputModes", "defaultOutputModes")),
        *((path, skill, ("inputModes", "outputModes")) for path, skill in skills),
    ):
        for name in names:
            for index, mode in enumerate(list_at(owner, name)):
                if isinstance(mode, str) and not _MEDIA_TYPE.fullmatch(mode):
                    text = f"expected a media type such as text/plain, found {mode[:40]!r}"
                    yield _warning(sections.card, f"{path}.{name}[{index}]", text)


def _check_rasa(card: Json, sections: CardSections) -> Iterator[Finding]:
    if at(card, "skills") == []:
        text = "no skills: Rasa serves such a placeholder until its model has loaded"
        yield Finding(Severity.HINT, sections.card, "$.skills", text)


def _warning(section: str, path: str, text: str) -> Finding:
    return Finding(Severity.WARNING, section, path, text)


RULES: tuple[Callable[[Json, CardSections], Iterator[Finding]], ...] = (
    _check_version,
    _check_texts,
    _check_transports,
    _check_security,
    _check_skills,
    _check_modes,
    _check_rasa,
)


@dataclass(frozen=True, slots=True)
class Scheme:
    """A secret travels in the header `header` as `template`, in which it replaces `{key}`."""

    header: str = "Authorization"
    template: str = "Bearer {key}"
    label: str = "bearer token"


BEARER = Scheme()
KEY = "{key}"


def wants_credentials(card: Json) -> bool:
    """Say whether `card` requires credentials; an empty requirement makes them optional."""
    required = _requirements(card)
    return bool(required) and {} not in required


def wanted_scheme(card: Json) -> Scheme | None:
    """Return the first scheme required that one secret can meet; None where there is none."""
    schemes = object_at(card, "securitySchemes")
    for requirement in _requirements(card):
        # several schemes in one requirement are all needed: one secret would not do
        if len(requirement) == 1:
            scheme = _read_scheme(schemes.get(next(iter(requirement))))
            if scheme is not None:
                return scheme
    return None


def _requirements(card: Json) -> list[dict[str, Json]]:
    """The alternatives: of 0.3 as they are, of 1.0 what their `schemes` hold."""
    found = [one for one in list_at(card, "security") if isinstance(one, dict)]
    found += [object_at(one, "schemes") for one in list_at(card, "securityRequirements")]
    return found


def _read_scheme(scheme: Json) -> Scheme | None:
    """A scheme of 0.3 has a `type`; one of 1.0 is the only field of the object around it."""
    if text_at(scheme, "type") is None and isinstance(scheme, dict) and len(scheme) == 1:
        kind, scheme = next(iter(scheme.items()))
        kind = {"httpAuthSecurityScheme": "http"}.get(kind, kind.removesuffix("SecurityScheme"))
    else:
        kind = text_at(scheme, "type") or ""
    match kind:
        case "http" if (text_at(scheme, "scheme") or "").lower() == "bearer":
            return BEARER
        case "oauth2" | "openIdConnect":
            return BEARER
        case "apiKey":
            return _api_key(text_at(scheme, "name"), at(scheme, "in") or at(scheme, "location"))
        case _:
            return None


def _api_key(name: str | None, place: Json) -> Scheme | None:
    if name and place == "header":
        return Scheme(name, KEY, "api key")
    if name and place == "cookie":
        return Scheme("Cookie", f"{name}={KEY}", "api key")
    return None
