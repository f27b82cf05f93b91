"""Artifacts as they grow, chunk by chunk, at the cost of the chunk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import overload

from inspector.core.commands import Json
from inspector.core.entries import Channel
from inspector.views.index import Index
from inspector.views.reads import Source, result_of
from inspector.views.series import Series
from inspector.wire.results import ArtifactChunk, Result, texts
from inspector.wire.tree import at


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """An artifact as assembled so far from `chunks` updates; `is_complete` after its last.

    `pieces` are the texts, `sources` the entries that hold its parts, `others` those of them that
    hold more than text. `exchange` and `channel` brought the last chunk.
    """

    artifact_id: str
    name: str
    exchange: int
    channel: Channel
    pieces: Series[str] = field(default_factory=Series[str])
    sources: Series[Source] = field(default_factory=Series[Source])
    others: Series[Source] = field(default_factory=Series[Source])
    chunks: int = 0
    is_complete: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def newest(self, characters: int) -> tuple[str, bool]:
        """The end of the text, at least so many characters of it; whether that is all."""
        end: list[str] = []
        count = 0
        for piece in reversed(self.pieces):
            if count >= characters:
                return "".join(reversed(end)), False
            end.append(piece)
            count += len(piece)
        return "".join(reversed(end)), True

    @property
    def parts(self) -> tuple[Json, ...]:
        """Every part as received, read from the bytes again."""
        return tuple(part for source in self.sources for part in self._parts_in(source))

    def other_parts(self, most: int) -> tuple[Json, ...]:
        """The first parts that are no text."""
        parts = (part for source in self.others for part in self._parts_in(source))
        return tuple(islice((part for part in parts if not _is_text(part)), most))

    def _parts_in(self, source: Source) -> Iterator[Json]:
        result = result_of(source)
        for chunk in () if result is None else result.artifacts:
            if chunk.artifact_id == self.artifact_id:
                yield from chunk.parts


@dataclass(frozen=True, slots=True, eq=False)
class Artifacts(Sequence[ArtifactRow]):
    """The artifacts of a turn in the order in which they began."""

    rows: Series[ArtifactRow] = field(default_factory=Series[ArtifactRow])
    places: Index[str, int] = field(default_factory=Index[str, int])

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> ArtifactRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ArtifactRow, ...]: ...
    def __getitem__(self, index: int | slice) -> ArtifactRow | tuple[ArtifactRow, ...]:
        return self.rows[index]

    def __iter__(self) -> Iterator[ArtifactRow]:
        return iter(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Artifacts) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)


def take(
    artifacts: Artifacts,
    result: Result,
    source: Source,
    channel: Channel,
    *,
    is_open: Callable[[int], bool],
) -> Artifacts:
    """`artifacts` with those of `result` begun, grown or replaced.

    What an open exchange is bringing chunk by chunk, no other lane tells better.
    """
    for chunk in result.artifacts:
        place = artifacts.places.get(chunk.artifact_id)
        before = None if place is None else artifacts.rows[place]
        if before is None or place is None:
            row = _grow(_begin(chunk, source, channel), chunk, source)
            places = artifacts.places.set(chunk.artifact_id, len(artifacts.rows))
            artifacts = Artifacts(artifacts.rows.append(row), places)
            continue
        if before.exchange != source.exchange and is_open(before.exchange):
            continue
        row = _next(before, chunk, source, channel)
        artifacts = replace(artifacts, rows=artifacts.rows.set(place, row))
    return artifacts


def _next(
    before: ArtifactRow, chunk: ArtifactChunk, source: Source, channel: Channel
) -> ArtifactRow:
    if chunk.is_append:
        # a chunk that two lanes bring is one chunk
        is_twin = channel is not before.channel and Channel.PUSH in (channel, before.channel)
        return before if is_twin else _grow(before, chunk, source)
    row = _grow(_begin(chunk, source, channel), chunk, source)
    if not before.others and row.text == before.text:
        return replace(before, is_complete=chunk.is_last, exchange=source.exchange)
    return row


def _begin(chunk: ArtifactChunk, source: Source, channel: Channel) -> ArtifactRow:
    return ArtifactRow(chunk.artifact_id, chunk.name, source.exchange, channel)


def _grow(row: ArtifactRow, chunk: ArtifactChunk, source: Source) -> ArtifactRow:
    has_others = not all(_is_text(part) for part in chunk.parts)
    return replace(
        row,
        name=chunk.name or row.name,
        exchange=source.exchange,
        pieces=row.pieces.extend(texts(chunk.parts)),
        sources=row.sources.append(source),
        others=row.others.append(source) if has_others else row.others,
        chunks=row.chunks + 1,
        is_complete=chunk.is_last,
    )


def _is_text(part: Json) -> bool:
    return at(part, "text") is not None
