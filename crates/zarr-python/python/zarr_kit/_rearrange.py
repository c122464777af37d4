"""The parts of a rearranged axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _native

__all__ = ["axis_of", "parts_of"]


def axis_of(axis: int | str, dims: tuple[str | None, ...] | None, ndim: int) -> int:
    """The number of an axis with this name or number."""
    if isinstance(axis, str):
        if axis not in (dims or ()):
            raise ValueError(f"axis {axis!r}; the array has the axes {dims}")
        return (dims or ()).index(axis)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {ndim} axes")
    return axis % ndim


def parts_of(parts: Iterable[Any], length: int) -> list[tuple[int, int] | _native.Array]:
    """Slices as ranges of indices, and arrays as they are natively."""
    found: list[tuple[int, int] | _native.Array] = []
    for part in parts:
        if isinstance(part, slice):
            start, stop, step = part.indices(length)
            if step != 1:
                raise ValueError(f"{part}: parts have no step")
            found.append((start, max(start, stop)))
        elif isinstance(native := getattr(part, "_native", None), _native.Array):
            found.append(native)
        else:
            raise TypeError(f"{part!r}: parts are slices of the array, and other arrays")
    return found
