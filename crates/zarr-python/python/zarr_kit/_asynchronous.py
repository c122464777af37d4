"""Reads and writes that are awaited, for servers and notebooks with an event loop of their own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._array import Array
    from ._group import Group


class AsyncArray:
    """`Array.asynchronous`: each call runs in a thread of the event loop's pool, which it leaves free.

    Examples
    --------
    >>> import asyncio, zarr_kit
    >>> a = zarr_kit.create("memory:", shape=3, dtype="i2", fill_value=4)
    >>> asyncio.run(a.asynchronous.read(slice(1, 3))).tolist()
    [4, 4]
    """

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    async def read(self, key: Any = ..., out: Any = None) -> Any:
        """As `Array.read`."""
        return await asyncio.to_thread(self._array.read, key, out)

    async def write(self, key: Any, value: Any) -> None:
        """As `Array.write`."""
        await asyncio.to_thread(self._array.write, key, value)

    getitem, setitem = read, write

    def __repr__(self) -> str:
        return f"<zarr_kit.AsyncArray of {self._array!r}>"


class AsyncGroup:
    """`Group.asynchronous`: as `AsyncArray`.

    Examples
    --------
    >>> import asyncio, zarr_kit
    >>> g = zarr_kit.create_group("memory:")
    >>> _ = g.create_array("rain", shape=3, dtype="i2")
    >>> asyncio.run(g.asynchronous.node("rain")).shape
    (3,)
    """

    __slots__ = ("_group",)

    def __init__(self, group: Group) -> None:
        self._group = group

    async def node(self, name: str) -> Array | Group:
        """The array or group of this name."""
        return await asyncio.to_thread(self._group.__getitem__, name)

    async def names(self) -> list[str]:
        """The names of the direct children."""
        return await asyncio.to_thread(list, self._group)

    getitem = node

    def __repr__(self) -> str:
        return f"<zarr_kit.AsyncGroup of {self._group!r}>"
