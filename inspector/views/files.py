"""Files and images among the parts of a message."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inspector.wire.dialect import File, Part

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
            ValueError: it is not Base64.
        """
        try:
            return base64.b64decode(self.encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"the file {self.name!r} is not Base64: {error}") from error

    @property
    def safe_name(self) -> str:
        """A name for this machine: no folder, nothing hidden, letters that every system knows."""
        last = self.name.replace("\\", "/").rsplit("/", 1)[-1]
        kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last)
        return kept.lstrip(".")[:100] or _UNNAMED


def files_in(parts: Iterable[Part]) -> Iterator[FilePart]:
    """The files of `parts`, in their order."""
    return (file_part(part.file) for part in parts if part.file is not None)


def file_part(file: File) -> FilePart:
    """`file` with words for what it does not say."""
    return FilePart(
        name=file.name or _UNNAMED,
        media_type=file.media_type or "type unknown",
        encoded=file.encoded or "",
        uri=file.uri or "",
    )
