"""Which codecs, chunks and shards store an array best."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _create, _describe, _native, _store
from ._array import Array
from ._group import Group
from ._native import printable
from ._rearrange import axis_of


def advise(
    array: Array | NDArray[Any] | str | os.PathLike[str],
    key: Any = ...,
    *,
    goal: str = "both",
    sample: int = 4 << 20,
    rate: int = 200_000_000,
    reads: Sequence[Mapping[str | int, int] | str] = (),
    latency: float | None = None,
    memory: int = 256 << 20,
) -> dict[str, Any]:
    """Tries codecs, chunks and shards on sampled chunks, as ``zarr-kit advise --json``.

    Sizes are exact for the sample; times are measured on one thread of this machine. Chains of a
    sharded array are tried in its inner chunks.

    Parameters
    ----------
    array
        An `Array`, the folder or URL of one, or a numpy array, which gets the chunks that `create`
        gives it.
    key
        As in ``array[key]``, without lists of single elements: chunks are taken from there.
    goal
        What the best chain is judged by: the time to write and to read once (``"both"``), to
        ``"read"`` or to ``"write"``, or the stored bytes (``"size"``).
    sample
        Bytes of elements that are tried.
    rate
        Bytes a second that the store moves: the faster the store, the less small chunks are worth.
    reads
        How the array is read, such as ``[{"time": 1}, {"lat": 16, "lon": 16}, "whole"]``: the lengths
        of a region on some axes, by name or number, with all of the others. Chunks and shards are
        then tried too. Each read may begin anywhere, and all count the same.
    latency
        Seconds of a request to the store: by default 0.0001, or 0.02 of a remote store. From 0.001
        on, for stores that answer many requests at once.
    memory
        The most bytes of the elements of a chunk or a shard.

    Returns
    -------
    dict
        ``trials``, the best one first, each with ``chain``, which `create` takes as ``codecs``,
        ``bytes``, ``encode_seconds`` and ``decode_seconds``; ``sample``; ``bits``, with the bits
        that the elements need, the constant bits, and the number of distinct values. ``shapes``, the
        advised one first, each with ``chunks``, ``shards``, ``objects``, ``memory`` of a write, and
        ``requests``, ``bytes`` and ``seconds`` of each of the ``reads``.

    Raises
    ------
    FileNotFoundError
        If the place does not exist.
    ValueError
        If it is a group, if there are no elements but fill values, or if a read is none of the array.

    Examples
    --------
    >>> import numpy as np, zarr_kit
    >>> found = zarr_kit.advise(np.arange(1, 5000, dtype="u2") % 600, goal="size")
    >>> found["bits"]["needed_bits"], found["trials"][0]["bytes"] < 2 * 4999
    ([0, 9], True)
    >>> found = zarr_kit.advise(np.arange(60_000).reshape(100, 600), reads=[{1: 6}])
    >>> len(found["shapes"][0]["chunks"]), found["reads"]
    (2, [[100, 6]])
    """
    if isinstance(array, Group):
        raise ValueError(f"{printable(array._where)}: this is a group, not an array")
    if isinstance(array, (str, os.PathLike)):
        array = Array(_native.Array.open(_store.state(array)))
    if not isinstance(array, Array):
        values = np.asarray(array)
        document = _create.array_document(shape=values.shape, dtype=values.dtype)
        state = _store.state("memory:")
        array = Array(_native.create_array(state, document))
        array[...] = values
    lengths = [read if isinstance(read, str) else _lengths(array, read) for read in reads]
    axes = _describe._axes(array, key)
    asked = (goal, sample, rate, lengths, latency, memory)
    found: dict[str, Any] = json.loads(array._native.advise(axes, array._where, asked))
    return found


def _lengths(array: Array, read: Mapping[str | int, int]) -> list[int]:
    """The lengths of a read: numbers are numbers of axes, whatever the names are."""
    given: dict[int, int] = {}
    for key, length in read.items():
        try:
            axis = axis_of(key, array.dims, array.ndim)
        except (IndexError, ValueError) as wrong:
            raise ValueError(f"reads {read!r}: {wrong}") from None
        if axis in given:
            raise ValueError(f"reads {read!r}: axis {key!r} is given twice")
        length = operator.index(length)
        if not 1 <= length <= array.shape[axis]:
            raise ValueError(f"reads {read!r}: {key!r}: {length}: a length from 1 to {array.shape[axis]} is allowed")
        given[axis] = length
    return [given.get(axis, length) for axis, length in enumerate(array.shape)]
