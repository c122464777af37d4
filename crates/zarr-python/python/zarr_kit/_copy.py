"""Copies of arrays and groups into other chunks, codecs and stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from . import _codecs, _create, _grid, _native, _node, _store
from ._array import Array
from ._check import MEMORY, parsed_bytes
from ._group import Group, wrapped
from ._notes import LOGGER, note_readers, note_repeated, note_without_key
from ._progress import Progress, told


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did.

    Attributes
    ----------
    arrays, groups
        How many were copied.
    nbytes
        Bytes of elements, or of objects that were copied unchanged.
    tasks_done_before
        For a resumed copy, the parts that the earlier copy had finished.
    others
        How many objects that belong to no array or group were copied too, such as a README.
    without_key
        Entries of the source that no copy has, because they are no objects: files with names that no
        key can have, and dangling links. The logger ``zarr_kit`` warns of them, too.
    in_two_passes
        The number of arrays that were copied in two passes, through an intermediate.
    """

    arrays: int
    groups: int
    nbytes: int
    tasks_done_before: int
    others: int
    without_key: tuple[str, ...]
    in_two_passes: int


@overload
def copy(
    source: _store.Url | Array | Group,
    target: _store.Url | Group,
    *,
    chunks: Any = None,
    shards: Any = None,
    codecs: _codecs.Codecs | None = None,
    dimension_names: Any = None,
    portable: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    verify: bool = False,
    allow_loss: bool = False,
    memory: int | str = MEMORY,
    intermediate: _store.Url | None = None,
    ome: Literal["0.5"] | None = None,
    dry_run: Literal[True],
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]: ...
@overload
def copy(
    source: _store.Url | Array | Group,
    target: _store.Url | Group,
    *,
    chunks: Any = None,
    shards: Any = None,
    codecs: _codecs.Codecs | None = None,
    dimension_names: Any = None,
    portable: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    verify: bool = False,
    allow_loss: bool = False,
    memory: int | str = MEMORY,
    intermediate: _store.Url | None = None,
    ome: Literal["0.5"] | None = None,
    dry_run: Literal[False] = False,
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> Copied: ...
def copy(
    source: _store.Url | Array | Group,
    target: _store.Url | Group,
    *,
    chunks: Any = None,
    shards: Any = None,
    codecs: _codecs.Codecs | None = None,
    dimension_names: Any = None,
    portable: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    verify: bool = False,
    allow_loss: bool = False,
    memory: int | str = MEMORY,
    intermediate: _store.Url | None = None,
    ome: Literal["0.5"] | None = None,
    dry_run: bool = False,
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> Copied | list[dict[str, Any]]:
    """Copies an array, or a group and everything below it.

    Every chunk of the target is encoded and written once. A copy that is interrupted can be resumed;
    until it is finished, there is no node at the target.

    Parameters
    ----------
    source
        An open array or group, or a folder or URL.
    target
        A folder or URL that contains nothing.
    chunks
        The chunks of the arrays in the target, as for `create`; None for the source's. A dict has
        the names of dimensions as keys, and other axes keep their chunks. For a group, its keys are
        also paths of arrays, whose chunks these are alone; ``"/time"`` is the array, not the dimension.
        Without ``shards``, these are the stored chunks: an array whose chunks become those within its
        shards has no shards any more.
    shards
        The lengths of shards in the target, which hold many chunks each, in the forms of
        ``chunks``; None for the source's. Then ``chunks`` and ``codecs`` are those within the
        shards. Chunks that only move into, out of or between shards are copied as they are stored,
        also damaged ones, which ``verify`` refuses.
    codecs
        The codecs of the arrays in the target; None for the source's.
    dimension_names
        A name or None for each axis of the target's arrays; None for the source's. For a group, arrays
        with another number of axes keep theirs; or a dict with the paths of arrays as keys.
    portable
        Whether the target is read by other programs without a setting: chunks of one length, and
        codecs that all have, take the place of others.
    overwrite
        Whether a node at the target is removed first.
    resume
        Whether an interrupted copy of the same source is continued.
    verify
        Whether all written data are read again and compared.
    allow_loss
        Whether values that the target's codecs cannot keep may change.
    memory
        The memory that elements and chunks may use, such as ``"512MiB"``. If it is too small to
        read each chunk of an array once, the array is copied in two passes, through an
        intermediate. If that is not possible, the logger ``zarr_kit`` warns.
    intermediate
        A folder or URL for intermediates; None for beside the chunks of the target.
    ome
        ``"0.5"`` makes groups of OME-Zarr 0.4, which is of Zarr version 2, groups of 0.5: their
        attributes move into ``ome``, and arrays get the names of their axes. None copies them as they
        are, and the logger ``zarr_kit`` warns.
    dry_run
        Whether to return the plan, and write nothing.
    progress
        True for a progress bar on standard error, or a function that gets the path of an array,
        the bytes done, and the total number of bytes, or None if that is not known.
    source_options, target_options
        Settings of the stores, if ``source`` and ``target`` are URLs.

    Returns
    -------
    Copied or list of dict
        How many arrays, groups and bytes were copied; if ``dry_run``, the route, reads, tasks and memory
        of each array, as ``zarr-kit copy --dry-run --json`` prints them.

    Raises
    ------
    FileExistsError
        If there is a node at the target.
    UnfinishedCopyError
        If there is an unfinished copy at the target: ``resume`` or ``overwrite`` it.
    LossError, ValueError
        If values would change, if the chunks do not fit, or if ``portable`` and a program lacks the
        data type.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> a = zarr_kit.create(f"{folder}/a", shape=59, dtype="i2", chunks=[(31, 28)], fill_value=3)
    >>> zarr_kit.copy(f"{folder}/a", f"{folder}/b", chunks=20, dry_run=True)[0]["route"]
    'direct'
    >>> zarr_kit.copy(f"{folder}/a", f"{folder}/b", chunks=20).arrays
    1
    >>> zarr_kit.open(f"{folder}/b").chunks
    (20,)
    """
    if ome not in (None, "0.5"):
        raise ValueError(f'ome is {ome!r}: it is "0.5" or None')
    root = source.path if isinstance(source, (Array, Group)) else ""
    place = _node.at(source, source_options)
    names_of = _names_by_path(dimension_names, place)
    of_chunks, of_shards = _by_path("chunks", chunks, place, names_of), _by_path("shards", shards, place, names_of)
    grids: dict[str, dict[str, Any]] = {}

    def change(path: str, document: str) -> tuple[str | None, str | None, str | None, list[str | None] | None]:
        within, array = path.removeprefix(root).strip("/"), json.loads(document)
        shape = tuple(array["shape"])
        names = names_of(within, len(shape))
        if names is not None:
            array["dimension_names"] = names
        asked, outer = of_chunks(within), of_shards(within)
        others = None
        if outer is not None:
            asked, outer = _clipped(asked, shape, "chunk"), _clipped(outer, shape, "shard")
            others = _grid.inner_shape(array["codecs"], len(shape))
        inner, stored = _grid_of(asked, array, "chunk", others), _grid_of(outer, array, "shard")
        grid = inner if stored is None else stored
        if not portable and grid is not None:
            grids[within] = {"chunk_grid": grid}
        chain = None if codecs is None else _codecs.as_json(codecs, array["data_type"], shape)
        text = [None if grid is None else json.dumps(grid) for grid in (inner, stored)]
        return text[0], chain, text[1], names

    arguments = CopyArguments(
        change=change,
        note=note_repeated,
        portable=portable,
        intermediate=None if intermediate is None else _store.state(intermediate),
        memory=parsed_bytes(memory),
        resume=resume,
        overwrite=overwrite,
        verify=verify,
        allow_loss=allow_loss,
        ome_0_5=ome is not None,
    )
    to = _node.target(target, target_options)
    if dry_run:
        return [_planned(path, found) for path, found in _native.plan_copy(place, to, arguments)]
    with told(progress, "bytes") as tell:
        done = _native.copy(place, to, arguments, tell)
    arrays, groups, nbytes, done_before, others, without_key, in_two_passes, ome_0_4 = done
    note_readers(grids)
    note_without_key(without_key)
    if ome_0_4:
        text = "%d groups of OME-Zarr 0.4, which programs read in Zarr version 2 only: copy with ome='0.5'"
        LOGGER.warning(text, ome_0_4)
    return Copied(arrays, groups, nbytes, done_before, others, tuple(without_key), in_two_passes)


def copied(source: _native.NodeOrState, to: _native.NodeOrState) -> None:
    """Copies a node unchanged."""
    arguments = CopyArguments(
        change=lambda path, document: (None, None, None, None), note=note_repeated, portable=False, intermediate=None,
        memory=parsed_bytes(MEMORY), resume=False, overwrite=False, verify=False, allow_loss=False, ome_0_5=False,
    )  # fmt: skip
    _native.copy(source, to, arguments, None)


def _planned(path: str, found: _native.PlannedReads | None) -> dict[str, Any]:
    if found is None:
        return {"array": path, "route": "objects"}
    route, numbers, intermediate, why = found
    names = ("bytes", "source_chunks", "reads", "tasks", "memory")
    size, chunks = intermediate or (None, None)
    planned = {"array": path, "route": route, **dict(zip(names, numbers, strict=True))}
    return {**planned, "intermediate_bytes": size, "intermediate_chunks": chunks, "why": why}


def _clipped(lengths: Any, shape: tuple[int, ...], word: str) -> Any:
    return lengths if isinstance(lengths, Mapping) else _grid.clipped(lengths, shape, word)


def _grid_of(
    lengths: Any, document: Mapping[str, Any], word: str, others: Sequence[int] | None = None
) -> dict[str, Any] | None:
    """The ``chunk_grid`` for lengths per axis, or by the names of dimensions."""
    if lengths is None:
        return None
    if isinstance(lengths, Mapping):
        return _grid.changed(document, lengths, others, word)
    return _grid.document(lengths, tuple(document["shape"]), word)


def _arrays_of(place: _native.NodeOrState) -> tuple[Array | Group, dict[str, Array]]:
    """The node at a place, and its arrays by their paths."""
    assert not isinstance(place, tuple) or len(place) != 2
    node = wrapped(_native.Group.open_node(place) if isinstance(place, tuple) else place)
    nodes = [("", node)] if isinstance(node, Array) else node.members(max_depth=None)
    return node, {path: found for path, found in nodes if isinstance(found, Array)}


_NamesByPath = Callable[[str, int], "list[str | None] | None"]


def _names_by_path(names: Any, place: _native.NodeOrState) -> _NamesByPath:
    """The names for the axes of the array at a path, with this number of axes."""
    if names is None:
        return lambda path, ndim: None
    node, arrays = _arrays_of(place)
    if isinstance(names, Mapping):
        given = {path.strip("/"): _create.names_of(each) for path, each in names.items()}
        if wrong := [path for path in given if path not in arrays]:
            raise ValueError(f"dimension_names: there are no arrays {wrong} in {node!r}")
        return lambda path, ndim: given.get(path)
    all_alike = _create.names_of(names)
    if not any(array.ndim == len(all_alike) for array in arrays.values()):
        raise ValueError(f"dimension_names: {len(all_alike)} names, and no array in {node!r} has so many axes")
    return lambda path, ndim: all_alike if ndim == len(all_alike) else None


def _by_path(name: str, lengths: Any, place: _native.NodeOrState, names_of: _NamesByPath) -> Callable[[str], Any]:
    """The lengths for the array at a path. Refuses names of neither dimensions nor arrays."""
    if not isinstance(lengths, Mapping):
        return lambda path: lengths
    node, arrays = _arrays_of(place)
    dims_of = {path: names_of(path, array.ndim) or array.dims or () for path, array in arrays.items()}
    dims = {dim for names in dims_of.values() for dim in names}
    by_dim = {key: asked for key, asked in lengths.items() if key in dims}
    by_path = {key.strip("/"): asked for key, asked in lengths.items() if key not in dims}
    wrong = [path for path in by_path if not path or path not in arrays]
    if wrong:
        raise ValueError(f"{name}: there are no dimensions and no arrays {wrong} in {node!r}")
    with_dims = {path for path, names in dims_of.items() if not by_dim.keys().isdisjoint(names)}
    return lambda path: by_path.get(path, by_dim if path in with_dims else None)


@dataclass(frozen=True)
class CopyArguments:
    """The arguments of the native part."""

    change: Callable[[str, str], tuple[str | None, str | None, str | None, list[str | None] | None]]
    note: Callable[[str, int, str], None]
    portable: bool
    intermediate: _native.State | None
    memory: int
    resume: bool
    overwrite: bool
    verify: bool
    allow_loss: bool
    ome_0_5: bool
