"""Chunk grids in Python: one tuple of edges per axis, as in Dask."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np


def checked_shape(shape: Any) -> tuple[int, ...]:
    """A shape as numpy takes it: an integer, or a sequence of them.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If a length is negative.
    """
    try:
        lengths: tuple[int, ...] = (_integer(shape),)
    except TypeError:
        try:
            lengths = tuple(map(_integer, shape))
        except TypeError:
            raise TypeError(f"a shape is an integer or a sequence of integers, not {shape!r}") from None
    if any(length < 0 for length in lengths):
        raise ValueError(f"the lengths of a shape are at least 0: {lengths}")
    return lengths


def document(chunks: Any, shape: tuple[int, ...], word: str = "chunk") -> dict[str, Any]:
    """The ``chunk_grid`` of a document for chunks in the form of Dask or zarr-python.

    Parameters
    ----------
    chunks
        ``None`` for one chunk, an int for all axes, or per axis an int (the length of every
        chunk), or a sequence of lengths that add up to the axis.
    shape
        The array's shape.
    word
        What messages call them: ``"chunk"`` or ``"shard"``.

    Raises
    ------
    ValueError
        If lengths do not add up to the length of the axis, or are not positive.
    """
    return _of_entries([_runs(edges) for edges in _per_axis(chunks, shape, word)])


def clipped(chunks: Any, shape: tuple[int, ...], word: str = "chunk") -> Any:
    """Chunks as `document` takes them, with one length for an axis where only the last is shorter.

    `Array.chunks` and `Array.shards` clip the last chunk to the array, and chunks within shards have one
    length.
    """
    if chunks is None:
        return None
    return [edges if isinstance(edges, int) else regular(edges) for edges in _per_axis(chunks, shape, word)]


def changed(
    document: Mapping[str, Any], chunks: Mapping[str, Any], others: Sequence[int] | None = None, word: str = "chunk"
) -> dict[str, Any]:
    """The ``chunk_grid`` of an array, with other chunks on the axes of these names.

    The other axes keep theirs, or get those of ``others``.

    Raises
    ------
    ValueError
        As for `document`.
    """
    kept = document["chunk_grid"]["configuration"]
    entries = list(others or (kept["chunk_shape"] if "chunk_shape" in kept else kept["chunk_shapes"]))
    for axis, name in enumerate(document.get("dimension_names") or ()):
        if name in chunks:
            entries[axis] = _runs(_edges(name, chunks[name], document["shape"][axis], word))
    return _of_entries(entries)


def familiar(chunks: Any) -> Any:
    """Chunks without zarr-python's words: ``"auto"`` is None, and False is one chunk."""
    if isinstance(chunks, str) and chunks == "auto":
        return None
    return -1 if chunks is False else chunks


def _of_entries(entries: list[Any]) -> dict[str, Any]:
    if all(isinstance(edges, int) for edges in entries):
        return {"name": "regular", "configuration": {"chunk_shape": entries}}
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": entries}}


def added_per_axis(chunks: Any) -> list[list[tuple[int, int]]]:
    """The chunks to add on each axis; see `added`."""
    try:
        entries = list(chunks)
    except TypeError:
        raise TypeError(f"chunks: for each axis a sequence of lengths or None, not {chunks!r}") from None
    return [added(entry, f"chunks: axis {axis}") for axis, entry in enumerate(entries)]


def added(lengths: Any, place: str) -> list[tuple[int, int]]:
    """The runs of chunks to add on an axis; none for None.

    Raises
    ------
    TypeError
        If it is no sequence of integers; the message names the place.
    """
    try:
        return runs([_integer(edge) for edge in (() if lengths is None else lengths)])
    except TypeError:
        message = f"{place}: a sequence of lengths, such as [31, 28], or None, not {lengths!r}"
        raise TypeError(message) from None


def axes(count: int) -> str:
    """That many axes, in words."""
    return "1 axis" if count == 1 else f"{count} axes"


def runs(edges: Sequence[int]) -> list[tuple[int, int]]:
    """Each run of equal edges as (edge, count)."""
    return [(edge, sum(1 for _ in run)) for edge, run in groupby(edges)]


def _integer(value: Any) -> int:
    """The integer; a TypeError for truth values, which are integers for Python."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    return operator.index(value)


def _per_axis(chunks: Any, shape: tuple[int, ...], word: str = "chunk") -> list[int | list[int]]:
    if chunks is None:
        return [max(length, 1) for length in shape]
    if isinstance(chunks, str | float | bool | np.bool_):
        raise TypeError(
            f"{word}s are an integer for all axes (-1 for one {word}), a sequence with an entry per axis, "
            f"or None (the default), not {chunks!r}"
        )
    if isinstance(chunks, (int, np.integer)):
        chunks = (chunks,) * len(shape)
    chunks = list(chunks)
    if len(chunks) != len(shape):
        raise ValueError(f"{word}s have {axes(len(chunks))}, the shape has {len(shape)}")
    lengths = zip(chunks, shape, strict=True)
    return [_edges(axis, entry, length, word) for axis, (entry, length) in enumerate(lengths)]


def _edges(axis: int | str, entry: Any, length: int, word: str = "chunk") -> int | list[int]:
    """The length of every chunk of an axis, or all lengths."""
    if entry is None or (isinstance(entry, int) and entry == -1):
        return max(length, 1)
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        if entry <= 0:
            raise ValueError(f"axis {axis}: a {word} has at least 1 element, not {entry}")
        return int(entry)
    try:
        edges = [_integer(edge) for edge in entry]
    except TypeError:
        message = f"axis {axis}: {word}s are an integer or a sequence of integers, not {entry!r}"
        raise TypeError(message) from None
    if length == 0 and not any(edges):
        return 1
    if any(edge <= 0 for edge in edges):
        raise ValueError(f"axis {axis}: a {word} has at least 1 element, not {min(edges)}")
    if sum(edges) != length:
        raise ValueError(f"axis {axis}: the {word}s add up to {sum(edges)}, the axis has {length} elements")
    return edges


def inner_shape(codecs: Sequence[Any], rank: int) -> tuple[int, ...] | None:
    """The lengths of the chunks within shards, along the axes of the array.

    None without shards, or if the codecs before them do more than reorder axes.
    """
    order = list(range(rank))
    for codec in codecs:
        name = codec if isinstance(codec, str) else codec.get("name")
        if name in ("reshape", "squeeze"):
            return None
        if name == "transpose":
            order = [order[axis] for axis in codec["configuration"]["order"]]
        if name == "sharding_indexed":
            lengths = dict(zip(order, codec["configuration"]["chunk_shape"], strict=True))
            return tuple(lengths[axis] for axis in range(rank))
    return None


def divided(shards: Sequence[Sequence[int]], inner: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The lengths of the chunks within shards of these lengths, clipped as they are.

    Raises
    ------
    MemoryError
        If an axis has more than 2^26 chunks.
    """
    axes = []
    for axis, (edges, length) in enumerate(zip(shards, inner, strict=True)):
        count = sum(-(-edge // length) for edge in edges)
        if count > 1 << 26:
            raise MemoryError(f"axis {axis} has {count} chunks, more than 2^26; plan names them one by one")
        found: list[int] = []
        for edge in edges:
            whole, rest = divmod(edge, length)
            found.extend([length] * whole + [rest] * (rest > 0))
        axes.append(tuple(found) or (0,))
    return tuple(axes)


def regular(edges: Sequence[int]) -> int | list[int]:
    """The length of all chunks if only the last one is shorter, otherwise all lengths."""
    if not any(edges):
        return 1
    first = edges[0]
    if all(edge == first for edge in edges[:-1]) and edges[-1] <= first:
        return first
    return [edge for edge in edges if edge]


def _runs(edges: int | list[int]) -> int | list[int | list[int]]:
    if isinstance(edges, int):
        return edges
    return [edge if count == 1 else [edge, count] for edge, count in runs(edges)]
