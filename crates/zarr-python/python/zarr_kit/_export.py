"""References to the chunks of a node, for other programs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _native, _node


def export(
    source: Any, target: Any = None, *, storage_options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Writes references to the chunks of a virtual join, or of any store, for other programs.

    Nothing is copied: the references lead to the chunks in their places. Local files are named by
    absolute paths. fsspec, and so zarr-python and Xarray, read a file of references; Icechunk keeps them
    in versions.

    Parameters
    ----------
    source
        An open array or group, or the folder or URL of one, such as ``"year.zjoin"``.
    target
        A new file for the references, or the store of a writable session of Icechunk
        (``session.store``). The repository must have virtual chunk containers for the places of the
        chunks; the session is not committed. None to write nothing.
    storage_options
        As for `zarr_kit.open`, unless ``source`` is open.

    Returns
    -------
    dict
        The file's content: ``{"version": 1, "refs": {key: text or [url, offset, length]}}``.

    Raises
    ------
    OSError
        If chunks have several lengths, if a member has other codecs or another fill value than the
        joined array, or if other programs cannot read a chunk where it is, as in a zip archive.
    FileExistsError
        If there is a file at ``target``.
    ValueError
        If ``target`` is the name of a table, ``.parq``: only JSON is written.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> members = [f"{folder}/a.zarr", f"{folder}/b.zarr"]
    >>> for member in members:
    ...     zarr_kit.create(member, shape=10, dtype="i2", chunks=5)[:] = 1
    >>> _ = zarr_kit.join(members, f"{folder}/both.zjoin", along=0, virtual=True)
    >>> references = zarr_kit.export(f"{folder}/both.zjoin", f"{folder}/both.json")
    >>> sorted(references["refs"])
    ['c/0', 'c/1', 'c/2', 'c/3', 'zarr.json']
    """
    if isinstance(target, (str, os.PathLike)) and os.fspath(target).endswith((".parq", ".parquet")):
        raise ValueError("a table of references is not written, only JSON: choose a name such as year.json")
    text = _native.references(_node.at(source, storage_options))
    found: dict[str, Any] = json.loads(text)
    if type(target).__module__.split(".")[0] == "icechunk":
        _into_icechunk(found["refs"], target)
    elif target is not None:
        with open(os.path.expanduser(target), "x", encoding="utf-8") as file:
            file.write(text + "\n")
    return found


def _into_icechunk(refs: Mapping[str, Any], store: Any) -> None:
    import base64

    from icechunk import VirtualChunkSpec
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    buffer = default_buffer_prototype().buffer
    if old := [key for key in refs if key.rpartition("/")[2] in (".zarray", ".zgroup")]:
        raise ValueError(f"Icechunk has Zarr version 3 alone, and {old[0]} is of version 2: join or copy it first")
    arrays: dict[str, list[Any]] = {}
    # Documents first, the outermost first.
    for key in sorted(refs, key=lambda key: (not key.endswith("zarr.json"), key.count("/"))):
        value = refs[key]
        if key == "zarr.json" or key.endswith("/zarr.json"):
            sync(store.set(key, buffer.from_bytes(value.encode())))
            if json.loads(value)["node_type"] == "array":
                arrays[key[: -len("zarr.json")]] = []
        elif isinstance(value, str):
            data = base64.b64decode(value.removeprefix("base64:"))
            sync(store.set(key, buffer.from_bytes(data)))
        else:
            # Every array is above its chunks, and the innermost is theirs.
            array = max((array for array in arrays if key.startswith(array)), key=len)
            url, offset, length = value
            place = url if "://" in url else Path(url).as_uri()
            index = [int(number) for number in re.findall(r"\d+", key[len(array) :])]
            arrays[array].append(VirtualChunkSpec(index=index, location=place, offset=offset, length=length))
    for array, chunks in arrays.items():
        refused = chunks and store.set_virtual_refs(array.rstrip("/"), chunks, validate_containers=True)
        if refused:
            raise ValueError(f"{array or 'the root'}: the repository has no virtual chunk container for its chunks")
