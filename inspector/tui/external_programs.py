"""Texts in the user's own editor or pager: the terminal is theirs until they end."""

import asyncio
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.app import App, SuspendNotSupported

from inspector.errors import UsageError

_EDITOR = "vi"
_PAGER = "less"
# control characters, the invisible ones that turn or join text, lone surrogates
_UNSEEN = ("Cc", "Cf", "Cs")


def editor_of(environment: Mapping[str, str]) -> list[str]:
    """Return the words of the command that edits a file."""
    chosen = environment.get("VISUAL") or environment.get("EDITOR") or _EDITOR
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
            raise UsageError("the terminal cannot be handed over to an editor") from error
        except OSError as error:
            raise UsageError(f"{editor[0]}: {error.strerror}") from error
        if status != 0:
            raise UsageError(f"{editor[0]} exited with status {status}; nothing changed")
        return await asyncio.to_thread(path.read_bytes)


def pager_of(environment: Mapping[str, str]) -> list[str]:
    """Return the words of the command that shows a file page by page."""
    chosen = environment.get("PAGER") or _PAGER
    try:
        return shlex.split(chosen)
    except ValueError as error:
        raise UsageError(f"$PAGER {chosen!r}: {error}") from error


def visible(raw: bytes) -> str:
    """Return `raw` so that a terminal shows every byte and obeys none: ESC is written `\\x1b`."""
    text = raw.decode("utf-8", "backslashreplace")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_seen(letter) for letter in text)


def _seen(letter: str) -> str:
    if letter in "\n\t" or unicodedata.category(letter) not in _UNSEEN:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o400)


async def view_outside(app: App[int], text: str, suffix: str, command: Sequence[str]) -> None:
    """Show `text` by `command`; what is changed there is dropped.

    Raises:
        UsageError: there is no such command, or the terminal cannot be given away.
    """
    with TemporaryDirectory(prefix="a2a-inspect-") as folder:
        path = Path(folder, f"view{suffix}")
        await asyncio.to_thread(_write, path, text)
        try:
            with app.batch_update(), app.suspend():
                process = await asyncio.create_subprocess_exec(*command, str(path))
                await process.wait()
        except SuspendNotSupported as error:
            raise UsageError(f"the terminal cannot be handed over to {command[0]}") from error
        except OSError as error:
            raise UsageError(f"{command[0]}: {error.strerror}") from error
