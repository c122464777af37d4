"""Zarr v3 arrays with chunks of any length and values of any number of bits.

`open` returns the `Array` or `Group` at a place; `create` makes an `Array`, `create_group` a `Group`. `zarr_kit.dask`
and `zarr_kit.xarray` connect them with Dask and Xarray.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from numpy.typing import DTypeLike

from . import _create, _native, _store
from ._advise import advise
from ._array import Array, ArrayConfig
from ._asynchronous import AsyncArray, AsyncGroup
from ._check import Finding, Report, check
from ._codecs import Codec, Codecs
from ._copy import Copied, copy
from ._describe import GroupInfo, ArrayInfo, Picture
from ._diff import diff
from ._export import export
from ._familiar import (
    array,
    consolidate_metadata,
    create_array,
    delete,
    empty,
    empty_like,
    full,
    full_like,
    group,
    load,
    ones,
    ones_like,
    open_array,
    open_consolidated,
    opened,
    save,
    zeros,
    zeros_like,
)
from ._group import Group
from ._join import Joined, JoinedArray, JoinPlan, join
from ._native import ConflictError, LossError, UnfinishedCopyError, __version__
from ._plan import Plan, PlannedChunk
from ._tree import Tree

__all__ = [
    "Array",
    "ArrayConfig",
    "AsyncArray",
    "AsyncGroup",
    "Codec",
    "ConflictError",
    "Copied",
    "Finding",
    "Group",
    "GroupInfo",
    "ArrayInfo",
    "JoinPlan",
    "Joined",
    "JoinedArray",
    "LossError",
    "Picture",
    "Plan",
    "PlannedChunk",
    "Report",
    "Tree",
    "UnfinishedCopyError",
    "__version__",
    "advise",
    "array",
    "check",
    "consolidate_metadata",
    "copy",
    "create",
    "create_array",
    "create_group",
    "delete",
    "diff",
    "empty",
    "empty_like",
    "export",
    "full",
    "full_like",
    "group",
    "join",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "save",
    "zeros",
    "zeros_like",
]


_SUBMODULES = ("codecs", "dask", "dtypes", "pipeline", "store", "xarray")

_ELSEWHERE = {
    "config": "there are no settings: arguments say it, such as threads= and write_empty_chunks=",
    "copy_all": "use copy",
    "copy_store": "use copy",
    "create_hierarchy": "use create_group and create_array",
    "from_array": "use copy",
    "open_like": "use zeros_like or full_like",
    "save_array": "use save",
    "save_group": "use save",
    "storage": "pass a path, a URL or a store of zarr-python, such as zarr.storage.LocalStore",
    "tree": "use the method tree() of a group",
}
"""What to use for other names of zarr-python."""


def __dir__() -> list[str]:
    """The public names, for completion: the names above, and the submodules that were imported."""
    return sorted([*__all__, *(name for name in _SUBMODULES if name in globals())])


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Imports a submodule at its first use, as ``zarr.codecs`` needs no import of its own."""
        if name not in _SUBMODULES:
            hint = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
        return importlib.import_module(f"{__name__}.{name}")


def open(
    store: _store.Url | None = None,
    path: str | None = "",
    *,
    storage_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    write_empty_chunks: bool = False,
    cache: int = 0,
    mode: str | None = None,
    **new: Unpack[_create.New],
) -> Array | Group:
    """Opens the array or group at a place.

    Parameters
    ----------
    store
        A folder, or a URL: ``file:``, ``s3:``, ``gs:``, ``az:``, ``https:``, ``memory:``; or a store: of
        zarr-python (also one of its arrays or groups), of Icechunk or obstore, an fsspec mapper, a ``UPath``,
        or a dict; None for a new store in memory. Also a zip archive (``x.zip``, ``x.ozx``), a
        reference file of kerchunk or VirtualiZarr (``x.json``) or a virtual join (``x.zjoin``), or
        a node in one: ``x.zip/rain``.
    path
        The path of the array or group in the store.
    storage_options
        Settings of the store, such as ``aws_region``. Take credentials from the environment
        instead if you can: settings are part of a pickled array. ``targets`` lists folders and
        URLs to which a reference file may lead, besides its own folder, and with
        ``only_targets=True`` no others; ``outside_members=True``
        lets a virtual join lead out of its folder, and ``outside_links=True`` symbolic links out
        of the store's folder; ``max_document`` is how many MiB (256) a document may have that is
        deflated in a zip archive or that a reference leads to; ``durability="power-failure"``
        flushes each write to local files before it returns; a failed request is repeated
        ``max_retries`` times (10), until ``retry_timeout`` seconds (180) after its start.
    threads
        The largest number of threads of a read or write; None for one per core.
    write_empty_chunks
        Whether writes also store chunks that hold only the fill value. Otherwise they are removed,
        and read the same.
    cache
        How many bytes of decoded chunks the array, or each array that is taken from a group, keeps for
        later reads; see `Array.with_cache`.
    mode
        ``"r+"`` to read and write, ``"r"`` to read: every write then raises a PermissionError, also by
        nodes that are taken from a group, and in other processes. ``"a"`` creates the node if it is
        missing, ``"w-"`` creates it and refuses an old one, ``"w"`` removes the old one first. None is
        ``"r+"`` for a path or URL, since a misspelled one must not become a new group, and ``"a"`` for a
        store.
    new
        With these three, the arguments of a new array as for `create_array`. Without them a group is
        created.

    Returns
    -------
    Array or Group

    Raises
    ------
    FileNotFoundError
        If there is no array or group.
    ValueError
        If its document breaks the specification; the message says where.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> group = zarr_kit.create_group(folder)
    >>> rain = group.create_array("rain", shape=3, dtype="i2")
    >>> zarr_kit.open(folder) == group, zarr_kit.open(folder, "rain").shape
    (True, (3,))
    >>> zarr_kit.open(folder, "rain", mode="r")[0] = 1
    Traceback (most recent call last):
    PermissionError: ...
    """
    return opened(store, path, mode, None, storage_options, threads, write_empty_chunks, new, cache=cache)


def create(
    url: _store.Url | None = None,
    path: str | None = "",
    *,
    shape: int | Sequence[int] | None = None,
    dtype: DTypeLike | str | None = None,
    chunks: Any = None,
    shards: Any = None,
    codecs: Codecs | None = None,
    fill_value: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    portable: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    write_empty_chunks: bool = False,
    overwrite: bool = False,
    store: _store.Url | None = None,
    mode: str | None = None,
    **more: Any,
) -> Array:
    """Creates an array.

    Parameters
    ----------
    url, path, storage_options, threads, write_empty_chunks
        As for `open`. A missing folder is created, but not around a new archive; so is a group in each
        place from the URL to the node that has none.
    shape
        The number of elements on each axis.
    dtype
        A numpy dtype, or the name of a Zarr data type such as ``"int4"``; None is that of ``data``, or
        float64. ``"string"``, `str` and
        ``StringDType()`` are strings of any length, ``"bytes"`` and `bytes` byte strings. The byte
        order of a numpy dtype is the order in memory: stored elements are little-endian unless
        ``codecs`` say otherwise.
    chunks
        For each axis the length of every chunk, or a list of all lengths (``[(31, 28, 31), 100]``).
        A list makes the grid ``rectilinear``, also if its lengths are equal: chunks of other lengths
        may be appended. An int applies to all axes; None makes chunks of 1 to 4 MiB of elements, or
        one of a smaller array. To read a rectilinear grid with zarr-python, set its configuration
        ``array.rectilinear_chunks``.
    shards
        The lengths of shards, which hold many ``chunks`` each; None for no shards.
    codecs
        The codecs as in ``zarr.json``, short forms such as ``"zstd:3"``, or objects of zarr-python or
        numcodecs; or a chain as text: ``"transpose,packbits:12,zstd:3"``. None means ``bytes`` (for
        strings ``vlen-utf8``, for byte strings ``vlen-bytes``) and ``zstd``.
    fill_value
        The value of elements that were never written. None means NaT for times and durations, NaN
        for ``float8_e8m0fnu``, and otherwise zero or the empty string.
    dimension_names
        Names of the axes.
    attributes
        JSON values.
    portable
        Whether an array is refused that another program does not read, or only with a setting:
        zarr-python, Xarray, zarrs, TensorStore or GDAL.
    overwrite
        Whether a node in its place is removed, in the steps of ``zarr-kit create --overwrite``: after
        a kill the old or the new array is there, or an error says that it is unfinished.
    store
        The place, if the first argument is not, or is the shape, as in zarr-python. Without a place,
        the array is in memory.
    mode
        ``"w"`` is ``overwrite``; ``"w-"``, ``"a"`` and ``"r+"`` refuse a node that is there.
    more
        ``data``, ``filters``, ``serializer``, ``compressors``, ``order``, ``zarr_format``,
        ``chunk_key_encoding`` and ``config``, as for `create_array`.

    Returns
    -------
    Array
        The new array, open to read and write.

    Raises
    ------
    FileExistsError
        If there is an array or group already.
    ValueError
        If ``portable``, and a program does not read the array: the message says which, and why.

    Examples
    --------
    >>> import zarr_kit
    >>> rain = zarr_kit.create("memory:", shape=59, dtype="f4", chunks=[(31, 28)])
    >>> rain[31:] = 2.5
    >>> rain[29:33].tolist()
    [0.0, 0.0, 2.5, 2.5]
    """
    if hasattr(url, "__index__") or (isinstance(url, list | tuple) and shape is None):
        url, shape = None, url
    if url is not None and store is not None:
        raise TypeError("store: the place is given twice")
    place = store if url is None else url
    if mode not in (None, "a", "r+", "w", "w-"):
        raise ValueError(f"mode: an array is created with 'a', 'r+', 'w' or 'w-', not {mode!r}")
    state = _store.state("memory:" if place is None else place, path, storage_options, threads, write_empty_chunks)
    return _create.array(
        state,
        overwrite or mode == "w",
        shape=shape,
        dtype=_create.default_dtype(dtype, more.get("data")),
        chunks=chunks,
        shards=shards,
        codecs=codecs,
        fill_value=fill_value,
        dimension_names=dimension_names,
        attributes=attributes,
        portable=portable,
        **more,
    )


def open_group(
    store: _store.Url | None = None,
    path: str | None = "",
    *,
    storage_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    write_empty_chunks: bool = False,
    cache: int = 0,
    use_consolidated: bool | None = None,
    mode: str | None = None,
    zarr_format: int | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Group:
    """Opens a group.

    Parameters
    ----------
    store, path, storage_options, threads, write_empty_chunks, cache, mode
        As for `open`.
    use_consolidated
        Whether to take the documents of all nodes below from the group's consolidated metadata,
        which takes one request for a whole hierarchy. They are as old as the last consolidation:
        use it for hierarchies that do not change, and not to write.
    zarr_format, attributes
        The version of the format (3) and the attributes of a group that is created.

    Returns
    -------
    Group
        The group.

    Raises
    ------
    FileNotFoundError
        If there is no group, or, if ``use_consolidated``, no consolidated metadata in it.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> _ = zarr_kit.create_group(folder).create_array("rain", shape=2, dtype="f4")
    >>> list(zarr_kit.open_group(folder))
    ['rain']
    """
    if not use_consolidated:
        found = opened(
            store, path, mode, Group, storage_options, threads, write_empty_chunks,
            document=_create.group_document(attributes, zarr_format), cache=cache,
        )
        assert isinstance(found, Group)
        return found
    options = _store.with_mode(storage_options, mode or "r+")
    state = _store.state(store, path, options, threads, write_empty_chunks, cache)
    return Group(_native.Group.open(state, path or ""))


def create_group(
    store: _store.Url,
    path: str | None = "",
    *,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    write_empty_chunks: bool = False,
    overwrite: bool = False,
    zarr_format: int | None = None,
) -> Group:
    """Creates a group.

    Parameters
    ----------
    store, path, storage_options, threads, write_empty_chunks
        As for `open`. A missing folder is created, but not around a new archive; so is a group in each
        place from the URL to the node that has none.
    attributes
        JSON values.
    overwrite
        Whether a node in its place is deleted first, with all that is below it.
    zarr_format
        3, or None: no other version is written.

    Returns
    -------
    Group
        The new group.

    Raises
    ------
    FileExistsError
        If there is an array or group already.

    Examples
    --------
    >>> import zarr_kit
    >>> zarr_kit.create_group("memory:", attributes={"title": "weather"}).attrs["title"]
    'weather'
    """
    document = _create.group_document(attributes, zarr_format)
    state = _store.state(store, path, storage_options, threads, write_empty_chunks)
    return Group(_native.create_group(state, document, overwrite=overwrite))
