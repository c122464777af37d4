"""A codec pipeline for zarr-python that reads and writes chunks with zarr-kit.

Enable it in zarr-python's configuration::

    zarr.config.set({"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"})

Arrays of a `zarr.storage.LocalStore` are read and written by zarr-kit, files included: all chunks
of an index expression of slices and integers in one call, directly from and to numpy's memory.
Writes of parts of chunks take zarr-kit's locks, so that processes that write next to each other
lose nothing. In all other stores, and for lists, masks and points, zarr-python fetches and stores
the bytes, and zarr-kit encodes and decodes them; of a shard zarr-python fetches only the chunks
that are needed, and decodes them. zarr-python handles everything
else: other codecs, strings of variable length, Zarr version 2, memory that is not numpy's.

Examples
--------
>>> import numpy as np, tempfile, zarr
>>> with zarr.config.set({"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}):
...     a = zarr.create_array(tempfile.mkdtemp(), shape=(6, 4), chunks=(4, 3), dtype="int16")
...     a[1:5, 2] = [1, 2, 3, 4]
...     a[:, 2]
array([0, 1, 2, 3, 4, 0], dtype=int16)
"""

from __future__ import annotations

from ._extras import need

need("zarr", "zarr")

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import zarr.core.codec_pipeline
from numpy.typing import NDArray
from zarr.abc.codec import Codec, CodecPipeline
from zarr.codecs import ShardingCodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import NDBuffer, default_buffer_prototype
from zarr.core.metadata import ArrayV3Metadata
from zarr.registry import register_pipeline

from . import _chunks, _dtypes, _native, _stores
from ._compiled import CompiledCodec
from ._elements import has_whole_strides, memory

if TYPE_CHECKING:
    from zarr.abc.codec import GetResult
    from zarr.abc.store import ByteGetter, ByteSetter, Store
    from zarr.core.buffer import Buffer
    from zarr.core.dtype.wrapper import TBaseDType, TBaseScalar, ZDType
    from zarr.core.indexing import SelectorTuple
    from zarr.core.metadata import ArrayMetadata
    from zarr.core.metadata.v3 import ChunkGridMetadata

    Item = tuple[Any, ArraySpec, SelectorTuple, SelectorTuple, bool]

__all__ = ["ZarrKitCodecPipeline"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


class _WholeChain(CompiledCodec):
    """All codecs of an array as one."""

    def __init__(self, codecs: str) -> None:
        object.__setattr__(self, "_codecs", codecs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _WholeChain) and self._codecs == other._codecs

    def __hash__(self) -> int:
        return hash(self._codecs)

    _codecs: str

    def _chain(self, spec: ArraySpec) -> _native.Chain:
        return _chunks.chain(self._codecs, spec)

    def _fill(self, spec: ArraySpec) -> bytes:
        fill = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
        dtype = spec.dtype.to_native_dtype().newbyteorder("=")
        return _chunks.elements(np.array(fill, dtype).reshape(1), spec).tobytes()

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Not used: zarr-python's pipeline is asked instead of this codec."""
        raise NotImplementedError


def _zarr_pipeline(codecs: Iterable[Codec], spec: ArraySpec | None = None) -> CodecPipeline:
    """zarr-python's own pipeline; if it has one that does not suspend for every chunk, that one."""
    module = zarr.core.codec_pipeline
    kind = getattr(module, "FusedCodecPipeline", module.BatchedCodecPipeline)
    pipeline: CodecPipeline = kind.from_codecs(codecs)
    return pipeline if spec is None else pipeline.evolve_from_array_spec(spec)


def _compiled(codecs: tuple[Codec, ...], spec: ArraySpec) -> tuple[CodecPipeline | None, bool]:
    """zarr-python's pipeline with all codecs as one, if the native part supports them, and whether it
    writes chunks as requested."""
    if not _are_known(codecs):
        return None, False
    try:
        whole = _WholeChain(json.dumps([codec.to_dict() for codec in codecs]))
        chain = whole._chain(spec)
        whole._fill(spec)
    except (TypeError, ValueError, NotImplementedError):
        return None, False
    return _zarr_pipeline([whole], spec), chain.is_writable and not _orders_chunks(codecs)


def _are_known(codecs: Iterable[Codec]) -> bool:
    """Whether the codecs are zarr-python's or ours: other classes of the same name may do anything."""
    return all(
        type(codec).__module__.split(".")[0] in ("zarr", "zarr_kit")
        and (not isinstance(codec, ShardingCodec) or _are_known((*codec.codecs, *codec.index_codecs)))
        for codec in codecs
    )


def _orders_chunks(codecs: Iterable[Codec]) -> bool:
    """Whether the user has chosen an order for the chunks within shards."""
    name, usual = "subchunk_write_order", ShardingCodec(chunk_shape=(1,))
    return any(
        getattr(codec, name, None) != getattr(usual, name, None) or _orders_chunks(codec.codecs)
        for codec in codecs
        if isinstance(codec, ShardingCodec)
    )


@dataclass(frozen=True)
class ZarrKitCodecPipeline(CodecPipeline):
    """Reads and writes chunks with zarr-kit; zarr-python handles unsupported codecs.

    zarr-python makes one per array; programs enable it in zarr-python's configuration (see the
    module).
    """

    zarr: CodecPipeline
    """zarr-python's own pipeline of the same codecs."""
    compiled: CodecPipeline | None = None
    """zarr-python's pipeline with all codecs as one that the native part knows."""
    writes: bool = False
    """Whether ``compiled`` writes as well."""
    metadata: ArrayV3Metadata | None = None
    store: Store | None = None
    _opened: dict[Any, _native.Opened] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Self:
        """The pipeline of a shard's inner codecs, or of an array of Zarr version 2.

        Parameters
        ----------
        codecs
            The codecs in the order of encoding.

        Returns
        -------
        ZarrKitCodecPipeline

        Raises
        ------
        ValueError, TypeError
            zarr-python's, if the codecs do not follow each other.
        """
        return cls(_zarr_pipeline(codecs))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ArrayMetadata, store: Store) -> Self:
        """The pipeline of an array.

        Parameters
        ----------
        array_metadata, store
            Its document, and the store that holds it.

        Returns
        -------
        ZarrKitCodecPipeline

        Raises
        ------
        NotImplementedError
            For Zarr version 2, which zarr-python then reads by itself.
        """
        if not isinstance(array_metadata, ArrayV3Metadata):
            raise NotImplementedError
        grid = array_metadata.chunk_grid
        shape = getattr(grid, "chunk_shape", (1,) * len(array_metadata.shape))
        spec = ArraySpec(
            shape=shape,
            dtype=array_metadata.data_type,
            fill_value=array_metadata.fill_value,
            config=ArrayConfig.from_dict({}),
            prototype=default_buffer_prototype(),
        )
        pipeline = cls.from_codecs(array_metadata.codecs).evolve_from_array_spec(spec)
        return replace(pipeline, metadata=array_metadata, store=store)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """The same pipeline for a data type.

        Parameters
        ----------
        array_spec
            The data type and the shape of a chunk.

        Returns
        -------
        ZarrKitCodecPipeline

        Raises
        ------
        ValueError
            If a codec does not fit the data type.
        """
        evolved = self.zarr.evolve_from_array_spec(array_spec)
        compiled, writes = _compiled(_codecs(evolved), array_spec)
        return replace(self, zarr=evolved, compiled=compiled, writes=writes, _opened={})

    def __iter__(self) -> Iterator[Codec]:
        return iter(_codecs(self.zarr))

    def __getattr__(self, name: str) -> Any:
        """Other attributes of zarr-python's own pipelines, such as the codecs by kind."""
        if name.startswith("_") or "zarr" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.zarr, name)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": {}}

    @property
    def supports_partial_decode(self) -> bool:
        """Whether zarr-python's own pipeline reads parts of chunks."""
        return self.zarr.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        """Whether zarr-python's own pipeline writes parts of chunks."""
        return self.zarr.supports_partial_encode

    def validate(
        self,
        *,
        shape: tuple[int, ...],
        dtype: ZDType[TBaseDType, TBaseScalar],
        chunk_grid: ChunkGridMetadata,
    ) -> None:
        """Refuses an array that a codec does not fit.

        Parameters
        ----------
        shape, dtype, chunk_grid
            Those of the array.

        Raises
        ------
        ValueError, TypeError
            The codec's.
        """
        self.zarr.validate(shape=shape, dtype=dtype, chunk_grid=chunk_grid)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """The number of bytes of a chunk, if it is the same for all.

        Parameters
        ----------
        byte_length, array_spec
            The bytes of the chunk in memory, and its shape and data type.

        Returns
        -------
        int

        Raises
        ------
        NotImplementedError
            If a codec compresses.
        """
        return self.zarr.compute_encoded_size(byte_length, array_spec)

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decodes chunks.

        Parameters
        ----------
        chunk_bytes_and_specs
            For each chunk its bytes, or None if it is not stored, and its shape and data type.

        Returns
        -------
        iterable of zarr.core.buffer.NDBuffer or None

        Raises
        ------
        ValueError
            If a chunk is damaged.
        """
        chunks = list(chunk_bytes_and_specs)
        return await self._of_memory(spec for _, spec in chunks).decode(chunks)

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encodes chunks.

        Parameters
        ----------
        chunk_arrays_and_specs
            For each chunk its elements, or None, and its shape and data type.

        Returns
        -------
        iterable of zarr.core.buffer.Buffer or None

        Raises
        ------
        zarr_kit.LossError
            If ``packbits`` would cut a value.
        ValueError
            If the codecs do not fit the shape of a chunk.
        """
        chunks = list(chunk_arrays_and_specs)
        return await self._of_memory((spec for _, spec in chunks), writes=True).encode(chunks)

    async def read(
        self,
        batch_info: Iterable[tuple[ByteGetter, ArraySpec, SelectorTuple, SelectorTuple, bool]],
        out: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> tuple[GetResult, ...]:
        """Reads parts of chunks.

        Parameters
        ----------
        batch_info
            For each chunk its place, its shape and data type, the part of it, the part of ``out``,
            and whether the part is the whole chunk.
        out
            The memory that they are read into.
        drop_axes
            The axes that integers have removed.

        Returns
        -------
        tuple of zarr.abc.codec.GetResult

        Raises
        ------
        ValueError
            If a chunk is damaged.
        OSError
            If the store fails.
        """
        batch = list(batch_info)
        if found := self._selected(batch, out, drop_axes):
            opened, axes, elements = found
            present: GetResult = {"status": "present"}
            await asyncio.to_thread(opened.read, axes, memory(elements))
            _dtypes.from_stored(elements, _chunks.data_type(batch[0][1].dtype))
            return (present,) * len(batch)
        pipeline = self._of_memory(spec for _, spec, *_ in batch)
        if pipeline is self.zarr or not self.zarr.supports_partial_decode:
            return await pipeline.read(batch, out, drop_axes)
        # One codec for the whole chain reads whole shards. Of others, zarr-python reads the chunks that
        # it needs.
        parts = [not _is_whole(item) for item in batch]
        results: dict[int, GetResult] = {}
        for reader, of_parts in ((pipeline, False), (self.zarr, True)):
            numbers = [number for number, is_part in enumerate(parts) if is_part == of_parts]
            if numbers:
                read = await reader.read([batch[number] for number in numbers], out, drop_axes)
                results.update(zip(numbers, read, strict=True))
        return tuple(results[number] for number in range(len(batch)))

    async def write(
        self,
        batch_info: Iterable[tuple[ByteSetter, ArraySpec, SelectorTuple, SelectorTuple, bool]],
        value: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> None:
        """Writes parts of chunks.

        Parameters
        ----------
        batch_info
            As for `read`.
        value
            The elements.
        drop_axes
            The axes that integers have removed.

        Raises
        ------
        zarr_kit.LossError
            If ``packbits`` would cut a value.
        ValueError
            If a chunk that is written in part is damaged.
        OSError
            If the store fails.
        """
        batch = list(batch_info)
        if (self.store is None or not self.store.read_only) and (
            found := self._selected(batch, value, drop_axes, writes=True)
        ):
            opened, axes, elements = found
            elements = _chunks.elements(elements, batch[0][1])
            await asyncio.to_thread(opened.write, axes, elements)
            return
        pipeline = self._of_memory((spec for _, spec, *_ in batch), writes=True)
        if pipeline is self.compiled:
            batch = [_without_loss(item) for item in batch]
        await pipeline.write(batch, value, drop_axes)

    def _of_memory(self, specs: Iterable[ArraySpec], *, writes: bool = False) -> CodecPipeline:
        """The pipeline for chunks in the requested kind of memory."""
        spec = next(iter(specs), None)
        is_ours = spec is None or spec.prototype == default_buffer_prototype()
        if self.compiled is None or not is_ours or (writes and not self.writes):
            return self.zarr
        return self.compiled

    def _selected(
        self, batch: list[Item], buffer: NDBuffer, drop_axes: tuple[int, ...], *, writes: bool = False
    ) -> tuple[_native.Opened, list[_native.Steps], NDArray[Any]] | None:
        """The array, the axes and the memory of a selection that the native part reads or writes directly."""
        if self.compiled is None or not batch or drop_axes or self.metadata is None:
            return None
        if writes and not self.writes:
            return None
        spec, array = batch[0][1], _numpy(buffer)
        if array is None:
            return None
        if not writes:
            dtype = spec.dtype.to_native_dtype()
            reports_missing = not getattr(spec.config, "read_missing_chunks", True)
            is_same = array.dtype == dtype and dtype.isnative and has_whole_strides(array)
            if reports_missing or not is_same:
                return None
        opened = self._open(batch[0][0], spec)
        selected = opened.selected(batch) if opened is not None else None
        if opened is None or selected is None:
            return None
        axes, places = selected
        ends = [start + (count - 1) * step + 1 for start, count, step in axes]
        if any(end > length for end, length in zip(ends, opened.shape, strict=True)):
            # The array was resized: zarr-python does not tell its pipeline.
            grown = tuple(map(max, ends, opened.shape))
            opened = self._open(batch[0][0], spec, grown)
            if opened is None:
                return None
        if writes and array.ndim == 0:
            array = np.broadcast_to(array, [place[1] for place in places if place is not None])
        shape = tuple(place[0] + place[1] for place in places if place is not None)
        if array.shape != shape if writes else array.ndim != len(shape):
            return None
        key = (np.newaxis if p is None else slice(p[0], p[0] + p[1]) for p in places)
        # With an ellipsis, a selection of an array without axes is a view of it too.
        return opened, axes, array[(*key, ...)]

    def _open(
        self, getter: Any, spec: ArraySpec, shape: tuple[int, ...] | None = None
    ) -> _native.Opened | None:
        """The array in a store of ours; None if its store is not supported."""
        assert self.metadata is not None
        path = _array_path(self.metadata, getter)
        store = None if path is None else _stores.url_of(getter.store)
        if path is None or store is None or getter.store is not self.store:
            return None
        key = (path, spec.config.write_empty_chunks)
        opened = self._opened.get(key)
        if opened is None or shape is not None:
            document = self.metadata.to_dict() | {"attributes": {}}
            if shape is not None:
                document["shape"] = shape
            try:
                opened = _native.Opened(
                    store.url, path, store.settings, _threads(), json.dumps(document), key[1]
                )
            except (OSError, TypeError, ValueError):
                return None
            self._opened[key] = opened
        return opened


def _codecs(pipeline: Any) -> tuple[Codec, ...]:
    return tuple(pipeline)


def _without_loss(item: Item) -> Item:
    """The item of a chunk, complete only if all of the chunk is written.

    zarr-python also calls a chunk complete if the part within the array is: elements that others
    have appended since, or that a resize has hidden, would be lost.
    """
    setter, spec, selection, place, is_complete = item
    return setter, spec, selection, place, is_complete and _is_whole(item)


def _is_whole(item: Item) -> bool:
    """Whether the item is all of a chunk, also what lies past the end of the array."""
    _, spec, selection, *_ = item
    return _chunks.region(selection, spec.shape) == _chunks.whole(spec.shape)


def _numpy(buffer: NDBuffer) -> NDArray[Any] | None:
    """The array of a buffer, if it is numpy's."""
    array: Any = buffer.as_ndarray_like()
    return array if isinstance(array, np.ndarray) else None


def _threads() -> int | None:
    threads: int | None = zarr.config.get("threading.max_workers", None)
    return threads


def _array_path(metadata: ArrayV3Metadata, getter: Any) -> str | None:
    """The path of the array of a chunk; None if its chunks have other names."""
    key = getattr(getter, "path", None)
    if not isinstance(key, str):
        return None
    names = metadata.encode_chunk_key((0,) * len(metadata.shape)).count("/") + 1
    parts = key.split("/")
    return "/".join(parts[:-names]) if len(parts) >= names else None


register_pipeline(ZarrKitCodecPipeline)
