"""Where a card leads, and whether credentials may follow."""

from typing import Any

import pytest

from inspector.wire.card import check_placement, choose_endpoint, interfaces

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
