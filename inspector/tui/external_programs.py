"""Texts in the user's own editor or pager: the terminal is theirs until they end."""

import asyncio
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.app import App, SuspendNotSupported

from inspector.errors import UsageError

# control characters, the invisible ones that turn or join text, lone surrogates
_UNSEEN = ("Cc", "Cf", "Cs")


def editor_of(environment: Mapping[str, str]) -> list[str]:
    """Return the words of the command that edits a file."""
    return _words(environment.get("VISUAL") or environment.get("EDITOR") or "vi", "$EDITOR")


def pager_of(environment: Mapping[str, str]) -> list[str]:
    """Return the words of the command that shows a file page by page."""
    return _words(environment.get("PAGER") or "less", "$PAGER")


def _words(command: str, variable: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{variable} {command!r}: {error}") from error


async def edit_outside(app: App[int], content: bytes, suffix: str, editor: list[str]) -> bytes:
    """Return `content` as the editor left it.

    Raises:
        UsageError: no such editor, it failed, or the terminal cannot be handed over.
    """
    with TemporaryDirectory(prefix="a2a-inspect-") as folder:
        path = Path(folder, f"turn{suffix}")
        await asyncio.to_thread(path.write_bytes, content)
        status = await _run(app, editor, path)
        if status != 0:
            raise UsageError(f"{editor[0]} exited with status {status}; nothing changed")
        return await asyncio.to_thread(path.read_bytes)


async def view_outside(app: App[int], text: str, suffix: str, command: Sequence[str]) -> None:
    """Show `text` by `command`; what is changed there is dropped.

    Raises:
        UsageError: no such command, or the terminal cannot be handed over.
    """
    with TemporaryDirectory(prefix="a2a-inspect-") as folder:
        path = Path(folder, f"view{suffix}")
        await asyncio.to_thread(_write, path, text)
        await _run(app, command, path)


async def _run(app: App[int], command: Sequence[str], path: Path) -> int:
    """Run `command` on `path` in the terminal, and return its exit status.

    Exchanges go on and are logged meanwhile; nothing is drawn over the command.
    """
    try:
        with app.batch_update(), app.suspend():
            process = await asyncio.create_subprocess_exec(*command, str(path))
            return await process.wait()
    except SuspendNotSupported as error:
        raise UsageError("the terminal cannot be handed over to another program") from error
    except OSError as error:
        raise UsageError(f"{command[0]}: {error.strerror}") from error


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
