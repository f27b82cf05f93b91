"""Other keys for actions, as a user's config asks for them: all of them, or none that collides."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from inspector.tui.config import Config, unknown
from inspector.tui.keys import KEYS, Key, shown

_CONTROL = re.compile(r"f([1-9]|1[0-2])|(ctrl|alt)\+[a-z]")
# What terminals send for other keys, and what panels and lists answer before any action.
_TAKEN = {
    "ctrl+c": "what stops a program",
    "ctrl+h": "Backspace to a terminal",
    "ctrl+i": "Tab to a terminal",
    "ctrl+j": "a new line in the composer",
    "ctrl+m": "Enter to a terminal",
    "j": "down in a panel",
    "k": "up in a panel",
    "g": "the first line of a panel",
    "G": "the last line of a panel",
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """`keys` is the table with the user's keys in it; `problems` say what was left as it was."""

    keys: tuple[Key, ...] = KEYS
    problems: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What is told at the start: the first problem, and where the others are."""
        more = len(self.problems) - 1
        return "".join(self.problems[:1]) + (f"; F1 tells {more} more" if more > 0 else "")

    def overrides(self) -> dict[str, str]:
        """Return what Textual takes as a keymap: binding ids with other keys."""
        changed = [
            (key, default) for key, default in zip(self.keys, KEYS, strict=True) if key != default
        ]
        letters = {f"{key.name}.letters": key.letters for key, _ in changed if key.letters}
        controls = {f"{key.name}.controls": key.controls for key, _ in changed if key.controls}
        return letters | controls


def keymap_of(config: Config) -> Keymap:
    """Return the table of keys as `config` wants it, as far as it can be."""
    problems = list(config.problems)
    wanted: dict[str, Key] = {}
    defaults = {key.name: key for key in KEYS}
    for name, keys in config.keys.items():
        problem = _problem_of(name, keys, defaults)
        if problem:
            problems.append(config.at(name, problem))
        else:
            wanted[name] = _with_keys(defaults[name], keys)
    while (clash := _clash({**defaults, **wanted}, wanted)) is not None:
        name, key, other = clash
        del wanted[name]
        kept = defaults[name]
        keeps = ", ".join(shown(one) for one in _all(kept)) or "none"
        problem = f"{shown(key)} is the key of {other!r}; {name!r} keeps {keeps}"
        problems.append(config.at(name, problem))
    return Keymap(tuple(wanted.get(key.name, key) for key in KEYS), tuple(problems))


def _problem_of(name: str, keys: Sequence[str], known: Mapping[str, Key]) -> str:
    if name not in known:
        return unknown("action", name, tuple(known))
    for key in keys:
        if key in _TAKEN:
            return f"{shown(key)} is {_TAKEN[key]} and cannot be the key of {name!r}"
        if not _is_letter(key) and not _CONTROL.fullmatch(key):
            return f"{key!r} is no key: one letter, f1 to f12, ctrl+a to ctrl+z or alt+a to alt+z"
    return ""


def _with_keys(key: Key, keys: Sequence[str]) -> Key:
    """Return `key` with other letters, other controls, or both; the kind not named stays."""
    letters = ",".join(one for one in keys if _is_letter(one))
    controls = ",".join(one for one in keys if not _is_letter(one))
    return replace(key, letters=letters or key.letters, controls=controls or key.controls)


def _is_letter(key: str) -> bool:
    return len(key) == 1 and key.isprintable() and key not in " ,"


def _clash(table: Mapping[str, Key], wanted: Mapping[str, Key]) -> tuple[str, str, str] | None:
    """Return a wanted action, its key, and the other action that has this key too."""
    owners: dict[str, str] = {}
    for name, key in sorted(table.items(), key=lambda item: item[0] in wanted):
        for one in _all(key):
            if one in owners:
                return name, one, owners[one]
            owners[one] = name
    return None


def _all(key: Key) -> list[str]:
    return [one for one in f"{key.letters},{key.controls}".split(",") if one]
