"""How arrays are stored, as Xarray's ``encoding``, and back."""

from __future__ import annotations

import copy
from collections.abc import Hashable
from typing import Any

from .. import _grid
from .._array import Array

Chunks = tuple[int | tuple[int, ...], ...]
"""Per axis the length of every chunk, or the lengths of all."""


def stored(array: Array, dims: tuple[Hashable, ...]) -> dict[str, Any]:
    """The entries of ``encoding`` that describe how an array is stored.

    ``chunks`` and ``shards`` have one entry per axis: the length of every chunk, or a tuple of
    all lengths. ``codecs`` are those of ``zarr.json``; with ``shards``, those within the shards.
    """
    document = array._document
    grid = chunks_of(array)
    codecs = copy.deepcopy(document["codecs"])
    shards, within = None, _sharding(codecs)
    if within is None:
        chunks: Chunks = grid
    else:
        chunks = tuple(within["chunk_shape"])
        if _has_usual_index(within):
            shards, codecs = grid, within["codecs"]
    return {
        "chunks": chunks if within is None or shards is not None else grid,
        "shards": shards,
        "codecs": codecs,
        "preferred_chunks": dict(zip(dims, chunks, strict=True)),
    }


def chunks_of(array: Array) -> Chunks:
    """The lengths of the chunks of an array: per axis one number if they are equal."""
    grid = array._document["chunk_grid"]
    configuration = grid["configuration"]
    if grid["name"] == "regular":
        return tuple(configuration["chunk_shape"])
    # An entry that is not a number lists runs: take the edges within the shape.
    return tuple(
        entry if isinstance(entry, int) else _compact(tuple(array._edges(axis).tolist()))
        for axis, entry in enumerate(configuration["chunk_shapes"])
    )


def _compact(edges: tuple[int, ...]) -> int | tuple[int, ...]:
    found = _grid.regular(edges)
    return found if isinstance(found, int) else tuple(found)


def _sharding(codecs: list[Any]) -> dict[str, Any] | None:
    """The configuration of the shards of an array, if they are its only codec."""
    if len(codecs) != 1 or isinstance(codecs[0], str) or codecs[0]["name"] != "sharding_indexed":
        return None
    found: dict[str, Any] = codecs[0]["configuration"]
    return found


def _has_usual_index(sharding: dict[str, Any]) -> bool:
    """Whether shards have the index that `zarr_kit.create` makes."""
    from .._create import _sharding

    usual = _sharding([], [])["configuration"]
    index = [{"name": c} if isinstance(c, str) else c for c in sharding["index_codecs"]]
    place = sharding.get("index_location", "end")
    return bool(index == usual["index_codecs"] and place == usual["index_location"])
