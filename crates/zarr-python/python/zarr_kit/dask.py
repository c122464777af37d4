"""Dask arrays from and to Zarr, chunk by chunk.

Dask's chunks may have any lengths, so every rectilinear grid is a valid Dask grid: reading keeps
the stored chunks, and writing stores the chunks of the Dask array. Chunks of other edges can be
written as well, by any number of processes: parts of a stored chunk are updated under the store's
lock.

Every task uses one thread, since Dask runs one task per core at a time.

A zip archive is stored as a whole if the tasks are threads of this process. Tasks of other
processes, and tasks that are computed later, each store a new copy of it, one after the other.
"""

from __future__ import annotations

from ._extras import need

need("dask.array", "dask")

import contextlib
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _grid, _native, _store, create
from ._array import Array
from ._codecs import Codecs
from ._store import Url

if TYPE_CHECKING:
    import dask.array

__all__ = ["aligned_chunks", "from_array", "from_zarr", "to_zarr"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


def from_zarr(
    url: Url,
    path: str = "",
    *,
    chunks: Any = None,
    name: str | Literal[False] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> dask.array.Array:
    """Opens an array as a Dask array.

    Parameters
    ----------
    url, path, storage_options
        As for `zarr_kit.open`.
    chunks
        None for the stored chunks, of an array with shards the shards; a size such as ``"20MiB"`` for runs of whole stored chunks of
        about that many bytes; or any chunks that `dask.array.from_array` accepts.
    name
        As for `dask.array.from_array`. By default, arrays of the same elements have the same name,
        so that Dask computes them once: the name changes with the array's document, with the node
        in its place, and with every write of this process. It does not change with writes of other
        processes, such as a delayed store on a cluster: after these, give False, which
        makes a new name.

    Returns
    -------
    dask.array.Array
        An array with tasks that read when they are computed.

    Raises
    ------
    FileNotFoundError
        If the place does not exist.
    ValueError
        If it is a group, or the chunks do not fit the array.

    Examples
    --------
    >>> import tempfile, zarr_kit, zarr_kit.dask
    >>> folder = tempfile.mkdtemp()
    >>> a = zarr_kit.create(folder, shape=59, dtype="i4", chunks=[(31, 28)], fill_value=1)
    >>> d = zarr_kit.dask.from_zarr(folder)
    >>> d.chunks
    ((31, 28),)
    >>> int(d.sum().compute())
    59
    """
    return from_array(Array(_native.Array.open(_store.state(url, path, storage_options))), chunks=chunks, name=name)


def from_array(
    array: Array, *, chunks: Any = None, name: str | Literal[False] | None = None
) -> dask.array.Array:
    """An open array as a Dask array.

    Parameters
    ----------
    array
        The array. Each task reads with one thread.
    chunks, name
        As for `from_zarr`.

    Returns
    -------
    dask.array.Array
        An array with tasks that read when they are computed.

    Raises
    ------
    ValueError
        If the chunks do not fit the array.

    Examples
    --------
    >>> import zarr_kit, zarr_kit.dask
    >>> a = zarr_kit.create("memory:", shape=59, dtype="i4", chunks=[(31, 28)], fill_value=1)
    >>> zarr_kit.dask.from_array(a, chunks=30).chunks
    ((30, 29),)
    """
    import dask.array

    if chunks is None:
        chunks = array.write_chunk_sizes
    elif isinstance(chunks, str) and chunks != "auto":
        chunks = aligned_chunks(array, chunks)
    one_thread = array.with_threads(1)
    return dask.array.from_array(  # type: ignore[no-any-return, no-untyped-call]
        one_thread, chunks=chunks, name=name, lock=False, asarray=True, fancy=False
    )


def to_zarr(
    darray: dask.array.Array,
    url: Url | Array,
    path: str = "",
    *,
    region: Sequence[slice] | None = None,
    chunks: Any = None,
    shards: Any = None,
    codecs: Codecs | None = None,
    fill_value: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    write_empty_chunks: bool = False,
    compute: bool = True,
) -> Any:
    """Stores a Dask array in a new array with the same chunks, or in an existing array.

    Parameters
    ----------
    darray
        The array to store. A new array gets its chunks: the grid is ``regular`` if all but the last
        are equal, else ``rectilinear``, which zarr-python reads with its configuration
        ``array.rectilinear_chunks``.
    url
        Where to create the array, or an `Array` to write to; its chunks need not match.
    path
        The path of a new array in the store.
    region
        The part of an existing array to write, one slice per axis; None for all of it.
    chunks, shards
        Of a new array, as for `zarr_kit.create`; None for chunks that are the blocks of the Dask array.
        Tasks may share them: none loses an element, but each rewrites the whole shard.
    codecs, fill_value, dimension_names, attributes, storage_options, write_empty_chunks
        Of a new array, as for `zarr_kit.create`.
    compute
        Whether to store now, or to return a delayed object that stores when it is computed.

    Returns
    -------
    None or dask.delayed.Delayed
        None if ``compute``.

    Raises
    ------
    ValueError
        If the Dask array has chunks of unknown length, or blocks of other lengths than it declares, or
        its shape differs from the region's, or a slice of the region has a step below 1.

    Examples
    --------
    >>> import dask.array, tempfile, zarr_kit, zarr_kit.dask
    >>> folder = tempfile.mkdtemp()
    >>> months = dask.array.ones(59, chunks=((31, 28),), dtype="i2")
    >>> zarr_kit.dask.to_zarr(months, folder)
    >>> zarr_kit.open(folder).write_chunk_sizes
    ((31, 28),)
    """
    import dask.array

    if not isinstance(darray, dask.array.Array):
        raise TypeError(f"a Dask array is stored, not {type(darray).__name__}: dask.array.from_array makes one")
    _check_known("the Dask array", darray.shape)
    if isinstance(url, Array):
        if chunks is not None or shards is not None:
            raise ValueError("chunks and shards are of a new array: the target has its own")
        target = url
    else:
        if region is not None:
            raise ValueError("region: a part of an existing array; open it and pass it as the target")
        blocks = [_grid.regular([int(n) for n in edges]) for edges in darray.chunks]
        target = create(
            url,
            path,
            shape=darray.shape,
            dtype=darray.dtype,
            chunks=blocks if chunks is None else chunks,
            shards=shards,
            codecs=codecs,
            fill_value=fill_value,
            dimension_names=dimension_names,
            attributes=attributes,
            storage_options=storage_options,
            write_empty_chunks=write_empty_chunks,
        )
    places = _places(region, target.shape)
    lengths = tuple(len(range(place.start, place.stop, place.step)) for place in places)
    if lengths != darray.shape:
        raise ValueError(f"the Dask array has shape {darray.shape}, the region {lengths}")
    if isinstance(url, Array):
        from ._xarray.inplace import check_blocks
        from ._xarray.sources import _place

        check_blocks(target.path, darray, target, places, {_place(target): target.path})
    block: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if compute and _in_this_process():
        block = target
    with block:
        stored = dask.array.store(
            _of_declared_shape(darray, target),
            target.with_threads(1),
            regions=places if region is not None else None,
            lock=False,
            compute=compute,
            return_stored=False,
        )
    # Workers of other processes have written.
    _native.wrote()
    return stored


def _check_known(what: str, shape: tuple[float, ...]) -> None:
    if any(np.isnan(length) for length in shape):
        raise ValueError(f"{what} has chunks of unknown length: call compute_chunk_sizes first")


def _of_declared_shape(darray: dask.array.Array, target: Array) -> dask.array.Array:
    """A Dask array whose tasks refuse blocks of another shape than Dask declares.

    One element would be written to the whole region of its block, and Dask leaves out empty blocks.
    """
    import dask.array

    # Zeros need no memory in Dask, and tell each task the shape of its block.
    declared = dask.array.zeros(darray.shape, chunks=darray.chunks, dtype="u1")
    check = functools.partial(_checked, where=target._where)
    return dask.array.map_blocks(check, darray, declared, dtype=darray.dtype, meta=darray._meta)  # type: ignore[no-any-return, no-untyped-call]


def _checked(block: Any, declared: Any, where: str) -> Any:
    if np.shape(block) != declared.shape:
        raise ValueError(
            f"a block that is written to {where} has the shape {np.shape(block)}, and its Dask array "
            f"declares {declared.shape}: give map_blocks and the like the chunks that they return"
        )
    return block


def _places(region: Sequence[slice] | None, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The slices of a region, with the limits that Dask takes: counted from the start."""
    if region is None:
        return tuple(slice(0, length, 1) for length in shape)
    if not isinstance(region, Sequence) or not all(isinstance(place, slice) for place in region):
        raise TypeError(f"region: a sequence with one slice per axis, not {region!r}")
    if len(region) != len(shape):
        raise ValueError(f"region: {len(region)} slices for an array of {len(shape)} axes")
    places = []
    for axis, (place, length) in enumerate(zip(region, shape, strict=True)):
        start, stop, step = place.indices(length)
        if step < 1:
            raise ValueError(f"region, axis {axis}: the step of a slice is at least 1, not {step}")
        places.append(slice(start, max(start, stop), step))
    return tuple(places)


def _in_this_process() -> bool:
    """Whether Dask computes in threads of this process, which can share a `with` block."""
    from dask.base import get_scheduler
    from dask.local import get_sync
    from dask.threaded import get

    return get_scheduler() in (None, get, get_sync)  # type: ignore[no-untyped-call]


def aligned_chunks(array: Array, size: str | int) -> tuple[tuple[int, ...], ...]:
    """Runs of whole stored chunks of at most about ``size`` bytes, at least one chunk each.

    Chunks are joined along the last axis first, in the order of the elements in memory.

    Parameters
    ----------
    array
        The array.
    size
        Bytes, as a number or as text such as ``"20MiB"``.

    Returns
    -------
    tuple of tuple of int
        The lengths on each axis, for the ``chunks`` of Dask.

    Raises
    ------
    ValueError
        If ``size`` is no number of bytes.

    Examples
    --------
    >>> import zarr_kit, zarr_kit.dask
    >>> a = zarr_kit.create("memory:", shape=90, dtype="i4", chunks=[(31, 28, 31)])
    >>> zarr_kit.dask.aligned_chunks(a, 240)
    ((59, 31),)
    """
    from dask.utils import parse_bytes

    limit = max(parse_bytes(size) // max(array.dtype.itemsize, 1), 1)
    joined: list[tuple[int, ...]] = []
    stored = array.write_chunk_sizes
    # For axes not yet joined, count the largest chunk.
    largest = [max(edges) for edges in stored]
    for axis in reversed(range(array.ndim)):
        others = int(np.prod(largest[:axis] + [max(e) for e in joined], dtype=object))
        joined.insert(0, _join(stored[axis], max(limit // max(others, 1), 1)))
    return tuple(joined)


def _join(edges: tuple[int, ...], limit: int) -> tuple[int, ...]:
    runs: list[int] = []
    for edge in edges:
        if runs and runs[-1] + edge <= limit:
            runs[-1] += edge
        else:
            runs.append(edge)
    return tuple(runs)
