"""Snippets and slot sets of a target in one list: what there is, what matches, what can be kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from inspector.core.commands import Turn
from inspector.core.saved.targets import Targets, decode_turn, encode_turn
from inspector.tui.drawing.safe_text import safe_line, value_text
from inspector.wire.json_values import Json

Slots = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn, or a set of slots alone, under its name. `is_new`: it would be kept so."""

    name: str
    turn: Turn | None = None
    slots: Slots | None = None
    is_new: bool = False

    @property
    def key(self) -> tuple[str, bool]:
        return self.name, self.turn is None

    @property
    def summary(self) -> str:
        if self.turn is None:
            return _pairs(self.slots or {})
        if self.turn.raw is not None:
            return f"raw {safe_line(self.turn.raw.decode(errors='replace'))}"
        carried = [
            safe_line(self.turn.text),
            _pairs(self.turn.slots),
            f"metadata {len(self.turn.metadata)}" if self.turn.metadata else "",
            f"parts {len(self.turn.parts)}" if self.turn.parts else "",
        ]
        return "  ·  ".join(word for word in carried if word)


def kept_for(targets: Targets, target: str) -> list[Kept]:
    """Return what is kept for `target`, turns first, each in the order of their names."""
    turns = sorted(targets.snippets(target).items())
    sets = sorted(targets.slot_sets(target).items())
    found = [Kept(name, turn=decode_turn(turn)) for name, turn in turns]
    return found + [Kept(name, slots=slots) for name, slots in sets]


def matching(kept: list[Kept], typed: str, written: Turn) -> list[Kept]:
    """Return those with each word of `typed` in name or summary, then what `typed` could name."""
    words = typed.lower().split()
    found = [
        one for one in kept if all(word in f"{one.name} {one.summary}".lower() for word in words)
    ]
    name = typed.strip()
    if not name:
        return found
    new = [Kept(name, turn=written, is_new=True)] if is_written(written) else []
    if written.slots:
        new.append(Kept(name, slots=written.slots, is_new=True))
    return found + new


def is_written(turn: Turn) -> bool:
    return bool(turn.text or turn.slots or turn.parts or turn.raw)


def keep(targets: Targets, target: str, one: Kept) -> Targets:
    """Return `targets` with `one` kept for `target`."""
    if one.turn is None:
        return targets.with_slot_set(target, one.name, one.slots or {})
    return targets.with_snippet(target, one.name, encode_turn(one.turn))


def forget(targets: Targets, target: str, one: Kept) -> Targets:
    if one.turn is None:
        return targets.with_slot_set(target, one.name, None)
    return targets.with_snippet(target, one.name, None)


def _pairs(slots: Slots) -> str:
    return "  ".join(f"{safe_line(name)}={value_text(value)}" for name, value in slots.items())
