"""Shape, chunks and codecs of arrays, as their documents have them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _grid, _native
from ._codecs import Codec
from ._node import Node

_OF_ARRAYS = frozenset(
    "transpose reshape scale_offset cast_value bitround squeeze numcodecs.delta numcodecs.fixedscaleoffset "
    "numcodecs.quantize numcodecs.bitround numcodecs.astype".split()
)
"""The codecs that make arrays of arrays."""


class Layout(Node[_native.Array]):
    """What an array says without reading an element."""

    __slots__ = ("_chunks",)

    def _set(self, native: _native.Array) -> None:
        super()._set(native)
        self._chunks: tuple[tuple[int, ...], ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements on each axis."""
        shape: tuple[int, ...] = self._native.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def chunks(self) -> tuple[Any, ...]:
        """The length of the chunks along each axis, an integer; of a rectilinear grid a tuple of all lengths.

        With shards, these are the chunks within the shards, which are read one by one; `shards` are the
        stored objects. So ``create(chunks=a.chunks, shards=a.shards)`` repeats the layout of an array.
        Shards behind a ``reshape`` hold no boxes of the array, and count as chunks. `read_chunk_sizes`
        has all lengths of every grid, clipped to the shape: the form that Dask uses.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=10, dtype="i2", chunks=2, shards=4)
        >>> a.chunks, a.shards, a.write_chunk_sizes
        ((2,), (4,), ((4, 4, 2),))
        """
        inner, regular = self._inner(), self._regular()
        if regular is None:
            return self.read_chunk_sizes
        return regular if inner is None else inner

    def _regular(self) -> tuple[int, ...] | None:
        """The shape of the stored chunks; None if they differ."""
        found = self._document["chunk_grid"]["configuration"].get("chunk_shape")
        return None if found is None else tuple(found)

    def _inner(self) -> tuple[int, ...] | None:
        """The shape of the chunks within shards; None without shards."""
        return _grid.inner_shape(self._document.get("codecs", ()), self.ndim)

    def _edges(self, axis: int) -> NDArray[np.int64]:
        return np.frombuffer(self._native.edges(axis), "<i8").astype(np.int64, copy=False)

    def _inner_codecs(self) -> list[Any]:
        """The codecs of the chunks within shards."""
        found: list[Any] = next(c for c in self._document["codecs"] if c["name"] == "sharding_indexed")["configuration"]["codecs"]
        return found

    @property
    def shards(self) -> tuple[Any, ...] | None:
        """The lengths of the shards along each axis, in the form of `chunks`; None without shards."""
        return (self._regular() or self.write_chunk_sizes) if self._native.is_sharded else None

    @property
    def dims(self) -> tuple[str | None, ...] | None:
        """The names of the axes; None if the array has none."""
        names = self._document.get("dimension_names")
        return None if names is None else tuple(names)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the stored chunks, or shards, along each axis, clipped to the shape: Dask's form.

        They are computed on first use: opening a grid of a million chunks costs nothing. An axis
        of more than 2^26 chunks raises a MemoryError; `plan` names chunks one by one.
        """
        if self._chunks is None:
            # Lengths have no sign: one may be 2^63. Empty axes have no chunk in Zarr, and one chunk of
            # length 0 in Dask.
            edges = (self._edges(axis).view(np.uint64).tolist() for axis in range(self.ndim))
            self._chunks = tuple(tuple(axis) or (0,) for axis in edges)
        return self._chunks

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the chunks that are decoded at once, within shards, in Dask's form."""
        inner = self._inner()
        if inner is None:
            return self.write_chunk_sizes
        return _grid.divided(self.write_chunk_sizes, inner)

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of chunks along each axis; within shards, of the chunks in them."""
        lengths = self._inner() or self._regular()
        if lengths is None:
            return tuple(len(self._edges(axis)) for axis in range(self.ndim))
        return tuple(-(-length // step) for length, step in zip(self.shape, lengths, strict=True))

    @property
    def nchunks(self) -> int:
        """The number of chunks; within shards, of the chunks in them."""
        return math.prod(self.cdata_shape)

    @property
    def filters(self) -> tuple[Codec, ...]:
        """The codecs that make arrays of arrays, before the serializer."""
        return self._chain()[0]

    @property
    def serializer(self) -> Codec:
        """The codec that makes bytes of elements."""
        return self._chain()[1]

    @property
    def compressors(self) -> tuple[Codec, ...]:
        """The codecs that make bytes of bytes, after the serializer."""
        return self._chain()[2]

    @property
    def compressor(self) -> None:
        """A TypeError, as in zarr-python: arrays have `compressors`."""
        raise TypeError("an array may have several compressors: array.compressors")

    def _chain(self) -> tuple[tuple[Codec, ...], Codec, tuple[Codec, ...]]:
        codecs = self._document["codecs"] if not self._native.is_sharded else self._inner_codecs()
        found = [Codec(codec) for codec in codecs]
        at = next((n for n, codec in enumerate(found) if codec["name"] not in _OF_ARRAYS), len(found) - 1)
        return tuple(found[:at]), found[at], tuple(found[at + 1 :])
