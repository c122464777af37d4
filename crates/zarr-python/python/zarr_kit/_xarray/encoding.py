"""How arrays are stored, as Xarray's ``encoding``, and back."""

from __future__ import annotations

import copy
from collections.abc import Hashable
from typing import Any

from .._array import Array

Chunks = tuple[int | tuple[int, ...], ...]
"""Per axis the length of every chunk, or the lengths of all."""

INDEX_CODECS = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
"""The codecs of the index of shards that `zarr_kit.create` makes."""

MOST = 1 << 20
"""The most lengths of chunks in an encoding. A short document can declare many more."""

COMPRESSORS = frozenset(("gzip", "zstd", "blosc", "crc32c"))
"""Codecs of bytes, which take any bytes."""

TAKE_ALL = COMPRESSORS | {"bytes", "transpose", "reshape", "vlen-bytes"}
"""Codecs that have a form for every element. The text of ``vlen-utf8`` may not be Unicode."""

KEY_ENCODING = {"name": "default", "configuration": {"separator": "/"}}
"""The encoding of chunk keys that `zarr_kit.create` makes."""


def stored(array: Array, dims: tuple[Hashable, ...]) -> dict[str, Any]:
    """The entries of ``encoding`` that describe how an array is stored.

    ``chunks`` and ``shards`` have one entry per axis: the length of every chunk, or a tuple of
    all lengths. ``codecs`` are as in ``zarr.json``; with ``shards``, the codecs within the shards.
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
    found = {
        "chunks": chunks if within is None or shards is not None else grid,
        "shards": shards,
        "codecs": codecs,
        "preferred_chunks": dict(zip(dims, chunks, strict=True)),
    }
    if document["chunk_key_encoding"] != KEY_ENCODING:
        found["chunk_key_encoding"] = document["chunk_key_encoding"]
    return found


def chunks_of(array: Array) -> Chunks:
    """The lengths of the chunks of an array: one number per axis, or all lengths if they are listed."""
    grid = array._document["chunk_grid"]
    configuration = grid["configuration"]
    if grid["name"] == "regular":
        return tuple(configuration["chunk_shape"])
    return tuple(
        entry if isinstance(entry, int) else _listed(array, axis, entry)
        for axis, entry in enumerate(configuration["chunk_shapes"])
    )


def _listed(array: Array, axis: int, runs: list[int | list[int]]) -> int | tuple[int, ...]:
    """The edges within the shape of an axis whose chunks are listed.

    They are a tuple also if they are equal, so that an array that is written again can grow by other
    lengths; but a number if they are so many that the tuple would be large.
    """
    lengths, chunks, left = set(), 0, array.shape[axis]
    for run in runs:
        if left <= 0:
            break
        length, most = (run, 1) if isinstance(run, int) else run
        count = min(most, -(-left // length))
        lengths.add(length)
        chunks, left = chunks + count, left - count * length
    if chunks <= MOST:
        return tuple(array._edges(axis).tolist()) or 1
    if len(lengths) == 1:
        return lengths.pop()
    raise MemoryError(
        f"axis {axis} of {array.path!r} has {chunks} chunks of several lengths, and Xarray's encoding "
        f"lists at most {MOST}: leave the array out with drop_variables"
    )


def may_refuse(codecs: list[Any]) -> bool:
    """Whether a chain of codecs may refuse an element."""
    for codec in codecs:
        name = codec_name(codec)
        if name == "sharding_indexed":
            if may_refuse(codec["configuration"]["codecs"]):
                return True
        elif name not in TAKE_ALL:
            return True
    return False


def without_compressors(codecs: list[Any]) -> list[Any]:
    """A chain of codecs that refuses the same elements, and does not compress."""
    kept = []
    for codec in codecs:
        if codec_name(codec) == "sharding_indexed":
            inner = without_compressors(codec["configuration"]["codecs"])
            codec = {**codec, "configuration": {**codec["configuration"], "codecs": inner}}
        if codec_name(codec) not in COMPRESSORS:
            kept.append(codec)
    return kept


def codec_name(codec: str | dict[str, Any]) -> str:
    """The name of a codec in a document."""
    return codec if isinstance(codec, str) else str(codec["name"])


def _sharding(codecs: list[Any]) -> dict[str, Any] | None:
    """The configuration of the shards of an array, if they are its only codec."""
    if len(codecs) != 1 or isinstance(codecs[0], str) or codecs[0]["name"] != "sharding_indexed":
        return None
    found: dict[str, Any] = codecs[0]["configuration"]
    return found


def _has_usual_index(sharding: dict[str, Any]) -> bool:
    """Whether shards have the index that `zarr_kit.create` makes."""
    codecs = [{"name": c} if isinstance(c, str) else c for c in sharding["index_codecs"]]
    return codecs == INDEX_CODECS and sharding.get("index_location", "end") == "end"
