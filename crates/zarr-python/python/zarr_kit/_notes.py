"""Notes to users, by the logger ``zarr_kit``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ._native import printable

LOGGER = logging.getLogger("zarr_kit")

_SHOWN = 10
"""The number of names in the warning about files that no copy can have."""


def note_readers(documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Names programs that read new arrays (names with documents), if some refuse them by default."""
    names = [
        repr(name) if name else "the array"
        for name, document in documents.items()
        if document["chunk_grid"]["name"] == "rectilinear"
    ]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        LOGGER.warning(
            "%s%s: chunks of several lengths (rectilinear). Xarray reads them with engine=\"zarr-kit\"; "
            "zarr-python, and Xarray's engine \"zarr\", with "
            "zarr.config.set({\"array.rectilinear_chunks\": True})",
            ", ".join(names[:3]),
            more,
        )


SMALL_CHUNK = 1 << 16
"""The bytes of a chunk below which many of them are worth a word."""

_MANY = 100
"""The number of small chunks that an append may add without a word."""


def note_small_chunks(name: str, dim: str, edge: int, size: int, added: int) -> None:
    """Says that an append adds many small chunks (of so many bytes), because the first write had few elements."""
    if size < SMALL_CHUNK and added > _MANY * edge:
        LOGGER.warning(
            "%r has chunks of %d along %r, as its first write had, so that this append adds %d of them: give "
            "the first write chunks={%r: N}, or change the chunks of what is stored by zarr_kit.copy",
            name,
            edge,
            dim,
            -(-added // edge),
            dim,
        )


def note_undecoded(path: str, notes: Sequence[str]) -> None:
    """Says what the attributes of an array say and decoded values do not have."""
    for note in notes:
        LOGGER.warning("%s: %s", repr(path) if path else "the array", note)


def note_repeated(path: str, times: int, why: str) -> None:
    """Says that a copy reads each chunk of an array many times."""
    LOGGER.warning(
        "%s: chunks of the source are read %d times, since %s: give more memory, or another place as intermediate",
        repr(path) if path else "the array",
        times,
        why,
    )


def note_without_key(names: Sequence[str]) -> None:
    """Warns about files that no copy can have, since they are no objects."""
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        LOGGER.warning(
            "not in the copy: %s%s; no key can have such a name, or it is no regular file",
            ", ".join(map(repr, names[:_SHOWN])),
            more,
        )


def note_left_out(names: Sequence[str]) -> None:
    """Warns about objects of members that are not in a join, since they belong to no array."""
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        LOGGER.warning("not in the join: %s%s; they belong to no array", ", ".join(map(repr, names[:_SHOWN])), more)


def note_around(place: str, why: str) -> None:
    """Warns that the consolidated metadata of groups did not follow a change."""
    LOGGER.warning(
        "%s: the consolidated metadata of the groups around it may be out of date: %s",
        printable(place),
        printable(why),
    )


def note_other_files(place: str, names: Sequence[str]) -> None:
    """Warns about files of other programs at the place of a new node."""
    more = " and more" if len(names) > 3 else ""
    LOGGER.warning(
        "%s: there are files in it that belong to no node: %s%s; what deletes the node leaves them, or refuses",
        printable(place),
        ", ".join(map(repr, names[:3])),
        more,
    )


def note_lock(waiting: str) -> None:
    """Says that another process holds a lock."""
    LOGGER.warning("waiting: %s", waiting)
