"""Decides how a new array is stored: as requested, in Dask's chunks, or as Xarray remembers."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from xarray import Variable
from xarray.coding.strings import check_vlen_dtype

from .. import _create, _dtypes, _grid
from .._notes import SMALL_CHUNK
from .encoding import Chunks

VARIABLE = 64
"""The bytes that an element of variable length counts as."""

ENTRIES = frozenset(
    "chunks shards codecs compressors filters serializer fill_value preferred_chunks "
    "source original_shape chunk_key_encoding".split()
)
"""The entries of ``encoding`` that say how an array is stored; all others are CF's or unknown."""


def document(
    name: str,
    variable: Variable,
    *,
    is_explicit: bool,
    codecs: Any = None,
    chunks: Mapping[Hashable, Any] | None = None,
) -> str:
    """The ``zarr.json`` of a new array for an encoded variable.

    Parameters
    ----------
    is_explicit
        Whether the caller gave the variable's ``encoding``. Otherwise Xarray remembers it from
        where the variable was read, and it is ignored if it does not fit.
    codecs
        The codecs to use if ``encoding`` does not name any.
    chunks
        Lengths of chunks by dimension, which take precedence.
    """
    encoding = dict(variable.encoding)
    if is_explicit and (unknown := sorted(set(encoding) - ENTRIES - {"_FillValue"}, key=str)):
        raise ValueError(f"variable {name!r}: unexpected encoding {unknown}")
    lengths, shards = layout(name, variable, is_explicit=is_explicit, asked=chunks)
    if codecs is None or is_explicit and "codecs" in encoding:
        codecs = _codecs(name, variable, encoding, is_explicit=is_explicit)
    data_type = _data_type(variable)
    attributes = dict(variable.attrs)
    fill_value = encoding.get("fill_value")
    if fill_value is None and variable.dtype.kind == "f":
        fill_value = np.nan
    arguments = {
        "shape": variable.shape,
        "dtype": data_type,
        "chunks": lengths,
        "shards": shards,
        "codecs": codecs,
        "dimension_names": variable.dims,
        "attributes": attributes,
    }
    try:
        text = _create.array_document(**arguments, fill_value=fill_value)
    except (OverflowError, TypeError, ValueError) as error:
        error.add_note(f"while the array of variable {name!r} was planned")
        if is_explicit or "fill_value" not in encoding:
            raise
        # The type differs: what Xarray remembers is no longer valid.
        text = _create.array_document(**arguments, fill_value=None)
    if (keys := encoding.get("chunk_key_encoding")) is None:
        return text
    return json.dumps(json.loads(text) | {"chunk_key_encoding": keys}, allow_nan=False)


def layout(
    name: str,
    variable: Variable,
    *,
    is_explicit: bool,
    asked: Mapping[Hashable, Any] | None = None,
) -> tuple[Chunks, Chunks | None]:
    """The chunks and shards of a new array."""
    chunks, shards = _by_encoding(name, variable, is_explicit)
    if not is_explicit and chunks is not None and variable.chunks is not None:
        if not is_aligned(variable.chunks, shards or chunks, variable.shape):
            chunks, shards = None, None
    if chunks is None:
        chunks = _by_data(variable)
    named = {dim: length for dim, length in (asked or {}).items() if dim in variable.dims}
    if named:
        both = zip(variable.dims, chunks, strict=True)
        chunks = tuple(_entry(name, named.get(dim, length)) for dim, length in both)
        shards = shards if is_explicit else None
    return chunks, shards


def is_aligned(
    edges: tuple[tuple[int, ...], ...], chunks: Chunks, shape: tuple[int, ...], start: tuple[int, ...] = ()
) -> bool:
    """Whether no chunk contains elements of two blocks of a Dask array that begins at ``start``."""
    starts = start or (0,) * len(shape)
    for blocks, entry, length, first in zip(edges, chunks, shape, starts, strict=True):
        inner = [first + end for end in accumulate(blocks)][:-1]
        if isinstance(entry, int):
            if any(end % entry for end in inner if first < end < length):
                return False
        elif not {end for end in inner if first < end < length} <= set(accumulate(entry)):
            return False
    return True


def _by_encoding(
    name: str, variable: Variable, is_explicit: bool
) -> tuple[Chunks | None, Chunks | None]:
    found = []
    for entry in ("chunks", "shards"):
        value = variable.encoding.get(entry)
        # As if nothing were given: the same rule chooses them.
        value = None if entry == "chunks" and isinstance(value, str) and value == "auto" else value
        if isinstance(value, int | np.integer):
            value = (value,) * variable.ndim
        try:
            found.append(None if value is None else _checked(name, entry, value, variable))
        except ValueError:
            if is_explicit:
                raise
            return None, None
    return found[0], found[1]


def _checked(name: str, entry: str, value: Any, variable: Variable) -> Chunks:
    where = f"variable {name!r}: encoding[{entry!r}]={value!r}"
    if not isinstance(value, tuple | list):
        raise TypeError(f"{where} is not a tuple with an entry for each dimension")
    if len(value) != variable.ndim:
        raise ValueError(f"{where} has not {variable.ndim} entries, one per dimension")
    chunks = tuple(_entry(name, length) for length in value)
    for length, size, dim in zip(chunks, variable.shape, variable.dims, strict=True):
        edges = (length,) if isinstance(length, int) else length
        is_too_short = any(edge < 1 for edge in edges) and size > 0
        if is_too_short or not isinstance(length, int) and sum(edges) != size:
            raise ValueError(f"{where} does not fit dimension {dim!r} of length {size}")
    return chunks


def _entry(name: str, value: Any) -> int | tuple[int, ...]:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple | list) and all(isinstance(n, int | np.integer) for n in value):
        return tuple(int(edge) for edge in value)
    raise TypeError(
        f"variable {name!r}: the chunks of a dimension are an int or a tuple of ints, not {value!r}"
    )


def _by_data(variable: Variable) -> Chunks:
    if variable.chunks is not None:
        found = map(_grid.regular, variable.chunks)
        return tuple(length if isinstance(length, int) else tuple(length) for length in found)
    text = _create.array_document(shape=variable.shape, dtype=_data_type(variable))
    return _for_growth(variable, tuple(json.loads(text)["chunk_grid"]["configuration"]["chunk_shape"]))


def _for_growth(variable: Variable, chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Longer chunks along the first axis with at most one element: appends make one of many.

    Chunks of one element would stay for ever: each append adds one. Stored chunks have their full
    length, so only small ones grow. Axes with more elements keep their length, so that the chunks of
    members of a join move as they are stored.
    """
    axis = next((axis for axis, length in enumerate(variable.shape) if length <= 1), None)
    if axis is None:
        return chunks
    others = math.prod(edge for at, edge in enumerate(chunks) if at != axis)
    size = VARIABLE if variable.dtype.kind in "OT" else variable.dtype.itemsize
    length = SMALL_CHUNK // max(1, size * others)
    return (*chunks[:axis], max(chunks[axis], length), *chunks[axis + 1 :])


def _data_type(variable: Variable) -> Any:
    if variable.dtype.kind == "T" or check_vlen_dtype(variable.dtype) is str:  # type: ignore[no-untyped-call]
        return "string"
    return _dtypes.to_zarr(variable.dtype)


def _codecs(
    name: str, variable: Variable, encoding: Mapping[str, Any], *, is_explicit: bool
) -> list[Any] | None:
    """The codec chain of ``encoding``, in our form or in that of Xarray's engine ``"zarr"``."""
    if encoding.get("codecs") is not None:
        return list(encoding["codecs"])
    parts = [encoding.get(entry, "auto") for entry in ("filters", "serializer", "compressors")]
    if all(isinstance(part, str) and part == "auto" for part in parts):
        return None
    usual = json.loads(_create.array_document(shape=(), dtype=_data_type(variable)))["codecs"]
    filters, serializer, compressors = parts
    chain: list[Any] = [] if isinstance(filters, str) else _sequence(filters)
    chain += [usual[0] if serializer is None or isinstance(serializer, str) else serializer]
    chain += usual[1:] if isinstance(compressors, str) else _sequence(compressors)
    try:
        return [codec if isinstance(codec, Mapping) else codec.to_dict() for codec in chain]
    except AttributeError:
        if is_explicit:
            raise TypeError(
                f"variable {name!r}: a codec is a codec of zarr-python or its JSON, not {chain!r}"
            ) from None
        return None


def _sequence(codecs: Any) -> list[Any]:
    if codecs is None:
        return []
    return list(codecs) if isinstance(codecs, tuple | list) else [codecs]
