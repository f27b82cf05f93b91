"""The benchmark of many things in one reply runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.counts import SHAPES, folded, print_all, reply

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(300)
def test_it_measures_a_shape() -> None:
    line = [sys.executable, "-m", "benchmarks.counts", "--sizes", "20", "--only", "artifacts"]
    ran = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "artifacts: views, each" in ran.stdout
    assert ran.stdout.count("longest wait of a key") == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_is_a_reply_that_can_be_shown(shape: str) -> None:
    views = folded(reply(shape, 20))
    assert len(views.exchanges) == 1
    print_all(views, shape)
