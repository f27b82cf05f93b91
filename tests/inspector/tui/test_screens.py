"""Every screen, drawn from a recorded log; layouts at three sizes, colours in three themes."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import pytest
from record_session import decode_entries
from textual.pilot import Pilot

from inspector.core.entries import Entry, Failed
from inspector.net.events import FailureKind
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import DrawnAsBefore

LOGS = Path(__file__).parent / "logs"
SNAPSHOTS = Path(__file__).parent / "__snapshots__" / "test_screens"
SCREENSHOTS = Path(__file__).resolve().parents[3] / "screenshots"
STARTED = datetime(2026, 11, 20, 10, 2, 10)
NARROW = (80, 24)
SHOWN = (120, 36)
WIDE = (200, 60)
Arrange: TypeAlias = Callable[[Pilot[int]], Awaitable[None]]
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Scene:
    """The first `length` entries of `log`, then `keys`; `breaks` ends it in a lost connection."""

    name: str
    length: int | None = None
    keys: Sequence[str] = ()
    breaks: bool = False
    log: str = "transfer"

    def __str__(self) -> str:
        return self.name


SLOTS_LINE = 'SLOTS: {"amount": 1}'
SLOT = (*"amount", "tab", *"80")
WITH_LINE = (*["tab"] * 5, "enter")

SCENES = (
    Scene("idle", 4),
    Scene("conversation"),
    Scene("timeline", keys=("escape", "2")),
    Scene("data", keys=("escape", "3")),
    Scene("slots", 8, keys=("ctrl+s", *"amount", "tab", *"80", "enter", *"vip", "tab", *"true")),
    Scene("precedence", keys=(*"pay", "ctrl+j", *SLOTS_LINE, "ctrl+s", *SLOT, *WITH_LINE)),
    Scene(
        "parts", keys=("ctrl+f", *'{"kind": "data", "data": {"a": 1}}', "enter", *"/no", "enter")
    ),
    Scene("headers", keys=("escape", "H", *"X-Key", "tab", *"${KEY}", "enter", *"A2A-Version")),
    Scene("options", keys=("ctrl+o", "tab", "tab", *"c-7", "ctrl+t")),
    Scene("raw", keys=(*"hi", "f6")),
    Scene("raw-broken", keys=(*"hi", "f6", "x")),
    Scene("snippets", keys=("ctrl+s", *SLOT, "escape", *"pay", "f12", *"eighty")),
    Scene("streaming", 15, keys=("escape", "2")),
    Scene("wire", keys=("f2",)),
    Scene("wire-zoomed", keys=("f2", "f4", "p")),
    Scene("card", keys=("f3",)),
    Scene("help", keys=("f1",)),
    Scene("palette", keys=("ctrl+p", *"wire")),
    Scene("error", 15, breaks=True),
    Scene("found", 15, keys=("escape", "]"), breaks=True),
    Scene("filtered", keys=("escape", "2", "/", *"state:completed")),
    Scene("filter-kept", keys=("escape", "w", "/", *"method:card", "enter")),
    Scene("filter-unread", keys=("escape", "2", "/", *"stat:x")),
    Scene("data-filtered", keys=("escape", "3", "/", *"joe")),
    Scene("resized", keys=("escape", "3", ">", ">", "1", "h")),
    Scene("live", 66, keys=("escape", "L"), log="mock"),
    Scene("save-broken", keys=("escape", "L"), log="mock"),
    Scene("faults", keys=("escape", "f"), log="mock"),
    Scene("fault-line", keys=("escape", "f", "down", "down", "e"), log="mock"),
    Scene("faults-without-a-mock", keys=("escape", "f")),
    Scene("rules", 66, keys=("escape", "u", "3"), log="mock"),
    Scene("faults-in-the-timeline", 66, keys=("escape", "2"), log="mock"),
    Scene("push", keys=("escape", "P"), log="mock"),
    Scene("push-silent", keys=("escape", "P")),
    Scene("saving", keys=("escape", "w", "W")),
)


# Drawn at other sizes or in other themes too: what is laid out or coloured otherwise there.
SIZES = {
    NARROW: (
        "conversation",
        "timeline",
        "data",
        "slots",
        "options",
        "wire",
        "wire-zoomed",
        "help",
        "filtered",
        "resized",
        "live",
        "saving",
    ),
    WIDE: ("conversation", "slots", "wire", "help", "resized", "live"),
}
THEMES = {
    "calm-light": ("conversation", "filtered", "error"),
    "plain": ("conversation", "error", "live"),
}


def entries_of(scene: Scene) -> list[Entry]:
    with (LOGS / f"{scene.log}.jsonl").open(encoding="utf-8") as lines:
        entries = list(decode_entries(lines))[: scene.length]
    if scene.breaks:
        last = entries[-1]
        text = "peer closed connection without sending complete message body"
        entries.append(
            Failed(last.seq + 1, last.at_ms + 40, last.exchange, FailureKind.DISCONNECTED, text)
        )
    return entries


def play(scene: Scene) -> Arrange:
    """Return what brings the app to `scene`."""

    async def run(pilot: Pilot[int]) -> None:
        entries = entries_of(scene)
        workspace = Workspace(
            "localhost:5005",
            None,
            started=STARTED,
            now_ms=lambda: entries[-1].at_ms + 300,
            new_id=lambda: "7d1f6f0a-5f5e-4b3c-9a43-0c3f6a1d2e4b",
        )
        await pilot.app.push_screen(workspace)
        await pilot.pause()
        for entry in entries:
            workspace.take(entry)
        workspace.draw_now()
        await pilot.pause()
        for key in scene.keys:
            await pilot.press(key)
        await pilot.pause()
        await pilot.wait_for_animation()

    return run


def label(value: object) -> str:
    match value:
        case (int(width), int(height)):
            return f"{width}x{height}"
        case _:
            return str(value)


def named(names: Mapping[Key, Sequence[str]]) -> Iterator[tuple[Key, Scene]]:
    scenes = {scene.name: scene for scene in SCENES}
    for key, chosen in names.items():
        for name in chosen:
            yield key, scenes[name]


@pytest.mark.req("TUI-1", "TUI-2")
@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_screen(drawn_as_before: "DrawnAsBefore", scene: Scene) -> None:
    drawn_as_before(play(scene))


@pytest.mark.req("TUI-1")
@pytest.mark.parametrize(("size", "scene"), named(SIZES), ids=label)
def test_size(drawn_as_before: "DrawnAsBefore", size: tuple[int, int], scene: Scene) -> None:
    drawn_as_before(play(scene), size=size)


@pytest.mark.req("TUI-1")
@pytest.mark.parametrize(("theme", "scene"), named(THEMES), ids=str)
def test_theme(drawn_as_before: "DrawnAsBefore", theme: str, scene: Scene) -> None:
    drawn_as_before(play(scene), theme=theme)


@pytest.mark.req("TUI-1", "TUI-2")
@pytest.mark.parametrize("size", [SHOWN, NARROW, WIDE], ids=label)
def test_start(drawn_as_before: "DrawnAsBefore", size: tuple[int, int]) -> None:
    async def wait(pilot: Pilot[int]) -> None:
        await pilot.pause()

    drawn_as_before(wait, size=size)


@pytest.mark.parametrize("shown", sorted(SCREENSHOTS.glob("*.svg")), ids=lambda path: path.stem)
def test_screenshot_shows_what_is_drawn(shown: Path) -> None:
    """Else run scripts/screenshots."""
    snapshot = SNAPSHOTS / f"test_screen[{shown.stem}].svg"
    drawn = snapshot.read_text(encoding="utf-8")
    expected = re.sub(r" *@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)
    expected = expected.replace("<text ", '<text xml:space="preserve" ')
    is_same = shown.read_text(encoding="utf-8").split() == expected.split()
    assert is_same, f"{shown.name} is stale"


def test_there_are_screenshots() -> None:
    assert {path.stem for path in SCREENSHOTS.glob("*.svg")} >= {"conversation", "wire", "card"}
