"""Groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from . import _check, _create, _describe, _grid, _native, _rearrange, _store, _writes
from ._array import Array
from ._asynchronous import AsyncGroup
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
        _store.check_text("the name of a node", name)
        return wrapped(self._native.node(name))

    def __contains__(self, name: object) -> bool:
        try:
            self._native.node(name)  # type: ignore[arg-type, unused-ignore]
        except (KeyError, TypeError, UnicodeEncodeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.children())

    def __len__(self) -> int:
        return len(self._native.children())

    def _children(self) -> Iterator[tuple[str, Array | Group]]:
        """The direct children with their names; their documents are read side by side."""
        for name, node in self._all_children():
            if isinstance(node, Exception):
                raise node
            yield name, node

    def _all_children(self) -> Iterator[tuple[str, Array | Group | Exception]]:
        """The direct children; in the place of one that cannot be read, its error."""
        return ((name, node if isinstance(node, Exception) else wrapped(node)) for name, node in self._native.nodes())

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
        return ((name, node) for name, node in self._children() if isinstance(node, Array))

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
        return ((name, node) for name, node in self._children() if isinstance(node, Group))

    def create_array(self, name: str, *, overwrite: bool = False, **new: Unpack[_create.New]) -> Array:
        """Creates an array in this group.

        Parameters
        ----------
        name
            The name, or the path below this group. Missing groups between are created.
        overwrite
            Whether a node in its place is removed first.
        new
            As for `zarr_kit.create_array`.

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
        return _create.array(self._below(name), overwrite, **new)

    def create_group(
        self, name: str, *, attributes: Mapping[str, Any] | None = None, overwrite: bool = False
    ) -> Group:
        """Creates a group in this group.

        Parameters
        ----------
        name
            The name, or the path below this group. Missing groups between are created.
        attributes
            JSON values.
        overwrite
            Whether a node in its place is deleted first, with all that is below it.

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
        document = _create.group_document(attributes)
        return Group(_native.create_group(self._below(name), document, overwrite=overwrite))

    def _below(self, name: str) -> tuple[_native.Group, str]:
        """The place of a node below the group."""
        path = _store.path(name)
        if not path:
            raise ValueError("a node below a group has a name")
        return self._native, path

    def __setitem__(self, name: str, value: Any) -> None:
        """Creates an array of this data, in place of the array or group of this name."""
        if isinstance(value, Group):
            raise TypeError("a group is not assigned: zarr_kit.copy copies it")
        self.create_array(name, data=value, overwrite=True)

    def __delitem__(self, name: str) -> None:
        """Deletes an array or a group with all that is below it."""
        try:
            _native.delete(self._below(name))
        except _native.UnfinishedCopyError:
            raise
        except FileNotFoundError:
            raise KeyError(name) from None

    def __getattr__(self, name: str) -> Any:
        # Only for names that a group does not have: says how its nodes are taken.
        message = f"'Group' object has no attribute {name!r}"
        raise AttributeError(f"{message}; nodes are items: group[{name!r}]" if not name.startswith("_") else message)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def asynchronous(self) -> AsyncGroup:
        """The group with look-ups that are awaited."""
        return AsyncGroup(self)

    @property
    def info(self) -> _describe.GroupInfo:
        """The group in a few lines of text."""
        return _describe.GroupInfo(self)

    def rearrange(self, parts: Iterable[slice | Group], dim: str | int, *, promote: bool = False) -> None:
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
            chunks, or of inner chunks of shards, in each array, and other groups. Their arrays with this dimension are inserted.
        dim
            The name of the dimension, or its number if no array has names.
        promote
            Whether inserted arrays may have numbers of a narrower type, as for `Array.rearrange`.

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
        dim = str(dim)
        length = _native.dimension_length(self._native, dim)
        found = _rearrange.parts_of(parts, length, _native.Group)
        _native.rearrange_group(self._native, dim, found, promote)

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
        ignore: Sequence[str] = (),
        progress: Progress = False,
    ) -> _check.Report:
        """Checks everything stored below the group against the specifications.

        Parameters
        ----------
        data, complete, memory, ignore, progress
            As for `Array.check`.

        Returns
        -------
        Report
            The findings, node by node.

        Raises
        ------
        ValueError
            If ``memory`` is no number of bytes, or no finding has an id in ``ignore``.

        Examples
        --------
        >>> import zarr_kit
        >>> zarr_kit.create_group("memory:").check().is_clean
        True
        """
        return _check.check_node(self._native, data, complete, memory, ignore, progress)

    # Names of zarr-python ------------------------------------------------------------------

    @classmethod
    def open(cls, store: _store.Url, path: str | None = "") -> Group:
        """Opens a group to read and change it; see `zarr_kit.open_group`."""
        return cls(_native.Group.open(_store.state(store, path)))

    @classmethod
    def from_store(
        cls,
        store: _store.Url,
        *,
        attributes: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
        overwrite: bool = False,
    ) -> Group:
        """Creates a group; see `zarr_kit.create_group`."""
        document = _create.group_document(attributes, zarr_format)
        return cls(_native.create_group(_store.state(store), document, overwrite=overwrite))

    def array_keys(self) -> Iterator[str]:
        """The names of the arrays among the direct children."""
        return (name for name, _ in self.arrays())

    def array_values(self) -> Iterator[Array]:
        """The arrays among the direct children."""
        return (array for _, array in self.arrays())

    def group_keys(self) -> Iterator[str]:
        """The names of the groups among the direct children."""
        return (name for name, _ in self.groups())

    def group_values(self) -> Iterator[Group]:
        """The groups among the direct children."""
        return (group for _, group in self.groups())

    def members(self, max_depth: int | None = 0) -> tuple[tuple[str, Array | Group], ...]:
        """The nodes below with their paths: the direct children, or so many levels more; None for all."""
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"max_depth: at least 0, or None, not {max_depth}")
        return tuple(self._members("", max_depth))

    def _members(self, path: str, depth: int | None) -> Iterator[tuple[str, Array | Group]]:
        for name, node in self._children():
            yield path + name, node
            if isinstance(node, Group) and depth != 0:
                yield from node._members(f"{path}{name}/", None if depth is None else depth - 1)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """The number of `members`."""
        return len(self.members(max_depth))

    def get_array(self, path: str) -> Array:
        """The array at a path below; a KeyError if it is missing, a TypeError if it is a group."""
        found = self[path]
        if not isinstance(found, Array):
            raise TypeError(f"{path!r} is a group, not an array")
        return found

    def get_group(self, path: str) -> Group:
        """The group at a path below; a KeyError if it is missing, a TypeError if it is an array."""
        found = self[path]
        if not isinstance(found, Group):
            raise TypeError(f"{path!r} is an array, not a group")
        return found

    def require_array(self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **new: Any) -> Array:
        """The array of this name, which is created if it is missing; a TypeError if it differs."""
        if name not in self:
            return self.create_array(name, shape=shape, dtype="f8" if dtype is None else dtype, **new)
        found, shape = self.get_array(name), _grid.checked_shape(shape)
        if found.shape != shape:
            raise TypeError(f"{name!r} has the shape {found.shape}, not {shape}")
        if dtype is not None:
            asked = np.dtype(dtype)
            if asked != found.dtype if exact else not np.can_cast(found.dtype, asked):
                raise TypeError(f"{name!r} has the type {found.dtype}, not {asked}")
        return found

    def require_group(self, name: str, overwrite: bool = False) -> Group:
        """The group of this name, which is created if it is missing; a TypeError if it is an array."""
        if overwrite or name not in self:
            return self.create_group(name, overwrite=overwrite)
        return self.get_group(name)

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """`require_group` of each name."""
        return tuple(self.require_group(name) for name in names)

    def move(self, source: str, dest: str) -> None:
        """Moves a node within the group: a copy of its objects, then the old node is deleted.

        After an interruption the old node is there, or both.
        """
        moved = self[source]
        if not _store.path(source) or f"{_store.path(dest)}/".startswith(f"{_store.path(source)}/"):
            raise ValueError(f"{source!r} cannot be moved to {dest!r}, which is in it")
        _copy_node(moved, self._below(dest))
        del self[source]

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


def wrapped(native: _native.Array | _native.Group) -> Array | Group:
    """A native node for Python."""
    return Array(native) if isinstance(native, _native.Array) else Group(native)


def _copy_node(node: Array | Group, to: tuple[_native.Group, str]) -> None:
    from ._copy import copied

    copied(node._native, to)


for _name in ("empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"):

    def _creator(self: Group, name: str, *args: Any, _name: str = _name, **new: Any) -> Array:
        from . import _familiar

        # The array that another one is like is called data here.
        like = (new.pop("data"),) if _name.endswith("_like") and "data" in new else ()
        made: Array = getattr(_familiar, _name)(*like, *args, store=self, name=name, **new)
        return made

    _creator.__doc__ = f"As `zarr_kit.{_name}`, below this group."
    setattr(Group, _name, _creator)
