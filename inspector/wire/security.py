"""Which credentials a card asks for, and how they travel (A2A 0.3 §5.5.3, A2A 1.0 §4.5)."""

from dataclasses import dataclass

from inspector.wire.tree import Json, at, list_at, object_at, text_at


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
