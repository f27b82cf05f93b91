"""What the answers are made of, and whether a client takes it."""

from fnmatch import fnmatchcase

OUTPUT_MODES = ("text/plain", "application/json")


def admits_output(modes: tuple[str, ...]) -> bool:
    """Whether one of the accepted `modes` admits what we send; none at all admits everything."""
    patterns = [mode.partition(";")[0].strip().lower() for mode in modes]
    return not patterns or any(
        fnmatchcase(offered, pattern) for offered in OUTPUT_MODES for pattern in patterns
    )
