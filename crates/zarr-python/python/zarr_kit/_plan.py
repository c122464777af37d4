"""The chunks and bytes that a read needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from . import _html, _indexing, _native

STEP = 256
"""The number of chunks that the native part is asked for at a time."""


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """What a read does with one chunk.

    Attributes
    ----------
    key
        The chunk's key in the store.
    chunk
        Its index on each axis.
    shape
        Its stored shape.
    in_chunk
        On each axis, the selected indices within the chunk.
    in_selection
        On each axis, the positions of these indices in the selection.
    is_whole
        Whether they are known to be all indices of the chunk that lie within the array.
    stored_bytes
        The size of the object, None if the chunk is not stored; it then holds the fill value.
    reads
        The byte ranges that are read, as (start, stop); for a shard, the first is its index.
    """

    key: str
    chunk: tuple[int, ...]
    shape: tuple[int, ...]
    in_chunk: tuple[range | tuple[int, ...], ...]
    in_selection: tuple[range | tuple[int, ...], ...]
    is_whole: bool
    stored_bytes: int | None
    reads: tuple[tuple[int, int], ...]

    @property
    def read_bytes(self) -> int:
        """How many bytes are read."""
        return sum(stop - start for start, stop in self.reads)


class Plan(_html.Table, Sequence[PlannedChunk]):
    """The chunks that a read needs, in the order in which they are read.

    `Array.plan` makes it. The sizes of chunks and the indices of shards are read from the store
    only when a chunk of the plan is accessed, so making a plan of a million chunks costs nothing.
    """

    __slots__ = ("_axes", "_length", "_native")

    def __init__(self, native: _native.Array, axes: tuple[_indexing.Axis, ...]) -> None:
        self._native = native
        self._axes = axes
        self._length = native.planned(axes)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> PlannedChunk: ...
    @overload
    def __getitem__(self, index: slice) -> list[PlannedChunk]: ...
    def __getitem__(self, index: int | slice) -> PlannedChunk | list[PlannedChunk]:
        numbers = range(len(self))[index]
        if isinstance(numbers, int):
            return self._chunks(numbers, numbers + 1)[0]
        if numbers.step == 1:
            return self._chunks(numbers.start, numbers.stop)
        return [self[number] for number in numbers]

    def __iter__(self) -> Iterator[PlannedChunk]:
        for start in range(0, len(self), STEP):
            yield from self._chunks(start, min(start + STEP, len(self)))

    def _chunks(self, start: int, stop: int) -> list[PlannedChunk]:
        return [
            PlannedChunk(
                key,
                tuple(chunk),
                tuple(shape),
                tuple(map(_indices, in_chunk)),
                tuple(map(_indices, in_selection)),
                is_whole,
                stored_bytes,
                tuple(reads),
            )
            for key, chunk, shape, in_chunk, in_selection, is_whole, stored_bytes, reads in self._native.plan(
                self._axes, start, stop
            )
        ]

    def __repr__(self) -> str:
        return f"<zarr_kit.Plan of {len(self)} chunks>"

    def _table(self) -> tuple[str, Sequence[str], list[Sequence[object]], int]:
        names = "chunk", "key", "stored bytes", "read bytes"
        rows: list[Sequence[object]] = [
            (each.chunk, each.key, "not stored" if each.stored_bytes is None else each.stored_bytes, each.read_bytes)
            for each in self[: _html.ROWS]
        ]
        return f"a read of {len(self)} chunks", names, rows, len(self)


def _indices(found: tuple[int, int, int] | list[int]) -> range | tuple[int, ...]:
    if isinstance(found, list):
        return tuple(found)
    first, count, step = found
    return range(first, first + count * step, step)
