"""The line under the prompt: how the next turn goes out, each word a button."""

from textual.content import Content
from textual.style import Style

from inspector.core.commands import FollowMode, Turn
from inspector.tui.composing.turn_options import TurnOptions
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import safe_line, size
from inspector.wire.json_values import parse_json
from inspector.wire.v0_3 import read_request

SHORT_ID = 6
FOLLOW_NAMES = {
    FollowMode.STREAM: "stream",
    FollowMode.BLOCKING: "wait for answer",
    FollowMode.NO_BLOCKING: "return at once",
}


def options_line(options: TurnOptions, turn: Turn) -> Content:
    """Return what `turn` carries and how it goes out; what is not set is not said."""
    words = [*_carried(turn), (_context_words(options), _ink_of_context(options), "context")]
    ways = " + ".join([FOLLOW_NAMES[options.follow], *sorted(options.also)])
    words.append((ways, styles.ACCENT if options.also else styles.DIM, "follow"))
    if turn.history_length is not None or turn.accepted_output_modes:
        words.append(("configuration", styles.ACCENT, "options"))
    if turn.headers:
        words.append((f"headers {len(turn.headers)}", styles.ACCENT, "headers"))
    if turn.task_id is not None:
        words.append((f"task {_short(turn.task_id)}", styles.WARN, "options"))
    if turn.message_id is not None:
        words.append((f"same id {_short(turn.message_id)}", styles.WARN, "again"))
    return _joined(words)


def raw_line(turn: Turn) -> Content:
    """Return what is to be known of a raw body before it goes out, broken or not."""
    raw = turn.raw or b""
    problem = parse_json(raw).problem
    says = f"✗ {problem}" if problem else f"✓ JSON, {read_request(raw).method or 'no method'}"
    return _joined(
        [
            (f"raw {size(len(raw))}", styles.ACCENT, "write"),
            (safe_line(says), styles.WARN if problem else styles.DIM, "write"),
            ("F5 sends it all the same" if problem else "F5 sends", styles.DIM, "send"),
            ("F6 fields", styles.DIM, "raw"),
        ]
    )


def _carried(turn: Turn) -> list[tuple[str, str, str]]:
    slots = f"slots {len(turn.slots)} → {' + '.join(turn.slot_shapes)}"
    words = [(slots, styles.ACCENT, "slots")] if turn.slots else [("no slots", styles.DIM, "slots")]
    if turn.metadata:
        words.append((f"metadata {len(turn.metadata)}", styles.ACCENT, "metadata"))
    if turn.parts:
        words.append((f"parts {len(turn.parts)}", styles.ACCENT, "attach"))
    return words


def _ink_of_context(options: TurnOptions) -> str:
    return styles.WARN if options.is_new_context or options.chosen_context else styles.DIM


def _context_words(options: TurnOptions) -> str:
    if options.chosen_context is not None and not options.is_new_context:
        return f"in ctx {_short(options.chosen_context)}"
    if options.is_new_context or options.context_id is None:
        return "new context"
    return f"keep ctx {_short(options.context_id)}"


def _short(id: str) -> str:
    return safe_line(id)[:SHORT_ID]


def _joined(words: list[tuple[str, str, str]]) -> Content:
    line = Content("")
    for text, style, action in words:
        button = Content.styled(text, style)
        button = button.stylize(Style.from_meta({"@click": f"screen.do('{action}')"}))
        line = line + Content.styled("  ·  ", styles.DIM) + button if line else button
    return line
