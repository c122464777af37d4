"""Differences between arrays and groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _native, _node, _store
from ._array import Array
from ._group import Group


def diff(
    one: _store.Url | Array | Group,
    other: _store.Url | Array | Group,
    *,
    metadata_only: bool = False,
    one_options: Mapping[str, Any] | None = None,
    other_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Compares two arrays, or two groups and everything below them, as ``zarr-kit diff --json``.

    Documents are compared first, then elements bit by bit, in pieces: memory does not grow with the
    arrays.

    Parameters
    ----------
    one, other
        Open arrays or groups, or folders or URLs.
    metadata_only
        Whether only the documents are compared.
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
        ``values``, the dict has the first pair and the pair with the largest difference.

    Raises
    ------
    FileNotFoundError
        If a place does not exist.

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
    ours, theirs = _node.at(one, one_options), _node.at(other, other_options)
    found: dict[str, Any] = json.loads(_native.diff(ours, theirs, metadata_only))
    return found
