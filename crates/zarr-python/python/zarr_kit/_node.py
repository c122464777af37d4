"""What arrays and groups have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Generic, Self, TypeVar

from . import _adapter, _native, _store, _writes
from ._attributes import Attributes

_Native = TypeVar("_Native", _native.Array, _native.Group)


class Node(Generic[_Native]):
    """An open array or group."""

    __slots__ = ("_document", "_native", "_path", "_url")

    def __init__(self, native: _Native) -> None:
        self._set(native)

    def _set(self, native: _Native) -> None:
        self._native: _Native = native
        document, self._path, self._url = native.described()
        self._document: dict[str, Any] = json.loads(document)

    @property
    def metadata(self) -> dict[str, Any]:
        """The node's ``zarr.json``, a new dict."""
        return json.loads(self._native.described()[0])  # type: ignore[no-any-return]

    @property
    def attrs(self) -> Attributes:
        """The attributes: a mapping; changes of it are stored."""
        return Attributes(self)

    @property
    def path(self) -> str:
        """The node's path in its store, without leading slash."""
        return self._path

    @property
    def name(self) -> str:
        """The path of the node in its store, with a slash before it."""
        return f"/{self.path}"

    @property
    def basename(self) -> str:
        """The last part of the path; empty for the root of a store."""
        return self.path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether it was opened with ``mode="r"``."""
        return str(self._native.settings.get("read_only", "")).lower() == "true"

    @property
    def store(self) -> Any:
        """The store for zarr-python: the one that was given, or one of the same place."""
        return _adapter.store_of(self)

    @property
    def store_path(self) -> Any:
        """The store and the path in it, as zarr-python's ``StorePath``."""
        from zarr.storage import StorePath

        return StorePath(self.store, self.path)

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Sets several attributes in one change, and returns the node."""
        self.attrs.update(new_attributes)
        return self

    @property
    def url(self) -> str:
        """The URL or path of the store, without passwords and settings."""
        return self._url

    def refresh(self) -> Self:
        """Reads the document again, so that the node shows its present state.

        Returns
        -------
        Array or Group
            This node.

        Raises
        ------
        FileNotFoundError
            If it was deleted.

        Examples
        --------
        >>> import tempfile, zarr_kit
        >>> folder = tempfile.mkdtemp()
        >>> a = zarr_kit.create(folder, shape=3, dtype="i2")
        >>> zarr_kit.open(folder).resize(5)
        >>> a.shape, a.refresh().shape
        ((3,), (5,))
        """
        self._set(self._native.reopened())
        return self

    def __enter__(self) -> Self:
        """Begins a block of writes that take effect together.

        It matters for zip archives: outside of a block, each write makes a new copy of the archive.
        All nodes that were opened by the same call share the block, in all threads of this process.
        They read its writes at once; others read them once the block has ended. If an exception
        ends the block, none of its writes is stored. In other stores each write takes effect by
        itself, in a block too.

        Examples
        --------
        >>> import tempfile, zarr_kit
        >>> path = tempfile.mkdtemp() + "/x.zip"
        >>> with zarr_kit.create(path, shape=4, dtype="u1", chunks=2) as a:
        ...     a[:2] = 1
        ...     a[2:] = 2
        >>> zarr_kit.open(path)[:].tolist()
        [1, 1, 2, 2]
        """
        self._native.enter()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._native.exit(kind is not None)

    def __copy__(self) -> Self:
        """Another handle of the same node. Nothing is sent, so the node may be in memory."""
        return type(self)(self._native)

    @property
    def _where(self) -> str:
        return f"{self._url.rstrip('/')}/{self._path}" if self._path else self._url

    def _state(self) -> _native.State:
        """What another process needs to open the node."""
        state: _native.State = self._native.state()
        url, path, settings = state[:3]
        if url.startswith(_adapter.SCHEME):
            url = _adapter.adapter_of(url).token
        return url, path, _store.portable(url, settings), *state[3:]

    def __dask_tokenize__(self) -> tuple[str, str]:
        # As a digest: the identity may hold a password.
        where = self._native.identity
        settings = _store.without_secrets(where, self._native.settings)
        document, version = self._native.described()[0], self._native.version()
        parts = [where, settings, self.path, document, version, _writes.here()]
        return type(self).__qualname__, hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _update_attributes(self, changes: Mapping[str, str | None]) -> None:
        self._set(self._native.update_attributes(list(changes.items())))


def at(node: Any, options: Mapping[str, Any] | None) -> _native.NodeOrState:
    """An open node, or the one at a folder, URL or store."""
    if not isinstance(node, Node):
        return _store.state(node, storage_options=options)
    if options is not None:
        raise TypeError("an open node has the settings that it was opened with")
    native: _native.Array | _native.Group = node._native
    return native


def target(node: Any, options: Mapping[str, Any] | None) -> _native.NodeOrState:
    """The place of a new node.

    Raises
    ------
    ValueError
        If it could not be opened again: a store in memory without other nodes.
    """
    place = at(node, options)
    if isinstance(place, tuple) and isinstance(place[0], str) and place[0].startswith("memory:"):
        raise ValueError("memory: each such URL is a new store; what is made in it could not be opened")
    return place
