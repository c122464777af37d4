"""Groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import DTypeLike

from . import _check, _create, _native, _rearrange, _writes
from ._array import Array
from ._node import Node
from ._progress import Progress
from ._tree import Tree

__all__ = ["Group"]


class Group(Node[_native.Group], Mapping[str, "Array | Group"]):
    """A Zarr group: a mapping of names to arrays and groups.

    Names may be paths (``group["a/b"]``). Iterating lists the direct children.

    Examples
    --------
    >>> import zarr_kit
    >>> g = zarr_kit.create_group("memory:")
    >>> months = g.create_array("months", shape=(59,), dtype="f4", chunks=[(31, 28)])
    >>> list(g)
    ['months']
    """

    __slots__ = ()

    def __getitem__(self, name: str) -> Array | Group:
        if not isinstance(name, str):
            raise TypeError(f"the name of a node is a string, not {type(name).__name__}")
        return _wrapped(self._native.node(name))

    def __contains__(self, name: object) -> bool:
        try:
            self._native.node(name)  # type: ignore[arg-type, unused-ignore]
        except (KeyError, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.children())

    def __len__(self) -> int:
        return len(self._native.children())

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """The arrays among the direct children, with their names.

        Returns
        -------
        iterator of (str, Array)
            In the order of the names.

        Raises
        ------
        OSError
            If the store cannot be listed, while the names are taken.

        Examples
        --------
        >>> import zarr_kit
        >>> g = zarr_kit.create_group("memory:")
        >>> _ = g.create_array("rain", shape=2, dtype="f4"), g.create_group("sites")
        >>> [name for name, array in g.arrays()]
        ['rain']
        """
        return ((name, node) for name, node in self.items() if isinstance(node, Array))

    def groups(self) -> Iterator[tuple[str, Group]]:
        """The groups among the direct children, with their names.

        Returns
        -------
        iterator of (str, Group)
            In the order of the names.

        Raises
        ------
        OSError
            If the store cannot be listed, while the names are taken.

        Examples
        --------
        >>> import zarr_kit
        >>> g = zarr_kit.create_group("memory:")
        >>> _ = g.create_array("rain", shape=2, dtype="f4"), g.create_group("sites")
        >>> [name for name, group in g.groups()]
        ['sites']
        """
        return ((name, node) for name, node in self.items() if isinstance(node, Group))

    def create_array(
        self,
        name: str,
        *,
        shape: int | Sequence[int],
        dtype: DTypeLike | str,
        chunks: Any = None,
        shards: Any = None,
        codecs: Sequence[Mapping[str, Any] | str] | None = None,
        fill_value: Any = None,
        dimension_names: Sequence[str | None] | None = None,
        attributes: Mapping[str, Any] | None = None,
        portable: bool = False,
    ) -> Array:
        """Creates an array in this group.

        Parameters
        ----------
        name
            The name, or the path below this group. Missing groups between are created.
        shape, dtype, chunks, shards, codecs, fill_value, dimension_names, attributes, portable
            As for `zarr_kit.create`.

        Returns
        -------
        Array
            The new array.

        Raises
        ------
        FileExistsError
            If there is an array or group already.

        Examples
        --------
        >>> import zarr_kit
        >>> g = zarr_kit.create_group("memory:")
        >>> g.create_array("rain", shape=59, dtype="f4", chunks=[(31, 28)]).path
        'rain'
        """
        document = _create.array_document(
            shape=shape,
            dtype=dtype,
            chunks=chunks,
            shards=shards,
            codecs=codecs,
            fill_value=fill_value,
            dimension_names=dimension_names,
            attributes=attributes,
            portable=portable,
        )
        return Array(self._native.create_array(name, document))

    def create_group(self, name: str, *, attributes: Mapping[str, Any] | None = None) -> Group:
        """Creates a group in this group.

        Parameters
        ----------
        name
            The name, or the path below this group. Missing groups between are created.
        attributes
            JSON values.

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
        >>> g = zarr_kit.create_group("memory:")
        >>> g.create_group("sites", attributes={"count": 2}).attrs["count"]
        2
        """
        return Group(self._native.create_group(name, _create.group_document(attributes)))

    def rearrange(self, parts: Iterable[slice | Group], dim: str) -> None:
        """Removes, reorders and inserts whole chunks in all arrays below that have a dimension.

        Nothing is decoded. If the process ends just when the arrays change over, some may be
        rearranged and others not: `zarr_kit.xarray` refuses such a group, ``check`` reports it and
        ``zarr-kit check --repair`` completes it. Consolidated metadata always has all old or all
        new arrays. Handles of the arrays must be opened again. Of a virtual join, whole members are
        moved, by one write of its file.

        Parameters
        ----------
        parts
            The parts of the new dimension: slices of its indices, which begin and end at edges of
            chunks in each array, and other groups. Their arrays with this dimension are inserted.
        dim
            The name of the dimension.

        Raises
        ------
        ValueError
            If no array has the dimension, a slice begins or ends within a chunk, or an inserted group has
            other arrays.

        Examples
        --------
        >>> import zarr_kit
        >>> g = zarr_kit.create_group("memory:")
        >>> for name in ("time", "rain"):
        ...     a = g.create_array(name, shape=6, dtype="u1", chunks=2, dimension_names=["time"])
        ...     a[:] = range(6)
        >>> g.rearrange([slice(4, 6), slice(0, 2)], "time")
        >>> g["rain"][:].tolist()
        [4, 5, 0, 1]
        """
        length = _native.dimension_length(self._native, dim)
        found = _rearrange.parts_of(parts, length, _native.Group)
        _native.rearrange_group(self._native, dim, found)

    def tree(self) -> Tree:
        """The nodes below this group, one per line, arrays with their shapes and types.

        In a notebook, groups can be folded.

        Returns
        -------
        Tree
            Text as `str`, HTML in a notebook.

        Raises
        ------
        OSError
            When it is shown, if the store cannot be listed.

        Examples
        --------
        >>> import zarr_kit
        >>> g = zarr_kit.create_group("memory:")
        >>> _ = g.create_array("rain", shape=2, dtype="f4")
        >>> "rain" in str(g.tree())
        True
        """
        return Tree(self)

    def check(
        self,
        *,
        data: bool = True,
        complete: bool = False,
        memory: int | str = _check.MEMORY,
        progress: Progress = False,
    ) -> _check.Report:
        """Checks everything stored below the group against the specifications.

        Parameters
        ----------
        data, complete, memory, progress
            As for `Array.check`.

        Returns
        -------
        Report
            The findings, node by node.

        Raises
        ------
        ValueError
            If ``memory`` is no number of bytes.

        Examples
        --------
        >>> import zarr_kit
        >>> zarr_kit.create_group("memory:").check().is_clean
        True
        """
        return _check.check_node(self._native, data, complete, memory, progress)

    def __repr__(self) -> str:
        return f"<zarr_kit.Group {self._where!r}>"

    def _repr_html_(self) -> str:
        return self.tree()._repr_html_()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self._native.is_same(other._native)

    def __hash__(self) -> int:
        return hash((self._native.identity, self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        # The last is for Dask, which names what holds a group by its pickle.
        return _restore, (self._state(), self._native.trusted, _writes.here())


def _restore(state: _native.State, trusted: str | None = None, _written: str | None = None) -> Group:
    return Group(_native.Group.open(state, trusted))


def _wrapped(native: _native.Array | _native.Group) -> Array | Group:
    return Array(native) if isinstance(native, _native.Array) else Group(native)
