"""What the palette finds by the words that people have for it."""

from typing import TYPE_CHECKING

import pytest
from textual.command import CommandPalette, Hit

from inspector.tui.app import InspectorApp
from inspector.tui.drawing.themes import THEMES
from inspector.tui.help import Actions
from inspector.tui.keys import KEYS

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent, Until


async def found(app: InspectorApp, query: str) -> list[str]:
    """Return the titles of what the palette finds, the best first."""
    hits = [hit async for hit in Actions(app.screen).search(query)]
    best = sorted((hit for hit in hits if isinstance(hit, Hit)), key=lambda hit: -hit.score)
    return [str(hit.match_display) for hit in best]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("dedup", "dedup"),
        ("409", "409"),
        ("zoom", "zoom"),
        ("maximize", "zoom"),
        ("replay", "live"),
        ("theme light", "theme calm-light"),
        ("light", "theme calm-light"),
        ("theme", "theme"),
        ("resend", "resend"),
        ("RETRY", "resend"),
        ("cancel", "cancel"),
        ("stop", "cancel"),
        ("screenshot", "picture"),
        ("exit", "quit"),
    ],
)
async def test_palette_finds_an_action_by_its_words(
    query: str, word: str, agent: "Agent", until: "Until"
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        assert (await found(app, query))[0].startswith(f"{word}: ")


@pytest.mark.anyio
async def test_every_word_of_the_footer_and_of_the_config_finds_its_own_action(
    agent: "Agent", until: "Until"
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        for key in KEYS:
            if key.name != "palette":
                for query in (key.word, key.name):
                    first, *_ = await found(app, query)
                    assert first.startswith(f"{key.word}: "), query


@pytest.mark.anyio
async def test_theme_that_the_palette_names_is_taken(agent: "Agent", until: "Until") -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        await pilot.press("ctrl+p", *"theme", "space", *"light")
        await until(pilot, lambda: app.screen.query("CommandList"))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
        assert app.theme == "calm-light" in THEMES
