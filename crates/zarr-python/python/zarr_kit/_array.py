"""Arrays: numpy's indexing over chunks in a store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _check, _describe, _grid, _indexing, _native, _rearrange, _store, _writes
from ._asynchronous import AsyncArray
from ._cast import Casting, broadcast
from ._elements import Elements, elements_of
from ._layout import Layout
from ._native import printable
from ._notes import note_undecoded
from ._plan import Plan
from ._progress import Progress

__all__ = ["Array", "ArrayConfig"]

BLOCK = 1 << 28
"""The bytes that iterating may read at a time; less if a chunk has fewer."""


class Array(Layout):
    """A Zarr array in a store.

    `zarr_kit.open`, `zarr_kit.create` and the methods of `Group` make arrays. Indexing reads and
    writes numpy arrays. All of numpy's basic indexing is supported; use `oindex` for the outer
    product of lists and masks, and `vindex` for single elements. Reading and writing release the
    GIL, and any number of threads and processes may use arrays of the same store: writes of part of
    a chunk exclude each other. Ctrl-C ends a long read or write between two chunks; written chunks
    stay written.

    Examples
    --------
    >>> import zarr_kit
    >>> a = zarr_kit.create("memory:", shape=(59,), dtype="int16", chunks=[(31, 28)])
    >>> a[29:33] = [1, 2, 3, 4]
    >>> a[28:34]
    array([0, 1, 2, 3, 4, 0], dtype=int16)
    >>> a.chunks
    ((31, 28),)
    """

    __slots__ = ("_kept_elements",)

    def _set(self, native: _native.Array) -> None:
        super()._set(native)
        self._kept_elements: Elements | None = None

    # Properties ------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of the elements.

        ``StringDType`` for strings; ``object``, with elements of type ``bytes``, for byte strings
        of any length.
        """
        return self._elements.dtype

    @property
    def _elements(self) -> Elements:
        if self._kept_elements is None:
            self._kept_elements = elements_of(self._native, self._document["data_type"])
        return self._kept_elements

    @property
    def nbytes(self) -> int:
        """The size of all elements in memory in bytes, which is not the stored size."""
        return self.size * self.dtype.itemsize

    @property
    def fill_value(self) -> Any:
        """The value of elements of chunks that are not stored, as a scalar of the array's dtype."""
        return self._elements.fill

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        # Python's, by the length, which an array without axes does not have: numpy's.
        return len(self) > 0 if self.shape else bool(self[()])

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over an array without axes")
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        """The elements along the first axis. No chunk is read again for each of them."""
        row = int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize
        most, start = max(BLOCK // max(row, 1), 1), 0
        is_view = self.ndim > 1 or self.dtype.names is not None
        for edge in map(int, self._edges(0)):
            end = start + edge
            for begin in range(start, end, most):
                block = self[begin : min(begin + most, end)]
                # Copies: a row, or a record, that is kept must not keep its block.
                yield from (row.copy() for row in block) if is_view else block
            start = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        mine, others = self._native, other._native
        # The identity tells the place, whatever it was called.
        return (mine.identity, mine.settings, mine.described()[:2]) == (others.identity, others.settings, others.described()[:2])

    # As numpy's and zarr-python's arrays, which change.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<zarr_kit.Array {self._where!r} shape={self.shape} dtype={printable(self._type_name())}>"

    def _repr_html_(self) -> str:
        return _describe.array_html(self)

    @classmethod
    def open(cls, store: _store.Url, path: str | None = "") -> Array:
        """Opens an array to read and change it; see `zarr_kit.open_array`."""
        return cls(_native.Array.open(_store.state(store, path)))

    # Elements --------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        selected = _indexing.translate(key, self.shape)
        if isinstance(selected, _indexing.Points):
            return self._read_points(selected)
        return self._read(selected, scalar=_indexing.is_scalar(key, selected))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.write(key, value)

    @property
    def oindex(self) -> OuterIndex:
        """Indexing by the outer product of lists and masks, one per axis."""
        return OuterIndex(self)

    @property
    def vindex(self) -> PointIndex:
        """Indexing of single elements, by one list of indices per axis or by a mask of the array."""
        return PointIndex(self)

    def read(
        self, key: Any = ..., out: NDArray[Any] | None = None, *, decode: bool = False
    ) -> NDArray[Any]:
        """Reads the selection ``array[key]``, into ``out`` if it is given.

        Parameters
        ----------
        key
            Basic indexing: integers, slices, ``...`` and None.
        out
            An array of the result's shape and the array's dtype, with any strides. No other memory
            is allocated for the elements.
        decode
            Whether values are as the attributes mean them, as ``zarr-kit read --decode`` prints them and
            Xarray decodes them: ``scale_factor`` and ``add_offset`` make float64, missing values NaN,
            ``_Unsigned`` integers of the other sign, and ``units`` of a time datetime64 of seconds or,
            with fractions, nanoseconds, with NaT. Dates of calendars that numpy lacks are text. Without
            such attributes the elements are returned unchanged.

        Returns
        -------
        numpy.ndarray
            ``out``, or a new array in C order; never a scalar.

        Raises
        ------
        TypeError
            If ``decode``, and the elements are not numbers or times.
        ValueError
            If ``out`` has the wrong shape or dtype, or is read-only; if ``decode``, and a time is none
            of numpy's, or its units are not understood.

        Examples
        --------
        >>> import numpy as np, zarr_kit
        >>> a = zarr_kit.create("memory:", shape=(2, 3), dtype="i2")
        >>> a[...] = [[1, 2, 3], [4, 5, 6]]
        >>> out = np.zeros((2, 2), "i2")
        >>> a.read(np.s_[:, 1:], out=out) is out, out.tolist()
        (True, [[2, 3], [5, 6]])
        >>> a.attrs["scale_factor"] = 0.5
        >>> a.read(0, decode=True)
        array([0.5, 1. , 1.5])
        """
        selected = _indexing.basic(key, self.shape)
        if decode and out is not None:
            raise ValueError("out is for elements as they are stored: decode makes a new array")
        if decode and (values := self._native.read_decoded(selected.axes)):
            note_undecoded(self.path, values[2])
            return np.frombuffer(values[0], values[1]).reshape(selected.shape)
        found: NDArray[Any] = self._read(selected, out=out)
        return found

    def write(self, key: Any, value: Any, *, casting: Casting = "exact") -> None:
        """Writes elements, as ``array[key] = value`` does.

        By default no value changes, except that fractions are rounded to the nearest float of the
        array's type: integers are exact, finite numbers stay finite, fractions do not enter integers.

        Parameters
        ----------
        key
            As in ``array[key]``.
        value
            The elements, which are broadcast to the shape of the selection.
        casting
            ``"unsafe"`` converts numbers and times as numpy's ``astype`` does, whatever they become.

        Raises
        ------
        ValueError, TypeError, OverflowError
            If the value cannot be broadcast, or an element would change; the message names the first.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=3, dtype="i2")
        >>> a.write(slice(1, 3), 7)
        >>> a[:].tolist()
        [0, 7, 7]
        """
        selected = _indexing.translate(key, self.shape)
        if isinstance(selected, _indexing.Points):
            self._write_points(selected, value, casting)
        else:
            self._write(selected, value, casting)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the elements are in a store: an array in memory is always a copy")
        found = self.read()
        return found if dtype is None else found.astype(dtype, copy=False)

    def _read(
        self, selected: _indexing.Selection, out: NDArray[Any] | None = None, scalar: bool = False
    ) -> Any:
        counts = selected.counts
        if out is None:
            found = self._elements.read(selected.axes, counts).reshape(selected.shape)
            return found[()] if scalar else found
        out = self._checked_out(out, selected.shape)
        self._elements.read_into(selected.axes, counts, out)
        return out

    def _checked_out(self, out: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """The numpy array that receives a selection; zarr-python's buffers hold one."""
        out = out.as_ndarray_like() if hasattr(out, "as_ndarray_like") else out
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out is a numpy array, not {type(out).__name__}")
        if out.shape != shape or out.dtype != self.dtype:
            raise ValueError(
                f"out has shape {out.shape} and dtype {out.dtype}, "
                f"the selection {shape} and {self.dtype}"
            )
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        return out

    def _write(
        self, selected: _indexing.Selection, value: Any, casting: Casting = "exact"
    ) -> None:
        value = broadcast(self._elements.checked(value, casting), selected.shape)
        self._elements.write(selected.axes, selected.counts, value)

    def _read_points(self, points: _indexing.Points) -> NDArray[Any]:
        return self._elements.read_points(points.lists).reshape(points.shape)

    def _write_points(
        self, points: _indexing.Points, value: Any, casting: Casting = "exact"
    ) -> None:
        value = broadcast(self._elements.checked(value, casting), points.shape)
        self._elements.write_points(points.lists, value.reshape(-1))

    def _type_name(self) -> str:
        found = self._document["data_type"]
        return found if isinstance(found, str) else found["name"]

    # Selections ------------------------------------------------------------------------------

    @property
    def blocks(self) -> Blocks:
        """Whole chunks, or shards, by their place in the grid."""
        return Blocks(self)

    def get_basic_selection(self, selection: Any = ..., *, out: Any = None, prototype: Any = None, fields: Any = None) -> Any:
        """``array[selection]`` of integers and slices; into ``out`` if it is given."""
        return self._selected(_indexing.basic, selection, out, fields)

    def get_orthogonal_selection(self, selection: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        """``array.oindex[selection]``; into ``out`` if it is given."""
        return self._selected(_indexing.orthogonal, selection, out, fields)

    def get_coordinate_selection(self, selection: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        """``array.vindex[selection]``; into ``out`` if it is given."""
        return self._selected(_indexing.points, selection, out, fields)

    def get_mask_selection(self, mask: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        """The elements where a mask of the array's shape is true; into ``out`` if it is given."""
        return self._selected(_indexing.points, np.asarray(mask, bool), out, fields)

    def get_block_selection(self, selection: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        """``array.blocks[selection]``; into ``out`` if it is given."""
        return self._selected(self._of_blocks, selection, out, fields)

    def set_basic_selection(self, selection: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        """``array[selection] = value`` of integers and slices."""
        self._set_selected(_indexing.basic, selection, value, fields)

    def set_orthogonal_selection(self, selection: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        """``array.oindex[selection] = value``."""
        self._set_selected(_indexing.orthogonal, selection, value, fields)

    def set_coordinate_selection(self, selection: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        """``array.vindex[selection] = value``."""
        self._set_selected(_indexing.points, selection, value, fields)

    def set_mask_selection(self, mask: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        """Writes the elements where a mask of the array's shape is true."""
        self._set_selected(_indexing.points, np.asarray(mask, bool), value, fields)

    def set_block_selection(self, selection: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        """``array.blocks[selection] = value``."""
        self._set_selected(self._of_blocks, selection, value, fields)

    def _selected(self, translate: Any, key: Any, out: NDArray[Any] | None, fields: Any) -> Any:
        _refuse_fields(fields)
        selected = translate(key, self.shape)
        if not isinstance(selected, _indexing.Points):
            return self._read(selected, out, scalar=out is None and _indexing.is_scalar(key, selected))
        found = self._read_points(selected)
        if out is None:
            return found
        out = self._checked_out(out, found.shape)
        out[...] = found
        return out

    def _set_selected(self, translate: Any, key: Any, value: Any, fields: Any) -> None:
        _refuse_fields(fields)
        selected = translate(key, self.shape)
        write = self._write_points if isinstance(selected, _indexing.Points) else self._write
        write(selected, value)

    def _of_blocks(self, key: Any, shape: tuple[int, ...]) -> _indexing.Selection:
        entries = []
        for axis, entry in enumerate(_indexing.expanded(key, self.ndim)):
            ends = [0, *accumulate(map(int, self._edges(axis)))]
            count = len(ends) - 1
            if isinstance(entry, slice):
                start, stop, step = entry.indices(count)
                if step != 1:
                    raise IndexError(f"axis {axis}: slices of blocks have step 1, not {step}")
                entries.append(slice(ends[start], ends[max(start, stop)]))
                continue
            try:
                number = range(count)[entry]
            except (IndexError, TypeError):
                raise IndexError(f"axis {axis}: {entry!r} is not a block; it has {count}") from None
            entries.append(slice(ends[number], ends[number + 1]))
        return _indexing.basic(tuple(entries), shape)


    # Changes ---------------------------------------------------------------------------------

    def resize(
        self, shape: int | Sequence[int], *, chunks: Any = None, discard: bool = True
    ) -> None:
        """Changes the shape; new elements read as the fill value.

        Parameters
        ----------
        shape
            The new shape.
        chunks
            For a rectilinear grid, the lengths of the chunks to add on each axis; None repeats
            the last chunk's length.
        discard
            Whether elements that are cut off are removed, as in numpy and zarr-python. Otherwise
            their chunks stay stored, and reappear if the array grows again. Removing
            them needs locks between processes, which object storage does not have.

        Raises
        ------
        ValueError
            If the shape has another number of axes, or the chunks do not cover it.
        ConflictError
            If another process has changed the array since it was opened.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=59, dtype="i2", chunks=[(31, 28)])
        >>> a.resize(90, chunks=[(31,)])
        >>> a.chunks
        ((31, 28, 31),)
        """
        added = None if chunks is None else _grid.added_per_axis(chunks)
        lengths = list(_grid.checked_shape(shape))
        if len(lengths) != self.ndim:
            raise ValueError(f"the shape has {_grid.axes(len(lengths))}, the array {self.ndim}")
        if added is not None and len(added) != self.ndim:
            entries = "1 entry" if len(added) == 1 else f"{len(added)} entries"
            raise ValueError(f"chunks has {entries}, the array {_grid.axes(self.ndim)}")
        self._set(self._native.resize(lengths, added, discard))

    def append(
        self,
        value: Any,
        axis: int | str = 0,
        *,
        chunks: Sequence[int] | None = None,
        casting: Casting = "exact",
    ) -> None:
        """Adds elements at the end of an axis.

        They become visible all at once. On object storage, which has no locks, the array grows first,
        and new elements read as the fill value until they are written. Both raise a `ConflictError`
        if another process has changed the array since it was opened.

        Parameters
        ----------
        value
            The elements to add. Their shape may differ from the array's only on this axis.
        axis
            The axis that grows, by number or name.
        chunks
            For a rectilinear grid, the lengths of the chunks to add; None repeats the last one.
        casting
            As for `write`.

        Raises
        ------
        ValueError, TypeError, OverflowError
            If the shapes differ on another axis, or an element would change; the message names the first.
        ConflictError
            If another process has changed the array since it was opened.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=3, dtype="i2", chunks=[(1, 2)])
        >>> a.append([8, 9], chunks=[2])
        >>> a[:].tolist(), a.chunks
        ([0, 0, 0, 8, 9], ((1, 2, 2),))
        """
        axis = _rearrange.axis_of(axis, self.dims, self.ndim)
        added = self._elements.checked(value, casting)
        shape = added.shape
        if len(shape) != self.ndim or shape != (*self.shape[:axis], shape[axis], *self.shape[axis + 1 :]):
            raise ValueError(f"axis {axis} of {self.shape} cannot grow by shape {shape}")
        edges = _grid.added(chunks, "chunks")
        self._set(self._elements.append(axis, shape[axis], added, edges))

    def rearrange(self, parts: Iterable[slice | Array], axis: int | str = 0, *, promote: bool = False) -> None:
        """Removes, reorders and inserts whole chunks along an axis, without decoding them.

        Needs locks between processes, which object storage does not have. A virtual join is
        rearranged by whole members: only its file is written again, with locks or by a conditional
        write. Handles that were opened before must be opened again.

        Parameters
        ----------
        parts
            The parts of the new axis: slices of the array, which begin and end at edges of chunks,
            or of inner chunks of shards, and other arrays, which are inserted whole.
        axis
            The axis, by number or name.
        promote
            Whether inserted arrays may have numbers of a narrower type, such as int8 in int16. They are
            decoded and written, from memory.

        Raises
        ------
        ValueError
            If a slice begins or ends within a chunk (of a shard: an inner chunk), or an inserted array differs in more than the
            axis.

        Examples
        --------
        >>> import tempfile, zarr_kit
        >>> a = zarr_kit.create(tempfile.mkdtemp(), shape=6, dtype="u1", chunks=2)
        >>> a[:] = range(6)
        >>> a.rearrange([slice(4, 6), slice(0, 2)])
        >>> a[:].tolist()
        [4, 5, 0, 1]
        """
        number = _rearrange.axis_of(axis, self.dims, self.ndim)
        found = _rearrange.parts_of(parts, self.shape[number], _native.Array)
        self._set(_native.rearrange(self._native, number, found, promote))

    @property
    def order(self) -> str:
        """``"C"``: the order of the elements in memory that reads return."""
        return "C"

    @property
    def config(self) -> ArrayConfig:
        """How elements are read and written."""
        return ArrayConfig(write_empty_chunks=self._native.write_empty_chunks)

    def with_config(self, config: Any) -> Array:
        """The same array, read and written in another way: an `ArrayConfig`, or a dict with its names."""
        given = config if isinstance(config, Mapping) else {f.name: getattr(config, f.name) for f in fields(config)}
        known = {f.name for f in fields(ArrayConfig)}
        if isinstance(config, Mapping) and not known >= given.keys():
            raise TypeError(f"config: {', '.join(sorted(given.keys() - known))} is not one of {', '.join(sorted(known))}")
        changed = replace(self.config, **{name: value for name, value in given.items() if name in known})
        if (changed.order, changed.read_missing_chunks) != ("C", True):
            raise ValueError("config: order is 'C' and read_missing_chunks True; write_empty_chunks may change")
        return self.with_write_empty_chunks(changed.write_empty_chunks)

    @property
    def asynchronous(self) -> AsyncArray:
        """The array with reads and writes that are awaited."""
        return AsyncArray(self)

    async_array = asynchronous

    # What is stored --------------------------------------------------------------------------

    @property
    def info(self) -> _describe.ArrayInfo:
        """The stored array, as text and numbers: the output of ``zarr-kit info``.

        Lists the stored chunks.
        """
        return _describe.info(self)

    @property
    def nchunks_initialized(self) -> int:
        """The number of chunks that are stored. Lists them; chunks of a stored shard all count."""
        stored = self._native.chunks_stored()
        if stored is None:
            raise OSError(f"{self!r}: the store cannot be listed")
        inner, shards = self._inner(), self.write_chunk_sizes
        per_shard = 1 if inner is None else int(np.prod([-(-max(e) // i) for e, i in zip(shards, inner, strict=True)]))
        return stored * per_shard

    @property
    def stored(self) -> NDArray[np.bool_]:
        """Whether each chunk is stored; of shards, each chunk within them. The shape is `cdata_shape`.

        Chunks that are not stored read as the fill value. Lists the stored chunks, and reads the indices of
        shards, but no chunk.

        Raises
        ------
        ValueError
            If codecs after the shards hide their indices, or the array is a virtual join of shards.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=7, dtype="i2", chunks=2, shards=4)
        >>> a[2:5] = 1
        >>> a.stored.tolist()
        [False, True, True, False]
        """
        mask = _native.stored_mask(self._native)
        if mask is None:
            raise ValueError(f"{self!r}: which chunks of the shards are stored is in indices that cannot be read")
        return np.frombuffer(mask, np.bool_).reshape(self.cdata_shape)

    def nbytes_stored(self) -> int:
        """The bytes that the document and the stored chunks take."""
        return _native.stored_bytes(self._native)

    def info_complete(self) -> _describe.ArrayInfo:
        """As `info`, which counts what is stored."""
        return self.info

    def plan(self, key: Any = ...) -> Plan:
        """The chunks that ``read(key)`` needs, and the bytes of each that it reads.

        Parameters
        ----------
        key
            As in ``array[key]``, without lists of single elements.

        Returns
        -------
        Plan
            The chunks, in C order.

        Raises
        ------
        IndexError
            If the key selects single elements.

        Examples
        --------
        >>> import numpy as np, zarr_kit
        >>> raw = [{"name": "bytes", "configuration": {"endian": "little"}}]
        >>> a = zarr_kit.create("memory:", shape=(4, 4), dtype="i2", chunks=2, codecs=raw)
        >>> a[...] = 1
        >>> [(chunk.key, chunk.reads) for chunk in a.plan(np.s_[1:3, 0])]
        [('c/0/0', ((4, 6),)), ('c/1/0', ((0, 2),))]
        """
        selected = _indexing.translate(key, self.shape)
        if isinstance(selected, _indexing.Points):
            raise IndexError("a plan is of slices and of one list per axis, not of single elements")
        return Plan(self._native, selected.axes)

    @overload
    def draw(
        self,
        key: Any = None,
        file: str | os.PathLike[str] | None = None,
        *,
        values: Literal[False] = False,
    ) -> str: ...

    @overload
    def draw(
        self,
        key: Any = None,
        file: str | os.PathLike[str] | None = None,
        *,
        values: Literal[True],
    ) -> _describe.Picture: ...

    def draw(
        self,
        key: Any = None,
        file: str | os.PathLike[str] | None = None,
        *,
        values: bool = False,
    ) -> str | _describe.Picture:
        """An SVG picture of the chunks that shows which are stored, or a PNG picture of the values.

        Parameters
        ----------
        key
            A selection to mark; with ``values``, the plane that is drawn.
        file
            Where to write it as well.
        values
            Whether the values of a plane of numbers or times are drawn, as ``zarr-kit draw --values``
            does. Of axes with more than 1,024 indices every n-th is read. Missing values and the
            fill value are transparent. Below is a colour bar with the range and the unit of the values.
            The picture is `bytes` that a notebook shows; its ``notes`` tell the same in words.

        Returns
        -------
        str or Picture
            The SVG, or, with ``values``, the PNG.

        Raises
        ------
        IndexError
            If the key selects single elements.
        TypeError, ValueError
            If ``values``, and the elements are not numbers or times, or the key has not two axes.

        Examples
        --------
        >>> import numpy as np, zarr_kit
        >>> a = zarr_kit.create("memory:", shape=(2, 20, 30), dtype="f4", chunks=10)
        >>> a[0] = np.arange(600).reshape(20, 30)
        >>> picture = a.draw(0, values=True)
        >>> picture[:4], picture.notes[0]
        (b'\\x89PNG', 'dark to bright: 1 to 599')
        """
        return _describe.draw_values(self, key, file) if values else _describe.draw(self, key, file)

    def stats(self, key: Any = ...) -> dict[str, Any]:
        """Minimum, maximum, mean and a histogram of numbers or times, as ``zarr-kit stats --json``.

        Elements that the attributes declare as missing, and NaN, are counted and left out. Memory
        does not grow with the selection.

        Parameters
        ----------
        key
            As in ``array[key]``, without lists of single elements.

        Returns
        -------
        dict
            ``elements``, and how many of them are ``fill``, ``missing``, ``nan`` and ``infinite``;
            ``min``, ``max``, ``mean``, ``std``, which are None without elements; ``histogram``, a
            list of dicts; ``decoded``, the same in the attributes' units, if these scale the values.

        Raises
        ------
        TypeError
            If the elements are not numbers or times.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=4, dtype="i2")
        >>> a[1:] = [5, -2, 9]
        >>> found = a.stats()
        >>> found["min"], found["max"], found["mean"], found["fill"]
        (-2, 9, 3.0, 1)
        """
        return _describe.stats(self, key)

    def check(
        self,
        *,
        data: bool = True,
        complete: bool = False,
        memory: int | str = _check.MEMORY,
        ignore: Sequence[str] = (),
        progress: Progress = False,
    ) -> _check.Report:
        """Checks the stored array against the specifications.

        Parameters
        ----------
        data
            Whether every stored chunk is read and decoded.
        complete
            Whether each chunk that is not stored is a warning. Otherwise the missing chunks of an
            array that lacks few are a note.
        memory
            The bytes that decoded elements may take at a time, such as ``"512MiB"``.
        ignore
            Ids of findings that are accepted, such as ``"stray-object"``, or with a pattern of keys:
            ``"stray-object:*.parquet"``.
        progress
            True for a bar on standard error, or a function that gets the path of the array, the
            chunks that are done, and those there are.

        Returns
        -------
        Report
            The findings; each has the region of its chunk.

        Raises
        ------
        ValueError
            If ``memory`` is no number of bytes, or no finding has an id in ``ignore``.

        Examples
        --------
        >>> import tempfile, zarr_kit
        >>> a = zarr_kit.create(tempfile.mkdtemp(), shape=9, dtype="i2", chunks=3)
        >>> a[:6] = 1
        >>> [(found.id, found.region) for found in a.check(complete=True)]
        [('missing-chunk', (slice(6, 9, None),))]
        """
        return _check.check_node(self._native, data, complete, memory, ignore, progress)

    # Work ------------------------------------------------------------------------------------

    def with_threads(self, threads: int | None) -> Array:
        """The same array, using at most this number of threads per read or write.

        Parameters
        ----------
        threads
            At least 1; None for one per core.

        Returns
        -------
        Array
            A new handle; this one does not change.

        Raises
        ------
        TypeError, ValueError
            If ``threads`` is no integer, or below 1.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=3, dtype="i2")
        >>> a.with_threads(1)[:].tolist()
        [0, 0, 0]
        """
        _store.check_threads(threads)
        return Array(self._native.with_threads(threads))

    def with_cache(self, cache: int) -> Array:
        """The same array, with a cache of decoded chunks, of shards the inner chunks.

        What is read again costs a request for the version of each object and a copy, so reads see every
        write that changes the version, also by other processes. Handles that are made of this one share
        the cache; another process has its own. Strings, virtual joins and reads that touch more than
        fits into it are read without it.

        Parameters
        ----------
        cache
            The largest number of bytes that are kept; 0 for none, as by default.

        Returns
        -------
        Array
            A new handle; this one does not change.

        Raises
        ------
        TypeError, ValueError
            If ``cache`` is no integer, below 0 or above ``sys.maxsize``.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=3, dtype="i2").with_cache(64 * 2**20)
        >>> a[:2].tolist(), a[1:].tolist()
        ([0, 0], [0, 0])
        """
        _store.check_cache(cache)
        return Array(self._native.with_cache(cache))

    def with_write_empty_chunks(self, write: bool = True) -> Array:
        """The same array, with writes that also store chunks that hold only the fill value.

        Parameters
        ----------
        write
            Whether they are stored. Otherwise they are removed, and read the same.

        Returns
        -------
        Array
            A new handle; this one does not change.

        Raises
        ------
        TypeError
            If ``write`` is not a bool.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=3, dtype="i2")
        >>> a.with_write_empty_chunks()[:] = 0
        >>> a.check().chunks
        1
        """
        return Array(self._native.with_write_empty_chunks(write))

    def to_dask(self, chunks: Any = None, name: str | Literal[False] | None = None) -> Any:
        """The array as a Dask array.

        Parameters
        ----------
        chunks, name
            As for `zarr_kit.dask.from_zarr`.

        Returns
        -------
        dask.array.Array
            An array with tasks that read when they are computed.

        Raises
        ------
        ValueError
            If the chunks do not fit the array.

        Examples
        --------
        >>> import zarr_kit
        >>> zarr_kit.create("memory:", shape=59, dtype="i2", chunks=[(31, 28)]).to_dask().chunks
        ((31, 28),)
        """
        from .dask import from_array

        return from_array(self, chunks=chunks, name=name)

    def to_xarray(self, chunks: Any = None) -> Any:
        """The array as an `xarray.DataArray`.

        Parameters
        ----------
        chunks
            As for `zarr_kit.xarray.from_array`.

        Returns
        -------
        xarray.DataArray
            Without coordinates, decoded and read when needed.

        Raises
        ------
        ValueError
            If the chunks do not fit the array, or its attributes cannot be decoded.

        Examples
        --------
        >>> import zarr_kit
        >>> a = zarr_kit.create("memory:", shape=2, dtype="i2", dimension_names=["day"])
        >>> a.to_xarray().dims
        ('day',)
        """
        from .xarray import from_array

        return from_array(self, chunks=chunks)

    # Processes -------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        # The last is for Dask, which names what holds an array by its pickle.
        return _restore, (self._state(), self._native.described()[0], _writes.here())


@dataclass(frozen=True)
class ArrayConfig:
    """How elements are read and written: `Array.config`."""

    order: str = "C"
    write_empty_chunks: bool = False
    read_missing_chunks: bool = True


class Blocks:
    """`Array.blocks`."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array.get_block_selection(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array.set_block_selection(key, value)


class OuterIndex:
    """`Array.oindex`."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        selected = _indexing.orthogonal(key, self._array.shape)
        return self._array._read(selected, scalar=_indexing.is_scalar(key, selected))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array._write(_indexing.orthogonal(key, self._array.shape), value)


class PointIndex:
    """`Array.vindex`."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> NDArray[Any]:
        return self._array._read_points(_indexing.points(key, self._array.shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array._write_points(_indexing.points(key, self._array.shape), value)


def _restore(state: _native.State, document: str, _written: str | None = None) -> Array:
    return Array(_native.Array.restored(state, document))


def _refuse_fields(fields: Any) -> None:
    if fields is not None and fields != []:
        raise IndexError(_indexing.NO_FIELDS)
