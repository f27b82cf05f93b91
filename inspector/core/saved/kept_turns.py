"""A turn as JSON that a file can keep under a name, and read back from what a file holds.

A turn of text alone is that text; any other an object with what is not left at its default:

    {"text": "send it", "slots": {"amount": 50}, "slot_shapes": ["data"], "follow": "stream"}

What belongs to one moment is left out: context, message and task ids, and headers with a value of
their own, which may be a secret.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.wire.tree import Json, at, list_at, object_at, text_at

_VARIABLE = re.compile(r"\$\{\w+\}")
_PUBLIC = re.compile(r"(x-)?a2a-(context-id|version|extensions)", re.IGNORECASE)


def encode_turn(turn: Turn) -> Json:
    """Return what `decode_turn` makes `turn` of again, but for what is left out."""
    if turn.raw is not None:
        # JSON has no bytes: a body that is no UTF-8 is kept as near as it can be
        return {"raw": turn.raw.decode(errors="replace"), "follow": turn.follow.value}
    headers = [[name, value] for name, value in turn.headers if _is_kept(name, value)]
    fields: dict[str, Json] = {
        "text": turn.text,
        "slots": dict(turn.slots),
        "slot_shapes": [shape.value for shape in turn.slot_shapes] if turn.slots else [],
        "metadata": dict(turn.metadata),
        "parts": list(turn.parts),
        "headers": [list[Json](header) for header in headers],
        "accepted_output_modes": list(turn.accepted_output_modes),
        "also": [way.value for way in sorted(turn.also)],
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
    told = text_at(kept, "follow")
    follow = FollowMode(told) if told in {mode.value for mode in FollowMode} else follow
    if (raw := text_at(kept, "raw")) is not None:
        return Turn("", follow=follow, raw=raw.encode(errors="replace"))
    shapes = tuple(shape for shape in SlotShape if shape.value in list_at(kept, "slot_shapes"))
    history = at(kept, "history_length")
    return Turn(
        text_at(kept, "text") or "",
        slots=object_at(kept, "slots"),
        slot_shapes=shapes or (SlotShape.METADATA,),
        metadata=object_at(kept, "metadata"),
        parts=tuple(list_at(kept, "parts")),
        history_length=history if isinstance(history, int) else None,
        accepted_output_modes=_texts(list_at(kept, "accepted_output_modes")),
        follow=follow,
        also=frozenset(way for way in Also if way.value in list_at(kept, "also")),
        headers=tuple(_header(pair) for pair in list_at(kept, "headers")),
    )


def with_slots(turn: Turn, slots: Mapping[str, Json]) -> Turn:
    """Return `turn` with `slots` added, which win over its own."""
    return replace(turn, slots={**turn.slots, **slots})


def _is_kept(name: str, value: str) -> bool:
    return bool(_VARIABLE.search(value) or _PUBLIC.fullmatch(name))


def _header(pair: Json) -> tuple[str, str]:
    name, value = at(pair, 0), at(pair, 1)
    return (str(name), str(value))


def _texts(values: list[Json]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
