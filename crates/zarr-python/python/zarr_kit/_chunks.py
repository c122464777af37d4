"""Converts zarr-python's chunks for the native part: chains, memory, regions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _dtypes, _native
from ._elements import has_whole_strides, memory

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.dtype.wrapper import ZDType

Region = tuple[tuple[int, int, int], ...]
"""Per axis the first index, the number of indices, and the step between them."""


def data_type(dtype: ZDType[Any, Any]) -> Any:
    """The Zarr data type in the form of a document."""
    return dtype.to_json(zarr_format=3)


def chain(codecs: str, spec: ArraySpec, place: str | None = None) -> _native.Chain:
    """The codecs bound to the data type and the rank of a chunk.

    Parameters
    ----------
    codecs
        A JSON list of codecs.
    spec
        The chunk that they encode.
    place
        The path of the first codec in messages, if it is not ``$.codecs[0]``.

    Raises
    ------
    ValueError
        If the codecs do not fit the data type; the message names the JSON member.
    """
    return _chain(codecs, spec.dtype, len(spec.shape), place)


@lru_cache(maxsize=256)
def _chain(codecs: str, dtype: ZDType[Any, Any], rank: int, place: str | None) -> _native.Chain:
    # No edges: whether the codecs fit is decided for each chunk's shape.
    return _native.Chain(codecs, json.dumps(data_type(dtype)), [[]] * rank, place)


def elements(array: NDArray[Any], spec: ArraySpec) -> NDArray[Any]:
    """Values of a chunk as its elements in the machine's byte order, with the bytes that Zarr defines."""
    native = spec.dtype.to_native_dtype().newbyteorder("=")
    if array.dtype != native or not has_whole_strides(array):
        array = _dtypes.reordered(array, native)
    return memory(_dtypes.to_stored(array, data_type(spec.dtype)))


def empty(shape: Sequence[int], spec: ArraySpec) -> NDArray[Any]:
    """Memory to decode elements into, in the machine's byte order."""
    return np.empty(shape, spec.dtype.to_native_dtype().newbyteorder("="), order=spec.order)


def decoded(array: NDArray[Any], spec: ArraySpec) -> NDArray[Any]:
    """Decoded elements in the form of zarr-python's data type."""
    _dtypes.from_stored(array, data_type(spec.dtype))
    dtype = spec.dtype.to_native_dtype()
    return array if dtype.isnative else _dtypes.reordered(array, dtype)


def whole(shape: Sequence[int]) -> Region:
    """The region that covers a whole chunk."""
    return tuple((0, length, 1) for length in shape)


def region(selection: Any, shape: Sequence[int]) -> Region | None:
    """A selection of slices and integers; None if it contains lists or masks."""
    entries = selection if isinstance(selection, tuple) else (selection,)
    if len(entries) != len(shape):
        return None
    found = []
    for entry, length in zip(entries, shape, strict=True):
        if isinstance(entry, slice):
            start, stop, step = entry.indices(length)
            if step < 1:
                return None
            found.append((start, len(range(start, stop, step)), step))
        elif isinstance(entry, (int, np.integer)) and -length <= entry < length:
            found.append((int(entry) % length, 1, 1))
        else:
            return None
    return tuple(found)


def without_integers(array: NDArray[Any], selection: Any) -> NDArray[Any]:
    """An array of a region without the axes that the selection gives by one index."""
    entries = selection if isinstance(selection, tuple) else (selection,)
    return array[tuple(slice(None) if isinstance(entry, slice) else 0 for entry in entries)]
