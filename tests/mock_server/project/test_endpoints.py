"""`endpoints.yml`: the server's settings, the card that somebody wrote, and where actions run."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

from mock_server.dialogue.outside import ActionServer, ActionServerKind
from mock_server.errors import Location, ProjectError
from mock_server.project.endpoints import (
    A2AServer,
    A2AServerEntry,
    JwtAuth,
    read_a2a_server,
    read_card_file,
)
from mock_server.project.findings import Findings
from mock_server.project.load import load_assistant, load_project
from mock_server.project.nodes import parse

FILE = Path("conf/endpoints.yml")


def read(
    block: str, environment: Mapping[str, str] | None = None, description: str | None = None
) -> tuple[A2AServer, list[str]]:
    found = Findings()
    root = parse(str(FILE), block, found)
    server = read_a2a_server(root, FILE, environment or {}, description, found)
    return server, [f"{p.location.line}: {p.code}: {p.text}; {p.fix}" for p in found.problems]


@pytest.mark.req("CFG-1")
def test_defaults():
    settings = A2AServerEntry(description="A bank.")
    server = A2AServer("A bank.", settings)
    assert read("a2a_server: {description: A bank.}") == (server, [])
    assert (settings.task_timeout_seconds, settings.replay_seconds) == (600, 600)
    assert (settings.max_contexts, settings.include_conversation_repair) == (1000, True)
    assert settings.push_notifications_enabled is False


@pytest.mark.req("CFG-1")
def test_all_keys_are_read():
    server, problems = read(
        """
nlg: {type: rephrase, key: "${NOT_SET}"}
a2a_server:
  description: A bank.
  url: https://bank.example/
  include_conversation_repair: false
  task_timeout_seconds: 30
  max_contexts: 0
  push_notifications_enabled: true
  push_notification_allowed_hosts: [hooks.example]
"""
    )
    assert problems == []
    settings = A2AServerEntry(
        description="A bank.",
        url="https://bank.example/",
        include_conversation_repair=False,
        task_timeout_seconds=30,
        max_contexts=0,
        push_notifications_enabled=True,
        push_notification_allowed_hosts=["hooks.example"],
    )
    assert server == A2AServer("A bank.", settings)
    assert (settings.replay_seconds, settings.allowed_hosts) == (30, ["hooks.example"])


@pytest.mark.req("TURN-5a")
@pytest.mark.parametrize(
    ("keys", "ttl"),
    [
        ("task_timeout_seconds: 0", 600),
        ("task_timeout_seconds: 9", 9),
        ("a2a_message_cache_ttl_seconds: 0", 0),
    ],
)
def test_ttl_of_the_replay_cache(keys: str, ttl: int):
    server, _ = read(f"a2a_server: {{description: A bank., {keys}}}")
    assert server.settings.replay_seconds == ttl


@pytest.mark.req("CFG-3")
def test_variables_are_replaced():
    block = 'a2a_server: {description: "${WHO} bank", max_contexts: "${MAX}"}'
    server, problems = read(block, {"WHO": "My", "MAX": "7"})
    assert (server.description, server.settings.max_contexts, problems) == ("My bank", 7, [])


@pytest.mark.req("CFG-3")
def test_unset_variable_is_named():
    _, problems = read('a2a_server:\n  description: "${WHO} bank"\n')
    assert problems == [
        "2: config.unset_variable: environment variable WHO is not set; export WHO=…"
    ]


@pytest.mark.req("CFG-4", "CFG-7")
def test_all_errors_at_once():
    _, problems = read(
        """\
a2a_server:
  task_timeout_seconds: -1
  max_contexts: many
  push_notifications_enabled: perhaps
  tls: {certificate: x}
  descripton: A bank.
"""
    )
    assert [problem.split(":")[0] for problem in problems] == ["5", "2", "3", "4", "6", "1"]
    assert any("--ssl-certificate" in problem for problem in problems)
    assert any("did you mean 'description'?" in problem for problem in problems)
    assert any("max_contexts: found 'many', expected an integer of 0" in p for p in problems)
    assert any("push_notifications_enabled: found 'perhaps'" in p for p in problems)


@pytest.mark.req("CFG-4")
@pytest.mark.parametrize("value", ["{certificate: x}", "", "true"])
def test_tls_of_older_versions_is_refused_wherever_it_stands(value: str):
    _, problems = read(f"tls: {value}\na2a_server:\n  description: A bank.\n  tls: {value}\n")
    fix = "remove it, and start with --ssl-certificate and --ssl-keyfile"
    assert problems == [
        f"1: validation.a2a_server.legacy_tls: tls is no longer read; {fix}",
        f"4: validation.a2a_server.legacy_tls: a2a_server.tls is no longer read; {fix}",
    ]


@pytest.mark.req("CFG-5a")
@pytest.mark.parametrize("block", ["", "a2a_server: {}", "a2a_server:", "action_endpoint: {}"])
def test_missing_description_prints_the_line_to_add(block: str):
    _, problems = read(block)
    assert problems == [
        "1: validation.a2a_server.missing_description: a2a_server has no description; "
        'add to endpoints.yml "a2a_server: {description: …}", '
        "or start with --description TEXT or --relax"
    ]


@pytest.mark.req("CFG-5a")
def test_given_description_stands_for_the_missing_one():
    assert read("", description="Bank") == (A2AServer(description="Bank"), [])


@pytest.mark.req("CFG-2")
def test_secret_comes_from_the_environment():
    block = """
a2a_server:
  description: A bank.
  auth: {type: bearer, jwt: {algorithm: HS256, secret: "${KEY}", issuer: me, audience: you}}
"""
    server, problems = read(block, {"KEY": "s3cret"})
    assert problems == []
    assert server.auth == JwtAuth("HS256", b"s3cret", issuer="me", audience="you")
    assert "s3cret" not in repr(server)


@pytest.mark.req("CFG-2")
@pytest.mark.parametrize(
    ("auth", "text"),
    [
        ("{jwt: {algorithm: HS256, secret: '${K}'}}", "auth.type: found None, expected 'bearer'"),
        ("{type: basic, jwt: {algorithm: HS256, secret: '${K}'}}", "found 'basic'"),
        ("{type: bearer}", "public_key_path is required for RS256"),
        ("{type: bearer, jwt: {algorithm: ES512}}", "public_key_path is required for ES512"),
        (
            "{type: bearer, jwt: {public_key_path: none.pem}}",
            "'none.pem' cannot be read: No such file",
        ),
        ("{type: bearer, jwt: {public_key_path: '.'}}", "'.' cannot be read"),
        ("{type: bearer, jwt: {algorithm: HS512}}", "secret is required for HS512"),
        ("{type: bearer, jwt: {algorithm: HS256, secret: plain}}", "written in plain text"),
        ("{type: bearer, jwt: {algorithm: HS256, secret: '${EMPTY}'}}", "${EMPTY} is empty"),
        ("{type: bearer, jwt: {algorithm: HS256, secret: 'x${K}'}}", "written in plain text"),
        ("{type: '${NO}', jwt: {algorithm: HS256, secret: '${K}'}}", "found '${NO}'"),
        ("{type: bearer, jwt: {algorithm: none}}", "algorithm 'none' is not supported"),
        ("{type: bearer, jwt: {algorithm: HS256, secret: '${K}', isuer: x}}", "no key 'isuer'"),
        ("{type: bearer, jtw: {}, jwt: {algorithm: HS256, secret: '${K}'}}", "no key 'jtw'"),
        ("[]", "a2a_server.auth: found a list, expected a mapping"),
    ],
)
def test_wrong_auth_is_reported(auth: str, text: str):
    _, problems = read(
        f"a2a_server: {{description: A bank., auth: {auth}}}", {"K": "x", "EMPTY": ""}
    )
    assert any(text in problem for problem in problems)
    (problem, *_) = problems
    assert "plain" not in problem.replace("plain text", "")


def written(key: PublicKeyTypes, path: Path) -> Path:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    path.write_bytes(key.public_bytes(serialization.Encoding.PEM, form))
    return path


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Key files by what is in them."""
    folder = tmp_path_factory.mktemp("keys")
    rsa_key = rsa.generate_private_key(65537, 2048)
    private = folder / "private.pem"
    private.write_bytes(
        rsa_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    text = folder / "text.pem"
    text.write_text("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n")
    return {
        "rsa": written(rsa_key.public_key(), folder / "rsa.pem"),
        "p256": written(ec.generate_private_key(ec.SECP256R1()).public_key(), folder / "p256.pem"),
        "p521": written(ec.generate_private_key(ec.SECP521R1()).public_key(), folder / "p521.pem"),
        "ed": written(ed25519.Ed25519PrivateKey.generate().public_key(), folder / "ed.pem"),
        "private": private,
        "text": text,
    }


@pytest.mark.req("CFG-2", "AUTH-2")
@pytest.mark.parametrize(
    ("algorithm", "kind", "fault"),
    [
        ("RS256", "rsa", ""),
        ("RS512", "rsa", ""),
        ("PS256", "rsa", ""),
        ("ES256", "p256", ""),
        ("ES512", "p521", ""),
        ("RS256", "p256", "holds no RSA key, as RS256 needs"),
        ("PS256", "ed", "holds no RSA key, as PS256 needs"),
        ("ES256", "p521", "holds no key on the curve secp256r1, as ES256 needs"),
        ("ES512", "rsa", "holds no key on the curve secp521r1, as ES512 needs"),
        ("RS256", "private", "holds a private key, expected the public one"),
        ("RS256", "text", "holds no public key in PEM"),
    ],
)
def test_key_must_be_one_that_the_algorithm_takes(
    keys: Mapping[str, Path], algorithm: str, kind: str, fault: str
):
    path = keys[kind]
    jwt = f"{{algorithm: {algorithm}, public_key_path: '{path}'}}"
    block = f"a2a_server: {{description: A bank., auth: {{type: bearer, jwt: {jwt}}}}}"
    server, problems = read(block)
    if fault:
        code = "1: validation.a2a_server.auth_public_key"
        assert problems == [f"{code}: auth.jwt.public_key_path: {str(path)!r} {fault}; "]
    else:
        assert problems == []
        assert server.auth == JwtAuth(algorithm, path.read_bytes())


@pytest.mark.req("CFG-2")
def test_plain_secret_is_refused_beside_a_key_too(keys: Mapping[str, Path]):
    jwt = f"{{public_key_path: '{keys['rsa']}', secret: hunter2}}"
    server, problems = read(
        f"a2a_server: {{description: A bank., auth: {{type: bearer, jwt: {jwt}}}}}"
    )
    (problem,) = problems
    assert "written in plain text" in problem
    assert "hunter2" not in problem
    assert server.auth == JwtAuth("RS256", keys["rsa"].read_bytes())


AT = Location("endpoints.yml", 3)
CARD = """\
{
  "name": "Bank",
  "description": "A bank.",
  "version": "7",
  "capabilities": {"streaming": true},
  "defaultInputModes": ["text/plain"],
  "defaultOutputModes": ["text/plain"],
  "skills": [
    {"id": "pay", "name": "Pay", "description": "Pays.", "tags": []},
    {"id": "ask", "name": "Ask", "description": "Asks.", "tags": ["x"]}
  ]
}
"""


def problems_of(path: Path, text: str | bytes) -> list[str]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = Findings()
    assert read_card_file(path, AT, found) is None
    return [f"{Path(p.location.file).name}:{p.location.line}: {p.text}" for p in found.problems]


@pytest.mark.req("CARD-6")
@pytest.mark.parametrize("extra", ["", '"url": "http://elsewhere/",', '"x-own": [1.5, null],'])
def test_card_is_taken_as_it_is(tmp_path: Path, extra: str) -> None:
    text = CARD.replace("{", "{" + extra, 1)
    (tmp_path / "card.json").write_text(text)
    found = Findings()
    assert read_card_file(tmp_path / "card.json", AT, found) == json.loads(text)
    assert found.problems == []


@pytest.mark.req("CARD-6", "CFG-7")
@pytest.mark.parametrize(
    ("wrong", "problems"),
    [
        ("{,}", ["card.json:1: this is not JSON: "]),
        (CARD.replace('"version": "7",', '"version": 7x,'), ["card.json:4: this is not JSON: "]),
        ("[]", ["card.json:1: a card is a JSON object"]),
        pytest.param(
            "[" * 500 + "]" * 500, ["card.json:1: this is not JSON: nested deeper"], id="deep"
        ),
        (b"\xff", ["endpoints.yml:3: agent_card_path: "]),
        (CARD.replace('"version": "7",', ""), ["card.json:1: version: Field required"]),
        (CARD.replace('"tags": []', '"tags": [], "name": 1'), ["card.json:9: skills.0.name: "]),
        (CARD.replace(', "tags": ["x"]', ""), ["card.json:10: skills.1.tags: Field required"]),
        (
            CARD.replace('"7"', "7").replace('{"streaming": true}', "[]"),
            ["card.json:5: capabilities: ", "card.json:4: version: "],
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(
    tmp_path: Path, wrong: str | bytes, problems: list[str]
) -> None:
    found = problems_of(tmp_path / "card.json", wrong)
    assert len(found) == len(problems)
    for text, expected in zip(sorted(found), sorted(problems), strict=True):
        assert text.startswith(expected)


@pytest.mark.req("CARD-6")
def test_missing_file_is_reported_where_it_is_named(tmp_path: Path) -> None:
    found = Findings()
    assert read_card_file(tmp_path / "card.json", AT, found) is None
    (problem,) = found.problems
    assert problem.location == AT
    assert problem.text.endswith("cannot be read: No such file or directory")


def load(folder: Path, mock: str, endpoint: str = "") -> ActionServer:
    (folder / "mock.yml").write_text(mock, encoding="utf-8")
    if endpoint:
        endpoints = folder / "endpoints.yml"
        endpoints.write_text(endpoints.read_text() + endpoint, encoding="utf-8")
    return load_project(folder, environment={"PORT": "5055"}).action_server


def test_default_is_stubs(folder: Path) -> None:
    assert load(folder, "") == ActionServer()
    assert load(folder, "action_server: stubs") == ActionServer()


def test_endpoint_is_that_of_endpoints_yml(folder: Path) -> None:
    endpoint = 'action_endpoint: {url: "http://localhost:${PORT}/webhook", cafile: ca.pem}\n'
    server = load(folder, "action_server: {kind: endpoint, timeout_seconds: 5}", endpoint)
    assert server.kind is ActionServerKind.ENDPOINT
    assert (server.url, server.timeout_seconds) == ("http://localhost:5055/webhook", 5)
    assert server.cafile == str(folder / "ca.pem")


@pytest.mark.parametrize("endpoint", ["", "action_endpoint: {url: grpc://localhost:5055}\n"])
def test_endpoint_needs_an_http_address(folder: Path, endpoint: str) -> None:
    with pytest.raises(ProjectError, match=r"mock.action_endpoint: action_endpoint.url: found"):
        load(folder, "action_server: endpoint", endpoint)


def test_child_runs_the_module_in_the_folder(folder: Path) -> None:
    server = load(folder, "action_server: child", "action_endpoint: {actions_module: acts}\n")
    assert (server.kind, server.module) == (ActionServerKind.CHILD, "acts")
    assert (server.python, server.folder) == (sys.executable, str(folder.resolve()))


def test_child_runs_with_the_projects_own_interpreter(folder: Path) -> None:
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert load(folder, "action_server: child").python == str(python.resolve())


@pytest.mark.parametrize("written", ["env/bin/python", "python3.12"])
def test_child_runs_with_the_interpreter_that_is_named(folder: Path, written: str) -> None:
    server = load(folder, f"action_server: {{kind: child, python: {written}, module: acts}}")
    expected = str(folder.resolve() / written) if "/" in written else written
    assert (server.python, server.module) == (expected, "acts")


def test_hash_of_the_code_changes_with_it(folder: Path) -> None:
    before = load_assistant(folder, environment={})
    (folder / "actions.py").write_text("action_pay = 1\n")
    after = load_assistant(folder, environment={})
    assert before.code_hash != after.code_hash
    assert before.content_hash != after.content_hash
