"""How the next turn goes out: context, message id, way of following, shapes of its slots."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from textual.content import Content
from textual.style import Style

from inspector.core.commands import FollowMode, Json, SlotShape, Turn
from inspector.tui import ink
from inspector.tui.safe_text import safe_line

SHORT_ID = 6
_FOLLOW = {
    FollowMode.STREAM: "stream",
    FollowMode.BLOCKING: "wait for answer",
    FollowMode.NO_BLOCKING: "return at once",
}


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """`message_id` is set where the last message's id is to be sent again."""

    follow: FollowMode = FollowMode.STREAM
    shapes: tuple[SlotShape, ...] = (SlotShape.METADATA,)
    context_id: str | None = None
    is_new_context: bool = False
    message_id: str | None = None

    def next_follow(self) -> "TurnOptions":
        modes = list(_FOLLOW)
        return replace(self, follow=modes[(modes.index(self.follow) + 1) % len(modes)])

    def next_shape(self) -> "TurnOptions":
        """Return these options with the one shape after the last chosen one."""
        shapes = list(SlotShape)
        return replace(self, shapes=(shapes[(shapes.index(self.shapes[-1]) + 1) % len(shapes)],))

    def toggled_shape(self, shape: SlotShape) -> "TurnOptions":
        """Return these options with `shape` chosen or not; the last chosen one stays."""
        chosen = set(self.shapes) ^ {shape}
        return replace(self, shapes=tuple(one for one in SlotShape if one in chosen or not chosen))

    def toggled_context(self) -> "TurnOptions":
        return replace(self, is_new_context=not self.is_new_context)

    def in_context(self, context_id: str | None) -> "TurnOptions":
        return replace(self, context_id=context_id)

    def with_message_id(self, message_id: str | None) -> "TurnOptions":
        return replace(self, message_id=message_id)

    def after_sending(self) -> "TurnOptions":
        return replace(self, is_new_context=False, message_id=None)

    def turn(self, text: str, slots: Mapping[str, Json]) -> Turn:
        return Turn(
            text=text,
            slots=slots,
            slot_shapes=self.shapes,
            context_id=None if self.is_new_context else self.context_id,
            message_id=self.message_id,
            follow=self.follow,
        )


def options_line(options: TurnOptions, slot_count: int) -> Content:
    """Return the options as words, each a button."""
    slots = f"slots {slot_count} → {' + '.join(options.shapes)}" if slot_count else "no slots"
    words = [
        (slots, ink.ACCENT if slot_count else ink.DIM, "slots"),
        (_context_words(options), ink.WARN if options.is_new_context else ink.DIM, "context"),
        (_FOLLOW[options.follow], ink.DIM, "follow"),
    ]
    if options.message_id is not None:
        same = f"same id {safe_line(options.message_id)[:SHORT_ID]}"
        words.append((same, ink.WARN, "again"))
    line = Content("")
    for text, style, action in words:
        button = Content.styled(text, style)
        button = button.stylize(Style.from_meta({"@click": f"screen.do('{action}')"}))
        line = line + Content.styled("  ·  ", ink.DIM) + button if line else button
    return line


def _context_words(options: TurnOptions) -> str:
    if options.is_new_context or options.context_id is None:
        return "new context"
    return f"keep ctx {safe_line(options.context_id)[:SHORT_ID]}"
