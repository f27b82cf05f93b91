"""Files and streams that the user names, read whole as long as they end."""

from pathlib import Path
from typing import BinaryIO

from inspector.errors import UsageError

MOST_BYTES = 100 * 1024 * 1024


def read_user_file(path: Path, where: str) -> bytes:
    """The content of `path`; `where` names it in errors.

    Raises:
        UsageError: it cannot be read, or is longer than anything that is sent.
    """
    try:
        with path.open("rb") as stream:
            return read_to_end(stream, where)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from error


def read_to_end(stream: BinaryIO, where: str, most_bytes: int = MOST_BYTES) -> bytes:
    """What `stream` holds.

    Raises:
        UsageError: it does not end within `most_bytes`.
    """
    content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UsageError(f"{where}: more than {most_bytes} bytes", "name something smaller")
    return content
