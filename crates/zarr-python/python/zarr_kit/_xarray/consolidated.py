"""Consolidated metadata: copies of documents in the document of a group above them.

They are older than what they copy as soon as that changes. So whatever writes below a group that has
them makes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .._array import Array
from .._group import Group
from .._native import ConflictError
from .store import nodes

ATTEMPTS = 10
"""How often another change of the same document may be faster."""

KEY = "consolidated_metadata"


def renew(group: Group, keep: bool | None) -> None:
    """Makes the consolidated metadata of a group and of those above it true again.

    Parameters
    ----------
    group
        The group in and below which documents have changed.
    keep
        None to make anew what there is; True to make it for the whole store, also where there is
        none; False to remove it.
    """
    parts = group.path.split("/") if group.path else []
    for depth in range(len(parts) + 1):
        above, below = "/".join(parts[:depth]), "/".join(parts[depth:])
        for attempt in range(ATTEMPTS):
            try:
                found = Group(group._native.at(above))
            except FileNotFoundError:  # zarr-python makes groups without those above them
                break
            is_wanted = KEY in found.metadata or keep is True and depth == 0
            if not is_wanted:
                break
            try:
                found._native.replaced(_renewed(found, below, keep is not False))
                break
            except ConflictError:
                if attempt + 1 == ATTEMPTS:
                    raise


def _renewed(group: Group, changed: str, keep: bool) -> str:
    """The group's document with entries that are true below the path of what has changed."""
    document = group.metadata
    before = document.pop(KEY, None)
    if not keep:
        return json.dumps(document, allow_nan=False)
    if before is None or not changed:
        entries = dict(_below(group, ""))
    else:
        entries = {
            path: entry
            for path, entry in before["metadata"].items()
            if path != changed and not path.startswith(f"{changed}/")
        }
        names = changed.split("/")
        for parent in ("/".join(names[:depth]) for depth in range(1, len(names))):
            entries[parent] = _bare(group[parent])
        entries.update(_below(group[changed], changed))
    document[KEY] = {
        "kind": "inline",
        "must_understand": False,
        "metadata": dict(sorted(entries.items())),
    }
    return json.dumps(document, allow_nan=False)


def _below(node: Array | Group, path: str) -> Iterator[tuple[str, Any]]:
    """A node's document and those below it by path, without that of the root of the paths."""
    if path:
        yield path, _bare(node)
    if isinstance(node, Group):
        for name, child in nodes(node).items():
            yield from _below(child, f"{path}/{name}" if path else name)


def _bare(node: Array | Group) -> dict[str, Any]:
    document = node.metadata
    document.pop(KEY, None)
    return document
