"""Attributes of arrays and groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol


class _Node(Protocol):
    _document: dict[str, Any]

    def _update_attributes(self, changes: Mapping[str, str | None]) -> None: ...


class Attributes(MutableMapping[str, Any]):
    """The attributes of a node: a mapping of JSON values.

    Reading them sends no request: the values are those at the time when the node was opened or
    last changed through this object. Each assignment changes these attributes in the document that
    is stored then, so changes by other processes are kept, and seen afterwards. `update` stores
    several attributes in one change.
    """

    __slots__ = ("_node",)

    def __init__(self, node: _Node) -> None:
        self._node = node

    @property
    def _values(self) -> dict[str, Any]:
        return self._node._document.get("attributes") or {}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, name: str, value: Any) -> None:
        self._node._update_attributes({name: _json(name, value)})

    def __delitem__(self, name: str) -> None:
        if name not in self._values:
            raise KeyError(name)
        self._node._update_attributes({name: None})

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Sets several attributes in one change of the document."""
        changes = dict(*args, **kwargs)
        if changes:
            self._node._update_attributes({k: _json(k, v) for k, v in changes.items()})

    def put(self, values: Mapping[str, Any]) -> None:
        """Replaces all attributes by these in one change of the document."""
        removed = dict.fromkeys(self._values)
        self._node._update_attributes({**removed, **{k: _json(k, v) for k, v in values.items()}})

    def clear(self) -> None:
        """Removes all attributes in one change of the document."""
        if self._values:
            self._node._update_attributes(dict.fromkeys(self._values))

    def asdict(self) -> dict[str, Any]:
        """A copy as a plain dict."""
        return json.loads(json.dumps(self._values))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return repr(dict(self._values))


def _json(name: str, value: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of an attribute is a string, not {type(name).__name__}")
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except ValueError as error:
        raise ValueError(f"attribute {name!r} is no JSON value: {error}") from None
    except TypeError as error:
        raise TypeError(f"attribute {name!r} is no JSON value: {error}") from None


def _plain(value: Any) -> Any:
    """Converts numpy's scalars and arrays to JSON numbers and lists."""
    # As lists, times are numbers if their unit is finer than that of Python's times.
    if hasattr(value, "dtype") and value.dtype.kind in "mM":
        raise TypeError(f"{value.dtype} is not a type of JSON")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a type of JSON")
