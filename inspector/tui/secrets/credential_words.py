"""What the first line tells of a token."""

from dataclasses import dataclass

from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import span

# From here on a token's end is worth a colour.
SOON_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Words:
    """A text and the style it is drawn in; "" tells nothing."""

    text: str = ""
    style: str = styles.DIM


def words_of(left_seconds: float | None) -> Words:
    """Return what is told of a token that is valid for `left_seconds`; None is for ever."""
    if left_seconds is None:
        return Words()
    if left_seconds <= 0:
        return Words("token expired · K renews", styles.BAD)
    is_soon = left_seconds < SOON_SECONDS
    return Words(f"token expires in {span(left_seconds)}", styles.WARN if is_soon else styles.DIM)
