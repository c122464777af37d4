"""Checks that encoded elements are read as the elements that were given.

Xarray rounds times to the type of their numbers, and takes a value that is packed onto the marker of
missing elements for missing.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from numpy.typing import NDArray
from xarray import Variable, apply_ufunc, conventions
from xarray.coders import CFDatetimeCoder
from xarray.coding.strings import check_vlen_dtype

from .. import _native
from .._cast import _element, cast

MARKERS = ("_FillValue", "missing_value")
"""The attributes that say which stored elements are missing."""

DECODED = tuple(name for name in _native.MEANING if not name.startswith("flag_"))
"""The attributes that Xarray's decoders look at."""


def _refuse_missing_texts(given: Variable, encoded: Variable) -> None:
    """Refuses missing elements among strings: Xarray stores empty ones in their place."""
    is_text = encoded.dtype.kind in "TUS" or check_vlen_dtype(encoded.dtype) in (str, bytes)  # type: ignore[no-untyped-call]
    if given.dtype.kind != "O" or not is_text or any(marker in encoded.attrs for marker in MARKERS):
        return
    # Xarray has computed Dask arrays of objects too, to know their type.
    values = given.values
    if lost := np.argwhere(pd.isnull(values)).tolist():
        raise ValueError(
            f"{_element(lost[0])} is missing ({values[tuple(lost[0])]!r}) among strings, which have no "
            "missing values in Zarr: write another value in its place"
        )


def kept(given: Variable, encoded: Variable) -> Variable:
    """The encoded variable, whose elements read as the given ones.

    Raises
    ------
    ValueError
        If a time would become another, a value would become missing, or a missing one a value; the
        message names the first. Tasks of Dask arrays raise this when they are computed.
    """
    _refuse_missing_texts(given, encoded)
    times = given.dtype.kind in "mM" or _is_cftime(given, encoded)
    marks = [encoded.attrs.get(marker) for marker in MARKERS if marker not in given.attrs]
    is_marked = any(mark is not None and not np.any(pd.isnull(mark)) for mark in marks)
    # What the given variable has as an attribute is not decoded: its elements are the stored ones.
    attributes = {key: value for key, value in encoded.attrs.items() if key not in given.attrs}
    attributes = {key: attributes[key] for key in DECODED if key in attributes}
    if not times and (encoded.dtype.kind not in "biufc" or not is_marked and "_Unsigned" not in attributes):
        return encoded
    check = functools.partial(
        _checked, dims=given.dims, attributes=attributes, dtype=encoded.dtype
    )
    # Both as plain arrays: the indexes of coordinates are not needed.
    found = apply_ufunc(
        check,
        Variable(given.dims, given.data),
        Variable(encoded.dims, encoded.data),
        dask="parallelized",
        output_dtypes=[encoded.dtype],
    )
    return Variable(encoded.dims, found.data, encoded.attrs, encoded.encoding)


def _is_cftime(given: Variable, encoded: Variable) -> bool:
    """Whether objects were encoded as times."""
    return given.dtype.kind == "O" and "since" in str(encoded.attrs.get("units"))


def _checked(
    given: NDArray[Any],
    encoded: NDArray[Any],
    dims: tuple[Hashable, ...],
    attributes: dict[str, Any],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    if encoded.dtype != dtype and dtype.kind in "iuf":
        # Blocks of Dask arrays may have another type than they declare.
        encoded = cast(encoded, dtype)
    read = _read(given, encoded, dims, attributes)
    missing = pd.isnull(given)
    # An array also of no axes, whose elements can be assigned.
    lost = np.array(missing != pd.isnull(read))
    if given.dtype.kind in "mM" and read.dtype.kind == given.dtype.kind:
        lost |= np.abs(read - given) >= _tolerance(given)
    elif given.dtype.kind == "O" and "since" in str(attributes.get("units")):
        both = ~missing & ~lost
        lost[both] = np.abs(read[both] - given[both]) >= _tolerance_of_objects(given[both])
    elif "_Unsigned" in attributes and given.dtype.kind in "iuf":
        # Xarray wraps what does not fit.
        scale = float(abs(attributes.get("scale_factor", 0.0)))
        lost |= ~missing & (np.abs(read.astype("f8") - given.astype("f8")) > scale * 0.501)
    if np.any(lost):
        place = np.argwhere(lost)[0].tolist()
        index = tuple(place)
        what = "missing" if pd.isnull(read[index]) else str(read[index])
        raise ValueError(
            f"{_element(place)}: {given[index]} would be stored as {encoded[index]}, which is read as {what}"
        )
    return encoded


def _read(
    given: NDArray[Any], encoded: NDArray[Any], dims: tuple[Hashable, ...], attributes: dict[str, Any]
) -> NDArray[Any]:
    """The elements as Xarray reads them, in the unit of the given ones."""
    times: Any = True
    if given.dtype.kind == "M":
        unit: Any = np.datetime_data(given.dtype)[0]
        times = CFDatetimeCoder(time_unit=unit if unit in ("s", "ms", "us", "ns") else "s")
    elif given.dtype.kind == "O":
        times = CFDatetimeCoder(use_cftime=True)
    stored = Variable(dims, encoded, dict(attributes))
    durations = True if given.dtype.kind == "m" else None
    return conventions.decode_cf_variable(
        "", stored, decode_times=times, decode_timedelta=durations
    ).values


def _tolerance(given: NDArray[Any]) -> Any:
    """Half of the coarsest unit of which all times are multiples: floats of days have no finer times."""
    known = given[~np.isnat(given)]
    halves = {"s": np.timedelta64(500, "ms"), "ms": np.timedelta64(500, "us"), "us": np.timedelta64(500, "ns")}
    for unit, half in halves.items():
        if (known.astype(f"{given.dtype.kind}8[{unit}]") == known).all():
            return half
    return np.timedelta64(1, "ns")


def _tolerance_of_objects(given: NDArray[Any]) -> timedelta:
    """The same of cftime's times."""
    parts = [each.microsecond for each in given.flat]
    if not any(parts):
        return timedelta(milliseconds=500)
    return timedelta(microseconds=1 if any(part % 1000 for part in parts) else 500)
