"""Passes elements from numpy's memory to the native part and back.

Elements of fixed size are passed through the buffer protocol, as bytes of numpy's own memory.
Strings and byte strings are Python objects, and are passed as lists.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _dtypes, _native
from ._cast import Casting, cast, texts
from ._indexing import Axis

OBJECTS = 1 << 14
"""How many strings are made at a time: some milliseconds, between which other threads run."""

Lists = tuple[NDArray[np.int64], ...]
"""Single elements: one list of indices per axis, none for the element of an array without axes."""


class Elements(Protocol):
    """The elements of an array: how they are read, checked and written."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of the elements."""

    @property
    def fill(self) -> Any:
        """The value of elements of chunks that are not stored."""

    def read(self, axes: tuple[Axis, ...], counts: tuple[int, ...]) -> NDArray[Any]:
        """Reads a selection into a new array in C order, with its counts as shape."""

    def read_into(
        self, axes: tuple[Axis, ...], counts: tuple[int, ...], out: NDArray[Any]
    ) -> None:
        """Reads a selection into an array with as many elements in the same order."""

    def checked(self, value: Any, casting: Casting = "exact") -> NDArray[Any]:
        """Converts a value to the form that `write` and `append` take, without changing any element.

        With ``"unsafe"``, numbers and times are what numpy makes of them.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If an element is not a value of the array's type.
        """

    def write(
        self, axes: tuple[Axis, ...], counts: tuple[int, ...], value: NDArray[Any]
    ) -> None:
        """Writes a selection from a checked array with as many elements in the same order."""

    def read_points(self, lists: Lists) -> NDArray[Any]:
        """Reads single elements into a new array of one axis."""

    def write_points(self, lists: Lists, value: NDArray[Any]) -> None:
        """Writes single elements from a checked array of one axis."""

    def append(
        self, axis: int, count: int, value: NDArray[Any], edges: list[tuple[int, int]]
    ) -> _native.Array:
        """Appends a checked array, in chunks of these edges."""


def elements_of(native: _native.Array, data_type: str | dict[str, Any]) -> Elements:
    """The elements of an array of this data type.

    Raises
    ------
    TypeError
        If numpy has no such type.
    """
    if _dtypes.is_text(data_type):
        return Objects(native, _dtypes.to_numpy(data_type), str)
    if _dtypes.is_bytes(data_type):
        return Objects(native, _dtypes.to_numpy(data_type), bytes)
    return Fixed(native, data_type)


def values_of(value: Any, data_type: str | dict[str, Any]) -> NDArray[Any]:
    """Converts a value to elements of a data type, without changing any; see `Elements.checked`."""
    if _dtypes.is_text(data_type):
        return texts(value, str)
    return texts(value, bytes) if _dtypes.is_bytes(data_type) else cast(value, _dtypes.to_numpy(data_type))


class Fixed:
    """Elements of fixed size."""

    def __init__(self, native: _native.Array, data_type: str | dict[str, Any]) -> None:
        self._native = native
        self._data_type = data_type
        self.dtype = _dtypes.to_numpy(data_type)
        # A type that every buffer can have.
        self._plain = np.dtype(f"V{native.element_size}")

    @property
    def fill(self) -> Any:
        return self._numpys(np.frombuffer(self._native.fill, self._plain).copy())[0]

    def read(self, axes: tuple[Axis, ...], counts: tuple[int, ...]) -> NDArray[Any]:
        found = np.empty(counts, self._plain)
        self._native.read(axes, memory(found))
        return self._numpys(found)

    def read_into(
        self, axes: tuple[Axis, ...], counts: tuple[int, ...], out: NDArray[Any]
    ) -> None:
        # Of plain bytes: numpy's strides and buffers are not for the types of other packages.
        target = _same_memory(out.view(self._plain), counts)
        if target is None:
            out[...] = self.read(axes, counts).reshape(out.shape)
            return
        self._native.read(axes, memory(target))
        _dtypes.from_stored(out, self._data_type)

    def checked(self, value: Any, casting: Casting = "exact") -> NDArray[Any]:
        found = cast(value, self.dtype, casting)
        return _dtypes.to_stored(found, self._data_type).view(self._plain)

    def write(
        self, axes: tuple[Axis, ...], counts: tuple[int, ...], value: NDArray[Any]
    ) -> None:
        source = _same_memory(value, counts)
        if source is None:
            source = np.ascontiguousarray(value).reshape(counts)
        self._native.write(axes, memory(source))

    def read_points(self, lists: Lists) -> NDArray[Any]:
        found = np.empty(_count(lists), self._plain)
        self._native.read_points(lists, found)
        return self._numpys(found)

    def write_points(self, lists: Lists, value: NDArray[Any]) -> None:
        self._native.write_points(lists, memory(np.ascontiguousarray(value)))

    def append(
        self, axis: int, count: int, value: NDArray[Any], edges: list[tuple[int, int]]
    ) -> _native.Array:
        return self._native.append(axis, count, memory(np.ascontiguousarray(value)), edges)

    def _numpys(self, found: NDArray[Any]) -> NDArray[Any]:
        elements = found.view(self.dtype)
        _dtypes.from_stored(elements, self._data_type)
        return elements


class Objects:
    """Strings (numpy's ``StringDType``) and byte strings (arrays of ``bytes`` objects)."""

    def __init__(
        self, native: _native.Array, dtype: np.dtype[Any], kind: type[str] | type[bytes]
    ) -> None:
        self._native = native
        self._kind = kind
        self.dtype = dtype

    @property
    def fill(self) -> Any:
        fill = self._native.fill
        return fill.decode() if self._kind is str else fill

    def read(self, axes: tuple[Axis, ...], counts: tuple[int, ...]) -> NDArray[Any]:
        out = np.empty(counts, self.dtype)
        self.read_into(axes, counts, out)
        return out

    def read_into(
        self, axes: tuple[Axis, ...], counts: tuple[int, ...], out: NDArray[Any]
    ) -> None:
        self._convert(self._native.read_variable(axes), out)

    def _convert(self, found: _native.Elements, out: NDArray[Any]) -> None:
        for start in range(0, len(found), OBJECTS):
            stop = min(start + OBJECTS, len(found))
            out.flat[start:stop] = np.array(found.objects(start, stop), self.dtype)

    def checked(self, value: Any, casting: Casting = "exact") -> NDArray[Any]:
        return texts(value, self._kind)

    def write(
        self, axes: tuple[Axis, ...], counts: tuple[int, ...], value: NDArray[Any]
    ) -> None:
        self._native.write_variable(axes, value.reshape(-1).tolist())

    def read_points(self, lists: Lists) -> NDArray[Any]:
        out = np.empty(_count(lists), self.dtype)
        self._convert(self._native.read_variable_points(lists), out)
        return out

    def write_points(self, lists: Lists, value: NDArray[Any]) -> None:
        self._native.write_variable_points(lists, value.tolist())

    def append(
        self, axis: int, count: int, value: NDArray[Any], edges: list[tuple[int, int]]
    ) -> _native.Array:
        return self._native.append_variable(axis, count, value.reshape(-1).tolist(), edges)


def _count(lists: Lists) -> int:
    return len(lists[0]) if lists else 1


def _same_memory(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any] | None:
    """The same elements in another shape that differs in axes of length 1, or None."""
    if not has_whole_strides(array):
        return None
    places = [axis for axis, length in enumerate(shape) if length != 1]
    lengths = [axis for axis, length in enumerate(array.shape) if length != 1]
    if [shape[axis] for axis in places] != [array.shape[axis] for axis in lengths]:
        return None
    strides = [0] * len(shape)
    for place, axis in zip(places, lengths, strict=True):
        strides[place] = array.strides[axis]
    return np.lib.stride_tricks.as_strided(
        array, shape, strides, subok=False, writeable=array.flags.writeable
    )


def has_whole_strides(array: NDArray[Any]) -> bool:
    """Whether all strides are multiples of an element, as the native part needs them.

    Those of a field of packed records are not.
    """
    size = array.dtype.itemsize
    return size > 0 and not any(stride % size for stride in array.strides)


def memory(array: NDArray[Any]) -> NDArray[Any]:
    """The array with a dtype that every buffer can have, and at least one axis."""
    array = array.view(np.dtype(f"V{array.dtype.itemsize}"))
    return array if array.ndim else array.reshape(1)
