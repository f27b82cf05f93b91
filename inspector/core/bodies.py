"""The bodies of replies and notifications: the newest in memory, the rest in the session's file."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

MIB = 1024 * 1024
# What a session holds of bodies in memory, and what stays of one that no file has.
MOST_BYTES = 64 * MIB
START_BYTES = 256

# Reads the body in a line of the session's file, by offset and length; None where it is gone.
ReadBody: TypeAlias = Callable[[int, int], bytes | None]


@dataclass(frozen=True, slots=True)
class Place:
    """The line of a file that holds a body, both numbers in bytes."""

    read: ReadBody
    offset: int
    length: int


class Body:
    """Bytes that may leave the memory: read again from their place, or else cut.

    It equals the same bytes, wherever they are. `size_bytes` is what came.
    """

    __slots__ = ("_content", "_place", "size_bytes")

    def __init__(self, content: bytes, place: Place | None = None) -> None:
        self.size_bytes = len(content)
        self._content = content
        self._place = place

    @property
    def held_bytes(self) -> int:
        """What of it is in memory."""
        return len(self._content)

    @property
    def is_saved(self) -> bool:
        return self._place is not None

    @property
    def is_cut(self) -> bool:
        """Say whether its end is neither in memory nor in a file."""
        return self._place is None and self.held_bytes < self.size_bytes

    def save(self, place: Place) -> None:
        """From now on it is in a file as well."""
        self._place = place

    def let_go(self) -> None:
        """Leave the memory; without a place only the start stays."""
        self._content = b"" if self.is_saved else self._content[:START_BYTES]

    def read(self) -> bytes:
        """All of it, or what is left: a file that was deleted cuts it, too."""
        content = self._content  # another thread may let it go meanwhile
        if len(content) == self.size_bytes or self._place is None:
            return content
        again = self._place.read(self._place.offset, self._place.length)
        if again is None:
            self._place = None
        return again or b""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Body):
            return self is other or self.read() == other.read()
        return self.read() == other if isinstance(other, bytes) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.read())

    def __repr__(self) -> str:
        return f"Body({self.read()!r})"


class BodyMemory:
    """Holds bodies up to `most_bytes` and lets the oldest go; the newest always stays.

    `flush` writes to the file what is still to be written. `warn` is called once, before the first
    body without a place there is cut.
    """

    def __init__(
        self,
        most_bytes: int = MOST_BYTES,
        *,
        flush: Callable[[], None] = lambda: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.held_bytes = 0
        self.cut_bytes = 0
        self.flush = flush
        self.warn = warn
        self._most_bytes = most_bytes
        self._held: deque[Body] = deque()

    def hold(self, content: bytes, place: Place | None = None) -> Body:
        """`content` as the newest body."""
        body = Body(content, place)
        self._held.append(body)
        self.held_bytes += body.size_bytes
        while self.held_bytes > self._most_bytes and len(self._held) > 1:
            self._let_go(self._held.popleft())
        return body

    @property
    def problem(self) -> str:
        """What was cut, why, and how to keep it; "" as long as nothing was."""
        if not self.cut_bytes:
            return ""
        return f"{self.cut_bytes / MIB:.1f} MiB are cut: {WHY_CUT}; {HOW_TO_KEEP}"

    def _let_go(self, body: Body) -> None:
        if not body.is_saved:
            self.flush()
        self.held_bytes -= body.size_bytes
        body.let_go()
        if body.is_cut:
            if not self.cut_bytes:
                self.warn(f"{WHY_CUT}; {HOW_TO_KEEP}")
            self.cut_bytes += body.size_bytes - body.held_bytes


WHY_CUT = f"no file saves this session, so only the newest {MOST_BYTES // MIB} MiB stay whole"
HOW_TO_KEEP = "leave out --no-save to keep everything"
