"""Flags are made from the fields of options, and read back into them."""

from pathlib import Path

import pytest

from inspector.errors import UsageError
from inspector.headless.options import (
    AppOptions,
    ConnectionOptions,
    ListenOptions,
    SendOptions,
    SessionsOptions,
    TargetsOptions,
    TokenOptions,
    parse_connection,
    read_options,
)


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", AppOptions()),
        ("send x", SendOptions("x")),
        ("listen", ListenOptions()),
        ("listen --delay 0 --port 1", ListenOptions(port=1)),
        ("token --alg HS256 --secret-env S", TokenOptions("HS256", secret_env="S")),
        ("sessions delete a b", SessionsOptions("delete", sessions=("a", "b"))),
        ("sessions export a", SessionsOptions("export", session="a")),
        (
            "targets add n x --cacert f",
            TargetsOptions(
                "add", name="n", target="x", connection=ConnectionOptions(cacert=Path("f"))
            ),
        ),
    ],
)
def test_what_is_not_given_has_its_default(line: str, options: object) -> None:
    assert read_options(line.split())[1] == options


def test_a_tuple_repeats_and_a_bool_is_a_switch() -> None:
    options = parse_connection(["--header", "a: b", "--header=c: d", "--insecure"])
    assert options == ConnectionOptions(header=("a: b", "c: d"), insecure=True)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("send", "required: TARGET"),
        ("card x --raw --json", "not allowed with"),
        ("token --alg HS256", "one of the arguments --key --secret-env is required"),
        ("token --key f", "required: --alg"),
        ("sessions list --keep 3", "unrecognized arguments: --keep 3"),
        ("send x hi --history-length 1.5", "expected a whole number; found '1.5'"),
        ("listen --port 65536", "expected a port, 0 to 65535; found '65536'"),
        ("send x hi --timeout inf", "expected a number of seconds above 0; found 'inf'"),
    ],
)
@pytest.mark.req("CLI-1")
def test_what_is_not_understood_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_options(line.split())
