"""The parts of a rearranged axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from . import _native

__all__ = ["axis_of", "parts_of"]


def axis_of(axis: int | str, dims: tuple[str | None, ...] | None, ndim: int) -> int:
    """The number of an axis with this name or number."""
    if isinstance(axis, str):
        named = [number for number, name in enumerate(dims or ()) if name == axis]
        if not named:
            raise ValueError(f"axis {axis!r}; the array has the axes {dims}")
        if len(named) > 1:
            raise ValueError(f"several axes are named {axis!r}: give a number")
        return named[0]
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {ndim} axes")
    return axis % ndim


N = TypeVar("N", _native.Array, _native.Group)


def parts_of(parts: Iterable[Any], length: int, kind: type[N]) -> list[tuple[int, int] | N]:
    """Slices as ranges of indices, and nodes of a kind as they are natively."""
    found: list[tuple[int, int] | N] = []
    for part in parts:
        if isinstance(part, slice):
            start, stop, step = part.indices(length)
            if step != 1:
                raise ValueError(f"{part}: parts have no step")
            found.append((start, max(start, stop)))
        elif isinstance(native := getattr(part, "_native", None), kind):
            found.append(native)
        else:
            name = kind.__name__.lower()
            raise TypeError(f"{part!r}: parts are slices of the {name}, and other {name}s")
    return found
