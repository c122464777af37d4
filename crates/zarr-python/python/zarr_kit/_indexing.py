"""Translates numpy's index expressions to one selection per axis.

The native part reads and writes boxes: on each axis either ``(start, count, step)`` or a list of
indices. Everything else in numpy's syntax (dropped axes, new axes, masks, broadcasting) is
translated here and checked against the array's shape, so that errors name the axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Steps = tuple[int, int, int]
"""First index, number of indices, and step, which may be negative."""

Axis = Steps | NDArray[np.int64]

NO_FIELDS = "fields of records: read whole records, and take the field of the result"


@dataclass(frozen=True)
class Selection:
    """The elements that an index expression selects.

    ``axes`` has one entry per axis of the array; ``shape`` is the shape of the result, with
    the elements of the axes in C order.
    """

    axes: tuple[Axis, ...]
    shape: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of indices on each axis of the array."""
        return tuple(len(axis) if isinstance(axis, np.ndarray) else axis[1] for axis in self.axes)


@dataclass(frozen=True)
class Points:
    """Single elements: one array of indices per axis, all of the result's shape."""

    indices: tuple[NDArray[np.int64], ...]
    shape: tuple[int, ...]

    @property
    def lists(self) -> tuple[NDArray[np.int64], ...]:
        """One list of indices per axis, each contiguous."""
        return tuple(np.ascontiguousarray(axis).reshape(-1) for axis in self.indices)


def basic(key: Any, shape: tuple[int, ...]) -> Selection:
    """Translates integers, slices, ``...`` and ``None``, as numpy's basic indexing defines them."""
    axes: list[Axis] = []
    result: list[int] = []
    for entry in expanded(key, len(shape)):
        if entry is None:
            result.append(1)
            continue
        number = len(axes)
        steps, dropped = _steps(entry, number, shape[number])
        axes.append(steps)
        if not dropped:
            result.append(steps[1])
    return Selection(tuple(axes), tuple(result))


def orthogonal(key: Any, shape: tuple[int, ...]) -> Selection:
    """Translates the outer product of integers, slices, lists of indices and masks of one axis."""
    axes: list[Axis] = []
    result: list[int] = []
    for entry in expanded(key, len(shape), newaxis=False):
        number = len(axes)
        if is_list(entry):
            indices = _indices(entry, number, shape[number])
            axes.append(indices)
            result.append(len(indices))
            continue
        steps, dropped = _steps(entry, number, shape[number])
        axes.append(steps)
        if not dropped:
            result.append(steps[1])
    return Selection(tuple(axes), tuple(result))


def points(key: Any, shape: tuple[int, ...]) -> Points:
    """Translates a mask of the whole array, or one list of indices per axis, broadcast."""
    entries = _entries(key)
    if len(entries) == 1 and _is_mask(entries[0]):
        mask = np.asarray(entries[0])
        if mask.shape != shape:
            raise IndexError(f"the mask has shape {mask.shape}, the array {shape}")
        found = np.nonzero(mask)
        return Points(tuple(axis.astype(np.int64) for axis in found), found[0].shape if found else ())
    if len(entries) != len(shape) or any(isinstance(e, slice) or e is None or e is ... for e in entries):
        raise IndexError(
            f"vindex takes one list of indices per axis, {len(shape)} here, or a mask of the "
            "array's shape; oindex takes slices beside lists"
        )
    lists = [_coordinates(entry, number, shape[number]) for number, entry in enumerate(entries)]
    try:
        together = np.broadcast_arrays(*lists)
    except ValueError:
        shapes = ", ".join(str(axis.shape) for axis in lists)
        raise IndexError(f"lists of indices of shapes {shapes} cannot be broadcast together") from None
    return Points(tuple(together), together[0].shape if together else ())


def translate(key: Any, shape: tuple[int, ...]) -> Selection | Points:
    """Translates the expression in ``array[key]``, as numpy does.

    One list or mask along an axis is read as one part of the array; several are single elements.
    """
    entries = _entries(key)
    lists = [place for place, entry in enumerate(entries) if is_list(entry)]
    if not lists:
        return basic(entries, shape)
    if any(entry is None for entry in entries):
        raise IndexError("new axes beside lists of indices are not supported: index the result")
    if len(entries) == 1 and _is_mask(entries[0]) and np.ndim(entries[0]) > 1 and np.shape(entries[0]) == shape:
        return points(entries, shape)
    # numpy treats integers as lists of one: if not next to the list, they move its axis to the front.
    advanced = [place for place, entry in enumerate(entries) if is_list(entry) or _is_integer(entry)]
    is_adjacent = advanced == list(range(advanced[0], advanced[-1] + 1))
    if len(lists) == 1 and is_adjacent and np.ndim(entries[lists[0]]) == 1:
        return orthogonal(entries, shape)
    return _broadcast(entries, shape, is_adjacent)


def _broadcast(entries: tuple[Any, ...], shape: tuple[int, ...], is_adjacent: bool) -> Points:
    """Lists that are broadcast together, beside slices: the single elements that they select."""
    given: list[Any] = []
    for entry in entries:
        mask = np.asarray(entry) if _is_mask(entry) else None
        if mask is None:
            given.append(entry)
            continue
        axis = len(given)
        if ... in [e for e in given if e is ...] and mask.ndim > 1:
            raise IndexError("a mask of several axes after '...': write the slices before it")
        if mask.shape != shape[axis : axis + mask.ndim]:
            raise IndexError(f"the mask has shape {mask.shape}, the axes from {axis} on {shape[axis : axis + mask.ndim]}")
        given.extend(np.nonzero(mask))
    axes = expanded(tuple(given), len(shape), newaxis=False)
    is_advanced = [is_list(entry) or _is_integer(entry) for entry in axes]
    numbered = list(enumerate(zip(axes, shape, strict=True)))
    lists = {axis: _coordinates(e, axis, n) for axis, (e, n) in numbered if is_advanced[axis]}
    try:
        together = np.broadcast_shapes(*(found.shape for found in lists.values()))
    except ValueError:
        shapes = ", ".join(str(found.shape) for found in lists.values())
        raise IndexError(f"lists of indices of shapes {shapes} cannot be broadcast together") from None
    slices = {axis: _steps(e, axis, n)[0] for axis, (e, n) in numbered if not is_advanced[axis]}
    before = sum(axis < min(lists) for axis in slices) if is_adjacent else 0
    counts = [count for _, count, _ in slices.values()]
    result = (*counts[:before], *together, *counts[before:])
    indices = []
    for axis in range(len(shape)):
        if axis in lists:
            found = lists[axis]
            new = (1,) * (len(together) - found.ndim) + found.shape
            indices.append(found.reshape((*new, *(1,) * (len(counts) - before))))
        else:
            number = list(slices).index(axis)
            start, count, step = slices[axis]
            behind = len(counts) - number - 1 + (len(together) if number < before else 0)
            indices.append((start + step * np.arange(count, dtype=np.int64)).reshape((count, *(1,) * behind)))
    return Points(tuple(np.broadcast_to(each, result) for each in indices), result)


def is_scalar(key: Any, selected: Selection) -> bool:
    """Whether numpy would return a scalar: an integer drops every axis."""
    entries = key if isinstance(key, tuple) else (key,)
    return selected.shape == () and ... not in [e for e in entries if e is ...]


def _entries(key: Any) -> tuple[Any, ...]:
    """The entries of a key; arrays of other packages, stored ones too, become numpy's."""
    entries = key if isinstance(key, tuple) else (key,)
    entries = tuple(list(e) if isinstance(e, tuple) else e for e in entries)
    is_numpy = (np.ndarray, np.generic)
    return tuple(np.asarray(e) if hasattr(e, "__array__") and not isinstance(e, is_numpy) else e for e in entries)


def is_list(entry: Any) -> bool:
    """Whether an entry of a key is a list of indices or a mask."""
    if isinstance(entry, (list, range)):
        return True
    return isinstance(entry, np.ndarray) and entry.ndim > 0


def _is_integer(entry: Any) -> bool:
    if isinstance(entry, (bool, np.bool_)):
        return False
    if isinstance(entry, np.ndarray):
        return entry.ndim == 0 and np.issubdtype(entry.dtype, np.integer)
    return hasattr(entry, "__index__")


def _is_mask(entry: Any) -> bool:
    return is_list(entry) and np.asarray(entry).dtype == np.bool_


def expanded(key: Any, rank: int, newaxis: bool = True) -> list[Any]:
    """Replaces ``...`` and omitted axes at the end by whole axes."""
    entries = list(_entries(key))
    if not newaxis and any(entry is None for entry in entries):
        raise IndexError("oindex does not make new axes: index the result")
    given = sum(entry is not None and entry is not ... for entry in entries)
    if given > rank:
        raise IndexError(f"too many indices: {given} for an array of {rank} dimensions")
    dots = [place for place, entry in enumerate(entries) if entry is ...]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = [slice(None)] * (rank - given)
    if dots:
        entries[dots[0] : dots[0] + 1] = missing
    else:
        entries += missing
    return entries


def _steps(entry: Any, axis: int, length: int) -> tuple[Steps, bool]:
    """The steps of an integer or slice, and whether the axis is dropped."""
    if isinstance(entry, slice):
        try:
            start, stop, step = entry.indices(length)
        except ValueError:
            raise ValueError(f"axis {axis}: the step of a slice cannot be zero") from None
        except TypeError:
            raise TypeError(f"axis {axis}: the limits of a slice are integers or None") from None
        found = range(start, stop, step)
        # The step of a single index may have any size.
        return (start, len(found), step if len(found) > 1 else 1) if found else (0, 0, 1), False
    if isinstance(entry, str):
        raise IndexError(f"axis {axis}: {entry!r} is no index; {NO_FIELDS}")
    if not _is_integer(entry):
        raise IndexError(
            f"axis {axis}: {entry!r} is no index; integers, slices, '...' and None are, "
            "and lists and masks with oindex and vindex"
        )
    return (_wrapped(int(entry), axis, length), 1, 1), True


def _wrapped(index: int, axis: int, length: int) -> int:
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
    return index + length if index < 0 else index


def _indices(entry: Any, axis: int, length: int) -> NDArray[np.int64]:
    """A list of indices or a mask of one axis."""
    found = np.asarray(entry)
    if found.ndim != 1:
        raise IndexError(f"axis {axis}: a list of indices has one dimension, this has {found.ndim}")
    if found.dtype == np.bool_:
        if len(found) != length:
            raise IndexError(f"axis {axis}: the mask has {len(found)} entries, the axis {length}")
        return np.flatnonzero(found).astype(np.int64)
    return _coordinates(found, axis, length)


def _coordinates(entry: Any, axis: int, length: int) -> NDArray[np.int64]:
    """Indices of any shape, counted from the start."""
    found = np.asarray(entry)
    if found.size == 0 and found.dtype == np.float64:
        found = found.astype(np.int64)  # numpy's type of an empty list
    if found.dtype.kind == "U":
        raise IndexError(NO_FIELDS)
    if not np.issubdtype(found.dtype, np.integer):
        raise IndexError(f"axis {axis}: indices are integers, not {found.dtype}")
    outside = (found < -length) | (found >= length)
    if outside.any():
        first = found[outside].flat[0]
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {length}")
    found = found.astype(np.int64)
    return np.where(found < 0, found + length, found)
