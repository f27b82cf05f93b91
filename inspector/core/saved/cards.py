"""The card last seen from each target, in a private file each (CARDV-1)."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from inspector.core.redaction import Redactor
from inspector.core.saved.session_store import replace_file
from inspector.core.target import Target
from inspector.wire.json_values import Json, at, parse_json, text_at

MOST_CARDS = 200
MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SeenCard:
    card: dict[str, Json]
    seen_at: datetime


def load_card(folder: Path, target: Target) -> SeenCard | None:
    """Return the card last seen from `target`; None where none was, or its file is unreadable."""
    try:
        raw = card_path(folder, target).read_bytes()
    except OSError:
        return None
    kept = parse_json(raw).value
    card = at(kept, "card")
    try:
        seen_at = datetime.fromisoformat(text_at(kept, "seen_at") or "")
    except ValueError:
        return None
    return SeenCard(card, seen_at) if isinstance(card, dict) and seen_at.tzinfo else None


def save_card(folder: Path, target: Target, card: dict[str, Json], now: datetime) -> str:
    """Keep `card` as the last one seen from `target`; return why it cannot be kept, or nothing.

    What the log holds is masked already, so the file holds no secret either.
    """
    kept = {"target": _name(target), "seen_at": now.isoformat(), "card": card}
    raw = json.dumps(kept).encode()
    if len(raw) > MOST_BYTES:
        return f"a card of {len(raw)} bytes is not kept for comparison"
    path = card_path(folder, target)
    try:
        replace_file(path, raw)
        _prune(folder)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


def card_path(folder: Path, target: Target) -> Path:
    return folder / f"{hashlib.sha256(_name(target).encode()).hexdigest()[:32]}.json"


def _name(target: Target) -> str:
    if target.card_file is not None:
        return str(target.card_file.absolute())
    return Redactor().url(target.card_urls[0])


def _prune(folder: Path) -> None:
    """Keep the cards seen last; a demo on a free port is a target of its own each time."""
    paths = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[MOST_CARDS:]:
        path.unlink(missing_ok=True)
