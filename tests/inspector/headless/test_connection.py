"""What the connection flags send, and what they refuse before anything is sent."""

import json
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
