"""The benchmark of many things in one reply runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.counts import SHAPES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(300)
def test_it_measures_every_shape() -> None:
    line = [sys.executable, "-m", "benchmarks.counts", "--sizes", "20"]
    ran = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert ran.returncode == 0, ran.stderr
    for name in SHAPES:
        assert f"{name}: views, each" in ran.stdout
    assert ran.stdout.count("longest wait of a key") == len(SHAPES)
