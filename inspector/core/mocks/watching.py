"""Changes in a folder, for targets that announce none themselves."""

from collections.abc import AsyncGenerator
from pathlib import Path

# Changes that follow each other faster than this are one.
QUIET_MILLISECONDS = 50


async def changes(folder: Path) -> AsyncGenerator[None]:
    """Yield after each save below `folder`; version control, caches and backups do not count."""
    # watchfiles brings a compiled module that only this needs
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]  # names trio, too

    async for _ in awatch(folder, step=QUIET_MILLISECONDS, debounce=QUIET_MILLISECONDS * 4):
        yield
