"""What no schema says of a card: whether its parts fit each other (inspector.md CARDV-1, CARDV-2).

Each rule is a function from a card to findings; `RULES` lists those that hold for every card.
"""

import re
from collections.abc import Callable, Iterator

from inspector.wire.card import interfaces
from inspector.wire.card_v1_0 import SCHEMA as SCHEMA_1_0
from inspector.wire.findings import Finding, Severity
from inspector.wire.tree import Json, at, list_at, object_at, text_at
from inspector.wire.v0_3 import SCHEMA as SCHEMA_0_3

TRANSPORTS = ("JSONRPC", "GRPC", "HTTP+JSON")
_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+*-]+(\s*;.*)?|\*/\*")


def is_newer(card: Json) -> bool:
    """The card has the shape of A2A 1.0 alone; one of both generations is read as 0.3."""
    return isinstance(card, dict) and "supportedInterfaces" in card and "url" not in card


def check_card(card: Json) -> tuple[Finding, ...]:
    """Every place where `card` breaks the schema of its version or its own promises."""
    found = (SCHEMA_1_0 if is_newer(card) else SCHEMA_0_3).check(card, "AgentCard")
    return found + tuple(finding for rule in RULES for finding in rule(card))


def _check_version(card: Json) -> Iterator[Finding]:
    version = text_at(card, "protocolVersion")
    if version is None:
        return
    if not _VERSION.fullmatch(version):
        text = f"expected a version such as 0.3.0, found {version[:40]!r}"
        yield _warning("5.5", "$.protocolVersion", text)
    elif version.startswith("1") and not is_newer(card):
        text = f"says {version}, but the card has the fields of 0.3 (1.0 has supportedInterfaces)"
        yield _warning("5.5", "$.protocolVersion", text)


def _check_texts(card: Json) -> Iterator[Finding]:
    for name in ("name", "description", "version"):
        if text_at(card, name) == "":
            yield _warning("5.5", f"$.{name}", "is empty; people and agents choose by it")


def _check_transports(card: Json) -> Iterator[Finding]:
    for offer in interfaces(card):
        if offer.transport not in TRANSPORTS:
            path = "$.preferredTransport" if offer.path == "$.url" else offer.path
            text = f"{offer.transport[:40]!r} is none of {', '.join(TRANSPORTS)}"
            yield _warning("5.5.5", path, text)
    also = {(one.url, one.transport) for one in interfaces(card)[1:]}
    main = (text_at(card, "url") or "", text_at(card, "preferredTransport") or TRANSPORTS[0])
    if list_at(card, "additionalInterfaces") and main not in also:
        text = "should list the main url with its transport too, for clients that read only this"
        yield Finding(Severity.HINT, "A2A 0.3 §5.6.2", "$.additionalInterfaces", text)


def _check_security(card: Json) -> Iterator[Finding]:
    known = object_at(card, "securitySchemes")
    required = list(_required(card))
    for path, name in required:
        if name not in known:
            text = f"requires {name[:40]!r}, which `securitySchemes` does not describe"
            yield Finding(Severity.ERROR, "A2A 0.3 §5.5.3", path, text)
    if known and not required:
        text = "described, but no `security` requires any of them: callers may come without"
        yield Finding(Severity.HINT, "A2A 0.3 §5.5.3", "$.securitySchemes", text)


def _required(card: Json) -> Iterator[tuple[str, str]]:
    """Where the card and its skills name a scheme; 0.3, then 1.0."""
    skills = ((f"$.skills[{n}]", skill) for n, skill in enumerate(list_at(card, "skills")))
    for path, owner in (("$", card), *skills):
        for index, requirement in enumerate(list_at(owner, "security")):
            yield from ((f"{path}.security[{index}]", name) for name in object_at(requirement))
        for index, requirement in enumerate(list_at(owner, "securityRequirements")):
            names = object_at(requirement, "schemes")
            yield from ((f"{path}.securityRequirements[{index}]", name) for name in names)


def _check_skills(card: Json) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for index, skill in enumerate(list_at(card, "skills")):
        id_ = text_at(skill, "id")
        if id_ is not None and (first := seen.setdefault(id_, index)) != index:
            text = f"{id_[:40]!r} is the id of $.skills[{first}] too; ids tell skills apart"
            yield Finding(Severity.ERROR, "A2A 0.3 §5.5.4", f"$.skills[{index}].id", text)


def _check_modes(card: Json) -> Iterator[Finding]:
    skills = ((f"$.skills[{n}]", skill) for n, skill in enumerate(list_at(card, "skills")))
    for path, owner, names in (
        ("$", card, ("defaultInputModes", "defaultOutputModes")),
        *((path, skill, ("inputModes", "outputModes")) for path, skill in skills),
    ):
        for name in names:
            for index, mode in enumerate(list_at(owner, name)):
                if isinstance(mode, str) and not _MEDIA_TYPE.fullmatch(mode):
                    text = f"expected a media type such as text/plain, found {mode[:40]!r}"
                    yield _warning("5.5", f"{path}.{name}[{index}]", text)


def _check_rasa(card: Json) -> Iterator[Finding]:
    if at(card, "skills") == []:
        text = "no skills: Rasa serves such a placeholder until its model has loaded"
        yield Finding(Severity.HINT, "A2A 0.3 §5.5", "$.skills", text)


def _warning(section: str, path: str, text: str) -> Finding:
    return Finding(Severity.WARNING, f"A2A 0.3 §{section}", path, text)


RULES: tuple[Callable[[Json], Iterator[Finding]], ...] = (
    _check_version,
    _check_texts,
    _check_transports,
    _check_security,
    _check_skills,
    _check_modes,
    _check_rasa,
)
