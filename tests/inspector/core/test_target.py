"""What a user may type as a target."""

from pathlib import Path

import pytest

from inspector.core.target import parse_target
from inspector.errors import UsageError

NEW, OLD = "/.well-known/agent-card.json", "/.well-known/agent.json"


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://a", ("http://a" + NEW, "http://a" + OLD)),
        ("http://a/", ("http://a" + NEW, "http://a" + OLD)),
        ("localhost:5005", ("http://localhost:5005" + NEW, "http://localhost:5005" + OLD)),
        ("[::1]:5005/", ("http://[::1]:5005" + NEW, "http://[::1]:5005" + OLD)),
        (
            "https://a/agents/x/?q#f",
            tuple(f"https://a{base}{place}" for base in ("/agents/x", "") for place in (NEW, OLD)),
        ),
        ("http://a/my-card.json", ("http://a/my-card.json",)),
        ("http://a/x/.well-known/other", ("http://a/x/.well-known/other",)),
    ],
)
@pytest.mark.req("CONN-1")
def test_urls(text: str, urls: tuple[str, ...]) -> None:
    assert parse_target(text).card_urls == urls


@pytest.mark.req("CONN-1")
def test_a_file_is_a_card(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_text("{}")
    assert parse_target(str(file)).card_file == file


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nowhere",
        "ftp://a",
        "http://",
        "http://a:99999",
        "a b:1",
        pytest.param("a" * 300, id="too long for a file"),
        pytest.param("a/" * 3000, id="too long for a path"),
        "~no-such-user/card.json",
        "a\0b",
    ],
)
@pytest.mark.req("CONN-1")
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_target(text)


def test_an_empty_target_is_not_the_current_folder() -> None:
    with pytest.raises(UsageError, match="the target is empty"):
        parse_target("")
