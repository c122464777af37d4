"""Functions with the names and arguments of zarr-python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _create, _native, _store
from ._array import Array
from ._group import Group, wrapped

MODES = ("r", "r+", "a", "w", "w-")
"""To read; to change; to change or create; to create in place of what is there; to create alone."""


def opened(
    url: _store.Url,
    path: str | None,
    mode: str | None,
    kind: type[Array] | type[Group] | None,
    options: Mapping[str, Any] | None,
    threads: int | None = None,
    write_empty_chunks: bool = False,
    new: _create.New | None = None,
    document: str | None = None,
    cache: int = 0,
) -> Array | Group:
    """The node at a place, which is created if it is missing and ``mode`` says so."""
    if url is None:
        url = "memory:"
        mode = mode or "a"
    if mode is None:
        # A misspelled path must not become a new group; a store that is handed over has no spelling.
        mode = "r+" if isinstance(url, str | os.PathLike) or isinstance(url, Array | Group) else "a"
    if mode not in MODES:
        raise ValueError(f"mode: one of {', '.join(MODES)}, not {mode!r}")
    new = new or {}
    is_array = bool(new.keys() - {"zarr_format", "attributes"}) or kind is Array
    if kind is None and is_array and mode in ("r", "r+"):
        raise TypeError(f"mode {mode!r} opens what is there: {', '.join(new)} is for a new array")
    options = _store.with_mode(options, "r" if mode == "r" else "r+")
    at = _store.state(url, path, options, threads, write_empty_chunks, cache)
    if mode in ("r", "r+", "a"):
        natives: dict[Any, Any] = {Array: _native.Array.open, Group: _native.Group.open}
        open_native = natives.get(kind, _native.Group.open_node)
        try:
            return wrapped(open_native(at))
        except FileNotFoundError as error:
            if mode != "a" or isinstance(error, _native.UnfinishedCopyError):
                raise
    if is_array:
        dtype = _create.default_dtype(new.get("dtype"), new.get("data"))
        return _create.array(at, mode == "w", **{**new, "dtype": dtype})
    if document is None:
        document = _create.group_document(new.get("attributes"), new.get("zarr_format"))
    return Group(_native.create_group(at, document, overwrite=mode == "w"))


def _place(store: _store.Url | None, name: str | None, options: Mapping[str, Any] | None) -> Any:
    if isinstance(store, Group):
        return store._native, _store.path(name or "")
    return _store.state("memory:" if store is None else store, _store.path(name or ""), options)


def _group_at(at: Any) -> Group:
    """The group at a place, or at a path below a native group."""
    if len(at) != 2:
        return Group(_native.Group.open(at))
    found = wrapped(at[0].node(at[1]))
    if not isinstance(found, Group):
        raise ValueError(f"{found!r} is an array, not a group")
    return found


def open_array(
    store: _store.Url | None = None,
    path: str | None = "",
    *,
    mode: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    cache: int = 0,
    **new: Unpack[_create.New],
) -> Array:
    """Opens an array, or creates it with ``mode`` ``"a"``, ``"w"`` or ``"w-"``; see `open` and `create_array`."""
    found = opened(store, path, mode, Array, storage_options, new=new, cache=cache)
    assert isinstance(found, Array)
    return found


def create_array(
    store: _store.Url | None = None,
    *,
    name: str | None = None,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **new: Unpack[_create.New],
) -> Array:
    """Creates an array with zarr-python's arguments, and those of `create`.

    ``data`` gives shape, type and elements. ``filters``, ``serializer`` and ``compressors`` are codecs of
    zarr-python, of numcodecs, dicts, or short forms such as ``"zstd:3"``. With ``overwrite``, the node
    in its place is removed, in the steps of ``zarr-kit create --overwrite``.
    """
    return _create.array(_place(store, name, storage_options), overwrite, **new)


def group(
    store: _store.Url | None = None,
    *,
    path: str | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """The group at a place, which is created if it is missing; without a store, in memory."""
    at, document = _place(store, path, storage_options), _create.group_document(attributes, zarr_format)
    if not overwrite:
        try:
            return _group_at(at)
        except (FileNotFoundError, KeyError) as error:
            if isinstance(error, _native.UnfinishedCopyError):
                raise
    return Group(_native.create_group(at, document, overwrite=overwrite))


def array(data: ArrayLike, *, store: _store.Url | None = None, name: str | None = None, overwrite: bool = False, **new: Any) -> Array:
    """Creates an array of this data; without a store, in memory."""
    return create_array(store, name=name or new.pop("path", None), overwrite=overwrite, data=data, **new)


def full(shape: Any, fill_value: Any, *, store: _store.Url | None = None, name: str | None = None, dtype: DTypeLike | None = None, **new: Any) -> Array:
    """Creates an array that reads as this value; its type is numpy's for the value."""
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return create_array(store, name=name or new.pop("path", None), shape=shape, dtype=dtype, fill_value=fill_value, **new)


def zeros(shape: Any, *, dtype: DTypeLike = "f8", **new: Any) -> Array:
    """Creates an array of zeros; the arguments are those of `full`."""
    return full(shape, 0, dtype=dtype, **new)


def ones(shape: Any, *, dtype: DTypeLike = "f8", **new: Any) -> Array:
    """Creates an array of ones; the arguments are those of `full`."""
    return full(shape, 1, dtype=dtype, **new)


empty = zeros


def _like(a: Any, new: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a new array that is like another one."""
    if isinstance(a, Array):
        document = a._document
        kept: dict[str, Any] = {"dimension_names": a.dims, "codecs": document["codecs"], "chunks": a.chunks}
        # Rectilinear and sharded grids are given by their documents.
        if a.shards is not None:
            kept["codecs"] = a._inner_codecs()
            kept["shards"] = a.shards
        if {"filters", "serializer", "compressors", "codecs"} & new.keys() or "dtype" in new:
            del kept["codecs"]
        new = {**kept, "dtype": document["data_type"], **new}
    shape = a.shape if hasattr(a, "shape") else np.shape(a)
    return {"shape": shape, "dtype": getattr(a, "dtype", None) or np.asarray(a).dtype, **new}


def zeros_like(a: Any, **new: Any) -> Array:
    """Creates an array of zeros with the shape and type of another one."""
    return zeros(**_like(a, new))


def ones_like(a: Any, **new: Any) -> Array:
    """Creates an array of ones with the shape and type of another one."""
    return ones(**_like(a, new))


def full_like(a: Any, fill_value: Any = None, **new: Any) -> Array:
    """Creates an array of one value with the shape and type of another one, by default its fill value."""
    value = a.fill_value if fill_value is None and isinstance(a, Array) else fill_value
    return full(fill_value=0 if value is None else value, **_like(a, new))


empty_like = full_like
"""Of an array, its fill value: an empty array reads as that."""


def save(
    store: _store.Url,
    *args: ArrayLike,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **arrays: ArrayLike,
) -> None:
    """Stores an array, or several in a group: ``arr_0`` and so on, and by their names."""
    if not args and not arrays:
        raise ValueError("save: at least one array must be provided")
    named = {**{f"arr_{number}": data for number, data in enumerate(args)}, **arrays}
    for name, data in named.items():
        # Nothing is written if one of them is not an array.
        if isinstance(data, str | bytes | Mapping) or np.ndim(data) == 0 and not hasattr(data, "dtype"):
            raise TypeError(f"save: {name} is an array, not {data!r}")
        named[name] = found = np.asarray(data)
        _create.array_document(shape=found.shape, dtype=found.dtype)
    if len(args) == 1 and not arrays:
        create_array(store, name=path, data=named["arr_0"], overwrite=True, storage_options=storage_options)
        return
    into = group(store, path=path, storage_options=storage_options)
    for name, data in named.items():
        into.create_array(name, data=data, overwrite=True)


def load(store: _store.Url, path: str | None = None) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """Reads an array, or all arrays of a group by name."""
    found = opened(store, path or "", "r", None, None)
    if isinstance(found, Array):
        return found.read()
    return {name: each.read() for name, each in found.arrays()}


def consolidate_metadata(store: _store.Url, path: str | None = None) -> Group:
    """Writes copies of all documents below a group into its own."""
    return Group(_group_at(_place(store, path, None))._native.consolidate())


def open_consolidated(store: _store.Url, path: str = "", *, mode: str = "r+", storage_options: Mapping[str, Any] | None = None) -> Group:
    """Opens a group by its consolidated metadata: one request for a whole hierarchy."""
    at = _store.state(store, path, _store.with_mode(storage_options, mode))
    return Group(_native.Group.open(at, path))


def delete(store: _store.Url, path: str | None = "", *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Deletes the array or group at a place with all that is in it, in the steps of ``zarr-kit delete``.

    Parameters
    ----------
    store, path, storage_options
        As for `zarr_kit.open`.

    Raises
    ------
    FileNotFoundError
        If there is no array or group: a folder that is none is never deleted.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp() + "/rain.zarr"
    >>> _ = zarr_kit.create(folder, shape=3, dtype="i2")
    >>> zarr_kit.delete(folder)
    >>> zarr_kit.open(folder)
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    _native.delete(_store.state(store, path, storage_options))
