"""Groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _native
from ._array import Array
from ._attributes import Attributes

__all__ = ["Group"]


class Group(Mapping[str, "Array | Group"]):
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

    __slots__ = ("_native", "_document")

    def __init__(self, native: _native.Group) -> None:
        self._set(native)

    def _set(self, native: _native.Group) -> None:
        self._native = native
        self._document: dict[str, Any] = json.loads(native.document)

    def __getitem__(self, name: str) -> Array | Group:
        if not isinstance(name, str):
            raise TypeError(f"the name of a node is a string, not {type(name).__name__}")
        return _wrapped(self._native.node(name))

    def __contains__(self, name: object) -> bool:
        try:
            self._native.node(name)  # type: ignore[arg-type]
        except (KeyError, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.children())

    def __len__(self) -> int:
        return len(self._native.children())

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """The arrays among the direct children, with their names."""
        return ((name, node) for name, node in self.items() if isinstance(node, Array))

    def groups(self) -> Iterator[tuple[str, Group]]:
        """The groups among the direct children, with their names."""
        return ((name, node) for name, node in self.items() if isinstance(node, Group))

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping. Changes are stored at once."""
        return Attributes(self)

    @property
    def metadata(self) -> dict[str, Any]:
        """The group's ``zarr.json``, a new dict."""
        return json.loads(self._native.document)  # type: ignore[no-any-return]

    @property
    def path(self) -> str:
        """The group's path in its store, without a leading slash."""
        return self._native.path

    @property
    def url(self) -> str:
        """The URL or path of the store, without passwords and settings."""
        return self._native.shown_url

    def create_array(self, name: str, **arguments: Any) -> Array:
        """Creates an array in this group; the arguments are those of `zarr_kit.create`."""
        from . import _create

        return Array(self._native.create_array(name, _create.array_document(**arguments)))

    def create_group(self, name: str, *, attributes: Mapping[str, Any] | None = None) -> Group:
        """Creates a group in this group."""
        from . import _create

        return Group(self._native.create_group(name, _create.group_document(attributes)))

    def tree(self) -> str:
        """The nodes below this group, one per line, arrays with their shapes and types."""
        lines = [f"/{self.path}"]
        _draw(self, "", lines)
        return "\n".join(lines)

    def _update_attributes(self, changes: Mapping[str, str | None]) -> None:
        self._set(self._native.update_attributes(list(changes.items())))

    def __repr__(self) -> str:
        where = f"{self.url}/{self.path}" if self.path else self.url
        return f"<zarr_kit.Group {where!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self._native.state() == other._native.state()

    def __hash__(self) -> int:
        return hash((self.url, self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, self._native.state()


def _restore(*state: Any) -> Group:
    return Group(_native.Group.restored(*state))


def _wrapped(native: _native.Array | _native.Group) -> Array | Group:
    return Array(native) if isinstance(native, _native.Array) else Group(native)


def _draw(group: Group, indent: str, lines: list[str]) -> None:
    children = list(group.items())
    for place, (name, node) in enumerate(children):
        last = place + 1 == len(children)
        branch = "└── " if last else "├── "
        if isinstance(node, Array):
            lines.append(f"{indent}{branch}{name} {node.shape} {node._type_name()}")
        else:
            lines.append(f"{indent}{branch}{name}")
            _draw(node, indent + ("    " if last else "│   "), lines)
