"""Text of strangers made fit to draw: cleaned, bounded, tabs as spaces."""

from inspector.views.text import plain, plain_line

# More than this of one text is never drawn; the wire view tells its size.
MOST_CHARACTERS = 20_000
_TAB = "    "


def safe(text: str) -> str:
    """Return `text` with line feeds as its only control character."""
    cleaned = plain(text[:MOST_CHARACTERS]).replace("\t", _TAB)
    more = len(text) - MOST_CHARACTERS
    return f"{cleaned} … {more} characters more" if more > 0 else cleaned


def safe_line(text: str) -> str:
    """Return `text` on one line."""
    return plain_line(safe(text))
