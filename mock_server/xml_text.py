"""Texts as XML can hold them."""

import re

# What XML 1.0 cannot hold, not even escaped (§2.2).
FORBIDDEN = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """`text` with a replacement character for each that no XML document may have."""
    return FORBIDDEN.sub("\ufffd", text)
