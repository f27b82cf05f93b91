"""Where a user's sessions and targets live, by the XDG specification or the system's; typed paths.

`platformdirs` is imported when a folder is asked for: a command without one starts sooner.
"""

import os
from pathlib import Path

APP = "a2a-inspect"


def typed_path(text: str) -> Path:
    """The path that a user typed: `~` and `~NAME` are home folders, where there is such a user."""
    return Path(os.path.expanduser(text))


def state_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path(APP, appauthor=False)


def sessions_folder() -> Path:
    return state_folder() / "sessions"


def pictures_folder() -> Path:
    return state_folder() / "screenshots"


def cards_folder() -> Path:
    return state_folder() / "cards"


def config_folder() -> Path:
    from platformdirs import user_config_path

    return user_config_path(APP, appauthor=False)
