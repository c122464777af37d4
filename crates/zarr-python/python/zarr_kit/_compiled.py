"""Codecs for zarr-python that the native part encodes and decodes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.storage import StorePath

from . import _chunks, _native
from ._elements import memory

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

_RANGE_COST = 1 << 20
"""Bytes that a store reads in the time of one more request: gaps up to this are read as well."""


class CompiledCodec(ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodec):
    """An array-to-bytes codec that is a chain of the native part.

    Elements are encoded from, and decoded to, numpy's memory without the interpreter's lock. Parts
    of uncompressed chunks and shards are read by ranges.
    """

    def _chain(self, spec: ArraySpec) -> _native.Chain:
        """The chain for chunks of this data type and rank."""
        raise NotImplementedError

    def _fill(self, spec: ArraySpec) -> bytes:
        """The element of parts of a chunk that are not stored."""
        return bytes(spec.dtype.to_native_dtype().itemsize)

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        elements = _chunks.elements(chunk_data.as_numpy_array(), chunk_spec)
        chain, fill = self._chain(chunk_spec), self._fill(chunk_spec)
        encoded = chain.encode(chunk_data.shape, elements, fill, False)
        assert encoded is not None
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)

    def _decode_sync(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        chain, shape = self._chain(chunk_spec), chunk_spec.shape
        out, region = _chunks.empty(shape, chunk_spec), _chunks.whole(shape)
        encoded, fill = chunk_data.as_numpy_array(), self._fill(chunk_spec)
        chain.decode(shape, encoded, region, memory(out), fill)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(_chunks.decoded(out, chunk_spec))

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)

    async def _decode_partial_single(
        self, byte_getter: Any, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        prototype = chunk_spec.prototype
        part = self._part(byte_getter, selection, chunk_spec)
        if part is None:
            stored = await byte_getter.get(prototype=prototype)
            if stored is None:
                return None
            return (await self._decode_single(stored, chunk_spec))[selection]
        while requests := part.requests():
            found = await asyncio.gather(
                *(byte_getter.get(prototype=prototype, byte_range=request) for request in requests)
            )
            if not await asyncio.to_thread(part.supply, found):
                return None
        return part.result()

    def _decode_partial_sync(
        self, byte_getter: Any, selection: Any, chunk_spec: ArraySpec
    ) -> NDBuffer | None:
        prototype = chunk_spec.prototype
        part = self._part(byte_getter, selection, chunk_spec)
        if part is None:
            stored = byte_getter.get_sync(prototype=prototype)
            return None if stored is None else self._decode_sync(stored, chunk_spec)[selection]
        while requests := part.requests():
            found = [byte_getter.get_sync(prototype=prototype, byte_range=r) for r in requests]
            if not part.supply(found):
                return None
        return part.result()

    def _part(self, byte_getter: Any, selection: Any, spec: ArraySpec) -> _Part | None:
        """The region to read; None if zarr-python's own indexing must select it.

        In a shard, zarr-python already has the bytes of inner chunks.
        """
        region = _chunks.region(selection, spec.shape)
        if region is None or not isinstance(byte_getter, StorePath):
            return None
        return _Part(self._chain(spec), self._fill(spec), region, selection, spec)


class _Part:
    """A region of a chunk that is read by byte ranges."""

    def __init__(
        self,
        chain: _native.Chain,
        fill: bytes,
        region: _chunks.Region,
        selection: Any,
        spec: ArraySpec,
    ) -> None:
        self._reader = chain.reader(spec.shape, region, _RANGE_COST)
        self._out = _chunks.empty([count for _, count, _ in region], spec)
        self._fill, self._selection, self._spec = fill, selection, spec

    def requests(self) -> list[RangeByteRequest | SuffixByteRequest | None]:
        """The byte ranges to fetch next; empty once the region has been read."""
        need = self._reader.need()
        return [] if need is None else [_request(start, end) for start, end in need]

    def supply(self, stored: Sequence[Buffer | None]) -> bool:
        """Takes the fetched bytes; False if the chunk does not exist."""
        found = [part.as_numpy_array() for part in stored if part is not None]
        if len(found) < len(stored):
            return False
        joined = found[0] if len(found) == 1 else np.concatenate(found)
        self._reader.supply(joined, memory(self._out), self._fill)
        return True

    def result(self) -> NDBuffer:
        """The elements of the selection."""
        array: NDArray[Any] = _chunks.decoded(self._out, self._spec)
        array = _chunks.without_integers(array, self._selection)
        return self._spec.prototype.nd_buffer.from_numpy_array(array)


def _request(start: int | None, end: int | None) -> RangeByteRequest | SuffixByteRequest | None:
    if end is None:
        return None
    return SuffixByteRequest(end) if start is None else RangeByteRequest(start, end)
