"""Differences between arrays and groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from . import _native, _node, _store
from ._array import Array
from ._group import Group


def diff(
    one: _store.Url | Array | Group,
    other: _store.Url | Array | Group,
    *,
    metadata_only: bool = False,
    region: Mapping[str, int | slice | Sequence[int]] | None = None,
    one_options: Mapping[str, Any] | None = None,
    other_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Compares two arrays, or two groups and everything below them, as ``zarr-kit diff --json``.

    Documents are compared first, then elements bit by bit, in pieces: memory does not grow with the
    arrays. Where lengths differ, elements with the same labels are compared, if the axes have
    coordinate arrays.

    Parameters
    ----------
    one, other
        Open arrays or groups, or folders or URLs.
    metadata_only
        Whether only the documents are compared.
    region
        The indices that are compared, by names of axes. Arrays without these axes are compared whole.
    one_options, other_options
        Settings of the stores, if ``one`` and ``other`` are URLs.

    Returns
    -------
    dict
        ``different``, the number of differences that readers see, 0 if there are none;
        ``not_compared``, the number of nodes that could not be read, each with its ``reason``;
        ``stored_differently``, differences that are only of chunks, codecs and the like; how many
        ``groups``, ``arrays`` and ``elements`` were compared; and ``differences``, a list of dicts
        with the ``path`` of the node, ``what`` differs, and its value in ``one`` and ``other``. For
        ``values``, the dict has the first pair and the pair with the largest difference, up to eight
        ``regions`` that hold all, and ``labels`` beside them.

    Raises
    ------
    FileNotFoundError
        If a place does not exist.
    ValueError
        If the region is not one of the arrays.

    Examples
    --------
    >>> import zarr_kit
    >>> a = zarr_kit.create("memory:", shape=59, dtype="i2", chunks=[(31, 28)])
    >>> b = zarr_kit.create("memory:", shape=59, dtype="i2", chunks=20)
    >>> a[3], b[3] = 5, 7
    >>> found = zarr_kit.diff(a, b)
    >>> found["different"], found["differences"][-1]["first"]
    (1, {'index': [3], 'one': '5', 'other': '7'})
    """
    if metadata_only and region:
        raise ValueError("region: with metadata_only, no elements are compared")
    ours, theirs = _node.at(one, one_options), _node.at(other, other_options)
    entries = [(name, _entry(name, indices)) for name, indices in (region or {}).items()]
    found: dict[str, Any] = json.loads(_native.diff(ours, theirs, metadata_only, entries))
    return found


def _entry(name: str, indices: int | slice | Sequence[int]) -> str:
    """Indices of an axis in numpy's syntax."""
    if isinstance(indices, slice):
        parts = (indices.start, indices.stop, indices.step)
        return ":".join("" if part is None else str(index(part)) for part in parts).removesuffix(":") or ":"
    if isinstance(indices, Sequence | np.ndarray) and not isinstance(indices, str):
        return f"[{','.join(str(index(each)) for each in indices)}]"
    try:
        return str(index(indices))
    except TypeError:
        raise TypeError(
            f"region: the indices of axis {name!r} are an int, a slice or a list of ints, not {indices!r}"
        ) from None
