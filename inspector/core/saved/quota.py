"""How much room saved sessions may take: `sessions_mb` in the user's config.toml."""

from collections.abc import Callable
from pathlib import Path

FILE = "config.toml"
SETTING = "sessions_mb"
MEGABYTE = 1_000_000
DEFAULT_MB = 1000
NOT_A_SIZE = f"{SETTING} is a whole number of megabytes, or 0 for no limit"


def is_size(value: object) -> bool:
    """Say whether `value` can be the setting."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_quota(folder: Path, warn: Callable[[str], None]) -> int | None:
    """The bytes that all saved sessions may take, as the file in `folder` says; None for any.

    A file that cannot be read means the default, which `warn` is told.
    """
    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return DEFAULT_MB * MEGABYTE
    except (OSError, UnicodeDecodeError) as error:
        return _default(f"{FILE}: {error}", warn)
    # imported only where there is a file to read
    import tomllib

    try:
        value = tomllib.loads(text).get(SETTING, DEFAULT_MB)
    except tomllib.TOMLDecodeError as error:
        return _default(f"{FILE}: {error}", warn)
    if not is_size(value):
        return _default(f"{FILE}: {NOT_A_SIZE}", warn)
    return value * MEGABYTE or None


def _default(problem: str, warn: Callable[[str], None]) -> int:
    warn(f"{problem}; saved sessions may take {DEFAULT_MB} MB")
    return DEFAULT_MB * MEGABYTE
