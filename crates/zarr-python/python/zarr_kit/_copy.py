"""Copies of arrays and groups into other chunks, codecs and stores."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _create, _grid, _native, _node, _store
from ._array import Array
from ._check import MEMORY, parsed_bytes
from ._group import Group
from ._progress import Progress, told

_SHOWN = 10
"""How many of the names are in the warning that no copy can have."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did.

    Attributes
    ----------
    arrays, groups
        How many were copied.
    nbytes
        Bytes of elements, or of objects that were copied as they are.
    tasks_done_before
        For a resumed copy, the parts that the earlier copy had finished.
    others
        How many objects that belong to no array or group were copied too, such as a README.
    without_key
        What is in the source and in no copy, because it is no object: files whose name no key can
        have, links that lead nowhere. A warning names them, too.
    """

    arrays: int
    groups: int
    nbytes: int
    tasks_done_before: int
    others: int
    without_key: tuple[str, ...]


def copy(
    source: _store.Url | Array | Group,
    target: _store.Url | Group,
    *,
    chunks: Any = None,
    codecs: Sequence[Mapping[str, Any] | str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    verify: bool = False,
    allow_loss: bool = False,
    memory: int | str = MEMORY,
    progress: Progress = False,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> Copied:
    """Copies an array, or a group and everything below it.

    Every chunk of the target is encoded and written once. A copy that is interrupted can be resumed;
    until it is finished, there is no node at the target.

    Parameters
    ----------
    source
        An open array or group, or a folder or URL.
    target
        A folder or URL that contains nothing.
    chunks
        The chunks of the arrays in the target, as for `create`; None for those of the source. For
        a group, one length or shape for all arrays, or a dict with the paths of arrays as keys.
    codecs
        The codecs of the arrays in the target; None for those of the source.
    overwrite
        Whether a node at the target is removed first.
    resume
        Whether an interrupted copy of the same source is continued.
    verify
        Whether what was written is read again and compared.
    allow_loss
        Whether values may change that the target's codecs cannot keep.
    memory
        The memory that elements and chunks may use, such as ``"512MiB"``.
    progress
        True for a progress bar on standard error, or a function that gets the path of an array,
        the bytes done, and the total number of bytes, or None if that is not known.
    source_options, target_options
        Settings of the stores, if ``source`` and ``target`` are URLs.

    Returns
    -------
    Copied
        How many arrays, groups and bytes were copied.

    Raises
    ------
    FileExistsError
        If there is a node at the target.
    UnfinishedCopyError
        If there is an unfinished copy at the target: ``resume`` or ``overwrite`` it.
    LossError, ValueError
        If values would change, or if the chunks do not fit.

    Examples
    --------
    >>> import tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> a = zarr_kit.create(f"{folder}/a", shape=59, dtype="i2", chunks=[(31, 28)], fill_value=3)
    >>> zarr_kit.copy(f"{folder}/a", f"{folder}/b", chunks=20).arrays
    1
    >>> zarr_kit.open(f"{folder}/b").chunks
    ((20, 20, 19),)
    """
    root = source.path if isinstance(source, (Array, Group)) else ""
    place = _node.at(source, source_options)
    if isinstance(chunks, Mapping):
        _check_paths(chunks, place)

    def change(path: str, document: str) -> tuple[str | None, str | None]:
        within = path.removeprefix(root).strip("/")
        asked = chunks.get(within) if isinstance(chunks, Mapping) else chunks
        grid = None
        if asked is not None:
            grid = json.dumps(_grid.document(asked, tuple(json.loads(document)["shape"])))
        return grid, None if codecs is None else _create.codecs_json(codecs)

    arguments = CopyArguments(parsed_bytes(memory), resume, overwrite, verify, allow_loss)
    with told(progress, "bytes") as tell:
        done = _native.copy(
            place,
            _node.target(target, target_options),
            change,
            arguments,
            tell,
        )
    arrays, groups, nbytes, done_before, others, without_key = done
    if without_key:
        names = ", ".join(map(repr, without_key[:_SHOWN]))
        more = f" and {len(without_key) - _SHOWN} more" if len(without_key) > _SHOWN else ""
        warnings.warn(
            f"not in the copy: {names}{more}; no key can have such a name, or it is no regular file",
            stacklevel=2,
        )
    return Copied(arrays, groups, nbytes, done_before, others, tuple(without_key))


def _check_paths(chunks: Mapping[str, Any], place: _native.NodeOrState) -> None:
    """Refuses chunks for paths at which there is no array."""
    if isinstance(place, _native.Array):
        raise TypeError("chunks: a dict of paths is for groups")
    group = Group(_native.Group.open(place) if isinstance(place, tuple) else place)
    wrong = [path for path in chunks if not isinstance(group.get(path), Array)]
    if wrong:
        raise ValueError(f"chunks: there are no arrays {wrong} in {group!r}")


@dataclass(frozen=True)
class CopyArguments:
    """The arguments of the native part."""

    memory: int
    resume: bool
    overwrite: bool
    verify: bool
    allow_loss: bool
