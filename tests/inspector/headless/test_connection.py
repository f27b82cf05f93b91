"""What the connection flags send, and what they refuse before anything is sent."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jwt
import pytest

from inspector.cli import main

if TYPE_CHECKING:
    from conftest import StartAgent


SECRET = "one secret with as many bytes as the longest algorithm asks for, 64"
TASK = {
    "jsonrpc": "2.0",
    "id": "1",
    "result": {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}},
}
REPLY = json.dumps(TASK).encode()
OK = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(REPLY), REPLY)
)


def header(head: str, name: str) -> str | None:
    lines = (line.partition(": ") for line in head.split("\r\n"))
    return next((value for key, _, value in lines if key.lower() == name.lower()), None)


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["--token-env", "TOP"], "Authorization", "Bearer s3cret-s3cret"),
        (["--api-key-env", "TOP"], "Authorization", "Bearer s3cret-s3cret"),
        (
            ["--api-key-env", "TOP", "--header-format", "Key {key}"],
            "Authorization",
            "Key s3cret-s3cret",
        ),
        (["--api-key-env", "TOP", "--header-name", "X-Bank"], "X-Bank", "s3cret-s3cret"),
        (
            ["--api-key-env", "TOP", "--header-name", "X-Bank", "--header-format", "k={key}"],
            "X-Bank",
            "k=s3cret-s3cret",
        ),
        (
            ["--header", "authorization: x${TOP}", "--token-env", "TOP"],
            "Authorization",
            "Bearer s3cret-s3cret",
        ),
    ],
)
@pytest.mark.req("CONN-3")
def test_the_secret_of_a_variable_goes_with_card_and_call(
    words: list[str],
    name: str,
    value: str,
    start_agent: "StartAgent",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOP", "s3cret-s3cret\n")
    agent = start_agent(OK)
    assert main(["send", agent.url, "hi", *words, "--json"]) == 0
    assert [header(head, name) for head, _ in agent.requests] == [value, value]


def write_config(project: Path, card: str, auth: str) -> Path:
    """A sub agent's folder in `project`, whose config has `auth`."""
    folder = project / "sub_agents" / "bank"
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text(
        "agent: {name: bank, protocol: A2A, description: A bank}\n"
        f"configuration:\n  agent_card: {card}\n  auth: {auth}\n"
    )
    return folder


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Where sessions and targets are kept; the variable TOP holds a secret."""
    monkeypatch.setenv("TOP", "s3cret-s3cret")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return [tmp_path / "state", tmp_path / "config"]


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        ('{api_key: "${TOP}"}', "Authorization: Bearer s3cret-s3cret"),
        ('{token: "${TOP}"}', "Authorization: Bearer s3cret-s3cret"),
        (
            '{api_key: "${TOP}", header_name: X-Bank, header_format: "k={key}"}',
            "X-Bank: k=s3cret-s3cret",
        ),
    ],
)
@pytest.mark.req("CONN-1", "CONN-3")
def test_auth_of_a_sub_agents_config_goes_with_card_and_call(
    auth: str, sent: str, start_agent: "StartAgent", folders: list[Path], tmp_path: Path
) -> None:
    agent = start_agent(OK)
    folder = write_config(tmp_path, agent.url, auth)
    assert main(["send", str(folder), "hi"]) == 0
    assert main(["targets", "add", "bank", str(folder / "config.yml")]) == 0
    assert main(["tasks", "get", "bank", "t"]) == 0
    assert [sent in head for head, _ in agent.requests] == [True] * 4
    kept = [path for one in folders for path in one.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"s3cret" in path.read_bytes()]


@pytest.mark.req("CONN-1", "CONN-3")
@pytest.mark.usefixtures("folders")
def test_credential_flags_win_over_a_sub_agents_config(
    start_agent: "StartAgent", tmp_path: Path
) -> None:
    agent = start_agent(OK)
    folder = write_config(tmp_path, agent.url, '{api_key: "${NOPE}", header_name: X-Bank}')
    assert main(["send", str(folder), "hi", "--no-save", "--token-env", "TOP"]) == 0
    head = agent.requests[-1][0]
    assert header(head, "Authorization") == "Bearer s3cret-s3cret"
    assert header(head, "X-Bank") is None


@pytest.mark.parametrize(
    ("auth", "problem"),
    [
        ("{api_key: sk-4711-4711}", ":4: configuration.auth.api_key is written out"),
        ('{token: "${NOPE}"}', ":4: configuration.auth.token: the variable NOPE is not set"),
        (
            '{oauth: {client_id: c, client_secret: "${TOP}", token_url: "http://t"}}',
            ":4: configuration.auth.oauth: a2a-inspect cannot get OAuth tokens yet; get one at the "
            "token_url, export it, and add --token-env VARIABLE",
        ),
    ],
)
@pytest.mark.req("CONN-1", "CONN-3")
@pytest.mark.usefixtures("folders")
def test_auth_that_cannot_be_used_ends_every_command(
    auth: str,
    problem: str,
    start_agent: "StartAgent",
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    agent = start_agent(OK)
    folder = str(write_config(tmp_path, agent.url, auth))
    for words in (["send", folder, "hi"], ["card", folder], ["targets", "add", "bank", folder]):
        assert main(words) == 2
        told = capsys.readouterr().err
        assert f"{folder}/config.yml{problem}" in told
        assert "sk-4711" not in told
    assert agent.requests == []


@pytest.mark.req("CONN-3")
def test_a_token_is_minted_on_the_spot(
    start_agent: "StartAgent", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOP", SECRET)
    agent = start_agent(OK)
    words = ["--jwt-alg", "HS512", "--jwt-secret-env", "TOP", "--jwt-claim", "aud=bank"]
    assert main(["send", agent.url, "hi", *words, "--jwt-ttl", "60"]) == 0
    sent = (header(agent.requests[-1][0], "authorization") or "").removeprefix("Bearer ")
    claims = jwt.decode(sent, SECRET, ["HS512"], audience="bank")
    assert claims["exp"] - claims["iat"] == 60


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--token-env", "NOT_SET"], "--token-env: the variable NOT_SET is not set"),
        (["--token-env", "EMPTY"], "--token-env EMPTY: it is empty"),
        (["--api-key-env", "NOT_SET"], "--api-key-env: the variable NOT_SET is not set"),
        (["--token-env", "TOP", "--api-key-env", "TOP"], "not allowed with"),
        (["--header-name", "X"], "--header-name has no effect without --api-key-env"),
        (["--jwt-ttl", "5"], "--jwt-ttl has no effect without --jwt-alg"),
        (["--jwt-alg", "HS256"], "name the variable that has it: --jwt-secret-env VAR"),
        (["--jwt-alg", "RS256"], "name its PEM file: --jwt-key FILE"),
        (["--jwks", "nowhere.json"], "--jwks nowhere.json: no such file"),
        (["--client-key", "k.pem"], "--client-key has no effect without --client-cert"),
        (["--api-key-env", "TOP", "--header-format", "Key"], "has no place for the key"),
        (["--jwt-alg", "none", "--jwt-key", "x"], "'none' is none of"),
        (["--allow-origin", "bank"], "'bank' is not an origin"),
        (["--header", "Authorization: Bearer abc"], "seen by everybody"),
        (["--client-cert", "gone.pem"], "--client-cert gone.pem: no such file"),
        (["--client-cert", __file__], "no certificate in PEM"),
        (["--cacert", __file__], "no certificate in PEM"),
    ],
)
@pytest.mark.req("CLI-1", "CONN-3", "CONN-4")
def test_what_cannot_be_used_is_2(
    words: list[str],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOP", "s3cret-s3cret")
    monkeypatch.setenv("EMPTY", "")
    try:
        status = main(["card", "http://127.0.0.1:1", *words])
    except SystemExit as left:
        status = left.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert complaint in err
    assert "s3cret-s3cret" not in err
