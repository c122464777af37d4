"""Stores of Python objects: of zarr-python, Icechunk, fsspec, and dicts.

Places that zarr-kit reaches itself are opened natively. For all other stores the native part calls
an `Adapter`, which runs the store's own methods on the event loop of zarr-python, where its package
expects them, and waits without the interpreter's lock.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import tempfile
import threading
import weakref
from bisect import bisect
from collections.abc import Callable, Coroutine, Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ._extras import need

if TYPE_CHECKING:
    from zarr.abc.store import Store

    from ._node import Node

SCHEME = "python-store:"
"""How the text begins that stands for an adapter in the native part."""

_ADAPTERS: weakref.WeakValueDictionary[str, Adapter] = weakref.WeakValueDictionary()


class Token(str):
    """The text that stands for an adapter. It keeps the adapter, also in pickles."""

    __slots__ = ("adapter",)
    adapter: Adapter

    def __reduce__(self) -> tuple[Any, ...]:
        return token, (self.adapter.store,)


def token(store: Store) -> Token:
    """The text that stands for a store of zarr-python."""
    adapter = next((known for known in list(_ADAPTERS.values()) if known.is_of(store)), None) or Adapter(store)
    return adapter.token


def adapter_of(url: str) -> Adapter:
    """The adapter for which a text stands."""
    try:
        return _ADAPTERS[url]
    except KeyError:
        raise ValueError(f"{url}: no store of this process has this name") from None


def place(given: Any) -> tuple[Any, str, dict[str, str | list[str]]] | None:
    """The URL, the path and the settings of a store, array or group of another package; None for a path."""
    package = type(given).__module__.partition(".")[0]
    if isinstance(given, MutableMapping) and not hasattr(given, "fs"):
        for key, value in given.items():
            if hasattr(value, "as_numpy_array"):
                break
            raise TypeError(f"a dict has buffers of zarr-python, as its MemoryStore, not {type(value).__name__}: {key!r}")
        return token(need("zarr.storage", "zarr").MemoryStore(given)), "", {}
    if package == "obstore":
        return _of_store(need("zarr.storage", "zarr").ObjectStore(given))
    if package == "fsspec" and hasattr(given, "root"):
        return _of_store(need("zarr.storage", "zarr").FsspecStore.from_mapper(given))
    if package == "upath":
        if given.protocol in ("", "file", "local"):
            return given.path, "", {}
        return _of_store(need("zarr.storage", "zarr").FsspecStore.from_upath(given))
    if not any(each.__module__.partition(".")[0] == "zarr" for each in type(given).__mro__):
        return None
    from zarr.abc.store import Store
    from zarr.storage import StorePath

    given = getattr(given, "store_path", given)
    if isinstance(given, StorePath):
        url, path, settings = _of_store(given.store)
        return url, f"{path}/{given.path}".strip("/"), settings
    return _of_store(given) if isinstance(given, Store) else None


def _of_store(store: Store) -> tuple[Any, str, dict[str, str | list[str]]]:
    from ._stores import url_of

    read_only: dict[str, str | list[str]] = {"read_only": "True"} if store.read_only else {}
    if (known := url_of(store)) is not None:
        return known.url, "", {**known.settings, **read_only}
    return token(store), "", read_only


def store_of(node: Node[Any]) -> Store:
    """The store of a node for zarr-python."""
    LocalStore = need("zarr.storage", "zarr").LocalStore  # noqa: N806
    url = node._native.url
    if url.startswith(SCHEME):
        return adapter_of(url).store
    if "://" not in url and os.path.isdir(url):
        local: Store = LocalStore(url, read_only=node.read_only)
        return local
    from .store import ZarrKitStore

    return ZarrKitStore(url, storage_options=node._native.settings)


class Adapter:
    """The methods that the native part calls of a store of zarr-python."""

    def __init__(self, store: Store) -> None:
        from zarr.storage import WrapperStore

        from ._stores import place_of

        self.store, self._process = store, os.getpid()
        inner: Any = store
        while isinstance(inner, WrapperStore):
            inner = inner._store
        self._inner, kind = inner, type(inner).__name__
        self._held = _Held.of(inner) if kind == "IcechunkStore" else None
        objects = _objects_in_memory(inner)
        in_memory = objects is not None
        is_session = self._held is not None and not inner.session._session.is_fork
        self.is_exclusive = in_memory or is_session or kind == "ZipStore"
        """Whether no other process can write what this store reads."""
        self.renumbers = is_session and _renumbers(inner.session)
        """Whether stored chunks get other numbers without a copy."""
        self.requests = 1 if inner is store and in_memory else 32
        self.shown = _shown(inner)
        root = getattr(inner, "path", "") if in_memory else place_of(inner) or ""
        if root and not in_memory and "://" not in root:
            root = os.path.realpath(root)
        owner = objects if in_memory else self._held or (None if root else inner)
        self.locks = "" if owner is None else str(id(owner))
        """Tells what the stores' objects are in apart: of one store there may be several objects, with several roots."""
        self.root = "/".join(filter(None, root.split("/")))
        self.identity = f"{SCHEME}{kind} {self.locks} {self.root}"
        """Tells stores apart."""
        self._run(store._ensure_open())

    @property
    def token(self) -> Token:
        """The text that stands for the adapter."""
        found = Token(f"{SCHEME}{id(self)}")
        found.adapter = _ADAPTERS[str(found)] = self
        return found

    def is_of(self, store: Store) -> bool:
        """Whether this is the adapter of a store, which may have another object for each use."""
        if self._process != os.getpid() or store.read_only != self.store.read_only:
            return False
        return store is self.store or (self._held is not None and store == self.store)

    def check(self) -> None:
        """Refuses what would wait forever: the thread of the event loop, and a forked process."""
        if os.getpid() != self._process:
            raise RuntimeError(f"{self.shown}: the store was opened before this process was forked; open it again")
        from zarr.core import sync

        try:
            is_loop = asyncio.get_running_loop() is sync.loop[0]
        except RuntimeError:
            return
        if is_loop:
            raise RuntimeError("a blocking call in the event loop's own thread: await array.asynchronous.read(..)")

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        from zarr.core.sync import sync

        try:
            self.check()
        except RuntimeError:
            work.close()
            raise
        return sync(work)

    def get(
        self, key: str, spans: Sequence[tuple[int, int]] | None, suffix: int | None
    ) -> tuple[list[bytes], int] | None:
        """The bytes of an object (all, its spans, or its last ones), and its size; None if it does not exist."""
        from zarr.abc.store import RangeByteRequest, SuffixByteRequest

        if self._held is not None and (held := self._held.get(key)) is not None:
            return [held[a:b] for a, b in spans or [(len(held) - (suffix or len(held)), len(held))]], len(held)
        if spans is not None:
            return self._run(self._get(key, [RangeByteRequest(*span) for span in spans]))  # type: ignore[no-any-return]
        return self._run(self._get(key, [None if suffix is None else SuffixByteRequest(suffix)]))  # type: ignore[no-any-return]

    async def _get(self, key: str, requests: Sequence[Any]) -> tuple[list[bytes], int] | None:
        from zarr.core.buffer import default_buffer_prototype

        prototype = default_buffer_prototype()
        try:
            reads = (self.store.get(key, prototype, request) for request in requests)
            found, size = await asyncio.gather(asyncio.gather(*reads), self._size_beside(key, requests))
        except Exception as error:
            if self._is_absent(error):
                return None
            raise
        parts = [each.to_bytes() for each in found if each is not None]
        return None if len(parts) < len(found) else (parts, len(parts[0]) if size is None else size)

    async def _size_beside(self, key: str, requests: Sequence[Any]) -> int | None:
        """The size of an object of which parts are read."""
        return None if list(requests) == [None] else await self._size(key)

    def _is_absent(self, error: Exception) -> bool:
        """Whether a store says by an error that there is no such object."""
        if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError):
            return True
        text = str(error)
        is_named = "invalid zarr key" in text or "bad key prefix" in text or "invalid chunk index" in text
        is_named = is_named or type(error).__name__ == "NodeNotFoundError"
        return self._held is not None and is_named

    def size(self, key: str) -> int | None:
        """The size of an object; None if it does not exist."""
        if self._held is not None and (size := self._held.size(key)) is not None:
            return size
        return self._run(self._size(key))  # type: ignore[no-any-return]

    async def _size(self, key: str) -> int | None:
        try:
            return await self.store.getsize(key)
        except Exception as error:
            if self._is_absent(error):
                return None
            raise

    def set(self, key: str, value: bytes) -> None:
        """Writes an object."""
        try:
            self._run(self._set(key, value))
        except Exception as error:
            if self._held is None or not self._is_absent(error):
                raise
            self._held.put(key, value)
            return
        if self._held is not None and key.endswith("zarr.json"):
            for held in self._held.keys(key.removesuffix("zarr.json")):
                stored = self._held.get(held)
                if stored is not None and "/c/" in f"/{held}":
                    self._run(self._set(held, stored))
                    self._held.delete(held)

    async def _set(self, key: str, value: bytes) -> None:
        from zarr.core.buffer import default_buffer_prototype

        await self.store.set(key, default_buffer_prototype().buffer.from_bytes(value))

    def delete(self, keys: Sequence[str]) -> None:
        """Removes objects, documents first."""
        if self._held is not None:
            keys = [key for key in keys if not self._held.delete(key)]
        self._run(self._delete(keys))

    async def _delete(self, keys: Sequence[str]) -> None:
        found = await asyncio.gather(*map(self.store.delete, keys), return_exceptions=True)
        for error in found:
            if isinstance(error, Exception) and not self._is_absent(error):
                raise error

    def renumber(self, path: str, axis: int, ranges: Sequence[tuple[int, int, int]]) -> None:
        """Gives the chunks of each range (the first, the one after the last) the numbers from the third on.

        All other chunks of the array are removed.
        """
        self.check()
        back = sorted((at, at + stop - start, start) for start, stop, at in ranges)
        session = self._inner.session
        session.reindex_array(f"/{path}", _moved(axis, sorted(ranges)), _moved(axis, back))

    def keys(self, prefix: str) -> list[str]:
        """The keys of all objects below a prefix."""
        below = f"{prefix}/" if prefix else ""
        found = self._run(self._listed(self.store.list_prefix, below))
        return [key for key in found if key.startswith(below)] + (self._held.keys(below) if self._held else [])

    async def _listed(self, listing: Any, prefix: str) -> list[str]:
        try:
            return [name.strip("/") async for name in listing(prefix)]
        except Exception as error:
            if self._is_absent(error):
                return []
            raise

    def children(self, prefix: str) -> list[tuple[str, bool]]:
        """The names directly below a prefix, and whether each is an object."""
        return self._run(self._children(prefix))  # type: ignore[no-any-return]

    async def _children(self, prefix: str) -> list[tuple[str, bool]]:
        below = f"{prefix}/" if prefix else ""
        # Some stores give whole paths.
        names = [name.rpartition("/")[2] for name in await self._listed(self.store.list_dir, prefix)]
        held = self._held.keys(below) if self._held else []
        names = sorted({*filter(None, names), *(key.removeprefix(below).partition("/")[0] for key in held)})
        kinds = await asyncio.gather(*(self._is_object(below + name) for name in names))
        return [(name, kind) for name, kind in zip(names, kinds, strict=True) if kind is not None]

    async def _is_object(self, key: str) -> bool | None:
        """Whether a name is an object, or a prefix; None for a folder that is left without objects."""
        if key.endswith("zarr.json") or (self._held is not None and self._held.size(key) is not None):
            return True
        if (self._held is not None and self._held.keys(f"{key}/")) or await self._listed(self.store.list_dir, key):
            return False
        from zarr.abc.store import RangeByteRequest

        return True if await self._get(key, [RangeByteRequest(0, 1)]) is not None else None


class _Held:
    """Objects that a transaction cannot have yet, in a file: markers, and chunks before their document.

    Nobody else sees a transaction before its commit, so that markers need not outlive this process.
    """

    _ALL: ClassVar[weakref.WeakSet[_Held]] = weakref.WeakSet()
    _FINDING: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def of(cls, store: Any) -> _Held:
        """Those of the store of a session, which has another object for each use."""
        with cls._FINDING:
            found = next((each for each in cls._ALL if each._process == os.getpid() and each._store == store), None)
            found = found or cls(store)
            cls._ALL.add(found)
        return found

    @classmethod
    def _forked(cls) -> None:
        """In a forked process, whose other threads have not come along."""
        cls._FINDING = threading.Lock()

    def __init__(self, store: Any) -> None:
        self._store, self._process = store, os.getpid()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._places: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def put(self, key: str, value: bytes) -> None:
        with self._lock:
            self._places[key] = self._file.seek(0, os.SEEK_END), len(value)
            self._file.write(value)

    def get(self, key: str) -> bytes | None:
        with self._lock:
            if key not in self._places:
                return None
            start, length = self._places[key]
            self._file.seek(start)
            return self._file.read(length)

    def size(self, key: str) -> int | None:
        with self._lock:
            return self._places[key][1] if key in self._places else None

    def delete(self, key: str) -> bool:
        with self._lock:
            return self._places.pop(key, None) is not None

    def keys(self, prefix: str) -> list[str]:
        with self._lock:
            return [key for key in self._places if key.startswith(prefix)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Held._forked)


def _moved(axis: int, ranges: Sequence[tuple[int, int, int]]) -> Callable[[Iterable[int]], list[int] | None]:
    """A function of the place of a chunk, for ranges of numbers on an axis; None for chunks outside them."""
    starts = [start for start, _, _ in ranges]

    def moved(index: Iterable[int]) -> list[int] | None:
        place = list(index)
        start, stop, at = ranges[max(bisect(starts, place[axis]) - 1, 0)]
        if not start <= place[axis] < stop:
            return None
        place[axis] += at - start
        return place

    return moved


def _renumbers(session: Any) -> bool:
    """Whether a session of Icechunk gives chunks other numbers, and removes those that have none."""
    renumber = getattr(session, "reindex_array", None)
    return renumber is not None and "backward" in inspect.signature(renumber).parameters


def _shown(store: Any) -> str:
    """The place of a store without secrets."""
    from ._stores import place_of

    found = place_of(store)
    return found.partition("?")[0] if found else type(store).__name__


def _objects_in_memory(store: Any) -> Any:
    """What holds the objects of a store in memory, which other stores may have too; None for others."""
    if (objects := getattr(store, "_store_dict", None)) is not None:
        return objects
    below: Any = getattr(store, "fs", None) or getattr(store, "store", None)
    below = getattr(below, "sync_fs", below)
    kind = type(below).__name__
    return below.store if kind == "MemoryFileSystem" else below if kind == "MemoryStore" else None
