"""The part of the stored variables to which a dataset is written."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from xarray import Dataset, conventions

from .._array import Array
from .store import variable

Region = Mapping[Any, slice | Literal["auto"]] | Literal["auto"]


def resolved(
    dataset: Dataset, region: Region, arrays: Mapping[str, Array], append_dim: Hashable | None
) -> tuple[Dataset, dict[Hashable, slice]]:
    """The slices of a region, and the dataset without its indexes, which are not written.

    ``"auto"`` finds the slice of a dimension by the values of its coordinate.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the region is not valid, or does not fit the dataset's dimensions.
    """
    if region == "auto":
        region = dict.fromkeys(dataset.dims, "auto")
    if not isinstance(region, Mapping):
        raise TypeError(f"region must be a dict or 'auto', not {type(region).__name__}")
    slices: dict[Hashable, slice] = {}
    for dim, part in region.items():
        if dim not in dataset.dims:
            raise ValueError(
                f"all keys in ``region`` are not in Dataset dimensions, got "
                f"{list(region)} and {list(dataset.dims)}"
            )
        if isinstance(part, str) and part == "auto":
            part = _found(dataset, dim, arrays)
        if not isinstance(part, slice):
            raise TypeError(f"all values in ``region`` must be slice objects, got region={region}")
        if part.step not in (1, None):
            raise ValueError(f"step on all slices in ``region`` must be 1 or None, got region={region}")
        slices[dim] = part
    apart = [name for name, v in dataset.variables.items() if not set(slices) & set(v.dims)]
    if slices and apart:
        raise ValueError(
            "when setting `region` explicitly in to_zarr(), all variables in the dataset to write "
            "must have at least one dimension in common with the region's dimensions "
            f"{list(slices)}, but that is not the case for some variables here: leave them out "
            f"with .drop_vars({apart!r})"
        )
    if append_dim in slices:
        raise ValueError(
            f"cannot list the same dimension in both ``append_dim`` and ``region``: {append_dim!r}"
        )
    return dataset.drop_vars(dataset.indexes), slices


def _found(dataset: Dataset, dim: Hashable, arrays: Mapping[str, Array]) -> slice:
    """The place of a coordinate's values among the stored ones."""
    if dim not in dataset.variables:
        return slice(0, dataset.sizes[dim])
    if dim not in arrays:
        raise KeyError(f"region 'auto': there is no stored coordinate {dim!r}")
    stored = conventions.decode_cf_variable(dim, variable(str(dim), arrays[str(dim)]).load())
    places = pd.Index(stored.values).get_indexer(dataset[dim].values)
    if (places == -1).any():
        raise KeyError(
            f"Not all values of coordinate '{dim}' in the new array were found in the original "
            "store: a region changes no coordinates"
        )
    if (np.diff(places) != 1).any():
        raise ValueError(
            f"The auto-detected region of coordinate '{dim}' has non-contiguous indices: the new "
            "data must be a contiguous part of what is stored"
        )
    start = int(places[0]) if len(places) else 0
    return slice(start, start + len(places))
