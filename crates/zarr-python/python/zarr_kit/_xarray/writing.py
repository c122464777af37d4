"""Writes Xarray's datasets, arrays and trees into groups."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from xarray import DataArray, Dataset, DataTree, Variable
from xarray.backends.common import ArrayWriter

from .. import _native, _store
from .._array import Array
from .._cast import Casting
from .._create import fill, group_document
from .._group import Group
from .._notes import note_readers, note_small_chunks
from .._store import Url
from ..dask import _in_this_process, _of_declared_shape
from .elements import noted
from .encoding import may_refuse, without_compressors
from .planning import Addition, Plan, Request, Update, planned
from .region import Region
from .inplace import check_blocks
from .sources import _place, _sources, check_not_read_from
from .store import nodes, opened
from .tasks import aligned_blocks, shared

IN_MEMORY: _native.State = ("memory:", "", {}, None, False, 0)
"""A new store."""

USUAL_NAME = 255
"""The length of a name in bytes that every store can have."""

MODES = ("w", "w-", "a", "a-", "r+")


def to_zarr(
    data: Dataset | DataArray | DataTree,
    store: Url | Group,
    *,
    group: str | None = None,
    mode: str | None = None,
    codecs: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    chunks: Mapping[Any, int | Sequence[int]] | Literal["auto"] | None = None,
    encoding: Mapping[Any, Mapping[Any, Any]] | None = None,
    append_dim: Hashable | None = None,
    region: Region | None = None,
    compute: bool = True,
    consolidated: bool = False,
    safe_chunks: bool = True,
    align_chunks: bool = False,
    write_inherited_coords: bool = False,
    write_empty_chunks: bool = False,
    casting: Casting = "exact",
    any_order: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Stores a dataset, an array or a tree.

    Everything but the elements of Dask arrays is checked before anything is changed. Then the
    documents are written, so that arrays have their new shapes, and then the elements: the tasks of a
    Dask array each write their own region, and find elements that cannot be stored. No elements are
    lost if tasks share a stored chunk. Times of Dask arrays that are written to stored variables are
    computed at once, also without ``compute``, because the stored units may not express them.

    Parameters
    ----------
    data
        What to store.
    store
        Where to store it, as for `zarr_kit.open`; or an open `Group`.
    group
        The path of the group in the store; missing groups above it are created.
    mode
        ``"w-"`` creates a new group; ``"w"`` first deletes the group in its place, with all nodes below,
        and refuses if other files are there;
        ``"a"`` creates it or adds to it, and overwrites its variables; ``"a-"`` is ``"a"``, but of
        the stored variables only those with ``append_dim`` are written; ``"r+"`` writes only to
        stored variables. By default ``"a"`` with ``append_dim``, ``"r+"`` with ``region``, else ``"w-"``.
    codecs
        The codecs of new data variables as in ``zarr.json``, for all or by name; ``encoding`` takes
        precedence.
    chunks
        For new variables, the chunks of each dimension: a number, or all lengths, which makes the
        grid ``rectilinear``. By default, or with ``"auto"``, they come from ``encoding``; otherwise from the Dask array,
        with a ``regular`` grid if all but the last are equal; otherwise `zarr_kit.create` chooses
        them, but longer along the first dimension with at most one element, up to 64 KiB for a chunk,
        because such a first step is appended to. zarr-python reads rectilinear grids with its configuration
        ``array.rectilinear_chunks``.
    encoding
        For new variables, by name, the entries of Xarray's ``encoding``, with ``chunks``,
        ``shards``, ``codecs`` and ``fill_value``, and Xarray's ``filters``, ``serializer`` and
        ``compressors``. For a tree, by the ``path`` of the node and the name. Entries that are not
        given come from the variable's own encoding, which it has since it was read, if they fit:
        the chunks of a Dask array take precedence over chunks that its blocks would divide.
    append_dim
        The dimension along which the data is appended. If its chunk lengths are listed, the lengths
        of the Dask array's blocks are added to the list.
    region
        The part of the stored variables to write: for each dimension a slice, or ``"auto"``, which
        finds it by the values of the coordinate.
    compute
        Whether to store the elements of Dask arrays now. Otherwise everything else is done, and the
        returned object stores them when it is computed.
    consolidated
        Whether to write consolidated metadata for the whole store. Existing consolidated metadata is
        always kept up to date.
    safe_chunks
        Whether to raise an error if tasks share a stored chunk and the store cannot keep them from
        overwriting each other. Local stores, and those with conditional puts, can.
    align_chunks
        Whether to join the blocks of Dask arrays so that no two share a stored chunk. Each chunk is
        then written once, instead of being read and written by each task that shares it.
    write_inherited_coords
        Whether to store inherited coordinates in the nodes of a tree.
    write_empty_chunks
        Whether chunks that hold only the fill value are stored too.
    casting
        By default no element changes on its way into the type and the encoding of its array, except
        that fractions are rounded to the nearest float, or packed number: integers and times are exact,
        finite numbers stay finite, fractions do not enter integers that are not packed, and no valid
        element becomes missing. ``"unsafe"`` stores whatever Xarray and numpy make of them.
    any_order
        Whether appended coordinates may overlap those that are stored, or go backwards. By default that
        is an error, as in ``zarr-kit append``: the same month would be appended twice.
    storage_options
        As for `zarr_kit.open`.

    Returns
    -------
    None or dask.delayed.Delayed
        None if ``compute``.

    Raises
    ------
    FileExistsError
        If there is a group and ``mode`` is ``"w-"``.
    ValueError, TypeError, OverflowError
        If the data does not fit its encoding, or the stored variables, their types and their units (the
        message names the first element); or
        is read from the group that mode ``"w"`` deletes.

    Examples
    --------
    >>> import tempfile, numpy, xarray, zarr_kit.xarray
    >>> url = tempfile.mkdtemp() + "/rain.zarr"
    >>> rain = xarray.Dataset({"rain": (("day", "x"), numpy.ones((59, 4)))})
    >>> january, february = rain.isel(day=slice(0, 31)), rain.isel(day=slice(31, 59))
    >>> zarr_kit.xarray.to_zarr(january, url, chunks={"day": [31]})
    >>> zarr_kit.xarray.to_zarr(february, url, append_dim="day")
    >>> xarray.open_dataset(url, engine="zarr-kit", chunks={}).rain.chunks
    ((31, 28), (4,))
    """
    mode = _mode(mode, append_dim, region)
    if isinstance(chunks, str):
        if chunks != "auto":
            raise ValueError(f'chunks: lengths by dimension, or "auto", not {chunks!r}')
        chunks = None
    if isinstance(data, DataTree):
        if append_dim is not None or region is not None:
            raise NotImplementedError("append_dim and region of a tree: write its nodes one by one")
        tree = {"" if below == "." else below: node for below, node in data.subtree_with_keys}
        datasets = {
            below: node.to_dataset(inherit=write_inherited_coords or node is data)
            for below, node in tree.items()
        }
        by_path = dict(encoding or {})
        encodings = {below: by_path.pop(node.path, {}) for below, node in tree.items()}
        if by_path:
            raise ValueError(f"encoding of nodes that the tree does not have: {sorted(by_path)}")
    else:
        if not isinstance(data, Dataset | DataArray):
            raise TypeError(f"a Dataset, DataArray or DataTree is stored, not {type(data).__name__}")
        datasets = {"": data if isinstance(data, Dataset) else _of_array(data)}
        encodings = {"": encoding or {}}

    _check_names(datasets.values(), codecs, chunks)

    path = (group or "").strip("/")
    root = None if mode == "w" else _existing(store, path, storage_options)
    if root is not None and mode == "w-":
        raise FileExistsError(f"there is a group {root!r} already; mode 'a' adds to it, 'w' replaces it")
    if root is None and mode == "r+":
        raise FileNotFoundError(f"no group to write to: {store!r}, {path!r}")
    trial = Group(_native.create_group(IN_MEMORY, group_document()))
    plans = {}
    for below, dataset in datasets.items():
        request = Request(
            mode, append_dim, region, encodings[below], codecs, chunks, casting, any_order
        )
        place = _with_parents(trial, f"{path}/{below}".strip("/"))
        stored = _stored(root, below)
        plans[below] = planned(dataset, _nodes(root, below), request, place, stored)
    checks = safe_chunks and not align_chunks
    messages = list(filter(None, map(shared, plans.values()))) if checks else []
    _check_shared(messages, root or _existing(store, "", storage_options))
    _check_in_place(plans.values())
    for below, plan in plans.items():
        _rehearse(plan)
        for name in ("", *(addition.name for addition in plan.additions)):
            for part in (*path.split("/"), *below.split("/"), name):
                if len(part.encode()) > USUAL_NAME:
                    # Only the store knows whether it can have such a name: a look-up is an error if not.
                    _existing(store, part, storage_options)

    was_consolidated = False
    writer = ArrayWriter(lock=False)  # type: ignore[no-untyped-call]
    with contextlib.ExitStack() as block:
        if root is None:
            old = _existing(store, path, storage_options) if mode == "w" else None
            if old is not None:
                for name, variable in _to_store(plans.values()):
                    check_not_read_from(old, name, variable)
            was_consolidated = old is not None and "consolidated_metadata" in old.metadata
            if old is not None:
                root = _emptied(block.enter_context(old))
            else:
                root = _made(store, path, storage_options, block)
            _check_shared(messages, root)
        else:
            block.enter_context(root)
        for below, plan in plans.items():
            how = _How(writer, align_chunks, write_empty_chunks)
            _execute(plan, _with_parents(root, below), how)
        note_readers(_created(root, plans))
        for plan in plans.values():
            _note_appended(plan.updates)
        if consolidated:
            root._native.at("").consolidate()
        elif was_consolidated:
            root._native.consolidate()
        if compute and (not writer.sources or _in_this_process()):
            writer.sync()  # type: ignore[no-untyped-call]
            return None
    # Other processes cannot write before the block has ended.
    stored = writer.sync(compute=compute)  # type: ignore[no-untyped-call]
    # Workers of other processes have written.
    _native.wrote()
    if compute:
        return None
    from dask.delayed import delayed

    return delayed(_none)(stored)


def _note_appended(updates: list[Update]) -> None:
    """Says in the log if arrays have grown by many small chunks."""
    for update in updates:
        grid = update.array._document["chunk_grid"]
        if update.axis is None or grid["name"] != "regular":
            continue
        edges, dim = grid["configuration"]["chunk_shape"], update.variable.dims[update.axis]
        size = math.prod(edges) * update.array.dtype.itemsize
        added = update.variable.shape[update.axis]
        note_small_chunks(update.name, str(dim), edges[update.axis], size, added)


def _created(root: Group, plans: Mapping[str, Plan]) -> dict[str, dict[str, Any]]:
    """The documents of the new arrays, by their paths."""
    documents = {}
    for below, plan in plans.items():
        nodes_below = _nodes(root, below)
        for addition in plan.additions:
            name = str(addition.name)
            documents[f"{below}/{name}".lstrip("/")] = nodes_below[name].metadata
    return documents


def _to_store(plans: Iterable[Plan]) -> Iterator[tuple[str, Variable]]:
    for plan in plans:
        changes: list[Addition | Update] = [*plan.additions, *plan.updates]
        yield from ((change.name, change.variable) for change in changes)


def _check_names(data: Iterable[Dataset], codecs: Any, chunks: Mapping[Any, Any] | None) -> None:
    """Names of no variable or dimension are mistakes, which would be ignored otherwise."""
    datasets = list(data)
    names = set().union(*(dataset.variables for dataset in datasets))
    for name in codecs if isinstance(codecs, Mapping) else ():
        if name not in names:
            raise KeyError(f"codecs for {name!r}, which is not a variable of the dataset")
    dims = set().union(*(dataset.dims for dataset in datasets))
    for dim in chunks or ():
        if dim not in dims:
            raise ValueError(f"chunks for {dim!r}, which is not a dimension of the dataset")


def _none(stored: Any) -> None:
    """The result that Dask computes when all tasks have stored their elements."""


def _mode(mode: str | None, append_dim: Hashable | None, region: Region | None) -> str:
    if mode is None:
        mode = "a" if append_dim is not None else "r+" if region is not None else "w-"
    if mode not in MODES:
        raise ValueError(f"The only supported options for mode are {MODES}, but mode={mode!r}")
    if append_dim is not None and mode not in ("a", "a-"):
        raise ValueError("cannot set append_dim unless mode='a' or mode=None")
    if region is not None and mode not in ("a", "a-", "r+"):
        raise ValueError("cannot set region unless mode='a', mode='a-', mode='r+' or mode=None")
    return mode


def _of_array(array: DataArray) -> Dataset:
    """A dataset from which `xarray.open_dataarray` makes the same array.

    Xarray's engine ``"zarr"`` invents a name with two underscores where there is none, which Zarr
    reserves.
    """
    if array.name is None:
        raise ValueError("the array has no name, which Zarr needs: rename(...) gives it one")
    if array.name in array.coords or array.name in array.dims:
        raise ValueError(f"the array has the name of its coordinate {array.name!r}: rename(...) it")
    return array.to_dataset()


def _existing(
    url: Url | Group, path: str, storage_options: Mapping[str, Any] | None
) -> Group | None:
    try:
        return opened(url, path, storage_options)
    except (FileNotFoundError, KeyError):
        return None


def _nodes(root: Group | None, below: str) -> dict[str, Array | Group]:
    if root is None or below and below not in root:
        return {}
    group = root[below] if below else root
    if isinstance(group, Array):
        raise ValueError(f"there is an array in the place of the group {below!r}")
    return nodes(group)


def _stored(root: Group | None, below: str) -> Group | None:
    """The group at a path, if it is stored."""
    if root is None or below and below not in root:
        return None
    found = root[below] if below else root
    return found if isinstance(found, Group) else None


def _check_in_place(plans: Iterable[Plan]) -> None:
    """Refuses data that is read from arrays to which it is written, unless block by block.

    Other data is read before anything is written.
    """
    updates = [update for plan in plans for update in plan.updates]
    written = {_place(update.array): update.name for update in updates}
    for update in updates:
        variable = update.variable
        if variable._in_memory:
            continue
        if variable.chunks is not None:
            check_blocks(update.name, variable.data, update.array, update.region, written)
        elif any(source is None or _is_written(source, written) for source, _ in _sources(variable._data)):
            variable.load()


def _is_written(source: Any, written: Mapping[str, str]) -> bool:
    return (_place(source) if isinstance(source, Array) else source) in written


def _check_shared(messages: list[str], group: Group | None) -> None:
    if messages and group is not None and not _excludes_processes(group):
        raise ValueError(messages[0])


def _excludes_processes(group: Group) -> bool:
    return group._native.excludes_processes()


def _emptied(group: Group) -> Group:
    """Creates a group in the place of an old one, which is deleted with everything below it."""
    return Group(_native.create_group((group._native, ""), group_document(), overwrite=True))


def _made(
    url: Url | Group,
    path: str,
    storage_options: Mapping[str, Any] | None,
    block: contextlib.ExitStack,
) -> Group:
    """Creates a group, and missing groups above it, in a block."""
    root = _existing(url, "", storage_options)
    if root is not None:
        return _with_parents(block.enter_context(root), path)
    assert not isinstance(url, Group)
    state = _store.state(url, storage_options=storage_options)
    root = Group(_native.create_group(state, group_document(), enter=True))
    block.push(root)
    return _with_parents(root, path)


def _with_parents(root: Group, path: str) -> Group:
    group = root
    for name in path.split("/") if path else ():
        node = group[name] if name in group else group.create_group(name)
        if isinstance(node, Array):
            raise ValueError(f"there is an array in the place of the group {path!r}: {node!r}")
        group = node
    return group


@dataclass(frozen=True)
class _How:
    """How elements are written."""

    writer: ArrayWriter
    aligned: bool
    """Whether blocks are joined so that no two share a stored chunk."""
    empty: bool
    """Whether chunks that hold only the fill value are stored."""


def _rehearse(plan: Plan) -> None:
    """Writes elements in memory, if the codecs may refuse some, before anything is stored.

    Elements of Dask arrays are not computed twice: their tasks find those that are refused.
    """
    how = _How(ArrayWriter(lock=False), aligned=False, empty=False)  # type: ignore[no-untyped-call]
    for addition in plan.additions:
        document = json.loads(addition.document)
        if addition.variable.chunks is None and may_refuse(document["codecs"]):
            with noted(f"while variable {addition.name!r} was encoded, before anything was stored"):
                _write(how, _in_memory(document), addition.variable, ())
    for update in plan.updates:
        document, variable = update.array.metadata, update.variable
        if variable.chunks is None and variable.size and may_refuse(document["codecs"]):
            with noted(f"while variable {update.name!r} was encoded, before anything was stored"):
                like = replace(update, array=_like(document, variable, update.array.dtype))
                _write(how, _grown([like], how)[update.name], variable, update.region)


def _like(document: dict[str, Any], variable: Variable, dtype: np.dtype[Any]) -> Array:
    """An array in memory like a stored one, around elements of which others than the fill value are stored.

    The codecs may refuse a fill value that they never get, so it is one of the elements here.
    """
    first = np.asarray(variable.values).reshape(-1)[:1].astype(dtype)[0]
    try:
        return _in_memory({**document, "fill_value": fill(first, document["data_type"])})
    except ValueError:
        # The element is refused itself: writing it tells its place.
        return _in_memory(document)


def _in_memory(document: dict[str, Any]) -> Array:
    # Compression takes time, and refuses nothing.
    document = {**document, "codecs": without_compressors(document["codecs"])}
    return Array(_native.create_array(IN_MEMORY, json.dumps(document)))


def _execute(plan: Plan, group: Group, how: _How) -> None:
    # All arrays grow before elements are written: an append that is killed then leaves one length of
    # the dimension. All writers begin with the same array, which refuses the second of two. Arrays grow
    # in another thread, because Ctrl-C interrupts this one, also between two arrays.
    with ThreadPoolExecutor(1) as uninterrupted:
        grown = uninterrupted.submit(_grown, plan.updates, how).result()
    if plan.attributes is not None:
        gone = dict.fromkeys(set(group.attrs) - set(plan.attributes))
        old = {name: repr(value) for name, value in group.attrs.items()}
        # An archive could not take an unchanged document again.
        new = {k: text for k, text in plan.attributes.items() if old.get(k) != repr(json.loads(text))}
        if gone or new:
            group._update_attributes({**gone, **new})
    for addition in plan.additions:
        array = Array(_native.create_array((group._native, addition.name), addition.document))
        _write(how, array.with_write_empty_chunks(how.empty), addition.variable, ())
    # By the values of an index, a later write with region="auto" finds its place.
    for update in sorted(plan.updates, key=lambda update: update.variable.dims != (update.name,)):
        _write(how, grown[update.name], update.variable, update.region)


def _grown(updates: list[Update], how: _How) -> dict[str, Array]:
    """The arrays of updates with their new shapes, by name."""
    found = {}
    for update in sorted(updates, key=lambda update: update.name):
        array = found[update.name] = update.array.with_write_empty_chunks(how.empty)
        if update.axis is not None:
            shape = list(array.shape)
            shape[update.axis] += update.variable.shape[update.axis]
            edges = [update.edges if axis == update.axis else () for axis in range(array.ndim)]
            array.resize(shape, chunks=edges, discard=False)
    return found


def _write(how: _How, array: Array, variable: Any, region: tuple[slice, ...]) -> None:
    region = region or (slice(None),) * array.ndim
    if variable.chunks is not None:
        variable = variable.copy(data=_of_declared_shape(variable.data, array))
        if how.aligned:
            variable = variable.chunk(aligned_blocks(variable, array, region))
    target = array if variable.chunks is None else array.with_threads(1)
    how.writer.add(variable.data, target, region)  # type: ignore[no-untyped-call]
