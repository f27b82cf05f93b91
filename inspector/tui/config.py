"""The user's settings in config.toml, and the theme and layout that the app remembers."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.saved.quota import FILE, NOT_A_SIZE, SETTING, is_size
from inspector.tui.drawing.themes import THEMES
from inspector.tui.layout import Layout, parse_layout

if TYPE_CHECKING:
    from inspector.wire.json_values import Json


SYMBOLS = ("auto", "unicode", "ascii")
_SETTINGS = ("theme", "symbols", SETTING, "keys")


@dataclass(frozen=True, slots=True)
class Config:
    """`theme` is "" where the user has set none. `keys` are as written, by the action's name.

    `problems` name file and line; the settings that they are about are ignored.
    """

    theme: str = ""
    symbols: str = "auto"
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    problems: tuple[str, ...] = ()
    text: str = ""

    def at(self, setting: str, problem: str) -> str:
        """Return `problem` with the place where `setting` stands."""
        return f"{FILE}:{_line_of(self.text, setting)}: {problem}"


def read_config(folder: Path) -> Config:
    """Return what the file in `folder` sets; where there is none, the defaults."""
    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        return Config(problems=(f"{FILE}: {error}",))
    return parse_config(text)


def parse_config(text: str) -> Config:
    import tomllib

    try:
        written: dict[str, Json] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Config(problems=(f"{FILE}: {error}",))
    config = Config(
        theme=_choice(written.get("theme"), tuple(THEMES)) or "",
        symbols=_choice(written.get("symbols"), SYMBOLS) or "auto",
        keys=dict(_keys(written.get("keys"))),
        text=text,
    )
    problems = [config.at(*problem) for problem in _problems(written)]
    return Config(config.theme, config.symbols, config.keys, tuple(problems), text)


def unknown(kind: str, name: str, known: tuple[str, ...]) -> str:
    """Return the problem with a `name` that is not in `known`."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(known)}"
    return f"unknown {kind} {name!r}; {hint}"


def _problems(written: "Mapping[str, Json]") -> Iterator[tuple[str, str]]:
    """Yield each invalid setting with its problem."""
    for name in written:
        if name not in _SETTINGS:
            yield name, unknown("setting", name, _SETTINGS)
    for name, known in (("theme", tuple(THEMES)), ("symbols", SYMBOLS)):
        value = written.get(name)
        if value is not None and _choice(value, known) is None:
            yield name, unknown(name, str(value), known)
    if not is_size(written.get(SETTING, 0)):
        yield SETTING, NOT_A_SIZE
    keys = written.get("keys", {})
    if not isinstance(keys, dict):
        yield "keys", "[keys] is a table of actions and their keys"
        return
    for name, value in keys.items():
        if _key_list(value) is None:
            yield name, f'keys.{name} is a key or a list of keys, such as "x" or ["x", "f8"]'


def _choice(value: "Json", known: tuple[str, ...]) -> str | None:
    return value if isinstance(value, str) and value in known else None


def _keys(value: "Json") -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, keys in value.items() if isinstance(value, dict) else ():
        listed = _key_list(keys)
        if listed is not None:
            yield name, listed


def _key_list(value: "Json") -> tuple[str, ...] | None:
    keys = value if isinstance(value, list) else [value]
    listed = tuple(key for key in keys if isinstance(key, str) and key)
    return listed if listed and len(listed) == len(keys) else None


def _line_of(text: str, setting: str) -> int:
    pattern = re.compile(rf"""\s*\[?\s*["']?{re.escape(setting)}["']?\s*[=\].]""")
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.match(line):
            return number
    return 1


LOOK_FILE = "layout.json"


@dataclass(frozen=True, slots=True)
class Look:
    """`theme` is "" until the user has chosen one by a key."""

    theme: str = ""
    layout: Layout = field(default_factory=Layout)


def read_look(folder: Path) -> Look:
    """Return what was remembered; an unreadable file counts as none."""
    try:
        text = (folder / LOOK_FILE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return Look()
    # imported only where there is a file to read
    import json

    try:
        written: Json = json.loads(text)
    except ValueError:
        return Look()
    if not isinstance(written, dict):
        return Look()
    theme = written.get("theme")
    return Look(theme if isinstance(theme, str) else "", parse_layout(written.get("layout")))


def write_look(folder: Path, look: Look) -> str:
    """Remember `look`; returns the problem, or ""."""
    import json

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = folder / f"{FILE}.{os.getpid()}"
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"theme": look.theme, "layout": asdict(look.layout)}, file)
        written.replace(folder / LOOK_FILE)
    except OSError as error:
        return f"the layout is not remembered: {error}"
    return ""
