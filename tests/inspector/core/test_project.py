"""A project's sub agents lead to their cards, and what leads nowhere is told."""

from pathlib import Path

import pytest

from inspector.core.project import DomainSlot, find_sub_agents, has_domain, read_slot_domain
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


BANK = Path(__file__).parents[3] / "examples" / "bank"


@pytest.mark.req("COMP-1a")
def test_slots_of_a_folder_of_domain_files() -> None:
    slots = read_slot_domain(BANK)
    assert slots["account"] == DomainSlot("categorical", ("checking", "savings"))
    assert slots["amount"] == DomainSlot("float")


def test_values_are_the_words_that_the_file_has(tmp_path: Path) -> None:
    domain = "slots:\n  a:\n    type: categorical\n    values: [yes, 1, x]\n  b: {}\n  [1]: x\n"
    tmp_path.joinpath("domain.yml").write_text(domain)
    slots = read_slot_domain(tmp_path)
    assert slots == {"a": DomainSlot("categorical", ("yes", "1", "x")), "b": DomainSlot("any")}


def test_saved_domain_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "domain.yml"
    file.write_text("slots: {a: {type: bool}}")
    assert set(read_slot_domain(tmp_path)) == {"a"}
    file.write_text("slots: {ab: {type: bool}}")
    assert set(read_slot_domain(tmp_path)) == {"ab"}


@pytest.mark.parametrize("content", ["", "[1]", "slots: 1", "slots: {a: 1}"])
def test_domain_without_slots_has_none_to_tell(content: str, tmp_path: Path) -> None:
    tmp_path.joinpath("domain.yml").write_text(content)
    assert all(slot.type == "any" for slot in read_slot_domain(tmp_path).values())


@pytest.mark.parametrize(
    "content", [b"slots: [", b"\xff\xfe\x00", pytest.param(b"[" * 1200, id="deep")]
)
def test_domain_that_is_no_yaml_is_told_with_its_file(content: bytes, tmp_path: Path) -> None:
    tmp_path.joinpath("domain.yml").write_bytes(content)
    with pytest.raises(UsageError, match=r"domain\.yml"):
        read_slot_domain(tmp_path)


def test_folder_without_a_domain_is_no_project(tmp_path: Path) -> None:
    assert not has_domain(tmp_path)
    with pytest.raises(UsageError, match=r"no domain\.yml"):
        read_slot_domain(tmp_path)
