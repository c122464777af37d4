"""The rules of appends: those of ``zarr-kit append`` and `zarr_kit.append`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from .. import _native, create_group
from .._array import Array
from .._cast import cast
from .._group import Group
from .store import variable as stored_variable


def check_equal(name: str, variable: Any, array: Array, dim: Hashable) -> None:
    """Raises an error unless a variable without the dimension has the stored elements.

    Raises
    ------
    ValueError
        If it has others: what is stored would get other coordinates.
    """
    stored = stored_variable(name, array).load().values
    found = np.asarray(variable.values)
    if array.dtype.kind in "TO":
        same = stored.tolist() == found.tolist()
    else:
        found = cast(found, array.dtype)
        same = np.array_equal(stored, found, equal_nan=found.dtype.kind in "fcmM")
    if not same:
        raise ValueError(
            f"variable {name!r} has no dimension {dim!r}, and its elements differ from those that are "
            "stored: an append would give what is stored other ones; write it without append_dim first"
        )


def check_order(group: Group, updates: Iterable[Any], dim: str) -> None:
    """Raises an error if the appended coordinates of the dimension do not follow the stored ones.

    Raises
    ------
    ValueError
        If they overlap, go backwards, or are there already.
    """
    update = next((u for u in updates if u.name == dim and u.variable.dims == (dim,)), None)
    if update is None or update.array.dtype.kind not in "iufmM" or not update.variable.size:
        return
    array = update.array
    # NaN is missing in any case, and no JSON.
    meaning = {
        key: value
        for key, value in array.attrs.items()
        if key in _native.MEANING and not (isinstance(value, float) and value != value)
    }
    added = create_group("memory:")
    values = cast(np.asarray(update.variable.values), array.dtype)
    added.create_array(
        dim, shape=values.shape, dtype=array.dtype, attributes=meaning, dimension_names=[dim]
    )[...] = values
    try:
        _native.check_order(group._native, added._native, dim)
    except ValueError as error:
        error.add_note("any_order=True appends all the same")
        raise
