"""The benchmark of long logs runs; what it measures is for people to read, not asserted."""

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.log import SHAPES
from inspector.views import log_views

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(300)
def test_bench_measures_a_long_log_beside_a_short_one() -> None:
    line = [sys.executable, "-m", "benchmarks.log", "--few", "50", "--entries", "100"]
    line += ["--more", "12", "--rounds", "1"]
    ended = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("\nan entry more ") == len(SHAPES)
    assert ended.stdout.count("\na page up ") == len(SHAPES)
    assert ended.stdout.count("B an entry") == len(SHAPES)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_log_that_is_measured_is_a_sound_one(shape: str) -> None:
    """What agents do wrong costs more; here they do everything right."""
    views = log_views.EMPTY
    for entry in islice(SHAPES[shape](), 600):
        views = log_views.step(views, entry)
    updates = [update for row in views.timeline.rows for update in row.updates]
    assert updates
    assert [finding for update in updates for finding in update.findings] == []
    assert [finding for one in views.exchanges for finding in one.findings] == []
