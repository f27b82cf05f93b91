"""`a2a-inspect card` tells what is signed and what has changed."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from inspector.cli import main
from inspector.wire.signatures import canonical


class Server(Protocol):
    url: str
    requests: list[tuple[str, bytes]]


StartServer: TypeAlias = Callable[..., Server]
KEY = ec.generate_private_key(ec.SECP256R1())
CARD: dict[str, Any] = {
    "name": "Bank",
    "version": "1",
    "description": "A bank",
    "url": "http://127.0.0.1:1/",
    "protocolVersion": "0.3.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "a", "name": "A", "description": "d", "tags": []}],
}


def sign(card: dict[str, Any], **header: str) -> dict[str, Any]:
    token = jwt.api_jws.encode(canonical(card), KEY, "ES256", headers={"kid": "k", **header})
    protected, _, proof = token.split(".")
    return {**card, "signatures": [{"protected": protected, "signature": proof}]}


def show(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["card", str(path), *words]) == 0
    return capsys.readouterr().out


@pytest.mark.req("CARDV-1")
def test_changes_since_the_last_time_are_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "card.json"
    path.write_text(json.dumps(CARD))
    assert "changed" not in show(path, capsys)
    assert json.loads(show(path, capsys, "--json"))["changes"] == []
    skills: list[Any] = [{"id": "b", "name": "B", "description": "d", "tags": []}]
    path.write_text(json.dumps({**CARD, "name": "New", "skills": skills}))
    told = json.loads(show(path, capsys, "--json", "--no-save"))
    assert [(one["kind"], one["path"]) for one in told["changes"]] == [
        ("changed", "$.name"),
        ("added", "$.skills['b']"),
        ("removed", "$.skills['a']"),
    ]
    assert told["last_seen"]
    out = show(path, capsys)
    assert '~ $.name  "Bank" → "New"' in out
    assert "+ $.skills['b']" in out
    assert "changed since" not in show(path, capsys)


@pytest.mark.req("CARDV-1")
def test_a_signature_is_verified_with_a_file_of_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, keys = tmp_path / "card.json", tmp_path / "keys.json"
    path.write_text(json.dumps(sign(CARD)))
    jwk = ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
    keys.write_text(json.dumps({"keys": [{**jwk, "kid": "k"}]}))
    assert "ES256 k not verified: it does not say where" in show(path, capsys)
    assert "ES256 k verified" in show(path, capsys, "--jwks", str(keys))
    path.write_text(json.dumps({**sign(CARD), "name": "Evil"}))
    told = json.loads(show(path, capsys, "--jwks", str(keys), "--json"))
    assert [one["verdict"] for one in told["signatures"]] == ["invalid"]


@pytest.mark.req("CARDV-1", "TUI-6")
def test_keys_are_fetched_from_the_cards_own_origin_without_credentials(
    start_server: StartServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOP", "s3cret-token")
    jwk = ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
    keys = json.dumps({"keys": [{**jwk, "kid": "k"}]}).encode()
    stranger = start_server(answering(lambda _: keys))

    def card() -> bytes:
        own = {**CARD, "url": server.url}
        signed = sign(own, jku=f"{server.url}keys")
        others = sign(own, jku=f"{stranger.url}keys")["signatures"]
        return json.dumps({**signed, "signatures": signed["signatures"] + others}).encode()

    server = start_server(answering(lambda path: keys if path == "/keys" else card()))
    assert main(["card", server.url, "--token-env", "TOP", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["signatures"]
    assert [one["verdict"] for one in told] == ["verified", "not verified"]
    assert "another origin" in told[1]["why"]
    assert stranger.requests == []
    heads = {head.split()[1]: head for head, _ in server.requests}
    assert "s3cret-token" in heads["/.well-known/agent-card.json"]
    assert "s3cret-token" not in heads["/keys"]


def answering(reply: Callable[[str], bytes]) -> Callable[..., Awaitable[None]]:
    """A handler that answers each path with the JSON that `reply` gives for it."""

    async def answer(head: str, _: bytes, writer: asyncio.StreamWriter) -> None:
        body = reply(head.split()[1])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    return answer


def test_what_cannot_be_kept_is_said_and_nothing_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    path = tmp_path / "card.json"
    path.write_text(json.dumps(CARD))
    assert main(["card", str(path)]) == 0
    assert "Not a directory" in capsys.readouterr().err
