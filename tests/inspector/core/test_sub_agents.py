"""A project's sub agents lead to their cards, and what leads nowhere is told."""

from pathlib import Path

import pytest

from inspector.core.sub_agents import find_sub_agents
from inspector.core.target import parse_target
from inspector.errors import UsageError

URL = "http://agent.test/.well-known/agent-card.json"


def add(project: Path, name: str, card: str, protocol: str = "A2A") -> Path:
    folder = project / "sub_agents" / name
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(
        f"agent:\n  name: {name}\n  protocol: {protocol}\nconfiguration:\n  agent_card: {card}\n"
    )
    return folder


@pytest.mark.req("CONN-1")
def test_one_sub_agent_is_the_target(tmp_path: Path) -> None:
    folder = add(tmp_path, "bank", URL)
    add(tmp_path, "chat", URL, protocol="RASA")
    for named in (tmp_path, folder, folder / "config.yml"):
        target = parse_target(str(named))
        assert (target.name, target.card_urls) == (str(named), (URL,))


@pytest.mark.req("CONN-1")
def test_card_is_found_from_the_projects_root(tmp_path: Path) -> None:
    folder = add(tmp_path, "bank", "./sub_agents/bank/card.json")
    (folder / "card.json").write_text("{}")
    for named in (tmp_path, folder, folder / "config.yml"):
        assert parse_target(str(named)).card_file == folder / "card.json"


@pytest.mark.req("CONN-1")
def test_several_sub_agents_take_a_choice(tmp_path: Path) -> None:
    for name in ("bank", "shop"):
        add(tmp_path, name, URL)
    with pytest.raises(UsageError) as caught:
        parse_target(str(tmp_path))
    assert caught.value.text == f"{tmp_path} has 2 sub agents"
    assert f"{tmp_path}/sub_agents/bank, {tmp_path}/sub_agents/shop" in caught.value.hint
    assert [agent.name for agent in find_sub_agents(tmp_path)] == ["bank", "shop"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("agent: {name: bank}", "bank: its protocol is 'RASA', not A2A"),
        ("agent: {protocol: A2A}", "bank: .* names no configuration.agent_card"),
        ("agent: {protocol: a2a}\nconfiguration: {agent_card: c.json}", "c.json is not there"),
        ("agent: [", "bank: .*config.yml is not YAML: "),
        ("- a list", "its protocol is 'RASA'"),
        ("", "its protocol is 'RASA'"),
    ],
)
def test_sub_agent_without_a_card_says_why(tmp_path: Path, content: str, told: str) -> None:
    folder = tmp_path / "sub_agents" / "bank"
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(content)
    with pytest.raises(UsageError, match=told):
        parse_target(str(tmp_path))


def test_folder_that_is_no_project_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no sub_agents"):
        parse_target(str(tmp_path))


def test_config_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub_agents" / "bank" / "config.yml").mkdir(parents=True)
    with pytest.raises(UsageError, match="Is a directory"):
        parse_target(str(tmp_path))
