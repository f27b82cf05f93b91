"""A project's sub agents lead to their cards and credentials; every mistake is told at once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from inspector.core.sub_agents import find_sub_agents, sub_agent_at
from inspector.core.target import Target, authenticated, parse_target
from inspector.errors import UsageError
from inspector.settings import Connection

URL = "http://agent.test/.well-known/agent-card.json"


def add(project: Path, name: str, card: str, protocol: str = "A2A", more: str = "") -> Path:
    folder = project / "sub_agents" / name
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(
        f"agent:\n  name: {name}\n  protocol: {protocol}\n  description: It helps.\n"
        f"configuration:\n  agent_card: {card}\n{more}"
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


def told(project: Path, environment: Mapping[str, str] | None = None) -> list[str]:
    """The mistakes in the configs of `project`, without the folder that they are in."""
    with pytest.raises(UsageError) as caught:
        sub_agent_at(project, environment or {})
    lines = caught.value.text.splitlines()
    found = lines if len(lines) == 1 else lines[1:]
    return [line.strip().replace(f"{project}/sub_agents/", "") for line in found]


def write(project: Path, content: str, name: str = "bank") -> None:
    folder = project / "sub_agents" / name
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(content)


A2A = "agent: {name: bank, protocol: a2a, description: d}\n"
CARD = f"configuration:\n  agent_card: {URL}\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", ":1: the file has no keys"),
        ("- a list", ":1: the file has no keys"),
        ("agent: [", ":1 is not YAML: "),
        ("agent: bank", ":1: agent has no keys"),
        ("configuration: {}", ":1: agent is missing; write `agent: {name: …, description: …}`"),
        ("agent:\n  description: d", ":1: agent.name is missing; "),
        ("agent:\n  description: d\n  name:", ":3: agent.name is empty; "),
        ("agent:\n  description: d\n  name: [a]", ":3: agent.name is not a text"),
        ("agent:\n  name: bank", ":1: agent.description is missing; "),
        ("agent:\n  name: b\n  description: d\n  name: c", ":4: agent.name is there twice; "),
        (
            "agent:\n  name: b\n  description: d\n  protocol: B2B",
            ":4: agent.protocol is 'B2B', expected A2A or RASA",
        ),
        (A2A, ":1: configuration is missing; name its agent_card"),
        (A2A + "configuration:", ":2: configuration has no keys"),
        (A2A + "configuration: {module: m}", ":2: configuration.agent_card is missing; "),
        (
            A2A + "configuration:\n  agent_card: ftp://x/card",
            ":3: configuration.agent_card: 'ftp://x/card' is not a URL that can be reached",
        ),
        (
            A2A + "configuration:\n  agent_card: ${CARD}",
            ":3: configuration.agent_card: the variable CARD is not set; export CARD=… first",
        ),
        (
            A2A + CARD + "  max_polling_time: 0",
            ":4: configuration.max_polling_time is '0', expected a number of seconds above 0",
        ),
        (A2A + CARD + "  polling_initial_delay: inf", ":4: configuration.polling_initial_delay is"),
        (A2A + CARD + "  timeout: soon", ":4: configuration.timeout is 'soon'"),
        (A2A + CARD + "  max_retries: 1.5", ":4: configuration.max_retries is '1.5'"),
    ],
)
@pytest.mark.req("CONN-1")
def test_mistake_of_a_config_is_told_with_its_line(
    content: str, problem: str, tmp_path: Path
) -> None:
    write(tmp_path, content)
    (found,) = told(tmp_path)
    assert found.startswith(f"bank/config.yml{problem}")


AUTH = A2A + CARD + "  auth:\n"


@pytest.mark.parametrize(
    ("auth", "problem"),
    [
        ("    apikey: ${KEY}", ":4: configuration.auth has none of api_key, oauth, token"),
        ("    apikey: ${KEY}", ":5: configuration.auth.apikey is unknown; did you mean api_key?"),
        ("    xyz: 1", ":5: configuration.auth.xyz is unknown; known are api_key, oauth, token"),
        ("    api_key: sk-4711", ":5: configuration.auth.api_key is written out; name a variable"),
        ("    token: x${KEY}", ":5: configuration.auth.token is written out; name a variable: tok"),
        ("    token:", ":5: configuration.auth.token is empty; name a variable: token:"),
        ("    api_key: $KEY", ":5: configuration.auth.api_key is written out"),
        ("    api_key: ${KEY}\n    token: ${KEY}", ":6: configuration.auth has both api_key and"),
        ("    token: ${KEY}\n    header_name: X", ":6: configuration.auth.header_name has no eff"),
        ("    api_key: ${KEY}\n    header_format: sk-4711", ":6: configuration.auth.header_format"),
        ("    api_key: ${KEY}\n    header_name:", ":6: configuration.auth.header_name is empty"),
        ("    api_key: ${KEY}\n    header_name: a b", ":6: configuration.auth.header_name: 'a b'"),
        ("    oauth: {client_secret: sk-4711}", ":5: configuration.auth.oauth.client_secret is wr"),
        ("    oauth: {}", ":5: configuration.auth.oauth.client_id is missing"),
        ("    oauth: {}", ":5: configuration.auth.oauth.client_secret is missing"),
        ("    oauth: {token_url: x}", ":5: configuration.auth.oauth.token_url: 'x' is not a URL"),
        ("    oauth: x", ":5: configuration.auth.oauth has no keys"),
    ],
)
@pytest.mark.req("CONN-1", "CONN-3")
def test_mistake_of_auth_is_told_and_no_secret(auth: str, problem: str, tmp_path: Path) -> None:
    write(tmp_path, AUTH + auth)
    found = told(tmp_path, {"KEY": "k"})
    assert any(one.startswith(f"bank/config.yml{problem}") for one in found), found
    assert "sk-4711" not in "".join(found)


@pytest.mark.req("CONN-1")
def test_all_mistakes_of_all_configs_are_told_in_one_run(tmp_path: Path) -> None:
    write(tmp_path, AUTH + "    api_key: sk-4711\n    header_nam: X\n    token: ${NOPE}\n", "a")
    write(tmp_path, "agent: {name: b, protocol: A2A}\nconfiguration: {max_retries: x}\n", "b")
    assert [one.partition(" ")[0] for one in told(tmp_path)] == [
        *("a/config.yml:5:", "a/config.yml:6:", "a/config.yml:7:", "a/config.yml:7:"),
        *("b/config.yml:1:", "b/config.yml:2:", "b/config.yml:2:"),
    ]


@pytest.mark.req("CONN-1")
def test_name_of_another_agent_or_flow_is_refused(tmp_path: Path) -> None:
    folder = add(tmp_path, "bank", URL)
    write(tmp_path, A2A + CARD, "twin")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "flows.yml").write_text("flows:\n  pay:\n    name: x\n  bank: {}\n")
    (tmp_path / "data" / "other.yml").write_text("bank: [\n")
    flow, twin = told(folder)
    start = f"{folder}/config.yml:2: agent.name 'bank'"
    rest = "rename one of the two"
    assert flow == f"{start}: a flow has it, at {tmp_path}/data/flows.yml:4; {rest}"
    assert twin == (
        f"{start}: another sub agent has it, at {folder.parent}/twin/config.yml:1; {rest}"
    )


@pytest.mark.req("CONN-1")
def test_agent_that_rasa_runs_is_no_target(tmp_path: Path) -> None:
    add(tmp_path, "chat", URL, protocol="rasa")
    with pytest.raises(UsageError, match=r"chat/config\.yml:3: the protocol is RASA") as caught:
        parse_target(str(tmp_path))
    assert "protocol: A2A" in caught.value.hint


@pytest.mark.req("CONN-1")
def test_polling_beyond_the_lock_is_a_remark(tmp_path: Path) -> None:
    add(tmp_path, "bank", URL, more="  max_polling_time: 120\n")
    (remark,) = parse_target(str(tmp_path), {}).remarks
    assert "bank/config.yml:7: configuration.max_polling_time is 120 s, but Rasa locks" in remark
    assert "for 60 s; set TICKET_LOCK_LIFETIME=120" in remark
    assert parse_target(str(tmp_path), {"TICKET_LOCK_LIFETIME": "120"}).remarks == ()


def target(project: Path, auth: str, environment: Mapping[str, str]) -> Target:
    add(project, "bank", URL, more=f"  auth:\n{auth}\n")
    return parse_target(str(project), environment)


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        ("    api_key: ${KEY}", ("Authorization", "Bearer s3cret-s3cret")),
        ('    api_key: "${KEY}"\n    header_name: X-API-Key', ("X-API-Key", "s3cret-s3cret")),
        (
            '    api_key: ${KEY}\n    header_name: ${NAME}\n    header_format: "Key {key}"',
            ("X-Bank", "Key s3cret-s3cret"),
        ),
        (
            '    api_key: ${KEY}\n    header_format: "Key {key}"',
            ("Authorization", "Key s3cret-s3cret"),
        ),
        ("    token: ${KEY}", ("Authorization", "Bearer s3cret-s3cret")),
    ],
)
@pytest.mark.req("CONN-1", "CONN-3")
def test_auth_of_a_config_is_the_header(auth: str, header: tuple[str, str], tmp_path: Path) -> None:
    found = target(tmp_path, auth, {"KEY": "s3cret-s3cret\n", "NAME": "X-Bank"})
    connection = authenticated(Connection(headers=(("X-Tenant", "t"),)), found)
    assert connection.headers == (("X-Tenant", "t"), header)
    assert set(connection.secrets) == {"s3cret-s3cret", header[1]}
    assert "s3cret" not in repr((found, connection))


@pytest.mark.req("CONN-1", "CONN-3")
def test_flags_and_a_header_of_the_same_name_win(tmp_path: Path) -> None:
    found = target(tmp_path, "    api_key: ${NOPE}\n    header_name: X-Key", {})
    for own in (Connection(is_authenticated=True), Connection(headers=(("x-key", "mine"),))):
        assert authenticated(own, found) is own


OAUTH = "    oauth: {client_id: c, client_secret: '${KEY}', token_url: 'https://a.test/token'}"


@pytest.mark.parametrize(
    ("auth", "environment", "problem"),
    [
        ("    token: ${KEY}", {}, ":8: configuration.auth.token: the variable KEY is not set; ex"),
        ("    token: ${KEY}", {"KEY": " "}, ":8: configuration.auth.token: the variable KEY is em"),
        ("    token: ${KEY}", {"KEY": "a\nb"}, ":8: configuration.auth.token: the value has char"),
        (OAUTH, {"KEY": "k"}, ":8: configuration.auth.oauth: a2a-inspect cannot get OAuth tokens"),
    ],
)
@pytest.mark.req("CONN-1", "CONN-3")
def test_auth_that_cannot_be_used_here_is_told(
    auth: str, environment: Mapping[str, str], problem: str, tmp_path: Path
) -> None:
    found = target(tmp_path, auth, environment)
    with pytest.raises(UsageError) as caught:
        authenticated(Connection(), found)
    assert f"bank/config.yml{problem}" in caught.value.text


def test_folder_that_is_no_project_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no sub_agents"):
        parse_target(str(tmp_path))


@pytest.mark.req("CONN-1")
def test_config_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub_agents" / "bank" / "config.yml").mkdir(parents=True)
    with pytest.raises(UsageError, match="Is a directory"):
        parse_target(str(tmp_path))
