"""Stores for zarr-python of places that only zarr-kit opens: virtual joins, files of references, archives."""

from __future__ import annotations

from ._extras import need

need("zarr", "zarr")

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype

from . import _native, _store

__all__ = ["ZarrKitStore"]

_END = 2**64 - 1


def __dir__() -> list[str]:
    return __all__


class ZarrKitStore(Store):
    """The documents and chunks of a place that zarr-kit opens, as a store of zarr-python.

    It is read only. Of a virtual join, each chunk is the chunk of a member: its members must agree
    in codecs, fill value and chunks with the joined array, or reading a chunk of another member is
    an OSError. Joined chunks mostly have several lengths: set zarr-python's configuration
    ``array.rectilinear_chunks``.

    Parameters
    ----------
    url, storage_options
        As for `zarr_kit.open`.

    Raises
    ------
    FileNotFoundError
        If the place does not exist.
    ValueError
        On writing and deleting.

    Examples
    --------
    >>> import tempfile, zarr, zarr_kit
    >>> from zarr_kit.store import ZarrKitStore
    >>> folder = tempfile.mkdtemp()
    >>> months = [f"{folder}/jan.zarr", f"{folder}/feb.zarr"]
    >>> for month, days in zip(months, (31, 28)):
    ...     zarr_kit.create(month, shape=days, dtype="i2", chunks=days)[:] = days
    >>> _ = zarr_kit.join(months, f"{folder}/both.zjoin", along=0, virtual=True)
    >>> with zarr.config.set({"array.rectilinear_chunks": True}):
    ...     zarr.open_array(ZarrKitStore(f"{folder}/both.zjoin"))[30:32].tolist()
    [31, 28]
    """

    supports_writes = False
    supports_deletes = False
    supports_partial_writes = False
    supports_listing = True

    def __init__(self, url: _store.Url, *, storage_options: Mapping[str, Any] | None = None) -> None:
        super().__init__(read_only=True)
        self._objects = _native.Objects(_store.state(url, "", storage_options))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarrKitStore) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key()[0])

    def _key(self) -> tuple[Any, ...]:
        """What a pickle holds. A store in memory has no pickle, and equals only itself."""
        try:
            found: tuple[Any, ...] = self.__reduce__()[1]
        except ValueError:
            return (id(self),)
        return found

    def __repr__(self) -> str:
        return f"ZarrKitStore({self._objects.shown!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        url, _, settings, *_ = self._objects.state()
        return _restored, (url, _store.portable(url, settings))

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The bytes of an object, or a part of them.

        Parameters
        ----------
        key
            The path of the object.
        prototype
            The kind of memory that is returned.
        byte_range
            The part; None for the whole object.

        Returns
        -------
        zarr.core.buffer.Buffer or None
            None if there is no such object.

        Raises
        ------
        ValueError
            If no object can have this path.
        TypeError
            If the part is none of zarr-python's kinds.
        OSError
            If the object cannot be read, or is a chunk that the joined array cannot present.
        """
        part, suffix = None, None
        match byte_range:
            case RangeByteRequest(start, end):
                part = (start, end)
            case OffsetByteRequest(offset):
                part = (offset, _END)
            case SuffixByteRequest(count):
                suffix = count
            case None:
                pass
            case _:
                raise TypeError(
                    f"byte_range: None or a RangeByteRequest, OffsetByteRequest or SuffixByteRequest of "
                    f"zarr.abc.store, not {byte_range!r}"
                )
        found = await asyncio.to_thread(self._objects.get, key, part, suffix)
        return None if found is None else prototype.buffer.from_bytes(found)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Parts of several objects.

        Parameters
        ----------
        prototype
            The kind of memory that is returned.
        key_ranges
            Pairs of the path and the part, as for `get`.

        Returns
        -------
        list of zarr.core.buffer.Buffer or None

        Raises
        ------
        ValueError, OSError
            As `get`.
        """
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        """Whether there is an object.

        Parameters
        ----------
        key
            The path of the object.

        Returns
        -------
        bool

        Raises
        ------
        ValueError
            If no object can have this path.
        OSError
            If the store fails.
        """
        return await asyncio.to_thread(self._objects.size, key) is not None

    async def getsize(self, key: str) -> int:
        """The length of an object in bytes.

        Parameters
        ----------
        key
            The path of the object.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If no object can have this path.
        FileNotFoundError
            If there is no such object.
        OSError
            If the store fails.
        """
        size = await asyncio.to_thread(self._objects.size, key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def list(self) -> AsyncIterator[str]:
        """The paths of all objects.

        Yields
        ------
        str

        Raises
        ------
        OSError
            If the place cannot be listed.
        """
        for key in await asyncio.to_thread(self._objects.keys, ""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The paths of the objects that begin with a text.

        Parameters
        ----------
        prefix
            The text.

        Yields
        ------
        str

        Raises
        ------
        ValueError
            If no object can have this path.
        OSError
            If the place cannot be listed.
        """
        folder = prefix.rpartition("/")[0]
        for key in await asyncio.to_thread(self._objects.keys, folder):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names directly in a folder.

        Parameters
        ----------
        prefix
            The path of the folder.

        Yields
        ------
        str

        Raises
        ------
        ValueError
            If no object can have this path.
        OSError
            If the place cannot be listed.
        """
        for name in await asyncio.to_thread(self._objects.children, prefix):
            yield name

    async def set(self, key: str, value: Buffer) -> None:
        """Refuses: the store is read only.

        Parameters
        ----------
        key, value
            Not used.

        Raises
        ------
        ValueError
            Always.
        """
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refuses: the store is read only.

        Parameters
        ----------
        key
            Not used.

        Raises
        ------
        ValueError
            Always.
        """
        self._check_writable()

    async def delete_dir(self, prefix: str) -> None:
        """Refuses: the store is read only.

        Parameters
        ----------
        prefix
            Not used.

        Raises
        ------
        ValueError
            Always.
        """
        self._check_writable()

    async def clear(self) -> None:
        """Refuses: the store is read only.

        Raises
        ------
        ValueError
            Always.
        """
        self._check_writable()


def _restored(url: str, settings: Mapping[str, Any]) -> ZarrKitStore:
    return ZarrKitStore(url, storage_options=settings)
