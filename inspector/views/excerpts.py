"""Long texts of the wire as a view keeps them: their ends, with the rest read again when needed."""

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

# What a view keeps of each end of a text, and of one message.
MOST_CHARACTERS = 2000
MOST_SAID = 20_000


def start_of(pieces: Iterable[str], between: str = "") -> tuple[str, bool]:
    """The first MOST_CHARACTERS of `pieces` joined, and whether that is all of them."""
    text = ""
    for number, piece in enumerate(pieces):
        text += (between if number else "") + piece[: MOST_CHARACTERS + 1]
        if len(text) > MOST_CHARACTERS:
            return text[:MOST_CHARACTERS], False
    return text, True


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The two ends of a text that grows by pieces, its length, and what stands for all of it.

    Two with the same length and checksum are taken for the same text, however it was cut up.
    """

    start: str = ""
    end: str = ""
    characters: int = 0
    checksum: int = 0

    def extend(self, pieces: Iterable[str]) -> "Excerpt":
        """This text with `pieces` after it."""
        start, end, characters, checksum = self.start, self.end, self.characters, self.checksum
        for piece in pieces:
            start = start if len(start) == MOST_CHARACTERS else (start + piece)[:MOST_CHARACTERS]
            end = (end + piece[-MOST_CHARACTERS:])[-MOST_CHARACTERS:]
            characters += len(piece)
            checksum = crc32(piece.encode(errors="surrogatepass"), checksum)
        return Excerpt(start, end, characters, checksum)

    def __bool__(self) -> bool:
        return self.characters > 0

    def newest(self, characters: int) -> tuple[str, bool]:
        """The last so many characters, up to MOST_CHARACTERS; whether that is all."""
        end = self.end[-characters:]
        return end, len(end) == self.characters


NOTHING = Excerpt()
