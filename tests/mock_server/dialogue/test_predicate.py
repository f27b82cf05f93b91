"""Conditions as pypred reads them, without what its parser writes and prints."""

import shutil
import subprocess
import sys
from pathlib import Path

import pypred
import pytest

from mock_server.dialogue.predicate import Predicate
from mock_server.errors import ConditionError

READ = """
import sys
sys.path.insert(0, sys.argv[1])
import pypred
from mock_server.dialogue.expressions import evaluate
assert pypred.__file__.startswith(sys.argv[1]), pypred.__file__
assert evaluate("slots.a = 1", {"slots": {"a": 1}, "context": {}})
"""


@pytest.mark.req("LOG-1")
def test_reading_prints_nothing_and_writes_nothing(tmp_path: Path) -> None:
    copied = tmp_path / "pypred"
    shutil.copytree(Path(pypred.__file__).parent, copied)
    tables = copied / "parsetab.py"
    tables.write_text("_tabversion = '3.8'\n")
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    line = [sys.executable, "-B", "-c", READ, str(tmp_path)]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("slots.a & 1", "Failed to parse characters & at line 1, col 8"),
        ("slots.a = =", "Syntax error with = at line 1, col 10"),
        ("slots.a =", "Unexpected end of predicate!"),
        ("slots.a matches 5", "`matches` takes a regular expression in quotes"),
        ("{{1}} contains slots.a", "a set cannot be in a set"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(source: str, reason: str) -> None:
    with pytest.raises(ConditionError) as caught:
        Predicate(source)
    assert caught.value.reason.startswith(reason)


def test_mistake_in_one_condition_leaves_the_next_alone() -> None:
    with pytest.raises(ConditionError):
        Predicate("= =\n=")
    assert Predicate("true").evaluate({})
    with pytest.raises(ConditionError, match="line 1, col 0"):
        Predicate("= 1")
