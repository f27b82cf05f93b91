"""The card last seen from a target is kept for nobody else to read."""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from inspector.core.saved import cards
from inspector.core.saved.cards import card_path, load_card, save_card
from inspector.core.target import parse_target

TARGET = parse_target("http://me:s3cret@bank.test:5005")
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
CARD: dict[str, Any] = {"name": "Bänk", "skills": []}


@pytest.mark.req("CARDV-1")
def test_a_card_is_kept_and_found_again(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "cards"
    assert load_card(folder, TARGET) is None
    assert save_card(folder, TARGET, CARD, NOW) == ""
    seen = load_card(folder, TARGET)
    assert seen is not None
    assert (seen.card, seen.seen_at) == (CARD, NOW)
    assert load_card(folder, parse_target("http://bank.test:5006")) is None
    save_card(folder, TARGET, {"name": "New"}, NOW + timedelta(days=1))
    again = load_card(folder, TARGET)
    assert again is not None
    assert again.card == {"name": "New"}
    assert len(list(folder.iterdir())) == 1


@pytest.mark.req("CARDV-1", "CONN-3")
def test_its_file_is_the_users_own_and_has_no_secret(tmp_path: Path) -> None:
    folder = tmp_path / "cards"
    save_card(folder, TARGET, CARD, NOW)
    path = card_path(folder, TARGET)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "s3cret" not in path.read_text(encoding="utf-8") + str(path)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"card": {}}', '{"card": 5, "seen_at": "2026-11-21T04:00:00+00:00"}'],
)
def test_a_file_that_cannot_be_read_is_no_card(tmp_path: Path, content: str) -> None:
    card_path(tmp_path, TARGET).write_text(content)
    assert load_card(tmp_path, TARGET) is None


def test_what_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Not a directory" in save_card(tmp_path / "file" / "cards", TARGET, CARD, NOW)
    huge: dict[str, Any] = {"name": "x" * cards.MOST_BYTES}
    assert "is not kept" in save_card(tmp_path, TARGET, huge, NOW)
    assert load_card(tmp_path, TARGET) is None


def test_a_card_file_is_a_target_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.touch()
    target = parse_target(str(path))
    save_card(tmp_path / "cards", target, CARD, NOW)
    seen = load_card(tmp_path / "cards", target)
    assert seen is not None


def test_the_cards_seen_long_ago_make_room(tmp_path: Path) -> None:
    for number in range(cards.MOST_CARDS):
        path = tmp_path / f"{number:03}.json"
        path.touch()
        os.utime(path, (number, number))
    save_card(tmp_path, TARGET, CARD, NOW)
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == cards.MOST_CARDS
    assert "000.json" not in names
    assert load_card(tmp_path, TARGET) is not None
