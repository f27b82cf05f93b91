"""Times and sizes as people read them."""

from datetime import datetime, timedelta

_SECOND_MS = 1000
_MINUTE_MS = 60 * _SECOND_MS
_KILOBYTE = 1000


def duration(ms: float) -> str:
    if ms < _SECOND_MS:
        return f"{ms:.0f} ms"
    if ms < _MINUTE_MS:
        return f"{ms / _SECOND_MS:.2f} s"
    minutes, seconds = divmod(int(ms / _SECOND_MS), 60)
    return f"{minutes} m {seconds:02} s"


def span(seconds: float) -> str:
    """Return what is left of something, in its largest unit."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(size_bytes: int) -> str:
    if size_bytes < _KILOBYTE:
        return f"{size_bytes} B"
    if size_bytes < _KILOBYTE**2:
        return f"{size_bytes / _KILOBYTE:.1f} kB"
    return f"{size_bytes / _KILOBYTE**2:.1f} MB"


def wall_clock(started: datetime, at_ms: float) -> str:
    return (started + timedelta(milliseconds=at_ms)).strftime("%H:%M:%S")
