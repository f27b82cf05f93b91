"""What `a2a-mock replicas` does before any replica runs."""

import re
from pathlib import Path

import pytest

from mock_server.cli import main
from mock_server.replicas import Routing, configuration, find_haproxy

URLS = ("http://127.0.0.1:6001/", "http://127.0.0.1:6002/")


@pytest.mark.req("STICKY-1")
def test_missing_haproxy_names_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replicas", "--haproxy", str(tmp_path / "haproxy")]) == 2
    printed = capsys.readouterr().err
    assert "install the package haproxy" in printed
    assert len(printed.splitlines()) == 1


def test_named_haproxy_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "my-haproxy"
    program.touch(mode=0o755)
    assert find_haproxy(program) == str(program)


@pytest.mark.parametrize("flags", [("--replicas", "0"), ("--replicas", "x"), ("--routing", "no")])
def test_impossible_flag_is_a_usage_error(
    flags: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["replicas", *flags])
    assert "see a2a-mock replicas --help" in capsys.readouterr().err


@pytest.mark.req("STICKY-1")
def test_key_is_looked_for_in_body_then_header_then_cookie() -> None:
    text = configuration(Routing.STICKY, 7, URLS)
    sources = re.findall(r"req\.(body|hdr|cook)\b", text)
    assert sources == ["body", "body", "hdr", "cook"]


@pytest.mark.parametrize("routing", Routing)
def test_each_replica_is_a_server(routing: Routing) -> None:
    text = configuration(routing, 7, URLS)
    assert re.findall(r"^ +server (\S+) (\S+)", text, re.MULTILINE) == [
        ("replica-1", "127.0.0.1:6001"),
        ("replica-2", "127.0.0.1:6002"),
    ]
    assert 'bind "fd@7"' in text


def test_round_robin_looks_at_nothing() -> None:
    text = configuration(Routing.ROUND_ROBIN, 7, URLS)
    assert "balance roundrobin" in text
    assert not re.search(r"req\.|cookie|context", text)
