"""Text of strangers made fit for a terminal (inspector.md TUI-5)."""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

# An OSC, DCS or APC string with its terminator, then a CSI sequence, then any other escape.
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 without tab and line feed, DEL, C1, and the marks that turn the direction of reading.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LONGEST_LINE = 64 * 1024
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` without escape sequences and control characters; line feeds and tabs stay."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))


def lines_of(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces, as `plain` as that; never all of it at once.

    A line of more than LONGEST_LINE characters is broken.
    """
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split("\n")
        for line in others:
            yield from plain("".join([*waiting, first, "\n"])).splitlines()
            waiting, size, first = [], 0, line
        waiting.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            yield from plain("".join(waiting)).splitlines()
            waiting, size = [], 0
    if rest := "".join(waiting):
        yield from plain(rest).splitlines()


def plain_line(text: str, width: int | None = None) -> str:
    """`text` on one line, cut to `width` with an ellipsis."""
    line = " ".join(plain(text).split())
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


def short_digest(content: bytes) -> str:
    """What stands for `content` where its copies in one log are to be found."""
    return blake2b(content, digest_size=8).hexdigest()
