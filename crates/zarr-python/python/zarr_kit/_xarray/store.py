"""A group as Xarray reads it: variables and attributes that are not yet decoded."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from xarray import DataArray, Dataset, Variable, conventions
from xarray.backends import AbstractDataStore
from xarray.backends.zarr import FillValueCoder
from xarray.core import indexing

from .. import _writes, open_group
from .._array import Array
from .._group import Group
from .._store import Url
from . import encoding
from .lazy import LOOKUPS, LazyArray, is_remote


class GroupStore(AbstractDataStore):
    """The arrays of a group as variables."""

    __slots__ = ("arrays", "group", "mask_fill_value", "threads")

    def __init__(
        self,
        group: Group,
        arrays: Mapping[str, Array],
        *,
        mask_fill_value: bool = False,
        threads: int | None = None,
    ) -> None:
        self.group = group
        self.arrays = dict(arrays)
        self.mask_fill_value = mask_fill_value
        self.threads = threads

    def get_variables(self) -> dict[str, Variable]:
        """The arrays.

        Returns
        -------
        dict of str to xarray.Variable

        Raises
        ------
        ValueError
            If an array has no name for each dimension, or an invalid ``_FillValue``.
        """
        return {
            name: variable(
                name, array, mask_fill_value=self.mask_fill_value, threads=self.threads
            )
            for name, array in self.arrays.items()
        }

    def get_attrs(self) -> dict[str, Any]:
        """The attributes of the group.

        Returns
        -------
        dict

        Raises
        ------
        OSError
            If they cannot be read.
        """
        return self.group.attrs.asdict()


class StoredVariable(Variable):
    """A variable with another name in Dask after each write of this process.

    Xarray makes the names from the arguments of `xarray.open_dataset`, not from the stored data.
    """

    __slots__ = ()

    def chunk(self, *arguments: Any, **named: Any) -> Any:
        """As `xarray.Variable.chunk`."""
        given, written = named.get("from_array_kwargs") or {}, _writes.here()
        if written is not None and isinstance(given.get("name"), str):
            named["from_array_kwargs"] = {**given, "name": f"{given['name']}-{written}"}
        return self._plain().chunk(*arguments, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return Variable, (self._dims, self._data, self._attrs, self._encoding)

    def _plain(self) -> Variable:
        return Variable(self._dims, self._data, self._attrs, self._encoding, fastpath=True)


def named_by_writes(dataset: Dataset) -> Dataset:
    """The same dataset; Dask arrays that Xarray makes of it are named by the writes so far."""
    if _writes.here() is None:
        return dataset
    # The indexes of coordinates are in memory, and stay as they are.
    lazy = {name: each for name, each in dataset.variables.items() if not each._in_memory}
    stored = {
        name: StoredVariable(each._dims, each._data, each._attrs, each._encoding, fastpath=True)
        for name, each in lazy.items()
    }
    return dataset._replace({**dataset.variables, **stored})


def from_array(array: Array, *, name: str | None = None, chunks: Any = None) -> DataArray:
    """An array as a `xarray.DataArray` without coordinates, decoded and read when needed.

    Parameters
    ----------
    array
        The array; axes without a name are called ``dim_0`` and so on.
    name
        The name of the result; None for the last part of the array's path.
    chunks
        None to read when needed, without Dask; ``{}`` for the stored chunks (of an array with shards, the shards); or chunks in any form
        that `xarray.DataArray.chunk` accepts.

    Returns
    -------
    xarray.DataArray
        The array.

    Raises
    ------
    ValueError
        If the chunks do not fit the array, or its attributes cannot be decoded.

    Examples
    --------
    >>> import zarr_kit.xarray
    >>> a = zarr_kit.create("memory:", shape=59, dtype="i4", chunks=[(31, 28)], dimension_names=["day"])
    >>> zarr_kit.xarray.from_array(a, name="rain").isel(day=slice(30, 33)).values
    array([0, 0, 0], dtype=int32)
    >>> a.to_xarray(chunks={}).chunks
    ((31, 28),)
    """
    dims = tuple(dim or f"dim_{axis}" for axis, dim in enumerate(array.dims or (None,) * array.ndim))
    name = name or array.path.rpartition("/")[2] or None
    found = DataArray(conventions.decode_cf_variable(name, variable(name or "", array, dims=dims)), name=name)
    if chunks == {}:
        chunks = dict(zip(dims, array.write_chunk_sizes, strict=True))
    return found if chunks is None else found.chunk(chunks)


def opened(
    where: Url | Group,
    group: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    consolidated: bool = False,
) -> Group:
    """The group at a URL and a path, or below an open group."""
    path = (group or "").strip("/")
    if not isinstance(where, Group):
        try:
            return open_group(
                where, path, storage_options=storage_options, use_consolidated=consolidated, mode="r+"
            )
        except FileNotFoundError:
            if not consolidated or not path:
                raise
        # The documents of a group can also be in the consolidated metadata of the whole store.
        where = open_group(where, storage_options=storage_options, use_consolidated=True)
        storage_options = None
    if storage_options:
        raise ValueError("storage_options: the group is open already, with its own")
    found = where[path] if path else where
    if isinstance(found, Array):
        raise ValueError(f"{path} is an array, not a group: open the group that it is in")
    return found


def nodes(group: Group, without: Iterable[str] = ()) -> dict[str, Array | Group]:
    """The children of a group. Reads their documents concurrently if that is faster."""
    left_out = set(without)
    names = [name for name in group if name not in left_out]
    if not is_remote(group.url) or len(names) < 2:
        return {name: group[name] for name in names}
    with ThreadPoolExecutor(min(LOOKUPS, len(names))) as pool:
        return dict(zip(names, pool.map(group.__getitem__, names), strict=True))


def variable(
    name: str,
    array: Array,
    *,
    mask_fill_value: bool = False,
    threads: int | None = None,
    dims: tuple[str, ...] | None = None,
) -> Variable:
    """An array as a variable that is read when needed.

    Raises
    ------
    ValueError
        If the array has no dimension names, or an invalid ``_FillValue``.
    """
    names = array.dims or () if dims is None else dims
    if len(names) != array.ndim or None in names:
        raise ValueError(
            f"array {name!r} has no name for each dimension (dimension_names: {array.dims}), which "
            "Xarray needs; leave it out with drop_variables"
        )
    attributes = array.attrs.asdict()
    stored = encoding.stored(array, names)
    if array.dtype.kind == "T":
        stored["dtype"] = array.dtype
    if mask_fill_value:
        attributes["_FillValue"] = array.fill_value
    else:
        stored["fill_value"] = array.fill_value
        if "_FillValue" in attributes:
            attributes["_FillValue"] = _fill_value(name, attributes["_FillValue"], array)
    data = indexing.LazilyIndexedArray(LazyArray(array, threads))
    return Variable(names, data, attributes, stored)


def _fill_value(name: str, value: Any, array: Array) -> Any:
    """The value that marks missing elements, from the JSON form of Xarray's ``zarr`` engine.

    There, floats are the base64 of their bytes. Numbers, which other programs write, are accepted
    as well.
    """
    dtype = array.dtype
    if dtype.kind == "f":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if value in ("NaN", "Infinity", "-Infinity"):
            return float(value)
    kind: Any = {"T": "string", "O": "bytes"}.get(dtype.kind, dtype)
    try:
        return FillValueCoder.decode(value, kind)
    except (TypeError, ValueError, ArithmeticError, struct.error) as error:
        raise ValueError(f"array {name!r}: attribute _FillValue {value!r}: {error}") from None
