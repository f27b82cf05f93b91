"""A saved target's name stands for its address and its connection options; flags win."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.cli import main
from inspector.core.saved.targets import Targets, targets_file, write_targets

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer

Capture = pytest.CaptureFixture[str]
SECRET = "hunter2-hunter2"


def headers_of(server: "RawServer") -> dict[str, str]:
    """The headers of the newest request, names in lower case."""
    head, _ = server.requests[-1]
    pairs = (line.split(": ", 1) for line in head.strip().split("\r\n")[1:])
    return {name.lower(): value for name, value in pairs}


@pytest.mark.req("CONN-1", "CONN-3")
def test_name_stands_for_target_and_options(
    sessions: Path, bank: "RawServer", capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANK_KEY", SECRET)
    monkeypatch.setenv("TENANT", "north-west")
    flags = ["--api-key-env", "BANK_KEY", "--header-name", "X-Key", "--header-format", "Key {key}"]
    assert main(["targets", "add", "bank", bank.url, *flags, "--header", "X-T: ${TENANT}"]) == 0
    assert main(["send", "bank", "hello"]) == 0
    sent = headers_of(bank)
    assert (sent["x-key"], sent["x-t"]) == (f"Key {SECRET}", "north-west")
    assert main(["targets", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {
        "name": "bank",
        "target": bank.url,
        "api_key_env": "BANK_KEY",
        "header_name": "X-Key",
        "header_format": "Key {key}",
        "header": ["X-T: ${TENANT}"],
    }
    (path,) = (sessions.parents[2] / "config" / "a2a-inspect").iterdir()
    assert SECRET not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.req("CONN-1")
def test_flags_win_over_what_is_saved(
    sessions: Path, bank: "RawServer", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANK_KEY", SECRET)
    monkeypatch.setenv("TOKEN", "token-token")
    flags = ["--api-key-env", "BANK_KEY", "--header-name", "X-Key"]
    assert main(["targets", "add", "bank", bank.url, *flags]) == 0
    assert main(["send", "bank", "hello", "--token-env", "TOKEN"]) == 0
    sent = headers_of(bank)
    assert sent["authorization"] == "Bearer token-token"
    assert "x-key" not in sent


@pytest.mark.req("CONN-1")
def test_card_file_is_found_from_any_folder(
    sessions: Path, bank: "RawServer", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = {"name": "Bank", "url": bank.url, "protocolVersion": "0.3.0"}
    (tmp_path / "card.json").write_text(json.dumps(card))
    monkeypatch.chdir(tmp_path)
    assert main(["targets", "add", "bank", "card.json"]) == 0
    monkeypatch.chdir("/")
    assert main(["send", "bank", "hello"]) == 0


@pytest.mark.req("CONN-3")
@pytest.mark.parametrize(
    "flags",
    [("--header", f"X-Key: {SECRET}"), ("--token-env", SECRET), ("--api-key-env", SECRET)],
)
def test_secret_in_the_place_of_a_name_is_refused_and_not_repeated(
    flags: tuple[str, str], sessions: Path, capsys: Capture
) -> None:
    assert main(["targets", "add", "bank", "http://bank.test", *flags]) == 2
    assert SECRET not in capsys.readouterr().err
    assert not (sessions.parents[2] / "config").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ('"timeout": "soon"', "expected a number of seconds above 0; found 'soon'"),
        ('"header": 5', "'Name: value'"),
        ('"token_env": 5', "the variable 5 is not set"),
        ('"insecure": "x"', "--insecure: ignored explicit argument 'x'"),
        ('"protocol": "9"', "invalid choice: '9'"),
        ('"tokenenv": "T"', "unrecognized arguments: --tokenenv=T"),
        ('"token_env": "A", "api_key_env": "B"', "not allowed with"),
    ],
)
def test_options_that_no_flag_could_say_are_told(
    options: str, told: str, sessions: Path, capsys: Capture
) -> None:
    write_targets(targets_file(), Targets())
    targets_file().write_text(
        f'{{"targets": {{"bank": {{"target": "http://127.0.0.1:1", {options}}}}}}}'
    )
    assert main(["card", "bank"]) == 2
    assert told in capsys.readouterr().err


def test_name_of_a_command_is_no_targets(sessions: Path, capsys: Capture) -> None:
    assert main(["targets", "add", "send", "http://bank.test"]) == 2
    assert main(["targets", "add", "bank", "nowhere"]) == 2
    assert "'send' is a command" in capsys.readouterr().err


def test_targets_are_listed_and_removed(sessions: Path, capsys: Capture) -> None:
    assert main(["targets", "list"]) == 0
    assert "no target is saved" in capsys.readouterr().err
    assert main(["targets", "add", "bank", "http://bank.test", "--timeout", "5", "--json"]) == 0
    assert main(["targets", "add", "shop", "http://shop.test"]) == 0
    capsys.readouterr()
    assert main(["targets", "list"]) == 0
    out = capsys.readouterr().out
    assert out == "bank  http://bank.test  timeout=5.0\nshop  http://shop.test\n"
    assert main(["targets", "remove", "bank", "--json"]) == 0
    assert main(["targets", "remove", "bank"]) == 2
    assert "no target is named 'bank'" in capsys.readouterr().err
