"""Finds data that is read from the arrays to which it is written, in other places."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._array import Array
from .sources import _innermost, _place, _sources

Box = tuple[tuple[int, int], ...]
"""The first and the last index, exclusive, on each axis."""


def check_blocks(name: str, data: Any, target: Array, region: Sequence[slice], written: Mapping[str, str]) -> None:
    """Raises an error unless each block is read where it is written, if at all.

    Blocks are written in any order, so that one that reads the region of another may find what is
    written there already. Elements of one block are read before it is written. A block at the edge of
    the region reads the rest of a stored chunk as well, which nothing writes.

    Parameters
    ----------
    name
        The variable, for the message.
    data
        A Dask array.
    target
        The array to which it is written.
    region
        Where, a slice for each axis; empty for the whole array.
    written
        The places of all arrays that are written at the same time, and their names.

    Raises
    ------
    ValueError
        If a block reads another region, or another array that is written.
    """
    shown = {place: shown for source, shown in _sources(data) if (place := _written(source, written)) is not None}
    if not shown:
        return
    from dask._task_spec import convert_legacy_graph

    own = _place(target)
    graph = convert_legacy_graph(dict(data.__dask_graph__()))
    starts = [part.start or 0 for part in region] or [0] * data.ndim
    edges = [(start, *(start + end for end in itertools.accumulate(lengths))) for start, lengths in zip(starts, data.chunks, strict=True)]
    whole = tuple((ends[0], ends[-1]) for ends in edges)
    reads: dict[Hashable, list[tuple[str, Box | None]]] = {}
    for index in np.ndindex(*data.numblocks):
        box = tuple((edges[axis][n], edges[axis][n + 1]) for axis, n in enumerate(index))
        for place, read in _reads((data.name, *index), graph, written, reads):
            if place != own or read is None or not _within(read, box, whole):
                raise ValueError(
                    f"variable {name!r} is read from {shown[place]}, which is written at the same time, "
                    f"and not block by block (the block at {[start for start, _ in box]} reads "
                    f"{'all of it' if read is None else [start for start, _ in read]}): load() the data, or "
                    "write it to another place"
                )


def _written(source: Any, written: Mapping[str, str]) -> str | None:
    """The place of a source, if it is one that is written."""
    place = _place(source) if isinstance(source, Array) else source
    return place if place in written else None


def _reads(
    key: Hashable,
    graph: Mapping[Any, Any],
    written: Mapping[str, str],
    known: dict[Hashable, list[tuple[str, Box | None]]],
) -> list[tuple[str, Box | None]]:
    """The written arrays that a task reads, by itself and by others, and where."""
    todo = [key]
    while todo:
        task = todo[-1]
        if task in known or task not in graph:
            todo.pop()
            known.setdefault(task, [])
            continue
        node = graph[task]
        needed = [k for k in node.dependencies if k not in known]
        if needed:
            todo += needed
            continue
        found: list[tuple[str, Box | None]] = []
        arrays = [place for value in _values(node) if (place := _source(value, written)) is not None]
        slices = [value for value in _values(node) if _is_region(value)]
        for dependency in node.dependencies:
            for place, read in known[dependency]:
                # Of a whole array, a task may take a region.
                found.append((place, _box(slices) if read is None and slices else read))
        found += [(place, _box(slices)) for place in arrays]
        known[task] = list(dict.fromkeys(found))
        todo.pop()
    return known[key]


def _source(value: Any, written: Mapping[str, str]) -> str | None:
    return next((place for source, _ in _innermost(value) if (place := _written(source, written)) is not None), None)


def _values(node: Any) -> Iterator[Any]:
    """The values in a task, without those of other tasks."""
    if type(node).__name__ == "DataNode":
        yield node.value
        return
    for part in (*getattr(node, "args", ()), *(getattr(node, "kwargs", None) or {}).values()):
        if isinstance(part, list | tuple) and not _is_region(part):
            for inner in part:
                yield from _values(inner) if hasattr(inner, "dependencies") else (inner,)
        elif hasattr(part, "dependencies"):
            yield from _values(part)
        else:
            yield part


def _is_region(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(part, slice) for part in value)


def _box(slices: list[Any]) -> Box | None:
    if len(slices) != 1 or any(part.step not in (None, 1) or part.stop is None for part in slices[0]):
        return None
    return tuple((part.start or 0, part.stop) for part in slices[0])


def _within(read: Box, box: Box, whole: Box) -> bool:
    """Whether a block reads elements that it writes, and none that others write."""
    if len(read) != len(box):
        return False
    both = [(max(first, low), min(last, high)) for (first, last), (low, high) in zip(read, whole, strict=True)]
    return all(
        start <= first < last <= end for (first, last), (start, end) in zip(both, box, strict=True)
    )
