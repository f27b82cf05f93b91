"""`a2a-inspect targets`, and what a saved target's name stands for in every other command."""

import os
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from inspector.core.saved.targets import (
    SavedTarget,
    Targets,
    change_targets,
    check_name,
    check_secrets,
    read_targets,
    targets_file,
)
from inspector.core.target import authenticated, parse_target
from inspector.errors import EXIT_OK, UsageError
from inspector.headless.command_line import COMMANDS
from inspector.headless.options import (
    ConnectionOptions,
    Targeted,
    TargetsOptions,
    parse_connection,
)
from inspector.headless.terminal import BOLD, DIM, ink_for, print_json, print_notice, print_text
from inspector.settings import Connection
from inspector.views.text import plain_line
from inspector.wire.json_values import Json

_VARIABLES = ("token_env", "api_key_env", "jwt_secret_env")
# Ways to authenticate: a flag for one sets aside all that is saved of another.
_CREDENTIALS = frozenset(
    {
        *("token_env", "api_key_env", "header_name", "header_format"),
        *("jwt_alg", "jwt_key", "jwt_secret_env", "jwt_claim", "jwt_ttl"),
    }
)


def run(options: TargetsOptions) -> int:
    match options.action:
        case "list":
            return _list(options)
        case "add":
            return _add(options)
        case _:
            return _remove(options)


def with_saved_target(options: Targeted) -> Targeted:
    """`options` with what a saved target's name stands for: a word that is not a URL or a path.

    Raises:
        UsageError: as `resolve_target` does.
    """
    if options.target is None or any(sign in options.target for sign in ":/\\"):
        return options
    target, connection = resolve_target(options.target, options.connection)
    return replace(options, target=target, connection=connection)


def resolve_target(
    target: str, given: ConnectionOptions, *, by_address: bool = False
) -> tuple[str, ConnectionOptions]:
    """What `target` stands for where it is a saved name, with its options; `given` ones win.

    `by_address` finds the target by where it leads to, as a recorded session states it.

    Raises:
        UsageError: the file of targets was edited, and has what no flag takes.
    """
    targets = read_targets(targets_file()).saved
    saved = targets.get(target)
    if by_address:
        saved = next((one for one in targets.values() if one.target == target), None)
    if saved is None:
        return target, given
    kept, overriding = _given(_saved_options(saved)), _given(given)
    if overriding.keys() & _CREDENTIALS:
        kept = {name: value for name, value in kept.items() if name not in _CREDENTIALS}
    return saved.target, replace(ConnectionOptions(), **{**kept, **overriding})


def _given(options: ConnectionOptions) -> dict[str, object]:
    """The options that differ from their defaults, by name."""
    return {
        one.name: value
        for one in fields(options)
        if (value := getattr(options, one.name)) != one.default
    }


def _saved_options(saved: SavedTarget) -> ConnectionOptions:
    """What the saved options are as flags."""
    words = [word for name, value in saved.options.items() for word in _as_flags(name, value)]
    try:
        return parse_connection(words)
    except UsageError as error:
        raise UsageError(
            f"{targets_file()}: target {saved.target}: {error.text}",
            "fix it there, or save the target again: a2a-inspect targets add",
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


def _list(options: TargetsOptions) -> int:
    targets = read_targets(targets_file())
    ink = ink_for(sys.stdout)
    for name, saved in sorted(targets.saved.items()):
        if options.json:
            print_json({"name": name, "target": saved.target, **saved.options})
            continue
        shown = "  ".join(f"{key}={_spell(value)}" for key, value in saved.options.items())
        line = f"{ink(name, BOLD)}  {plain_line(saved.target)}"
        print_text(f"{line}  {ink(shown, DIM)}" if shown else line)
    if not targets.saved and not options.json:
        print_notice("no target is saved; a2a-inspect targets add NAME TARGET")
    return EXIT_OK


def _add(options: TargetsOptions) -> int:
    if options.name in COMMANDS:
        raise UsageError(f"{options.name!r} is a command of a2a-inspect", "another name")
    target = options.target
    found, given = parse_target(target), _given(options.connection)
    names = (header.partition(":")[0].strip() for header in options.connection.header)
    own = Connection(
        headers=tuple((name, "") for name in names),
        is_authenticated=bool(given.keys() & _CREDENTIALS),
    )
    authenticated(own, found)
    for remark in found.remarks:
        print_notice(plain_line(remark))
    if os.path.exists(target):
        # the name is used from other folders, too
        target = str(Path(target).absolute())
    saved = SavedTarget(target, _options(options.connection))
    # what is refused leaves no trace, not even an empty folder
    check_name(options.name)
    check_secrets(saved)
    change_targets(targets_file(), lambda targets: targets.with_target(options.name, saved))
    if options.json:
        print_json({"name": options.name, "target": target, **saved.options})
    return EXIT_OK


def _options(connection: ConnectionOptions) -> dict[str, Json]:
    """The connection options that were given, as they are saved.

    Raises:
        UsageError: what should name a variable may be the secret itself.
    """
    given = _given(replace(connection, no_save=False))
    for name in _VARIABLES:
        if name in given and given[name] not in os.environ:
            # a key pasted in the place of a name must not get into the file, nor be repeated
            raise UsageError(
                f"--{name.replace('_', '-')}: no variable of that name is set",
                "export it first; it is the name that is saved, never the value",
            )
    return {name: _saved_value(value) for name, value in given.items()}


def _saved_value(value: object) -> Json:
    match value:
        case tuple():
            return [str(one) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]: a tuple of texts
        case bool() | float():
            return value
        case Path():
            return str(value.absolute())
        case _:
            return str(value)


def _remove(options: TargetsOptions) -> int:
    def without(targets: Targets) -> Targets:
        if options.name not in targets.saved:
            raise UsageError(
                f"no target is named {options.name!r}", "a2a-inspect targets list shows all"
            )
        return targets.without_target(options.name)

    change_targets(targets_file(), without)
    if options.json:
        print_json({"removed": options.name})
    return EXIT_OK


def _spell(value: Json) -> str:
    return plain_line(", ".join(map(str, value)) if isinstance(value, list) else str(value))
