"""Times of statuses as numbers."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.timestamps import is_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T01:00:00+01:00", 0),
        ("2026-11-21T10:00:00.123456789Z", 1795255200123.456),
        ("1970-02-31T00:00:00Z", None),
        ("1970-01-01 00:00:00Z", None),
        ("1970-01-01T00:00:00", None),
        ("now", None),
    ],
)
def test_timestamps(text: str, ms: float | None) -> None:
    assert parse_timestamp(text) == ms


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_keep_their_order(time: datetime) -> None:
    read = parse_timestamp(time.isoformat())
    assert read == time.timestamp() * 1000


@given(st.text(max_size=40))
def test_anything_can_be_read(text: str) -> None:
    assert parse_timestamp(text) is None or is_timestamp(text)
