"""Flags from dataclasses: a field is a flag of its name, whose type says how it is given.

A bool is a switch, a tuple repeats, a Path is read as one. None, False and () mean that a flag was
not given, unless the field has another default.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, field, fields
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from inspector.headless.command_line import Parser

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Number = TypeVar("Number", int, float)
T = TypeVar("T")
OptionsT = TypeVar("OptionsT", bound="DataclassInstance")

# a hundred years: nothing is older, and dates reach back so far
MOST_DAYS = 36_500


class Flag(NamedTuple):
    """How a field is given. Of the flags with the same `one_of` at most one may be."""

    metavar: str | None
    help: str | None
    read: Callable[[str], object] | None = None
    choices: Sequence[str] | None = None
    group: str = ""
    one_of: str = ""
    is_required: bool = False
    is_word: bool = False


def flag(
    default: T,
    metavar: str | None,
    help: str,
    *,
    read: Callable[[str], object] | None = None,
    choices: Sequence[str] | None = None,
    group: str = "",
    one_of: str = "",
    is_required: bool = False,
) -> T:
    """A field that `--name METAVAR` sets."""
    how = Flag(metavar, help, read, choices, group, one_of, is_required)
    return field(default=default, metadata={Flag: how})


def switch(help: str, *, group: str = "", one_of: str = "") -> bool:
    """A field that `--name` makes true."""
    return field(default=False, metadata={Flag: Flag(None, help, group=group, one_of=one_of)})


def word(default: T, metavar: str | None, help: str | None) -> T:
    """A field that a word without a flag sets; it may be missing where the default is None."""
    return field(default=default, metadata={Flag: Flag(metavar, help, is_word=True)})


def group(title: str, default: OptionsT) -> OptionsT:
    """A field whose own fields are flags, in a group of the help."""
    return field(default=default, metadata={group: (title, type(default))})


# argparse has no public name for what flags are added to
Container: TypeAlias = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]


# To argparse and back


def add_flags(parser: Parser, kind: "type[DataclassInstance]", names: Sequence[str] = ()) -> None:
    """Add what sets each field of `kind`, or those of `names`."""
    containers: dict[tuple[str, str], Container] = {("", ""): parser}
    for one, how in _flags_of(kind):
        if names and one.name not in names:
            continue
        place = how.group, how.one_of
        if (how.group, "") not in containers:
            containers[how.group, ""] = parser.add_argument_group(how.group)
        if place not in containers:
            containers[place] = containers[how.group, ""].add_mutually_exclusive_group(
                required=how.is_required
            )
        _add_flag(containers[place].add_argument, one, how)


def _flags_of(kind: "type[DataclassInstance]") -> "Iterator[tuple[Field[object], Flag]]":
    for one in fields(kind):
        if Flag in one.metadata:
            yield one, one.metadata[Flag]
        elif group in one.metadata:
            title, inner = one.metadata[group]
            for each, how in _flags_of(inner):
                yield each, how if how.is_word else how._replace(group=title)


def _add_flag(add: Callable[..., object], one: "Field[object]", how: Flag) -> None:
    name = f"--{one.name.replace('_', '-')}"
    if one.type is bool:
        add(name, action="store_true", help=how.help)
        return
    read = how.read or (Path if one.type == Path | None else None)
    more = {"metavar": how.metavar, "help": how.help, "type": read, "choices": how.choices}
    if how.is_word:
        nargs = "?" if one.default is None else "+" if one.default == () else None
        add(one.name, nargs=nargs, **more)
    elif one.default == ():
        add(name, action="append", **more)
    else:
        add(name, required=how.is_required and not how.one_of, **more)


def read_flags(kind: type[OptionsT], arguments: argparse.Namespace) -> OptionsT:
    """The options of `kind`; one that was not given has its default."""
    given: dict[str, object] = vars(arguments)
    values: dict[str, object] = {}
    for one in fields(kind):
        if group in one.metadata:
            values[one.name] = read_flags(one.metadata[group][1], arguments)
        elif (value := given.get(one.name)) is not None:
            values[one.name] = tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]: argparse's lists hold texts
    return kind(**values)


# Numbers


def _number(
    read: Callable[[str], Number], expected: str, is_fit: Callable[[Number], bool], text: str
) -> Number:
    try:
        value = read(text)
    except ValueError:
        value = None
    if value is None or not is_fit(value):
        raise argparse.ArgumentTypeError(f"expected {expected}; found {text!r}")
    return value


parse_seconds = partial(
    _number, float, "a number of seconds above 0", lambda value: 0 < value < inf
)
parse_delay = partial(
    _number, float, "a number of seconds, 0 or more", lambda value: 0 <= value < inf
)
# of either sign: what is below 0 has passed
parse_duration = partial(_number, float, "a finite number of seconds", isfinite)
parse_days = partial(
    _number, float, f"0 to {MOST_DAYS} days", lambda value: 0 <= value <= MOST_DAYS
)
parse_integer = partial(_number, int, "a whole number", lambda _: True)
parse_count = partial(_number, int, "a whole number, 0 or more", lambda value: value >= 0)
parse_port = partial(_number, int, "a port, 0 to 65535", range(65536).__contains__)
parse_status = partial(_number, int, "an HTTP status, 200 to 599", range(200, 600).__contains__)
