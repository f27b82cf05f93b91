"""Every main screen, drawn from a recorded log at both sizes; look at each that changes."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.core.entries import Entry, Failed, FailureKind
from inspector.core.recording import decode_entries
from inspector.tui.app import InspectorApp
from inspector.tui.workspace import Workspace

LOG = Path(__file__).parent / "logs" / "transfer.jsonl"
SCREENSHOTS = Path(__file__).resolve().parents[3] / "screenshots"
STARTED = datetime(2026, 11, 20, 10, 2, 10)
NARROW, WIDE = (80, 24), (160, 48)


@dataclass(frozen=True, slots=True)
class Scene:
    """The first `length` entries of the log, then `keys`; `breaks` ends it in a lost connection."""

    name: str
    length: int | None = None
    keys: Sequence[str] = ()
    breaks: bool = False


SCENES = (
    Scene("idle", 4),
    Scene("conversation"),
    Scene("timeline", keys=("escape", "2")),
    Scene("data", keys=("escape", "3")),
    Scene("slots", 8, keys=("ctrl+s", *"amount", "tab", *"80", "enter", *"vip", "tab", *"true")),
    Scene("streaming", 15, keys=("escape", "2")),
    Scene("wire", keys=("f2",)),
    Scene("wire-zoomed", keys=("f2", "f4", "p")),
    Scene("card", keys=("f3",)),
    Scene("help", keys=("f1",)),
    Scene("palette", keys=("ctrl+p", *"wire")),
    Scene("error", 15, breaks=True),
)


def entries_of(scene: Scene) -> list[Entry]:
    with LOG.open(encoding="utf-8") as lines:
        entries = list(decode_entries(lines))[: scene.length]
    if scene.breaks:
        last = entries[-1]
        text = "peer closed connection without sending complete message body"
        entries.append(
            Failed(last.seq + 1, last.at_ms + 40, last.exchange, FailureKind.DISCONNECTED, text)
        )
    return entries


def play(scene: Scene) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what brings the app to `scene`."""

    async def run(pilot: Pilot[int]) -> None:
        entries = entries_of(scene)
        workspace = Workspace(
            "localhost:5005", None, started=STARTED, now_ms=lambda: entries[-1].at_ms + 300
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


@pytest.mark.req("TUI-1", "TUI-2")
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "160x48"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_screen(snap_compare: Callable[..., bool], scene: Scene, size: tuple[int, int]) -> None:
    assert snap_compare(InspectorApp(), terminal_size=size, run_before=play(scene))


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "160x48"])
def test_start(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    assert snap_compare(InspectorApp(), terminal_size=size)


def test_light_theme(snap_compare: Callable[..., bool]) -> None:
    async def lighten(pilot: Pilot[int]) -> None:
        await play(Scene("light"))(pilot)
        pilot.app.theme = "calm-light"
        await pilot.pause()

    assert snap_compare(InspectorApp(), terminal_size=WIDE, run_before=lighten)


@pytest.mark.req("TUI-1")
def test_without_colour_signs_and_bars_still_tell(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    scene = Scene("no-colour", keys=("escape", "2", "up"))
    assert snap_compare(InspectorApp(), terminal_size=WIDE, run_before=play(scene))


@pytest.mark.parametrize("path", sorted(SCREENSHOTS.glob("*.svg")), ids=lambda path: path.stem)
def test_screenshot_is_the_screen_as_it_is_drawn(path: Path) -> None:
    """Else run scripts/screenshots."""
    snapshot = LOG.parents[1] / "__snapshots__" / "test_screens"
    drawn = (snapshot / f"test_screen[{path.stem}-160x48].svg").read_text(encoding="utf-8")
    expected = re.sub(r" *@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)
    expected = expected.replace("<text ", '<text xml:space="preserve" ')
    assert "".join(path.read_text(encoding="utf-8").split()) == "".join(expected.split())


def test_there_are_screenshots() -> None:
    assert {path.stem for path in SCREENSHOTS.glob("*.svg")} >= {"conversation", "wire", "card"}
