"""Zarr v3 arrays with chunks of any length and values of any number of bits.

`open` and `create` give an `Array`, `open_group` and `create_group` a `Group`. `zarr_kit.dask` and
`zarr_kit.xarray` connect them with Dask and Xarray.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import DTypeLike

from . import _create, _native
from ._array import Array
from ._group import Group
from ._native import ConflictError, LossError, UnfinishedCopyError, __version__

__all__ = [
    "Array",
    "ConflictError",
    "Group",
    "LossError",
    "UnfinishedCopyError",
    "__version__",
    "create",
    "create_group",
    "open",
    "open_group",
]


def open(
    url: str | os.PathLike[str],
    path: str = "",
    *,
    storage_options: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Array:
    """Opens an array.

    Parameters
    ----------
    url
        A folder, or a URL: ``file:``, ``s3:``, ``gs:``, ``az:``, ``https:``, ``memory:``.
    path
        The array's path in the store.
    storage_options
        Settings of the store, such as ``aws_region``. Where the environment has credentials, leave
        them out here: settings are part of a pickled array.
    threads
        The largest number of threads of a read or write; None for one per core.

    Raises
    ------
    FileNotFoundError
        If there is no array.
    ValueError
        If its document breaks the specification, naming the place.
    """
    return Array(_native.Array.open(os.fspath(url), path, dict(storage_options or {}), threads))


def create(
    url: str | os.PathLike[str],
    path: str = "",
    *,
    shape: int | Sequence[int],
    dtype: DTypeLike | str,
    chunks: Any = None,
    shards: Any = None,
    codecs: Sequence[Mapping[str, Any] | str] | None = None,
    fill_value: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Array:
    """Creates an array where there is none.

    Parameters
    ----------
    url, path, storage_options, threads
        As for `open`. A missing folder is made.
    shape
        The number of elements on each axis.
    dtype
        A numpy dtype, or the name of a Zarr data type such as ``"int4"``. ``"string"``, `str` and
        ``StringDType()`` are strings of any length, ``"bytes"`` and `bytes` byte strings.
    chunks
        Per axis the length of every chunk, or the lengths of all (``[(31, 28, 31), 100]``), which
        makes the grid ``rectilinear`` unless they are equal; an int for all axes; None for one
        chunk. To read a rectilinear grid with zarr-python, set its configuration
        ``array.rectilinear_chunks``.
    shards
        The lengths of shards, each of which holds many ``chunks``; None for none.
    codecs
        The codecs as in ``zarr.json``; None for ``bytes`` (of strings ``vlen-utf8``, of byte strings
        ``vlen-bytes``) and ``zstd``.
    fill_value
        What elements read as that were never written; None for NaT of times and durations, else for
        zero or the empty string.
    dimension_names
        Names of the axes.
    attributes
        JSON values.

    Raises
    ------
    FileExistsError
        If there is a node already.
    """
    document = _create.array_document(
        shape=shape,
        dtype=dtype,
        chunks=chunks,
        shards=shards,
        codecs=codecs,
        fill_value=fill_value,
        dimension_names=dimension_names,
        attributes=attributes,
    )
    return Array(_native.Array.create(os.fspath(url), path, dict(storage_options or {}), threads, document))


def open_group(
    url: str | os.PathLike[str],
    path: str = "",
    *,
    storage_options: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Group:
    """Opens a group; the parameters are those of `open`."""
    return Group(_native.Group.open(os.fspath(url), path, dict(storage_options or {}), threads))


def create_group(
    url: str | os.PathLike[str],
    path: str = "",
    *,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Group:
    """Creates a group where there is no node."""
    document = _create.group_document(attributes)
    return Group(_native.Group.create(os.fspath(url), path, dict(storage_options or {}), threads, document))
