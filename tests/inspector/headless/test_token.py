"""`a2a-inspect token` prints a token and nothing else."""

import subprocess
import sys
import time
from pathlib import Path

import jwt
import pytest

from inspector.cli import main
from inspector.settings import ALGORITHMS, DEFAULT_TTL_SECONDS

SECRET = "one secret with as many bytes as the longest algorithm asks for, 64"


@pytest.mark.req("CONN-3", "CLI-4")
def test_the_token_stands_alone_on_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BANK_SECRET", SECRET)
    assert main(["token", "--alg", "HS256", "--secret-env", "BANK_SECRET"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    claims = jwt.decode(out.removesuffix("\n"), SECRET, ["HS256"])
    assert claims["exp"] - claims["iat"] == DEFAULT_TTL_SECONDS


def test_a_ttl_below_0_makes_an_expired_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BANK_SECRET", "short")
    assert main(["token", "--alg", "HS256", "--secret-env", "BANK_SECRET", "--ttl", "-5"]) == 0
    out, err = capsys.readouterr()
    assert "5 bytes; HS256 asks for 32" in err
    claims = jwt.decode(out.strip(), options={"verify_signature": False})
    assert claims["exp"] < time.time()


def test_help_names_every_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["token", "--help"])
    assert ", ".join(ALGORITHMS) in " ".join(capsys.readouterr().out.split())


@pytest.mark.req("CLI-1")
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--alg", "HS384", "--secret-env", "X"], "invalid choice: 'HS384'"),
        (["--alg", "HS256"], "one of the arguments --key --secret-env is required"),
        (["--alg", "HS256", "--key", "a", "--secret-env", "X"], "not allowed with"),
        (["--alg", "HS256", "--secret-env", "NOT_SET"], "the variable NOT_SET is not set"),
        (["--alg", "HS256", "--secret-env", "HOME", "--claim", "x"], "is not NAME=VALUE"),
        (["--alg", "HS256", "--secret-env", "HOME", "--ttl", "nan"], "found 'nan'"),
    ],
)
def test_wrong_usage_is_2(words: list[str], complaint: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "token", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
