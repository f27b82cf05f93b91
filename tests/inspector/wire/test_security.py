"""Which credentials a card asks for, in the shapes of both versions."""

from typing import Any

import pytest

from inspector.wire.security import BEARER, Scheme, wanted_scheme, wants_credentials


def card(scheme: Any) -> dict[str, Any]:
    return {"securitySchemes": {"s": scheme}, "security": [{"s": []}]}


@pytest.mark.parametrize(
    ("scheme", "wanted"),
    [
        ({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, BEARER),
        ({"type": "http", "scheme": "Bearer"}, BEARER),
        ({"type": "oauth2", "flows": {}}, BEARER),
        ({"type": "openIdConnect", "openIdConnectUrl": "https://a"}, BEARER),
        ({"type": "apiKey", "in": "header", "name": "X-K"}, Scheme("X-K", "{key}", "api key")),
        ({"type": "apiKey", "in": "cookie", "name": "k"}, Scheme("Cookie", "k={key}", "api key")),
        ({"httpAuthSecurityScheme": {"scheme": "Bearer"}}, BEARER),
        (
            {"apiKeySecurityScheme": {"location": "header", "name": "X-K"}},
            Scheme("X-K", "{key}", "api key"),
        ),
        ({"type": "apiKey", "in": "query", "name": "k"}, None),
        ({"type": "apiKey", "in": "header"}, None),
        ({"type": "http", "scheme": "basic"}, None),
        ({"type": "mutualTLS"}, None),
        ({"mtlsSecurityScheme": {}}, None),
        ("bearer", None),
        ({}, None),
        (None, None),
    ],
)
@pytest.mark.req("CONN-3")
def test_wanted_scheme(scheme: Any, wanted: Scheme | None) -> None:
    assert wanted_scheme(card(scheme)) == wanted
    assert wants_credentials(card(scheme))


def test_the_first_requirement_that_one_secret_meets_is_wanted() -> None:
    schemes: Any = {"mtls": {"type": "mutualTLS"}, "jwt": {"type": "http", "scheme": "bearer"}}
    security: list[Any] = [{"mtls": [], "jwt": []}, {"mtls": []}, {"jwt": []}]
    assert wanted_scheme({"securitySchemes": schemes, "security": security}) == BEARER
    assert wanted_scheme({"securitySchemes": schemes, "security": security[:2]}) is None


def test_requirements_of_1_0() -> None:
    scheme = {"httpAuthSecurityScheme": {"scheme": "bearer"}}
    requirements: Any = [{"schemes": {"jwt": {"list": []}}}]
    card: Any = {"securitySchemes": {"jwt": scheme}, "securityRequirements": requirements}
    assert wanted_scheme(card) == BEARER
    assert wants_credentials(card)


@pytest.mark.parametrize("security", [[], None, "jwt", [{"jwt": []}, {}], [3]])
def test_nothing_is_required(security: Any) -> None:
    assert not wants_credentials({"security": security})
