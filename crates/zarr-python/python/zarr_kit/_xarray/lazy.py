"""Arrays for Xarray's lazy indexing."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from .. import _indexing
from .._array import Array

LOOKUPS = 16
"""Reads at the same time, if each of them is a request."""


class LazyArray(BackendArray):
    """An array that reads selections when Xarray asks for them.

    All three kinds of Xarray's indexing are supported directly: ``basic`` and ``outer`` as boxes and
    products of lists, ``vectorized`` as points, chunk by chunk. No elements are read only to be
    discarded.

    Pickles hold the array's document, so that workers read no ``zarr.json``.
    """

    __slots__ = ("_array", "_one_thread", "_threads", "dtype", "shape")

    def __init__(self, array: Array, threads: int | None = None) -> None:
        self._array = array if threads is None else array.with_threads(threads)
        self._threads = threads
        self._one_thread: Array | None = None
        self.shape = array.shape
        self.dtype = array.dtype

    def reader(self) -> Array:
        """The array, with the number of threads that suits the caller.

        A caller in a thread other than the main one, or in a child process, most likely has one
        thread or process per core, as Dask has: such reads use one thread.
        """
        if self._threads is not None or not _has_siblings():
            return self._array
        if self._one_thread is None:
            self._one_thread = self._array.with_threads(1)
        return self._one_thread

    def __getitem__(self, key: indexing.ExplicitIndexer) -> NDArray[Any]:
        if isinstance(key, indexing.VectorizedIndexer):
            read = self._points
        elif isinstance(key, indexing.OuterIndexer):
            read = self._outer
        else:
            read = self._basic
        found: NDArray[Any] = indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.VECTORIZED, read
        )
        return found

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> NDArray[Any]:
        return await asyncio.to_thread(self.__getitem__, key)

    def _basic(self, key: Any) -> NDArray[Any]:
        return self._as_array(self.reader()[key])

    def _outer(self, key: Any) -> NDArray[Any]:
        return self._as_array(self.reader().oindex[key])

    def _points(self, key: Any) -> NDArray[Any]:
        return self._as_array(self.reader().vindex[_without_slices(key, self.shape)])

    def _as_array(self, found: Any) -> NDArray[Any]:
        return np.asarray(found, self.dtype)

    def __getstate__(self) -> tuple[Array, int | None]:
        return self._array, self._threads

    def __setstate__(self, state: tuple[Array, int | None]) -> None:
        LazyArray.__init__(self, *state)

    def __repr__(self) -> str:
        return repr(self._array)


def is_remote(url: str) -> bool:
    """Whether reads of a store are requests, which take long without using a core."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme not in ("file", "memory")


def _has_siblings() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return not is_main or multiprocessing.parent_process() is not None


def _without_slices(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Indices for the slices of a vectorized key; their axes come last in the result."""
    slices = [axis for axis, entry in enumerate(key) if isinstance(entry, slice)]
    lists = [np.asarray(entry) for entry in key if not isinstance(entry, slice)]
    rank = np.broadcast_shapes(*(entry.shape for entry in lists))
    indices: list[Any] = []
    for axis, entry in enumerate(key):
        if axis in slices:
            lengths = [1] * len(rank) + [-1 if axis == other else 1 for other in slices]
            indices.append(np.arange(*entry.indices(shape[axis])).reshape(lengths))
        else:
            entry = np.asarray(entry)
            indices.append(entry.reshape(entry.shape + (1,) * len(slices)))
    return tuple(indices)
