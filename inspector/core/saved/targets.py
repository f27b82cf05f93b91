"""Saved targets: a name for an agent and how to reach it; and what is kept for each target.

One JSON file, 0600. It never holds a secret, only the names of variables that do:

    {"targets": {"bank": {"target": "https://…", "token_env": "BANK_TOKEN"}},
     "slot_sets": {"bank": {"joe": {"amount": 50}}},
     "snippets": {"bank": {"greeting": "hello", "fifty": {"text": "send it", "slots": {…}}}}}

A snippet is a turn as `kept_turns` writes it.
Slot sets and snippets belong to a target as the user writes it: a name, or a URL.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TypeAlias, TypeVar

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.core.saved.recording import read_header
from inspector.core.saved.session_store import make_private_folder, replace_file, session_paths
from inspector.errors import UsageError
from inspector.folders import config_folder
from inspector.wire.dialect import Part
from inspector.wire.endpoints import DEFAULT
from inspector.wire.json_values import Json, at, list_at, object_at, parse_json, text_at
from inspector.wire.urls import secrets_in_url

FILE_NAME = "targets.json"
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,63}")
_VARIABLE = re.compile(r"\$\{\w+\}")
# what may stand around a variable: a scheme such as Bearer, a parameter's name
_PLAIN_WORDS = re.compile(r'[A-Za-z ,;="-]*')

Slots: TypeAlias = Mapping[str, Json]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SavedTarget:
    """`options` are connection flags by the names that argparse gives them, as JSON."""

    target: str
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Targets:
    """What the file holds; a change makes a new value, which `write_targets` saves."""

    saved: Mapping[str, SavedTarget] = field(default_factory=dict[str, SavedTarget])
    all_slot_sets: Mapping[str, Mapping[str, Slots]] = field(
        default_factory=dict[str, Mapping[str, Slots]]
    )
    all_snippets: Mapping[str, Mapping[str, Json]] = field(
        default_factory=dict[str, Mapping[str, Json]]
    )

    def with_target(self, name: str, target: SavedTarget) -> "Targets":
        """Save `target` as `name`, in place of what had that name.

        Raises:
            UsageError: `name` cannot be a name, or `target` holds what may be a secret.
        """
        check_name(name)
        check_secrets(target)
        return replace(self, saved={**self.saved, name: target})

    def without_target(self, name: str) -> "Targets":
        """Leave out the target with its slot sets and snippets."""
        return Targets(
            _without(self.saved, name),
            _without(self.all_slot_sets, name),
            _without(self.all_snippets, name),
        )

    def slot_sets(self, target: str) -> Mapping[str, Slots]:
        """The slot sets of `target` by their names."""
        return self.all_slot_sets.get(target, {})

    def with_slot_set(self, target: str, name: str, slots: Slots | None) -> "Targets":
        """Keep `slots` under `name`; None forgets them."""
        kept = _with(self.slot_sets(target), name, slots)
        return replace(self, all_slot_sets=_with(self.all_slot_sets, target, kept or None))

    def snippets(self, target: str) -> Mapping[str, Json]:
        """The turns kept for `target` by their names."""
        return self.all_snippets.get(target, {})

    def with_snippet(self, target: str, name: str, turn: Json) -> "Targets":
        """Keep `turn` under `name`; None forgets it."""
        kept = _with(self.snippets(target), name, turn)
        return replace(self, all_snippets=_with(self.all_snippets, target, kept or None))


def targets_file() -> Path:
    """Where the user's targets are kept."""
    return config_folder() / FILE_NAME


def read_targets(path: Path) -> Targets:
    """Read the file; where there is none yet, nothing is saved.

    Raises:
        UsageError: it cannot be read, or is not what `write_targets` writes.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Targets()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    parsed = parse_json(content)
    if not isinstance(parsed.value, dict):
        found = parsed.problem or "no JSON object"
        raise UsageError(f"{path}: {found}", "fix it, or delete it to start again")
    return Targets(
        saved={
            name: SavedTarget(target, {key: fields[key] for key in fields if key != "target"})
            for name, fields in _objects(parsed.value, "targets")
            if isinstance(target := fields.get("target"), str)
        },
        all_slot_sets={
            target: {name: object_at(sets, name) for name in sets}
            for target, sets in _objects(parsed.value, "slot_sets")
        },
        all_snippets={
            target: {name: turn for name, turn in turns.items() if isinstance(turn, str | dict)}
            for target, turns in _objects(parsed.value, "snippets")
        },
    )


def change_targets(path: Path, change: Callable[[Targets], Targets]) -> Targets:
    """Read the file, write what `change` makes of it, and return that.

    Of two programs that do so at once the second waits, so that neither takes away what the other
    has saved.

    Raises:
        UsageError: as `read_targets`, `write_targets` and `change` do.
    """
    try:
        make_private_folder(path.parent)
        with _locked(path.parent):
            targets = change(read_targets(path))
            write_targets(path, targets)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return targets


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Hold the lock on `folder`; on Windows, which cannot lock folders, hold nothing."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def write_targets(path: Path, targets: Targets) -> None:
    """Write a new file and put it in the place of the old one; a reader sees one of the two.

    Raises:
        UsageError: the system refuses.
    """
    content = {
        "targets": {
            name: {"target": one.target, **one.options} for name, one in targets.saved.items()
        },
        "slot_sets": targets.all_slot_sets,
        "snippets": targets.all_snippets,
    }
    try:
        replace_file(path, f"{json.dumps(content, indent=2, default=dict)}\n".encode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a target's name",
            "letters, digits, '.', '_' and '-', such as bank-staging",
        )


def check_secrets(target: SavedTarget) -> None:
    """Refuse what would write a secret to the disk.

    Raises:
        UsageError: a password in the URL, or a header with more than a variable in it.
    """
    if re.search(r"//[^/@]*:[^/@]*@", target.target):
        raise UsageError(
            "the URL holds a password, which is not saved",
            "leave it out, and add --header 'Authorization: Basic ${BASIC}'",
        )
    if secrets_in_url(target.target):
        raise UsageError(
            "the URL's query holds a secret, which is not saved",
            "leave it out, and name a variable: --api-key-env VARIABLE",
        )
    headers = target.options.get("header")
    for header in headers if isinstance(headers, list) else []:
        name, _, value = str(header).partition(":")
        rest, count = _VARIABLE.subn("", value)
        if not count or not _PLAIN_WORDS.fullmatch(rest):
            raise UsageError(
                f"the value of header {name.strip()!r} is not saved: it may be a secret",
                f"name a variable in its place: --header '{name.strip()}: ${{VARIABLE}}'",
            )


def _objects(value: Json, name: str) -> list[tuple[str, dict[str, Json]]]:
    found = object_at(value, name)
    return [(key, one) for key, one in found.items() if isinstance(one, dict)]


def _with(values: Mapping[str, T], key: str, value: T | None) -> dict[str, T]:
    """`values` with `value` under `key`; without `key` where `value` is None."""
    others = _without(values, key)
    return others if value is None else {**others, key: value}


def _without(values: Mapping[str, T], key: str) -> dict[str, T]:
    return {name: value for name, value in values.items() if name != key}


_PUBLIC = re.compile(r"(x-)?a2a-(context-id|version|extensions)", re.IGNORECASE)


def encode_turn(turn: Turn) -> Json:
    """Return `turn` as `decode_turn` reads it; ids and secret headers are left out."""
    if turn.raw is not None:
        # JSON has no bytes: a body that is not UTF-8 is kept as near as it can be
        return {"raw": turn.raw.decode(errors="replace"), "follow": turn.follow.value}
    headers: list[Json] = [
        [name, value]
        for name, value in turn.headers
        if _VARIABLE.search(value) or _PUBLIC.fullmatch(name)
    ]
    fields: dict[str, Json] = {
        "text": turn.text,
        "slots": dict(turn.slots),
        "slot_shapes": [shape.value for shape in turn.slot_shapes] if turn.slots else [],
        "metadata": dict(turn.metadata),
        "parts": [DEFAULT.write_part(part) for part in turn.parts],
        "headers": headers,
        "accepted_output_modes": list(turn.accepted_output_modes),
        "also": [channel.value for channel in sorted(turn.also)],
    }
    filled = {name: value for name, value in fields.items() if value}
    if turn.history_length is not None:
        filled["history_length"] = turn.history_length
    if not set(filled) - {"text"}:
        return turn.text
    return {**filled, "follow": turn.follow.value}


def decode_turn(kept: Json, follow: FollowMode = FollowMode.BLOCKING) -> Turn:
    """Return the turn in `kept`, whatever it holds; `follow` serves where it does not say how."""
    if isinstance(kept, str):
        return Turn(kept, follow=follow)
    mode = text_at(kept, "follow")
    follow = FollowMode(mode) if mode in {one.value for one in FollowMode} else follow
    if (raw := text_at(kept, "raw")) is not None:
        return Turn("", follow=follow, raw=raw.encode(errors="replace"))
    shapes = tuple(shape for shape in SlotShape if shape.value in list_at(kept, "slot_shapes"))
    history = at(kept, "history_length")
    return Turn(
        text_at(kept, "text") or "",
        slots=object_at(kept, "slots"),
        slot_shapes=shapes or (SlotShape.METADATA,),
        metadata=object_at(kept, "metadata"),
        parts=tuple(DEFAULT.read_part(one) or Part(raw=one) for one in list_at(kept, "parts")),
        history_length=history if isinstance(history, int) else None,
        accepted_output_modes=_texts(list_at(kept, "accepted_output_modes")),
        follow=follow,
        also=frozenset(one for one in Also if one.value in list_at(kept, "also")),
        headers=tuple(_header(pair) for pair in list_at(kept, "headers")),
    )


def _header(pair: Json) -> tuple[str, str]:
    name, value = at(pair, 0), at(pair, 1)
    return (str(name), str(value))


def _texts(values: list[Json]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


MOST_READ = 40


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """`target` is what a command takes; `name` is "" for one that is not saved."""

    target: str
    name: str = ""


def known_targets(targets: Targets, sessions: Path, most: int) -> tuple[KnownTarget, ...]:
    """At most so many targets, each once; a saved one goes by its name."""
    saved = [KnownTarget(one.target, name) for name, one in sorted(targets.saved.items())]
    addresses = {one.target for one in saved}
    recent = (KnownTarget(target) for target in _recent(sessions) if target not in addresses)
    return tuple(islice((*saved, *recent), most))


def _recent(sessions: Path) -> Iterator[str]:
    """The targets of the newest sessions, each once."""
    seen: set[str] = set()
    for path in session_paths(sessions)[:MOST_READ]:
        try:
            target = read_header(path).target
        except UsageError:
            continue
        if target not in seen:
            seen.add(target)
            yield target
