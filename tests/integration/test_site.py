"""What `a2a-mock serve` shows of itself, over which transport, and to whom."""

import json
import os
import re
import ssl
import subprocess
import sys
import tarfile
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import jwt
import pytest
from a2a.compat.v0_3 import types
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    PublicFormat,
)

if TYPE_CHECKING:
    from tests.conftest import Secret
    from tests.integration.conftest import Command, RunMock


CARD = ".well-known/agent-card.json"
JSON = {"content-type": "application/json"}


def serve(*arguments: str | Path) -> list[str]:
    """The lines of a start that fails."""
    line = [sys.executable, "-m", "mock_server", "serve", "--port", "0", *map(str, arguments)]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr
    return ended.stderr.splitlines()


def say(mock: "Command", text: str, client: httpx.Client | None = None) -> types.Task:
    reply = (client or mock.client).post("/", json=mock.turn(text)).json()
    return types.Task.model_validate(reply["result"])


def configure(project: Path, *lines: str) -> None:
    text = "\n  ".join(["a2a_server:", "description: A small bank", *lines])
    (project / "endpoints.yml").write_text(text + "\n")


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture
def certificate(key: rsa.RSAPrivateKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cert.pem` for 127.0.0.1 and its encrypted `key.pem`."""
    folder = tmp_path_factory.mktemp("tls")
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mock")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), True)
        .sign(key, SHA256())
    )
    (folder / "cert.pem").write_bytes(signed.public_bytes(Encoding.PEM))
    encryption = BestAvailableEncryption(b"open, certificate!")
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    (folder / "key.pem").write_bytes(pem)
    return folder


@pytest.mark.req("HTTP-4", "CARD-5")
def test_certificate_makes_https(
    run_mock: "RunMock",
    project: Path,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    secret: "Secret",
) -> None:
    monkeypatch.setenv("CERT_PASSWORD", secret("open, certificate!"))
    flags = (
        "--ssl-certificate",
        certificate / "cert.pem",
        "--ssl-keyfile",
        certificate / "key.pem",
    )
    with run_mock(project, *flags, "--ssl-password", "CERT_PASSWORD") as mock:
        assert mock.url.startswith("https://127.0.0.1:")
        trust = ssl.create_default_context(cafile=certificate / "cert.pem")
        with httpx.Client(base_url=mock.url, verify=trust) as client:
            assert client.get(CARD).json()["url"] == mock.url
            assert say(mock, "send money", client).id
        with pytest.raises(httpx.ConnectError):
            mock.client.get("status")
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(mock.url.replace("https", "http") + "status")


@pytest.mark.req("HTTP-4", "CFG-7")
def test_problems_of_flags_and_project_are_told_together(project: Path, certificate: Path) -> None:
    configure(project, "max_contexts: -1", "tls: {}")
    told = serve(project, "--ssl-certificate", "none.pem")
    assert len(told) == 3
    assert told[2] == "--ssl-certificate: found no file 'none.pem'"
    told = serve(project, "--ssl-password", "NO_SUCH_VARIABLE", "--auth-token-env", "NO_OTHER")
    assert told == [
        "--ssl-password: environment variable NO_SUCH_VARIABLE is not set; "
        "export NO_SUCH_VARIABLE=…",
        "--auth-token-env: environment variable NO_OTHER is not set; export NO_OTHER=…",
        "--ssl-keyfile and --ssl-password need --ssl-certificate FILE beside them",
    ]


@pytest.mark.req("AUTH-1", "AUTH-2", "CARD-8", "CFG-2")
def test_project_with_auth_asks_for_the_token_that_its_card_names(
    run_mock: "RunMock", project: Path, key: rsa.RSAPrivateKey, secret: "Secret"
) -> None:
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (project / "keys").mkdir()
    (project / "keys" / "jwt.pem").write_bytes(pem)
    configure(
        project,
        "auth:",
        "  type: bearer",
        "  jwt: {public_key_path: keys/jwt.pem, issuer: https://auth.example, audience: bank}",
    )
    claims = {"iss": "https://auth.example", "aud": "bank", "exp": time.time() + 60}
    token = secret(jwt.encode(claims, key, "RS256"))
    late = secret(jwt.encode({**claims, "exp": time.time() - 1}, key, "RS256"))
    with run_mock(project) as mock:
        assert mock.client.get(CARD).headers["www-authenticate"] == "Bearer"
        assert mock.client.get("status").status_code == 200
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=mock.url, headers=headers) as client:
            card = types.AgentCard.model_validate(client.get(CARD).json())
            assert card.security == [{"bearer": []}]
            assert card.security_schemes
            scheme = card.security_schemes["bearer"].root
            assert isinstance(scheme, types.HTTPAuthSecurityScheme)
            assert (scheme.scheme, scheme.bearer_format) == ("bearer", "JWT")
            assert say(mock, "send money", client).id
        refused = mock.client.post("/", json={}, headers={"authorization": f"Bearer {late}"})
        assert refused.status_code == 401
        _, log = mock.stop()
        assert "a2a_server.sanic_app.auth_rejected" in log
        assert "it has expired" in log
        assert late not in log


@pytest.mark.req("CARD-8")
def test_card_of_an_open_server_names_no_scheme(run_mock: "RunMock", project: Path) -> None:
    with run_mock(project) as mock:
        assert "security" not in json.dumps(mock.client.get(CARD).json())


@pytest.mark.req("AUTH-2", "LOG-1")
def test_weak_secret_is_taken_with_a_warning(
    run_mock: "RunMock", project: Path, monkeypatch: pytest.MonkeyPatch, secret: "Secret"
) -> None:
    weak = secret("hunter-of-snarks")
    monkeypatch.setenv("JWT_SECRET", weak)
    configure(project, "auth: {type: bearer, jwt: {algorithm: HS256, secret: '${JWT_SECRET}'}}")
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = secret(jwt.encode({"exp": time.time() + 60}, weak, "HS256"))
    with run_mock(project) as mock:
        headers = {"authorization": f"Bearer {token}"}
        assert mock.client.get(CARD, headers=headers).status_code == 200
        _, log = mock.stop()
        assert re.match(r"20\S+Z warning +.*InsecureKeyLengthWarning", log)
        assert len(log.splitlines()) == 1


STATIC: dict[str, object] = {
    "version": "7",
    "url": "http://elsewhere/",
    "name": "Written",
    "description": "By hand",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
    "x-own": {"b": 1, "a": None},
}


@pytest.mark.req("CARD-6", "CFG-9")
def test_card_that_somebody_wrote_is_served_at_its_new_address(
    run_mock: "RunMock", project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("configuration")
    (elsewhere / "card.json").write_text(json.dumps(STATIC, indent=2))
    endpoints = elsewhere / "endpoints.yml"
    endpoints.write_text("a2a_server: {description: Ignored, agent_card_path: card.json}\n")
    with run_mock(project, "--endpoints", endpoints) as mock:
        served = mock.client.get(CARD).json()
    expected = {**STATIC, "url": mock.url}
    assert (served, [*served]) == (expected, [*expected])


@pytest.mark.req("CARD-6", "CFG-7")
def test_card_that_is_none_keeps_the_server_from_starting(project: Path) -> None:
    configure(project, "agent_card_path: card.json", "max_contexts: -1")
    (project / "card.json").write_text('{\n  "name": 7\n}')
    told = serve(project)
    assert any(line.startswith(f"{project / 'card.json'}:2: ") for line in told)
    assert any("endpoints.yml:4: " in line for line in told)


@pytest.mark.req("CARD-7", "TURN-8", "HTTP-2")
def test_until_the_model_is_loaded_a_placeholder_answers(
    run_mock: "RunMock", project: Path
) -> None:
    (project / "config.yml").write_text("assistant_id: bank\n")
    waiting = run_mock(project, "--load-delay", "3600")
    with waiting as mock:
        assert mock.ready.endswith(" flows=0\n")
        card = mock.client.get(CARD).json()
        assert (card["name"], card["version"], card["skills"]) == ("Rasa Agent", "1.0.0", [])
        assert (card["description"], card["url"]) == ("A small bank", mock.url)
        status = mock.client.get("status").json()
        assert status == {"model_file": None, "model_id": None, "num_active_training_jobs": 0}
        refused = say(mock, "send money")
        assert refused.status.state is types.TaskState.failed
        assert "Agent is not ready to handle messages." in refused.model_dump_json()
        code, log = mock.stop()
        assert code == 0
        assert "a2a_server.rasa_a2a_agent_executor.execute.agent_not_ready" in log


@pytest.mark.req("CARD-7", "CARD-6")
@pytest.mark.parametrize("is_written", [False, True])
def test_model_that_is_loaded_replaces_the_placeholder(
    run_mock: "RunMock", project: Path, is_written: bool
) -> None:
    (project / "card.json").write_text(json.dumps(STATIC))
    configure(project, *(["agent_card_path: card.json"] if is_written else []))
    loading = run_mock(project, "--load-delay", "0.2")
    with loading as mock:
        deadline = time.monotonic() + 60
        while mock.client.get("status").json()["model_id"] is None:
            assert time.monotonic() < deadline
        assert mock.client.get("status").json()["model_file"] == project.name
        card = mock.client.get(CARD).json()
        assert card["version"] == ("7" if is_written else "1.0.0")
        assert bool(card["skills"]) is not is_written
        assert say(mock, "send money").status.state is types.TaskState.input_required


@pytest.mark.req("CARD-7")
def test_signal_ends_a_server_that_still_waits_for_its_model(
    run_mock: "RunMock", project: Path
) -> None:
    with run_mock(project, "--load-delay", "3600") as mock:
        assert mock.stop() == (0, "")


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "soon"])
def test_delay_is_a_number_of_seconds(project: Path, seconds: str) -> None:
    assert "is not a number of seconds" in serve(project, f"--load-delay={seconds}")[-1]


@pytest.mark.req("HTTP-2", "AUTH-3")
def test_token_of_rasa_guards_status_and_model_alone(
    run_mock: "RunMock", project: Path, monkeypatch: pytest.MonkeyPatch, secret: "Secret"
) -> None:
    token = secret("rasas own tökén")
    monkeypatch.setenv("RASA_TOKEN", token)
    flags = ("--auth-token-env", "RASA_TOKEN")
    with run_mock(project, *flags) as mock:
        for parameters in ({}, {"token": ""}, {"token": "wrong"}, {"Token": token}):
            refused = mock.client.get("status", params=parameters)
            assert refused.status_code == 401
            assert refused.json()["reason"] == "NotAuthenticated"
            put = mock.client.put("model", params=parameters, json={"model_file": str(project)})
            assert put.status_code == 401
        assert (
            mock.client.get("status", params={"token": token}).json()["model_file"] == project.name
        )
        assert (
            mock.client.get(
                "status", headers=[(b"authorization", f"Bearer {token}".encode())]
            ).status_code
            == 401
        )
        assert mock.client.get(CARD).status_code == 200
        assert say(mock, "send money").id
        put = mock.client.put("model", params={"token": token}, json={"model_file": str(project)})
        assert put.status_code == 204
        code, log = mock.stop()
        assert code == 0
        assert [line for line in log.splitlines() if " a2a_mock.turn.ended " not in line] == []


@pytest.mark.req("HTTP-3")
def test_model_that_is_put_shows_in_the_status_only(
    run_mock: "RunMock", project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("models") / "other"
    (other / "data").mkdir(parents=True)
    flows = "flows:\n  only: {description: the only one, steps: [{action: utter_only}]}\n"
    (other / "data" / "flows.yml").write_text(flows)
    (other / "domain.yml").write_text(
        "session_config: {start_session_after_expiry: false}\n"
        "responses: {utter_only: [{text: Only me.}]}\n"
    )
    archive = other.parent / "20261121.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(other, "model")
    with run_mock(project) as mock:
        card, start = mock.client.get(CARD).content, mock.client.get("status").json()
        for path, shown in ((other, "other"), (archive, "20261121.tar.gz")):
            put = mock.client.put("model", json={"model_file": str(path)})
            assert (put.status_code, put.content) == (204, b"")
            status = mock.client.get("status").json()
            assert status["model_file"] == shown
            assert status["model_id"] != start["model_id"]
            assert mock.client.get(CARD).content == card
        asked = say(mock, "send money")
        assert "To whom?" in asked.model_dump_json()


@pytest.mark.req("HTTP-3", "CFG-5", "HTTP-5")
def test_model_that_cannot_be_loaded_changes_nothing(run_mock: "RunMock", project: Path) -> None:
    incompatible = project / "other"
    (incompatible / "data").mkdir(parents=True)
    (incompatible / "domain.yml").write_text("slots: {}\n")
    (incompatible / "data" / "flows.yml").write_text("flows: {}\n")
    pipe = project.parent / "pipe"
    os.mkfifo(pipe)
    bodies: list[object] = [
        {"model_file": str(incompatible)},
        {"model_file": "/nowhere"},
        {"model_file": str(project / "domain.yml")},
        {"model_file": 7},
        {"model_file": ""},
        {"model_file": "a\0b"},
        {"model_file": "\ud800"},
        {"model_file": "x" * 256},
        {"model_file": str(pipe)},
        {},
        [],
    ]
    with run_mock(project) as mock:
        before = mock.client.get("status").json()
        for body in bodies:
            refused = mock.client.put("model", content=json.dumps(body), headers=JSON)
            assert refused.status_code == 400
            assert refused.json()["reason"] == "BadRequest"
        for content in (b"", b"{", b"\xff", b"[" * 100_000):
            put = mock.client.put("model", content=content, headers=JSON)
            assert put.status_code == 400
        long = mock.client.put("model", content=b" " * 10_485_761, headers=JSON)
        assert long.status_code == 413
        assert mock.client.get("status").json() == before
        first = mock.client.put("model", json=bodies[0]).json()["details"]["problems"]
        code = "validation.a2a_server.incompatible_session_config"
        assert first[0].startswith(f"{incompatible / 'domain.yml'}:1: {code}: ")
        assert first[0].endswith("or start with --relax")


@pytest.mark.req("CFG-6", "CFG-7")
def test_several_workers_are_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANIC_WORKERS", "4")
    (told,) = serve(project)
    assert "endpoints.yml:1: validation.a2a_server.incompatible_sanic_workers: " in told


@pytest.mark.req("CFG-8")
def test_second_server_on_a_port_is_refused(run_mock: "RunMock", project: Path) -> None:
    with run_mock(project) as mock:
        port = str(httpx.URL(mock.url).port)
        (told,) = serve(project, "--port", port)
        assert told.startswith(f"port {port} on '127.0.0.1' is unavailable: ")
        assert "--port" in told


@pytest.mark.req("CFG-3", "CFG-7")
def test_variable_that_is_not_set_is_named(project: Path) -> None:
    configure(project, "url: ${NO_SUCH_VARIABLE}/a2a", "max_contexts: ${NO_OTHER}")
    assert [line.split("endpoints.yml:")[1].split(";")[0] for line in serve(project)] == [
        "3: config.unset_variable: environment variable NO_SUCH_VARIABLE is not set",
        "4: config.unset_variable: environment variable NO_OTHER is not set",
        "4: yaml.type: a2a_server.max_contexts: found '${NO_OTHER}', "
        "expected an integer of 0 or more",
    ]
