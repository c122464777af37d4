"""Stores of zarr-python as places that the native part opens by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zarr.storage import LocalStore

if TYPE_CHECKING:
    from zarr.abc.store import Store


class Place(NamedTuple):
    """The URL and the settings of a store."""

    url: str
    settings: dict[str, str]


def place(store: Store) -> Place | None:
    """Where a store of zarr-python is; None for one that only zarr-python reads.

    Classes derived from zarr-python's may do anything: they are not known.
    """
    if type(store) is LocalStore:
        return Place(str(store.root.absolute()), {})
    return None
