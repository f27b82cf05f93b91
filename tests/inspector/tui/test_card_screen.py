"""The card's screen: what it marks, finds, fetches again and hands to the composer."""

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.core.saved.cards import SeenCard, load_card
from inspector.folders import cards_folder
from inspector.settings import Connection
from inspector.tui.app import InspectorApp
from inspector.tui.card_screen import CardScreen
from inspector.tui.composing.composer import Composer
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.drawing.json_lines import style_json
from inspector.tui.log_view import LogView
from inspector.tui.workspace import Workspace
from inspector.views.card import EMPTY, step
from inspector.views.log_views import Views
from inspector.views.reading import read_log

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Until


Drawn: TypeAlias = Callable[[Callable[[Pilot[int]], Awaitable[None]]], None]

STARTED = datetime(2026, 11, 20, 10, 2, 10)
SOURCE = "https://bank.test/.well-known/agent-card.json"
CARD: dict[str, Any] = {
    "name": "Bank",
    "description": "Moves money between accounts.",
    "url": "https://bank.test/",
    "version": "1.0.0",
    "protocolVersion": "0.3.0",
    "preferredTransport": "JSONRPC",
    "capabilities": {"streaming": True, "pushNotifications": False},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "securitySchemes": {"jwt": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
    "security": [{"jwt": []}],
    "skills": [
        {
            "id": "transfer_money",
            "name": "transfer money",
            "description": "Send money to somebody.",
            "tags": ["flow"],
            "examples": ["send 50 to Joe", "pay [my] rent"],
        },
        {"id": "check", "name": "check", "description": "Tell a balance.", "tags": ["flow"]},
        {
            "id": "pattern_chitchat",
            "name": "chitchat",
            "description": "Small talk.",
            "tags": ["conversation-repair"],
        },
    ],
    "signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "AA"}],
}


def changed() -> dict[str, Any]:
    """Another version: one skill is new, one gone, one described anew."""
    card = deepcopy(CARD)
    card["version"] = "1.1.0"
    card["capabilities"]["pushNotifications"] = True
    card["skills"][0]["description"] = "Send money to anybody."
    card["skills"][1] = {"id": "explain", "name": "explain", "description": "Fees.", "tags": []}
    return card


def view(*cards: dict[str, Any]) -> LogView:
    entries: list[Entry] = []
    for number, card in enumerate(cards, 1):
        at_ms, seq = number * 61_000.0, len(entries)
        raw = json.dumps(card).encode()
        entries += [
            RequestSent(seq + 1, at_ms, number, Purpose.CARD, "GET", SOURCE, (), b""),
            ResponseStarted(seq + 2, at_ms, number, 200, "HTTP/1.1", ()),
            FrameReceived(seq + 3, at_ms, number, Channel.RESPONSE, raw),
            ResponseEnded(seq + 4, at_ms, number),
        ]
    return LogView(Views(card=reduce(step, read_log(entries), EMPTY)))


def text(pilot: Pilot[int]) -> str:
    return "\n".join(block.plain for block in pilot.app.screen.query_one(BlockList).blocks)


def note(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#note", Static).render())


async def show(pilot: Pilot[int], *cards: dict[str, Any], **more: Any) -> CardScreen:
    screen = CardScreen(view(*cards), started=STARTED, **more)
    await pilot.app.push_screen(screen)
    await pilot.pause()
    return screen


SCENES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "plain": ([CARD], []),
    "changed": ([CARD, changed()], []),
    "raw": ([CARD], ["p"]),
    "search": ([CARD], ["p", "slash", *"money", "enter", "n"]),
}


@pytest.mark.req("CARDV-1", "TUI-1")
@pytest.mark.parametrize("scene", SCENES)
def test_card(drawn_as_before: Drawn, scene: str) -> None:
    cards, keys = SCENES[scene]

    async def arrange(pilot: Pilot[int]) -> None:
        await show(pilot, *cards)
        await pilot.press(*keys)
        await pilot.pause()

    drawn_as_before(arrange)


@pytest.mark.anyio
@pytest.mark.req("CARDV-1")
async def test_changes_since_the_time_before_are_marked() -> None:
    async with InspectorApp().run_test(size=(120, 60)) as pilot:
        last = SeenCard(CARD, datetime(2026, 11, 19, 8, 0, tzinfo=UTC).astimezone())
        screen = await show(pilot, changed(), last=lambda: last)
        assert f"Changed since {last.seen_at:%Y-%m-%d %H:%M} (5)" in text(pilot)
        assert '~ $.version  "1.0.0" → "1.1.0"' in text(pilot)
        assert "~ transfer money" in text(pilot)
        assert "+ explain" in text(pilot)
        assert "\N{MINUS SIGN} $.skills['check']" in text(pilot)
        screen.show_view(view(CARD, changed()))
        assert "Changed since 10:04:12 (5)" in text(pilot)


@pytest.mark.anyio
@pytest.mark.req("CARDV-1")
async def test_a_card_that_comes_again_leaves_the_reader_where_he_is() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, CARD)
        await pilot.press(*["down"] * 12)
        place = screen.query_one(BlockList).cursor
        screen.show_view(view(CARD, CARD))
        await pilot.pause()
        assert screen.query_one(BlockList).cursor == place == 12


@pytest.mark.anyio
@pytest.mark.req("CARDV-1")
async def test_search_goes_round() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, CARD)
        pane = screen.query_one(BlockList)
        await pilot.press("slash", *"MONEY")
        assert "1 of 3 lines with “MONEY”" in note(pilot)
        await pilot.press("enter")
        assert pane.has_focus
        places = [pane.cursor]
        for _ in range(3):
            await pilot.press("n")
            places.append(pane.cursor)
        assert places[0] == places[3]
        assert len(set(places)) == 3
        await pilot.press("N")
        assert pane.cursor == places[2]
        await pilot.press("slash", "escape")
        assert not note(pilot)
        assert pilot.app.screen is screen
        await pilot.press("n", "slash", *"nowhere", "enter", "escape")
        assert pilot.app.screen is not screen


@pytest.mark.anyio
@pytest.mark.req("CARDV-1")
async def test_it_is_fetched_by_a_key_and_on_an_interval() -> None:
    fetched: list[int] = []
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        await show(pilot, CARD, fetch=lambda: fetched.append(1))
        await pilot.press("r", "f5", "a")
        assert len(fetched) == 3
        assert "fetched every 5 s" in note(pilot)
        await pilot.press("a")
        assert note(pilot) == ""


@pytest.mark.anyio
async def test_the_card_is_copied_as_it_came() -> None:
    app = InspectorApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await show(pilot, CARD)
        await pilot.press("y")
        assert json.loads(app.clipboard) == CARD


@pytest.mark.anyio
async def test_without_a_card_there_is_nothing_to_do() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot)
        await pilot.press("p", "y", "enter", "n", "a", "a")
        assert pilot.app.screen is screen
        await pilot.press("c")
        assert pilot.app.screen is not screen


class Server(Protocol):
    url: str
    requests: list[tuple[str, bytes]]


def card_of(screen: Workspace) -> str | None:
    return screen.view.card.name if screen.view.card else None


@pytest.mark.anyio
@pytest.mark.req("CARDV-1", "SESS-1")
async def test_an_example_is_written_and_the_card_is_kept(
    start_agent: Callable[..., Server], until: "Until"
) -> None:
    agent = start_agent(b"", {"skills": CARD["skills"]})
    app = InspectorApp(agent.url, Connection())
    async with app.run_test(size=(120, 50)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace) and card_of(app.screen))
        workspace = app.screen
        assert isinstance(workspace, Workspace)
        await pilot.press("f3")
        pane = app.screen.query_one(BlockList)
        names = [block.name for block in pane.blocks]
        pane.go(names.index("example pay [my] rent"))
        before = len(agent.requests)
        await pilot.press("r")
        await until(pilot, lambda: len(agent.requests) > before)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is workspace)
        assert workspace.query_one(Composer).prompt.text == "pay [my] rent"
        assert workspace.query_one(Composer).prompt.has_focus
        session = workspace.session
        assert session is not None
        await until(pilot, lambda: load_card(cards_folder(), session.target))


@pytest.mark.parametrize(
    "line", ['  "name": "a \\" b",', '  "n": -1.5e3, "t": true, "z": null', "no json", ""]
)
def test_highlighting_changes_no_letter(line: str) -> None:
    assert style_json(line).plain == line
    assert bool(style_json(line).spans) == ('"' in line)


@pytest.mark.anyio
async def test_card_that_comes_before_the_screen_stands_is_drawn_then() -> None:
    async with InspectorApp().run_test(size=(120, 60)) as pilot:
        screen = CardScreen(LogView(), started=STARTED)
        screen.show_view(view(CARD))
        await pilot.app.push_screen(screen)
        await pilot.pause()
        assert "Skills" in text(pilot)
