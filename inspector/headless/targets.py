"""`a2a-inspect targets`, and what a saved target's name stands for in every other command."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from inspector.core.saved.targets import (
    SavedTarget,
    Targets,
    change_targets,
    check_name,
    check_secrets,
    read_targets,
    targets_file,
)
from inspector.core.target import parse_target
from inspector.errors import UsageError
from inspector.headless.terminal import BOLD, DIM, ink_for, print_json, print_notice, print_text
from inspector.views.text import plain_line
from inspector.wire.json_values import Json

# From words to the connection flags by the names that argparse gives them.
ReadConnection: TypeAlias = Callable[[Sequence[str]], dict[str, object]]

EXIT_OK = 0
# What is no connection option, or is not a target's to say.
_NOT_SAVED = frozenset({"no_save"})
_VARIABLES = ("token_env", "api_key_env", "jwt_secret_env")
# One way to prove who one is: a flag for one sets aside all that is saved of another.
_CREDENTIALS = frozenset(
    {
        *("token_env", "api_key_env", "header_name", "header_format", "oauth"),
        *("jwt_alg", "jwt_key", "jwt_secret_env", "jwt_claim", "jwt_ttl"),
    }
)


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "list":
            return _list(arguments)
        case "add":
            return _add(arguments)
        case _:
            return _remove(arguments)


def use_saved_target(
    arguments: argparse.Namespace, read_connection: ReadConnection, *, by_address: bool = False
) -> None:
    """Put the target and the options in the place of a saved name; flags that were given win.

    `read_connection` reads connection flags. `by_address` finds the target by where it leads to, as
    a recorded session tells it.

    Raises:
        UsageError: the file of targets holds what no flag could say; somebody has edited it.
    """
    targets = read_targets(targets_file()).saved
    saved = targets.get(arguments.target)
    if by_address:
        saved = next((one for one in targets.values() if one.target == arguments.target), None)
    if saved is None:
        return
    arguments.target = saved.target
    defaults, kept = read_connection(()), _read_options(saved, read_connection)
    given = {name for name in defaults if getattr(arguments, name) != defaults[name]}
    if given & _CREDENTIALS:
        given |= _CREDENTIALS
    for name, value in kept.items():
        if name not in given:
            setattr(arguments, name, value)


def _read_options(saved: SavedTarget, read_connection: ReadConnection) -> dict[str, object]:
    """What the saved options are as flags."""
    words = [word for name, value in saved.options.items() for word in _as_flags(name, value)]
    try:
        return read_connection(words)
    except UsageError as error:
        raise UsageError(
            f"{targets_file()}: target {saved.target}: {error.text}",
            "mend it there, or save the target anew: a2a-inspect targets add",
        ) from error


def _as_flags(name: str, value: Json) -> Iterator[str]:
    flag = f"--{name.replace('_', '-')}"
    match value:
        case True:
            yield flag
        case list():
            yield from (f"{flag}={one}" for one in value)
        case _:
            yield f"{flag}={value}"


def _list(arguments: argparse.Namespace) -> int:
    targets = read_targets(targets_file())
    ink = ink_for(sys.stdout)
    for name, saved in sorted(targets.saved.items()):
        if arguments.json:
            print_json({"name": name, "target": saved.target, **saved.options})
            continue
        options = "  ".join(f"{key}={_spell(value)}" for key, value in saved.options.items())
        line = f"{ink(name, BOLD)}  {plain_line(saved.target)}  {ink(options, DIM)}"
        print_text(line.rstrip() if options else f"{ink(name, BOLD)}  {plain_line(saved.target)}")
    if not targets.saved and not arguments.json:
        print_notice("no target is saved; a2a-inspect targets add NAME TARGET")
    return EXIT_OK


def _add(arguments: argparse.Namespace) -> int:
    target = arguments.target
    parse_target(target)
    if Path(target).exists():
        # the name is used from other folders, too
        target = str(Path(target).absolute())
    saved = SavedTarget(target, _options(arguments))
    # what is refused leaves no trace, not even an empty folder
    check_name(arguments.name)
    check_secrets(saved)
    change_targets(targets_file(), lambda targets: targets.with_target(arguments.name, saved))
    if arguments.json:
        print_json({"name": arguments.name, "target": target, **saved.options})
    return EXIT_OK


def _options(arguments: argparse.Namespace) -> dict[str, Json]:
    """The connection flags that were given, as they are saved.

    Raises:
        UsageError: what should name a variable may be the secret itself.
    """
    for name in _VARIABLES:
        variable = getattr(arguments, name, None)
        if variable is not None and variable not in os.environ:
            # a key pasted in the place of a name must not get into the file, nor be repeated
            raise UsageError(
                f"--{name.replace('_', '-')}: no variable of that name is set",
                "export it first; it is the name that is saved, never the value",
            )
    given: dict[str, Json] = {}
    for name, default in arguments.read_connection(()).items():
        value = getattr(arguments, name)
        if name not in _NOT_SAVED and value != default:
            given[name] = str(value.absolute()) if isinstance(value, Path) else value
    return given


def _remove(arguments: argparse.Namespace) -> int:
    def without(targets: Targets) -> Targets:
        if arguments.name not in targets.saved:
            raise UsageError(
                f"no target is called {arguments.name!r}", "a2a-inspect targets list shows all"
            )
        return targets.without_target(arguments.name)

    change_targets(targets_file(), without)
    if arguments.json:
        print_json({"removed": arguments.name})
    return EXIT_OK


def _spell(value: Json) -> str:
    return plain_line(", ".join(map(str, value)) if isinstance(value, list) else str(value))
