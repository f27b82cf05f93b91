"""Where a card leads, and whether credentials may follow."""

import re
from pathlib import Path
from typing import Any

import pytest

from inspector.wire.card import (
    BEARER,
    Scheme,
    check_card,
    check_placement,
    wanted_scheme,
    wants_credentials,
)
from inspector.wire.endpoints import choose_endpoint, interfaces
from inspector.wire.findings import Severity
from inspector.wire.v1_0 import SCHEMA

SOURCE = "http://agent.test:5005/.well-known/agent-card.json"


@pytest.mark.parametrize(
    ("card", "url"),
    [
        ({"url": "http://agent.test:5005/"}, "http://agent.test:5005/"),
        (
            {
                "url": "http://agent.test:5005/rest",
                "preferredTransport": "HTTP+JSON",
                "additionalInterfaces": [
                    {"transport": "GRPC", "url": "agent.test:1"},
                    {"transport": "JSONRPC"},
                    {"transport": "JSONRPC", "url": "http://agent.test:5005/rpc"},
                ],
            },
            "http://agent.test:5005/rpc",
        ),
        (
            {
                "supportedInterfaces": [
                    {
                        "url": "http://agent.test:5005/1",
                        "protocolBinding": "JSONRPC",
                        "protocolVersion": "1.0",
                    },
                    {
                        "url": "http://agent.test:5005/0",
                        "protocolBinding": "JSONRPC",
                        "protocolVersion": "0.3",
                    },
                ]
            },
            "http://agent.test:5005/0",
        ),
    ],
)
@pytest.mark.req("CONN-2")
def test_the_first_json_rpc_interface_for_0_3_is_called(card: Any, url: str) -> None:
    endpoint = choose_endpoint(card, SOURCE)
    assert endpoint is not None
    assert endpoint.url == url
    assert endpoint.is_trusted
    assert endpoint.findings == ()


@pytest.mark.parametrize(
    "card",
    [
        None,
        [],
        {},
        {"url": 5},
        {"url": "ftp://x"},
        {"url": "http://"},
        {"url": "http://h:99999/"},
        {"url": "http://h:x/"},
        {"url": "http://[::1"},
        {"url": "http://h/", "preferredTransport": "GRPC"},
    ],
)
def test_a_card_may_lead_nowhere(card: Any) -> None:
    assert choose_endpoint(card, SOURCE) is None


@pytest.mark.parametrize(
    ("url", "source", "is_trusted"),
    [
        ("http://agent.test/", "http://agent.test:80/card.json", True),
        ("http://localhost:5005/", "http://127.0.0.1:5005/card.json", True),
        ("http://other.test:5005/", SOURCE, False),
        ("http://agent.test:5006/", SOURCE, False),
        ("https://agent.test:5005/", SOURCE, False),
        ("http://other.test/", "file:///card.json", True),
    ],
)
@pytest.mark.req("TUI-6")
def test_credentials_stay_with_the_origin_of_the_card(
    url: str, source: str, is_trusted: bool
) -> None:
    endpoint = choose_endpoint({"url": url}, source)
    assert endpoint is not None
    assert endpoint.is_trusted == is_trusted
    assert ("credentials" in "".join(one.message for one in endpoint.findings)) != is_trusted


@pytest.mark.parametrize(
    ("url", "source", "called"),
    [
        ("http://0.0.0.0:5005/a", "http://agent.test:80/", "http://agent.test:5005/a"),
        ("http://0.0.0.0/", "http://[::1]:80/", "http://[::1]/"),
        ("http://0.0.0.0:1/", "file:///card.json", "http://localhost:1/"),
    ],
)
@pytest.mark.req("CARDV-2")
def test_an_address_to_listen_on_is_replaced(url: str, source: str, called: str) -> None:
    endpoint = choose_endpoint({"url": url}, source)
    assert endpoint is not None
    assert endpoint.url == called
    assert "no client can reach" in endpoint.findings[0].message


def test_a_card_for_1_0_only_is_called_with_a_warning() -> None:
    card: Any = {
        "supportedInterfaces": [
            {
                "url": "http://agent.test:5005/",
                "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            }
        ]
    }
    endpoint = choose_endpoint(card, SOURCE)
    assert endpoint is not None
    assert "1.0 only" in endpoint.findings[0].message


@pytest.mark.parametrize(
    ("url", "source", "message"),
    [
        ("http://agent.test:443/", SOURCE, "http on port 443"),
        ("https://agent.test:80/", SOURCE, "https on port 80"),
        ("http://me:secret@agent.test/", SOURCE, "it holds a password"),
        ("http://localhost:5005/", SOURCE, "it leads each caller to itself"),
        ("http://127.0.0.1:5005/", "http://localhost:5005/card.json", None),
        ("http://localhost:5005/", "file:///card.json", None),
    ],
)
@pytest.mark.req("CARDV-2")
def test_a_place_that_cannot_be_right(url: str, source: str, message: str | None) -> None:
    found = [finding.message for finding in check_placement({"url": url}, source)]
    assert len(found) == (0 if message is None else 1)
    assert message is None or found[0].startswith(message)


def test_placement() -> None:
    card: Any = {
        "url": "http://agent.test/",
        "additionalInterfaces": [
            {"transport": "JSONRPC", "url": "localhost:1"},
            {"transport": "GRPC", "url": "agent:1"},
        ],
    }
    found = check_placement(card, "https://agent.test/.well-known/agent.json")
    assert [one.path for one in found] == ["$", "$.url", "$.additionalInterfaces[0].url"]
    assert len(interfaces(card)) == 3


CARD: dict[str, Any] = {
    "name": "Bank",
    "version": "1",
    "description": "A bank",
    "url": "http://bank.test/",
    "protocolVersion": "0.3.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["application/json", "text/*", "*/*", "text/plain; charset=utf-8"],
    "skills": [{"id": "a", "name": "A", "description": "d", "tags": []}],
}
SKILL: dict[str, Any] = CARD["skills"][0]
NEWER: dict[str, Any] = {
    **{name: CARD[name] for name in CARD if name not in ("url", "protocolVersion")},
    "supportedInterfaces": [
        {"url": "http://bank.test/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ],
}


def test_a_good_card_has_no_findings() -> None:
    assert check_card(CARD) == ()
    assert check_card(NEWER) == ()


BREACHES: list[Any] = [
    ({"protocolVersion": "three"}, Severity.WARNING, "$.protocolVersion", "such as 0.3.0"),
    ({"protocolVersion": "1.0"}, Severity.WARNING, "$.protocolVersion", "fields of 0.3"),
    ({"name": ""}, Severity.WARNING, "$.name", "is empty"),
    ({"preferredTransport": "SOAP"}, Severity.WARNING, "$.preferredTransport", "'SOAP' is"),
    (
        {"additionalInterfaces": [{"transport": "JSONRPC", "url": "http://bank.test/b"}]},
        Severity.HINT,
        "$.additionalInterfaces",
        "should list the main url",
    ),
    (
        {
            "additionalInterfaces": [
                {"transport": "JSONRPC", "url": "http://bank.test/"},
                {"transport": "tcp", "url": "http://bank.test/"},
            ]
        },
        Severity.WARNING,
        "$.additionalInterfaces[1].url",
        "'tcp' is none of",
    ),
    ({"security": [{"jwt": []}]}, Severity.ERROR, "$.security[0]", "does not describe"),
    (
        {"skills": [{**SKILL, "security": [{"jwt": []}]}]},
        Severity.ERROR,
        "$.skills[0].security[0]",
        "does not describe",
    ),
    (
        {"securitySchemes": {"jwt": {"type": "http", "scheme": "bearer"}}},
        Severity.HINT,
        "$.securitySchemes",
        "callers may come without",
    ),
    ({"skills": [SKILL, SKILL]}, Severity.ERROR, "$.skills[1].id", "the id of $.skills[0]"),
    (
        {"defaultInputModes": ["text"]},
        Severity.WARNING,
        "$.defaultInputModes[0]",
        "a media type such as",
    ),
    (
        {"skills": [{**SKILL, "outputModes": ["text"]}]},
        Severity.WARNING,
        "$.skills[0].outputModes[0]",
        "a media type such as",
    ),
    ({"skills": []}, Severity.HINT, "$.skills", "placeholder until its model has loaded"),
]


@pytest.mark.parametrize(("change", "severity", "path", "message"), BREACHES)
@pytest.mark.req("CARDV-1", "CARDV-2")
def test_each_rule(change: Any, severity: Severity, path: str, message: str) -> None:
    (finding,) = check_card({**CARD, **change})
    assert (finding.severity, finding.path) == (severity, path)
    assert message in finding.message
    assert finding.section.startswith("A2A 0.3 §")


BREACHES_1_0: list[Any] = [
    ({"supportedInterfaces": [{"url": "http://a/"}]}, "$.supportedInterfaces[0]"),
    ({"capabilities": {"streaming": "yes"}}, "$.capabilities.streaming"),
    ({"securitySchemes": {"jwt": {}}}, "$.securitySchemes.jwt"),
    (
        {"securitySchemes": {"jwt": {"httpAuthSecurityScheme": {}}}},
        "$.securitySchemes.jwt.httpAuthSecurityScheme",
    ),
    (
        {"securityRequirements": [{"schemes": {"jwt": {"list": []}}}]},
        "$.securityRequirements[0]",
    ),
]


@pytest.mark.parametrize(("change", "path"), BREACHES_1_0)
@pytest.mark.req("CARDV-1")
def test_a_card_of_1_0_is_checked(change: Any, path: str) -> None:
    assert path in [finding.path for finding in check_card({**NEWER, **change})]


def test_no_card_at_all() -> None:
    (finding,) = check_card(5)
    assert finding.message == "expected object, found number"


@pytest.mark.shared
def test_every_definition_is_that_of_the_protocol(shared: Path) -> None:
    proto = (shared / "wire/schemas/a2a-v1.0.0.proto").read_text()
    for name, fields in SCHEMA.definitions.items():
        body = re.search(rf"^message {name} {{\n(.*?)^}}", proto, re.DOTALL | re.MULTILINE)
        if body is None:
            assert name.startswith("Of"), name
            continue
        told = re.findall(r"^  +[\w<>., ]+ (\w+) = \d+(.*);", body[1], re.MULTILINE)
        expected = {camel(field): "REQUIRED" in options for field, options in told}
        if name == "SecurityScheme":
            assert set(expected) == set(getattr(fields, "types"))  # noqa: B009
            continue
        assert isinstance(fields, dict)
        assert {key.removesuffix("?"): not key.endswith("?") for key in fields} == expected, name


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def test_every_type_has_its_section() -> None:
    assert set(SCHEMA.sections) <= set(SCHEMA.definitions)


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
