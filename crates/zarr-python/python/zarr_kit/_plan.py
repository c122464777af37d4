"""What a read would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from . import _indexing, _native

STEP = 256
"""Chunks that are asked for at a time."""


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """What a read does with one chunk.

    Attributes
    ----------
    key
        The chunk's key in the store.
    chunk
        Its number on each axis.
    shape
        Its shape as it is stored.
    in_chunk
        On each axis the indices within the chunk.
    in_selection
        On each axis their positions in the selection.
    is_whole
        Whether they are known to be all of the chunk that lies within the array.
    stored_bytes
        The size of the object, None if it is not stored: its elements are the fill value.
    reads
        The ranges of bytes that are read of it, as (start, stop); of a shard, its index is the first.
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


class Plan(Sequence[PlannedChunk]):
    """The chunks that a read meets, in the order in which they are read.

    Made by `Array.plan`. The store is asked for the size of each chunk as it is looked at, and for
    the indices of shards: a plan of a million chunks costs nothing by itself.
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


def _indices(found: tuple[int, int, int] | list[int]) -> range | tuple[int, ...]:
    if isinstance(found, list):
        return tuple(found)
    first, count, step = found
    return range(first, first + count * step, step)
