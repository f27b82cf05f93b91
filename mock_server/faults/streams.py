"""What faults make of a stream of server-sent events: frames in, what is sent out; no I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mock_server.faults.documents import tampered_document
from mock_server.faults.effects import (
    ConnectionReset,
    DuplicateEvents,
    Effect,
    NoFinalEvent,
    ReorderedEvents,
    TruncatedStream,
)
from mock_server.tasks.json_text import parse_json

DATA = b"data: "
END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bytes:
    """These are sent."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends here: `reset`, `cut` without the last chunk, or `clean` with it."""

    how: str


Step: TypeAlias = Bytes | Cut


class StreamTampering:
    """One stream under `effects`; feed it frames as they come, then say that it has ended."""

    def __init__(self, effects: tuple[Effect, ...]) -> None:
        self._effects = effects
        self._drops_final = any(isinstance(effect, NoFinalEvent) for effect in effects)
        self._times = max((e.times for e in effects if isinstance(e, DuplicateEvents)), default=1)
        self._swaps = any(isinstance(effect, ReorderedEvents) for effect in effects)
        self._held: bytes | None = None
        self._sent = 0
        self._is_cut = False

    def frame(self, frame: bytes) -> Iterator[Step]:
        """What goes out for `frame`; a comment goes out as it is."""
        if self._is_cut:
            return
        if not frame.startswith(DATA):
            yield Bytes(frame)
            return
        document = frame.removeprefix(DATA).removesuffix(END)
        if self._drops_final and _is_final(document):
            return
        event = DATA + tampered_document(document, self._effects) + END
        if not self._swaps:
            yield from self._send(event)
        elif self._held is None:
            self._held = event
        else:
            held, self._held = self._held, None
            yield from self._send(event)
            yield from self._send(held)

    def end(self) -> Iterator[Step]:
        """What goes out once there are no more frames."""
        if self._held is not None and not self._is_cut:
            yield from self._send(self._held)

    def _send(self, event: bytes) -> Iterator[Step]:
        for _ in range(self._times):
            if self._is_cut:
                return
            yield from self._once(event)

    def _once(self, event: bytes) -> Iterator[Step]:
        for effect in self._effects:
            match effect:
                case TruncatedStream(after_events=limit, ending=ending) if self._sent >= limit:
                    yield Bytes(event[: len(event) // 2])
                    yield from self._cut(ending)
                    return
                case ConnectionReset(when="during") if self._sent >= 1:
                    yield from self._cut("reset")
                    return
                case _:
                    pass
        self._sent += 1
        yield Bytes(event)

    def _cut(self, how: str) -> Iterator[Step]:
        self._is_cut = True
        yield Cut(how)


def _is_final(document: bytes) -> bool:
    match parse_json(document):
        case {"result": {"final": True}}:
            return True
        case _:
            return False
