"""Where a user's sessions and targets live: the folders of the XDG specification, or the system's.

`platformdirs` is imported when a folder is asked for: a command without one starts sooner.
"""

from pathlib import Path

APP = "a2a-inspect"


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
