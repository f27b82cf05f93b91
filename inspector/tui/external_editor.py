"""A text in the user's own editor: the terminal is the editor's until it ends."""

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.app import App, SuspendNotSupported

from inspector.errors import UsageError

_FALLBACK = "vi"


def editor_of(environment: Mapping[str, str]) -> list[str]:
    """Return the words of the command that edits a file."""
    chosen = environment.get("VISUAL") or environment.get("EDITOR") or _FALLBACK
    try:
        return shlex.split(chosen)
    except ValueError as error:
        raise UsageError(f"$EDITOR {chosen!r}: {error}") from error


async def edit_outside(app: App[int], content: bytes, suffix: str, editor: list[str]) -> bytes:
    """Return `content` as the editor left it.

    Exchanges go on and are logged meanwhile; nothing is drawn over the editor.

    Raises:
        UsageError: no such editor, it failed, or the terminal cannot be given away.
    """
    with TemporaryDirectory(prefix="a2a-inspect-") as folder:
        path = Path(folder, f"turn{suffix}")
        await asyncio.to_thread(path.write_bytes, content)
        try:
            with app.batch_update(), app.suspend():
                process = await asyncio.create_subprocess_exec(*editor, str(path))
                status = await process.wait()
        except SuspendNotSupported as error:
            raise UsageError("this terminal cannot be given to an editor") from error
        except OSError as error:
            raise UsageError(f"{editor[0]}: {error.strerror}") from error
        if status != 0:
            raise UsageError(f"{editor[0]} ended with status {status}: nothing is changed")
        return await asyncio.to_thread(path.read_bytes)
