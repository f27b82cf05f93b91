"""The benchmark runs; what it measures is for people to read, and no test asserts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_bench_measures_the_mock_beside_the_bare_route() -> None:
    line = [sys.executable, "-m", "benchmarks.sends", "--json", "--only", "flow"]
    line += ["--rounds", "1", "--seconds", "0.1", "--tasks", "100"]
    ended = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert [row["server"] for row in report["rows"]] == [
        "bare Starlette route",
        "a2a-mock, one flow",
    ]
    assert report["memory"]["tasks"] == 100
    assert report["missing"] == []
