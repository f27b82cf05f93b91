"""Text of strangers made fit for a terminal (inspector.md TUI-5)."""

import re
from hashlib import blake2b

# An OSC, DCS or APC string with its terminator, then a CSI sequence, then any other escape.
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 without tab and line feed, DEL, C1, and the marks that turn the direction of reading.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` without escape sequences and control characters; line feeds and tabs stay."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))


def plain_line(text: str, width: int | None = None) -> str:
    """`text` on one line, cut to `width` with an ellipsis."""
    line = " ".join(plain(text).split())
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


def short_digest(content: bytes) -> str:
    """What stands for `content` where its copies in one log are to be found."""
    return blake2b(content, digest_size=8).hexdigest()
