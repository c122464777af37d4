"""Finds the stored arrays that data is read from, which must not be deleted before it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from xarray import Variable

from .. import _native
from .._array import Array
from .._group import Group
from .._native import printable, reads_from
from .lazy import LazyArray

WRAPPERS = 100
"""More wrappers than any array has around it."""


def check_not_read_from(group: Group, name: str, variable: Variable) -> None:
    """Raises an error if a variable is read from a group that is to be deleted.

    Raises
    ------
    ValueError
        If so; the message names both.
    """
    if variable._in_memory:
        return
    gone = _url(group)
    if gone is None:
        return
    for source, shown in _sources(variable._data):
        if isinstance(source, Array):
            is_gone = reads_from(source._native, group._native) or _is_below(_place(source), gone)
        else:
            is_gone = source is not None and _is_below(source, gone)
        if source is None:
            how = f"read from {shown}, whose place is not known, and may be what mode 'w' deletes first"
        elif is_gone:
            how = f"read from {shown}, which mode 'w' deletes first"
        else:
            continue
        raise ValueError(f"variable {name!r} is {how}: load() the data, or write it to another place")


def _is_below(place: str, gone: str) -> bool:
    return f"{place}/".startswith(f"{gone}/")


def _place(array: Array) -> str:
    return _joined(array._native.identity, array.path)


def _sources(data: Any) -> Iterator[tuple[Array | str | None, str]]:
    """The arrays below Xarray's wrappers, or in the graph of a Dask array, and texts that show them.

    Arrays of zarr-python are given as places, or None if the place is not known.
    """
    graph = getattr(data, "dask", None)
    if graph is None:
        yield from _innermost(data)
        return
    for layer in getattr(graph, "layers", {"": graph}).values():
        # Of tasks that are not made yet, only the tasks of blocks hold their sources, among their
        # indices. Making the other tasks only to look at them could take long.
        indices = getattr(layer, "indices", ())
        tasks = getattr(layer, "mapping", layer if isinstance(layer, dict) else {})
        for value in (*(index for index, _ in indices), *tasks.values()):
            yield from _of_task(value)


def _of_task(value: Any) -> Iterator[tuple[Array | str | None, str]]:
    if isinstance(value, (list, tuple)):
        parts = list(value)
    else:
        # The classes of dask, which other chunk managers do not have.
        parts = [*getattr(value, "args", ()), *(getattr(value, "kwargs", None) or {}).values()]
        if type(value).__name__ == "DataNode":
            parts.append(value.value)
    for part in parts:
        yield from _of_task(part)
    if not parts:
        yield from _innermost(value)


def _innermost(value: Any) -> Iterator[tuple[Array | str | None, str]]:
    for _ in range(WRAPPERS):
        if isinstance(value, Array) or not hasattr(value, "array"):
            break
        value = value.array
    wrapped = isinstance(value, LazyArray) or type(value).__name__ == "ZarrArrayWrapper"
    found = value._array if wrapped else value
    if isinstance(found, Array):
        yield found, printable(found._where)
    elif type(found).__module__.startswith("zarr.") and hasattr(found, "store"):
        # Of Xarray's own engine, or of Dask.
        from .._stores import place_of
        from ..store import ZarrKitStore

        if isinstance(found.store, ZarrKitStore):
            state = found.store._objects.state()
            path = f"{state[1]}/{found.path}".strip("/")
            own = Array(_native.Array.open((state[0], path, *state[2:])))
            yield own, printable(own._where)
            return
        place = place_of(found.store)
        if place is None:
            yield None, f"a {type(found.store).__name__}"
        elif place:
            joined = _joined(place, found.path)
            # Without passwords and signatures.
            yield joined, printable(re.sub(r"(?<=://)[^/@]*@|\?.*", "", joined))


def _url(group: Group) -> str | None:
    """The URL of a group; None if there is no array that could be read from it."""
    try:
        url = group._native.state()[0]
    except ValueError:
        # A store in memory, which only its arrays tell apart from others.
        array = next((node for node in _nodes(group) if isinstance(node, Array)), None)
        if array is None:
            return None
        url = array._native.identity
    return _joined(url, group.path)


def _nodes(group: Group) -> Iterator[Array | Group]:
    for node in group.values():
        yield node
        if isinstance(node, Group):
            yield from _nodes(node)


def _joined(url: str, path: str) -> str:
    """The place of a node: a real path, or a URL in one spelling."""
    scheme, separator, rest = url.partition("://")
    if url.startswith("memory:"):
        return f"{url}/{path}".rstrip("/")
    if not separator or scheme == "file":
        folder = unquote(rest.removeprefix("localhost")) if separator else url
        return os.path.realpath(os.path.join(folder, path)).rstrip("/")
    container, _, prefix = unquote(rest).partition("/")
    service = _native.service(url)
    # Azure's account, which other URLs lack, is not compared.
    container = container.partition("@")[0] if service == "az" else container
    parts = [container, *f"{prefix}/{path}".split("/")]
    if service is not None and service != "http":
        scheme = service
    return f"{scheme}://{'/'.join(filter(None, parts))}"
