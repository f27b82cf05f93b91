"""What the app remembers of how it looked, in a small file that only its user can read."""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.tui.layout import Layout, parse_layout

if TYPE_CHECKING:
    from inspector.wire.json_values import Json

FILE = "layout.json"


@dataclass(frozen=True, slots=True)
class Look:
    """`theme` is "" until the user has chosen one by a key."""

    theme: str = ""
    layout: Layout = field(default_factory=Layout)


def read_look(folder: Path) -> Look:
    """Return what was remembered; a file that cannot be read is as if there was none."""
    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return Look()
    # only who has a file waits for what reads it
    import json

    try:
        written: Json = json.loads(text)
    except ValueError:
        return Look()
    if not isinstance(written, dict):
        return Look()
    theme = written.get("theme")
    return Look(theme if isinstance(theme, str) else "", parse_layout(written.get("layout")))


def write_look(folder: Path, look: Look) -> str:
    """Remember `look`; returns why that was not possible, or ""."""
    import json

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = folder / f"{FILE}.{os.getpid()}"
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"theme": look.theme, "layout": asdict(look.layout)}, file)
        written.replace(folder / FILE)
    except OSError as error:
        return f"the layout is not remembered: {error}"
    return ""
