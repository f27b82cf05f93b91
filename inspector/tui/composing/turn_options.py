"""How the next turn goes out: context, ids, ways of following, shapes of its slots."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """`context_id` is the conversation on screen; `chosen_context` another one for this turn.

    `message_id` is set where the agent shall see an id that it may have seen before.
    """

    follow: FollowMode = FollowMode.STREAM
    also: frozenset[Also] = frozenset()
    shapes: tuple[SlotShape, ...] = (SlotShape.METADATA,)
    context_id: str | None = None
    chosen_context: str | None = None
    is_new_context: bool = False
    message_id: str | None = None
    task_id: str | None = None
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()

    def next_follow(self) -> "TurnOptions":
        modes = (FollowMode.STREAM, FollowMode.BLOCKING, FollowMode.NO_BLOCKING)
        return replace(self, follow=modes[(modes.index(self.follow) + 1) % len(modes)])

    def next_shape(self) -> "TurnOptions":
        """Return these options with the one shape after the last chosen one."""
        shapes = list(SlotShape)
        return replace(self, shapes=(shapes[(shapes.index(self.shapes[-1]) + 1) % len(shapes)],))

    def toggled_shape(self, shape: SlotShape) -> "TurnOptions":
        """Return these options with `shape` chosen or not; the last chosen one stays."""
        chosen = set(self.shapes) ^ {shape}
        return replace(self, shapes=tuple(one for one in SlotShape if one in chosen or not chosen))

    def toggled_also(self, way: Also) -> "TurnOptions":
        return replace(self, also=self.also ^ {way})

    def toggled_context(self) -> "TurnOptions":
        return replace(self, is_new_context=not self.is_new_context, chosen_context=None)

    def in_context(self, context_id: str | None) -> "TurnOptions":
        return replace(self, context_id=context_id)

    def with_context(self, context_id: str | None) -> "TurnOptions":
        """Return these options for a turn in `context_id`; None stays in that on screen."""
        chosen = None if context_id == self.context_id else context_id
        return replace(self, chosen_context=chosen, is_new_context=False)

    def with_message_id(self, message_id: str | None) -> "TurnOptions":
        return replace(self, message_id=message_id)

    def after_sending(self) -> "TurnOptions":
        """What was for one turn only is gone: context, ids; the ways of following stay."""
        return replace(
            self, is_new_context=False, chosen_context=None, message_id=None, task_id=None
        )

    def of(self, turn: Turn) -> "TurnOptions":
        """Return the options with which `turn` was composed, in the context that it names."""
        return replace(
            self.with_context(turn.context_id),
            follow=turn.follow,
            also=turn.also,
            shapes=turn.slot_shapes,
            message_id=turn.message_id,
            task_id=turn.task_id,
            history_length=turn.history_length,
            accepted_output_modes=turn.accepted_output_modes,
        )

    def turn(self, text: str, slots: Mapping[str, Json]) -> Turn:
        kept = self.chosen_context or self.context_id
        return Turn(
            text=text,
            slots=slots,
            slot_shapes=self.shapes,
            context_id=None if self.is_new_context else kept,
            message_id=self.message_id,
            task_id=self.task_id,
            history_length=self.history_length,
            accepted_output_modes=self.accepted_output_modes,
            follow=self.follow,
            also=self.also,
        )
