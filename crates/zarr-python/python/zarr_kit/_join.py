"""Joins of arrays and groups into one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np

from . import _grid, _html, _native, _node, _store
from ._array import Array
from ._group import Group
from ._notes import note_left_out, note_readers
from ._progress import Progress, told

CombineAttrs = Literal["override", "drop_conflicts", "no_conflicts", "identical", "drop"]
"""What becomes of attributes that differ, by Xarray's names."""

Along = str | int | Sequence[str | int]
"""Axes by name or, of arrays, by number."""


@dataclass(frozen=True, slots=True)
class JoinedArray:
    """The plan of one array of a join.

    Attributes
    ----------
    metadata
        Its ``zarr.json``.
    moved_chunks, moved_bytes
        The number of chunks that are moved unchanged, and their stored bytes.
    assembled_chunks
        The number of chunks that are assembled from encoded chunks, or from inner chunks of shards.
    written_chunks, written_bytes
        The number of chunks that are written from decoded elements, and the bytes of these
        elements; 0 for elements of variable length.
    reasons
        The number of written chunks by the reason for which they cannot be moved.
    """

    metadata: dict[str, Any] = field(repr=False)
    moved_chunks: int
    moved_bytes: int
    assembled_chunks: int
    written_chunks: int
    written_bytes: int
    reasons: dict[str, int]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the joined array."""
        return tuple(self.metadata["shape"])


@dataclass(frozen=True, slots=True)
class JoinPlan(_html.Table):
    """What a join would do.

    Attributes
    ----------
    arrays
        The plan of each array by its path in the joined group. The path of a single array is empty.
    """

    arrays: dict[str, JoinedArray]

    @property
    def moved_chunks(self) -> int:
        """The number of chunks that are moved unchanged."""
        return sum(array.moved_chunks for array in self.arrays.values())

    @property
    def moved_bytes(self) -> int:
        """The stored bytes of the chunks that are moved."""
        return sum(array.moved_bytes for array in self.arrays.values())

    @property
    def assembled_chunks(self) -> int:
        """The number of chunks that are assembled from encoded chunks."""
        return sum(array.assembled_chunks for array in self.arrays.values())

    @property
    def written_chunks(self) -> int:
        """How many chunks are written from decoded elements."""
        return sum(array.written_chunks for array in self.arrays.values())

    @property
    def reasons(self) -> dict[str, int]:
        """The number of written chunks by the reason for which they cannot be moved."""
        counts: dict[str, int] = {}
        for array in self.arrays.values():
            for reason, count in array.reasons.items():
                counts[reason] = counts.get(reason, 0) + count
        return counts

    def _table(self) -> tuple[str, Sequence[str], list[Sequence[object]], int]:
        names = "array", "shape", "moved chunks", "assembled chunks", "written chunks", "because"
        rows: list[Sequence[object]] = [
            (path or "/", each.shape, each.moved_chunks, each.assembled_chunks, each.written_chunks, "; ".join(each.reasons))
            for path, each in list(self.arrays.items())[: _html.ROWS]
        ]
        assembled = f", {self.assembled_chunks} to assemble from encoded chunks" if self.assembled_chunks else ""
        title = f"{self.moved_chunks} chunks to move unchanged ({self.moved_bytes} bytes){assembled}, {self.written_chunks} to decode and write"
        return title, names, rows, len(self.arrays)


@dataclass(frozen=True, slots=True)
class Joined:
    """What a join did.

    Attributes
    ----------
    members
        How many arrays or groups were joined.
    plan
        What was planned; None for a virtual join.
    linked
        Chunks that are hard links to members' files.
    cloned
        Chunks that share their bytes in the file system with members' chunks, until one changes.
    copied, copied_bytes
        Chunks that were copied, and their stored bytes.
    assembled, assembled_bytes
        Chunks that were assembled from encoded chunks of members, and their bytes.
    written
        Chunks that were written from decoded elements.
    done_before
        For a resumed join, the chunks that the earlier one had made.
    """

    members: int
    plan: JoinPlan | None = field(repr=False)
    linked: int = 0
    cloned: int = 0
    copied: int = 0
    copied_bytes: int = 0
    assembled: int = 0
    assembled_bytes: int = 0
    written: int = 0
    done_before: int = 0


@overload
def join(
    sources: Iterable[_store.Url | Array | Group],
    target: _store.Url | None = None,
    *,
    along: Along | None = None,
    new_axis: str | None = None,
    grid: Sequence[int] | Literal["auto"] | None = None,
    chunks: Any = None,
    shards: Any = None,
    combine_attrs: CombineAttrs = "override",
    any_order: bool = False,
    promote: bool = False,
    portable: bool = False,
    link: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    virtual: bool = False,
    fill_missing: bool = False,
    chunks_may_change: bool = False,
    dry_run: Literal[True],
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> JoinPlan: ...
@overload
def join(
    sources: Iterable[_store.Url | Array | Group],
    target: _store.Url,
    *,
    along: Along | None = None,
    new_axis: str | None = None,
    grid: Sequence[int] | Literal["auto"] | None = None,
    chunks: Any = None,
    shards: Any = None,
    combine_attrs: CombineAttrs = "override",
    any_order: bool = False,
    promote: bool = False,
    portable: bool = False,
    link: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    virtual: bool = False,
    fill_missing: bool = False,
    chunks_may_change: bool = False,
    dry_run: Literal[False] = False,
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> Joined: ...
def join(
    sources: Iterable[_store.Url | Array | Group],
    target: _store.Url | None = None,
    *,
    along: Along | None = None,
    new_axis: str | None = None,
    grid: Sequence[int] | Literal["auto"] | None = None,
    chunks: Any = None,
    shards: Any = None,
    combine_attrs: CombineAttrs = "override",
    any_order: bool = False,
    promote: bool = False,
    portable: bool = False,
    link: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    virtual: bool = False,
    fill_missing: bool = False,
    chunks_may_change: bool = False,
    dry_run: bool = False,
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> JoinPlan | Joined:
    """Joins arrays, or groups, into one, without decoding chunks that fit.

    A chunk of a member becomes a chunk of the joined array unchanged. Only chunks that must change
    are decoded: the padded last chunk of a member with chunks of one length, and chunks of
    members with other codecs or another fill value than the first member. All members are checked
    before anything is written. Until a join is finished, there is no node at the target.

    Arrays of groups are matched by their paths. Arrays without the joined dimension must be equal
    in all members.

    Parameters
    ----------
    sources
        The members, in order: folders, URLs, open arrays or open groups.
    target
        A folder or URL that contains nothing.
    along
        The axis along which the members lie end to end, by name or, for arrays and for groups of
        arrays without names, by number; with ``grid`` one axis per number of members.
    new_axis
        The name of a new first axis, along which the members are stacked.
    grid
        How many members lie along each axis of ``along``, the last one varying fastest; or
        ``"auto"``, which finds their places by the members' coordinates (groups only).
    chunks
        The chunks of the joined array, as for `create`; None for the members'. For groups a
        dict with the names of dimensions as keys, such as ``{"time": 365}``: it changes all arrays
        with such a dimension. Chunks that fit are still moved, and others are decoded.
    shards
        The lengths of the joined array's shards, in the forms of ``chunks``, which are then the chunks
        within the shards. Chunks of members that are chunks within these shards are not decoded.
    combine_attrs
        The rule for attributes that differ, by Xarray's names. Those that change what numbers mean must
        be equal: ``units``, ``calendar``, ``scale_factor``, ``add_offset``, ``_FillValue``,
        ``missing_value``, ``_Unsigned``, ``dtype``, ``flag_values``, ``flag_masks``, ``flag_meanings``.
    any_order
        Whether groups with coordinates that overlap or go backwards are joined too.
    promote
        Whether numbers of different types are joined in the narrowest type that has all of them, as by
        ``numpy.result_type``: int16 for int8 and int16. No integer is rounded to a float.
    portable
        Whether to refuse a result that another program cannot read, or only with a setting.
        ``chunks`` of one length make a result that all programs read.
    link
        Whether chunks are hard links to the members' files. A program that writes into such a file
        in place, as zarr-kit never does, then changes the member too.
    overwrite
        Whether a node at the target is removed first.
    resume
        Whether an interrupted join of the same members is continued.
    virtual
        Whether only a small file is written, which opens as the joined array; its name ends in
        ``.zjoin``. Members may then differ in chunks, codecs and fill values.
    fill_missing
        Whether missing members of a virtual join read as the fill value later.
    chunks_may_change
        Whether chunks of a virtual join's members may be written after the join: reads then return
        the new elements. Otherwise reading a chunk that was modified after the join is an error.
    dry_run
        Whether to return the plan and write nothing.
    progress
        True for a progress bar on standard error, or a function that gets the path of the target in
        its store, the chunks done, and their total number.
    source_options, target_options
        Settings of the stores, as for `open`.

    Returns
    -------
    JoinPlan or Joined
        The plan if ``dry_run``, otherwise the result.

    Raises
    ------
    ValueError
        If the members do not fit together; the message names the first that does not.
    FileNotFoundError
        If there is no node at one of the sources.
    FileExistsError
        If there is a node at the target.
    ConflictError
        If a member has changed meanwhile.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> months = [f"{folder}/{name}.zarr" for name in ("jan", "feb")]
    >>> for month, days in zip(months, [31, 28]):
    ...     a = zarr_kit.create(month, shape=days, dtype="i2", chunks=days, dimension_names=["day"])
    ...     a[:] = range(days)
    >>> zarr_kit.join(months, dry_run=True, along="day").moved_chunks
    2
    >>> zarr_kit.join(months, f"{folder}/both.zarr", along="day", link=True).linked
    2
    >>> both = zarr_kit.open(f"{folder}/both.zarr")
    >>> both.chunks, both[30:32].tolist()
    (((31, 28),), [30, 0])
    """
    if isinstance(sources, (str, bytes, os.PathLike, Array, Group)):
        raise TypeError("sources must be a list of members: [url, url]; glob.glob makes one from a pattern")
    members = [_node.at(source, source_options) for source in sources]
    axes = _axes(along, new_axis, grid)
    if virtual:
        barred = {"chunks": chunks is not None, "shards": shards is not None, "promote": promote, "portable": portable, "link": link, "overwrite": overwrite, "resume": resume}
        barred["dry_run"] = dry_run
        for name, is_given in barred.items():
            if is_given:
                raise ValueError(f"{name}: a virtual join writes no chunks")
    else:
        for name, is_given in {"fill_missing": fill_missing, "chunks_may_change": chunks_may_change}.items():
            if is_given:
                raise ValueError(f"{name} is for virtual joins")
    if resume and overwrite:
        raise ValueError("resume continues what is at the target, overwrite removes it: give one")
    if target is None and not dry_run:
        raise TypeError("target: where to join to; without one, only dry_run=True")
    arguments = JoinArguments(
        along=axes,
        new_axis=new_axis,
        grid=grid if grid is None or isinstance(grid, str) else [int(count) for count in grid],
        chunks=None if chunks is None and shards is None else _Chosen(chunks, shards),
        combine_attrs=combine_attrs,
        any_order=any_order,
        promote=promote,
        fill_missing=fill_missing,
        chunks_may_change=chunks_may_change,
        portable=portable,
        link=link,
        resume=resume,
        overwrite=overwrite,
    )
    if virtual:
        assert target is not None
        state = _store.state(target, storage_options=target_options)
        note_left_out(_native.join_virtually(members, state, arguments))
        return Joined(len(members), None)
    place = None if dry_run else _node.target(target, target_options)
    with told(progress, "chunks") as tell:
        planned, did, left_out = _native.join(members, place, arguments, tell)
    note_left_out(left_out)
    plan = JoinPlan({found[0]: _planned(found) for found in planned})
    if dry_run:
        return plan
    note_readers({name: array.metadata for name, array in plan.arrays.items()})
    return Joined(len(members), plan, *did)


@dataclass(frozen=True)
class JoinArguments:
    """The arguments of the native part."""

    along: list[str | int]
    new_axis: str | None
    grid: list[int] | str | None
    chunks: Any
    combine_attrs: str
    any_order: bool
    promote: bool
    fill_missing: bool
    chunks_may_change: bool
    portable: bool
    link: bool
    resume: bool
    overwrite: bool


class _Chosen:
    """The chunks and shards that are asked for, of each joined array by its document."""

    def __init__(self, chunks: Any, shards: Any) -> None:
        self._asked = {"chunks": chunks, "shards": shards}
        self._unused = {
            name: set(asked) if isinstance(asked, Mapping) else set() for name, asked in self._asked.items()
        }

    def __call__(self, document: str | None) -> tuple[str | None, str | None]:
        """The JSON of an array's grid and of its shards' grid; None for those that it keeps. The last call
        is without a document.

        Raises
        ------
        ValueError
            If the chunks do not fit; at last, if no array has a dimension that has chunks.
        """
        if document is None:
            for name, unused in self._unused.items():
                if unused:
                    raise ValueError(f"{name}: no array of the members has the dimensions {sorted(unused)}")
            return None, None
        found = json.loads(document)
        shards = self._grid("shards", found)
        inner = _grid.inner_shape(found["codecs"], len(found["shape"])) if len(found["codecs"]) == 1 else None
        if shards is not None and inner is not None:
            found["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": list(inner)}}
        return self._grid("chunks", found), shards

    def _grid(self, name: str, document: dict[str, Any]) -> str | None:
        asked = self._asked[name]
        if asked is None:
            return None
        if not isinstance(asked, Mapping):
            return json.dumps(_grid.document(asked, tuple(document["shape"]), name.removesuffix("s")))
        names = set(document.get("dimension_names") or ()) & set(asked)
        self._unused[name] -= names
        return json.dumps(_grid.changed(document, asked, word=name.removesuffix("s"))) if names else None


def _axes(along: Along | None, new_axis: str | None, grid: Any) -> list[str | int]:
    if (along is None) == (new_axis is None):
        raise TypeError("give either along, the axis along which to join, or new_axis, the name of a new one")
    if new_axis is not None and grid is not None:
        raise ValueError("grid: members are stacked along one new axis")
    if along is None:
        return []
    return [along] if isinstance(along, (str, int, np.integer)) else list(along)


def _planned(found: _native.PlannedArray) -> JoinedArray:
    _, document, moved, moved_bytes, assembled, written, written_bytes, reasons = found
    return JoinedArray(json.loads(document), moved, moved_bytes, assembled, written, written_bytes, dict(reasons))
