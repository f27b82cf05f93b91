"""The first screen offers the demo, a URL, a project and what is known already."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Static

from inspector.core.saved.recording import SessionHeader, encode_header
from inspector.core.saved.session_store import file_name
from inspector.core.saved.targets import SavedTarget, Targets, targets_file, write_targets
from inspector.folders import sessions_folder
from inspector.settings import Connection
from inspector.tui.app import InspectorApp
from inspector.tui.start import StartScreen
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent, Until

pytestmark = pytest.mark.anyio


STARTED = datetime.fromisoformat("2026-11-20T10:02:10+01:00")


def known(pilot: Pilot[int]) -> list[str]:
    return [str(button.label) for button in pilot.app.screen.query(".known").results(Button)]


def problem(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#problem", Static).content)


def visit(target: str, id: str) -> None:
    """Save a session with `target`, begun the later the higher its id."""
    header = SessionHeader(id, target, STARTED + timedelta(minutes=int(id)), "0.1.0")
    path = sessions_folder() / file_name(header)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(encode_header(header) + "\n")


def add_sub_agent(project: Path, name: str, card: str) -> None:
    folder = project / "sub_agents" / name
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(
        f"agent: {{name: {name}, protocol: A2A, description: d}}\n"
        f"configuration: {{agent_card: '{card}'}}\n"
    )


@pytest.mark.req("TUI-2")
async def test_newcomer_is_offered_three_choices_and_nothing_else(until: "Until") -> None:
    async with InspectorApp().run_test() as pilot:
        await until(pilot, lambda: pilot.app.screen.query("#known"))
        await pilot.pause()
        assert known(pilot) == []
        assert problem(pilot) == ""


@pytest.mark.req("TUI-2", "CONN-1")
async def test_saved_targets_come_before_recent_ones(agent: "Agent", until: "Until") -> None:
    saved = SavedTarget(agent.url)
    write_targets(targets_file(), Targets().with_target("bank", saved))
    for number, target in enumerate(("http://old", "http://a", agent.url, "http://a"), 1):
        visit(target, str(number))
    resolved: list[str] = []

    def resolve(target: str, _: bool) -> tuple[str, Connection]:
        resolved.append(target)
        return agent.url, Connection()

    app = InspectorApp(resolve=resolve)
    async with app.run_test() as pilot:
        await until(pilot, lambda: len(known(pilot)) == 3)
        assert known(pilot) == [f"1  bank  {agent.url}", "2  http://a", "3  http://old"]
        await pilot.press("1")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
    assert resolved == ["bank"]


@pytest.mark.req("TUI-2", "CONN-1")
async def test_project_leads_to_its_sub_agent(
    agent: "Agent", until: "Until", tmp_path: Path
) -> None:
    add_sub_agent(tmp_path, "bank", f"{agent.url}.well-known/agent-card.json")
    app = InspectorApp()
    async with app.run_test() as pilot:
        await pilot.press("p", *str(tmp_path), "enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        screen = app.screen
        assert isinstance(screen, Workspace)
        await until(pilot, lambda: screen.view.card)


@pytest.mark.req("TUI-2", "CONN-1")
async def test_project_with_several_sub_agents_offers_each(
    agent: "Agent", until: "Until", tmp_path: Path
) -> None:
    for name in ("bank", "shop"):
        add_sub_agent(tmp_path, name, f"{agent.url}.well-known/agent-card.json")
    app = InspectorApp()
    async with app.run_test(size=(200, 40)) as pilot:
        await pilot.press("p", *str(tmp_path), "enter")
        await until(pilot, lambda: len(known(pilot)) == 2)
        assert known(pilot)[1] == f"2  shop  {tmp_path}/sub_agents/shop"
        assert "Which of its sub agents?" in problem(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace))


@pytest.mark.req("TUI-2", "CONN-1")
async def test_mistakes_of_a_project_are_told_beside_the_choice(
    agent: "Agent", until: "Until", tmp_path: Path
) -> None:
    for name in ("bank", "shop"):
        add_sub_agent(tmp_path, name, f"{agent.url}.well-known/agent-card.json")
    config = tmp_path / "sub_agents" / "shop" / "config.yml"
    config.write_text("agent: {name: shop}\nconfiguration: {auth: {token: sk-4711}}\n")
    app = InspectorApp()
    async with app.run_test(size=(200, 40)) as pilot:
        await pilot.press("p", *str(tmp_path), "enter")
        await until(pilot, lambda: len(known(pilot)) == 1)
        told = problem(pilot)
        assert f"{config}:1: agent.description is missing" in told
        assert f"{config}:2: configuration.auth.token is written out" in told
        assert "sk-4711" not in told


@pytest.mark.req("TUI-2", "CONN-1")
async def test_sub_agent_is_called_as_its_config_says(
    agent: "Agent", until: "Until", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANK_KEY", "s3cret-s3cret")
    add_sub_agent(tmp_path, "bank", f"{agent.url}.well-known/agent-card.json")
    config = tmp_path / "sub_agents" / "bank" / "config.yml"
    auth = "auth: {api_key: '${BANK_KEY}', header_name: X-Key}"
    config.write_text(config.read_text().replace("{agent_card", f"{{{auth}, agent_card"))
    app = InspectorApp()
    async with app.run_test() as pilot:
        await pilot.press("p", *str(tmp_path), "enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        screen = app.screen
        assert isinstance(screen, Workspace)
        await until(pilot, lambda: screen.view.card)
        assert screen.session is not None
        assert screen.session.credentials == (("X-Key", "s3cret-s3cret"),)


@pytest.mark.req("TUI-2")
async def test_folder_without_sub_agents_is_told_in_place(until: "Until", tmp_path: Path) -> None:
    app = InspectorApp()
    async with app.run_test() as pilot:
        await pilot.press("p", *str(tmp_path), "enter")
        await until(pilot, lambda: "no sub_agents" in problem(pilot))
        assert isinstance(app.screen, StartScreen)


async def test_broken_file_of_targets_is_told_in_place(until: "Until") -> None:
    targets_file().parent.mkdir(parents=True)
    targets_file().write_text("{")
    async with InspectorApp().run_test() as pilot:
        await until(pilot, lambda: "targets.json: not JSON" in problem(pilot))
