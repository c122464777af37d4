"""Finds tasks of Dask arrays that write to the same stored chunk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np

from .._array import Array
from .._native import LISTED
from .encoding import Chunks
from .layout import is_aligned
from .planning import Plan


def shared(plan: Plan) -> str | None:
    """A message that names tasks which share a stored chunk; None if there are none."""
    for update in plan.updates:
        chunks = _declared(update.array._document["chunk_grid"])
        shape = list(update.array.shape)
        if update.axis is not None:
            shape[update.axis] += update.variable.shape[update.axis]
            before = chunks[update.axis]
            if not isinstance(before, int):
                grown = (*before, *update.edges)
                chunks = (*chunks[: update.axis], grown, *chunks[update.axis + 1 :])
        blocks = update.variable.chunks
        if blocks is not None and not is_aligned(blocks, chunks, tuple(shape), update.start):
            return _message(update.name, blocks, chunks)
    for addition in plan.additions:
        chunks = _declared(json.loads(addition.document)["chunk_grid"])
        blocks = addition.variable.chunks
        if blocks is not None and not is_aligned(blocks, chunks, addition.variable.shape):
            return _message(addition.name, blocks, chunks)
    return None


def aligned_blocks(
    variable: Any, array: Array, region: tuple[slice, ...]
) -> dict[Any, tuple[int, ...]]:
    """The blocks of a variable, joined so that no stored chunk is shared by two, by dimension."""
    found = {}
    both = zip(variable.dims, variable.chunks, region, strict=True)
    for axis, (dim, blocks, part) in enumerate(both):
        first, ends = part.start or 0, np.cumsum(array._edges(axis))
        if not sum(blocks):
            found[dim] = blocks
            continue
        last = first + sum(blocks)
        # Each block ends where the chunk of its last element does.
        needed = np.searchsorted(ends, first + np.cumsum(blocks), side="left")
        edges = np.unique(np.minimum(ends[needed], last))
        found[dim] = tuple(np.diff(edges, prepend=first).tolist())
    return found


def _message(name: str, blocks: Any, chunks: Chunks) -> str:
    return (
        f"variable {name!r}: several blocks of the Dask array {blocks} would overlap one stored "
        f"chunk of {chunks}, and the store cannot keep their tasks from overwriting each other: "
        "use blocks of whole chunks, by chunk() or another encoding['chunks']"
    )


def _declared(grid: dict[str, Any]) -> Chunks:
    """The lengths of all chunks that a grid declares, including those past the end of the array."""
    configuration = grid["configuration"]
    if grid["name"] == "regular":
        return tuple(configuration["chunk_shape"])
    return tuple(
        axis if isinstance(axis, int) else tuple(_listed(axis)) for axis in configuration["chunk_shapes"]
    )


def _listed(axis: list[int | list[int]]) -> Iterator[int]:
    """The lengths of an axis's chunks from its runs, if a list can hold them."""
    runs = [(entry, 1) if isinstance(entry, int) else (entry[0], entry[1]) for entry in axis]
    if (chunks := sum(count for _, count in runs)) > LISTED:
        raise MemoryError(f"an axis has {chunks} chunks, and at most {LISTED} are listed")
    return chain.from_iterable(repeat(length, count) for length, count in runs)
