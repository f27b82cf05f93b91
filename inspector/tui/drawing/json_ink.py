"""A line of indented JSON in colours: names, texts, numbers and words apart."""

import re

from textual.content import Content

from inspector.tui.drawing import ink

_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>\b(?:true|false|null)\b)"
)


def ink_json(line: str) -> Content:
    """Return `line` with its tokens styled; what is no JSON stays as it is."""
    content = Content(line)
    for token in _TOKEN.finditer(line):
        content = content.stylize(_style(token), *token.span(token.lastgroup or 0))
    return content


def _style(token: "re.Match[str]") -> str:
    if token["colon"] is not None:
        return ink.KEY
    if token["text"] is not None:
        return ink.GOOD
    return ink.ACCENT if token["number"] is not None else ink.WARN
