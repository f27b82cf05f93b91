"""What no schema says of a card."""

import re
from pathlib import Path
from typing import Any

import pytest

from inspector.wire.card_rules import check_card
from inspector.wire.card_v1_0 import DEFINITIONS, SCHEMA
from inspector.wire.findings import Severity

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
    for name, fields in DEFINITIONS.items():
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
    assert set(SCHEMA.sections) <= set(DEFINITIONS)
