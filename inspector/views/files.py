"""Files and images among the parts of a message, as A2A 0.3 and 1.0 write them."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inspector.wire.json_values import Json, at, text_at

_UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class FilePart:
    """`encoded` is Base64 and "" where the file lies elsewhere, at `uri`."""

    name: str
    media_type: str
    encoded: str = ""
    uri: str = ""

    @property
    def size_bytes(self) -> int:
        """The size of the content, counted without decoding it."""
        return len(self.encoded) * 3 // 4 - self.encoded[-2:].count("=")

    def content(self) -> bytes:
        """The file itself.

        Raises:
            ValueError: it is no Base64.
        """
        try:
            return base64.b64decode(self.encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"the file {self.name!r} is no Base64: {error}") from error

    @property
    def safe_name(self) -> str:
        """A name for this machine: no folder, nothing hidden, letters that every system knows."""
        last = self.name.replace("\\", "/").rsplit("/", 1)[-1]
        kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last)
        return kept.lstrip(".")[:100] or _UNNAMED


def files_in(parts: Iterable[Json]) -> Iterator[FilePart]:
    """The files of `parts`, in their order."""
    for part in parts:
        file = file_of(part)
        if file is not None:
            yield file


def file_of(part: Json) -> FilePart | None:
    inner = at(part, "file")
    if isinstance(inner, dict):
        return _file(inner, text_at(inner, "name"), text_at(inner, "mimeType"), "bytes", "uri")
    if isinstance(part, dict) and ("raw" in part or "url" in part):
        name, media_type = text_at(part, "filename"), text_at(part, "mediaType")
        return _file(part, name, media_type, "raw", "url")
    return None


def _file(
    holder: Json, name: str | None, media_type: str | None, content: str, link: str
) -> FilePart:
    return FilePart(
        name=name or _UNNAMED,
        media_type=media_type or "type unknown",
        encoded=text_at(holder, content) or "",
        uri=text_at(holder, link) or "",
    )
