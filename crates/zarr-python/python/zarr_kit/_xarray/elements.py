"""Encodes the elements of variables: new ones as their encoding says, others as what is stored."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from numpy.typing import NDArray
from xarray import Dataset, Variable, apply_ufunc, conventions
from xarray.backends.zarr import encode_zarr_variable
from xarray.coders import CFDatetimeCoder, CFTimedeltaCoder
from xarray.coding.variables import CFMaskCoder, CFScaleOffsetCoder

from .. import _native
from .._array import Array
from .._cast import Casting, _element, cast
from .._dtypes import integer_limits
from .kept import MARKERS, kept
from .store import variable as stored_variable

_FORMAT: dict[str, Any] = {"zarr_format": 3} if "zarr_format" in inspect.signature(encode_zarr_variable).parameters else {}
"""The arguments that Xarray's encoder requires since version 2026.9."""

BEFORE_TYPE = (CFDatetimeCoder(), CFTimedeltaCoder(), CFScaleOffsetCoder(), CFMaskCoder())
"""What Xarray does before it converts elements to the type of the encoding."""

PACKING = tuple(_native.PACKING)
"""The attributes without which stored numbers have another meaning."""


@contextlib.contextmanager
def noted(note: str) -> Iterator[None]:
    """Adds a note to an error."""
    try:
        yield
    except Exception as error:
        error.add_note(note)
        raise


def encoded(name: str, variable: Variable, casting: Casting = "exact") -> Variable:
    """Encodes a variable as its encoding says.

    Raises
    ------
    ValueError, TypeError, OverflowError
        If Xarray cannot, or an element does not fit into the type or would be read as another one; a
        note names the variable. Tasks of Dask arrays raise this when they are computed.
    """
    with noted(f"while variable {name!r} was encoded"):
        if casting == "unsafe":
            found: Variable = encode_zarr_variable(variable, name=name, **_FORMAT)
        else:
            found = encode_zarr_variable(_with_type(name, variable), name=name, **_FORMAT)
            found = kept(variable, found)
    if found.encoding.get("_FillValue") is not None:
        raise ValueError(f"variable {name!r}: _FillValue is left in its encoding")
    return found


def _with_type(name: str, variable: Variable) -> Variable:
    """Converts numbers to the type of the encoding: Xarray would wrap or round those that do not fit."""
    dtype = variable.encoding.get("dtype")
    if dtype is None:
        return variable
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc" and integer_limits(dtype) is None:
        return variable
    unsigned = variable.encoding.get("_Unsigned")
    if unsigned is not None and dtype.kind in "iu" and not set(MARKERS) & set(variable.encoding):
        # Xarray wraps these too, but loses the attribute.
        return _with_other_sign(name, variable, dtype, str(unsigned))
    if unsigned is not None:
        return variable
    is_packed = bool({"scale_factor", "add_offset"} & set(variable.encoding))
    for coder in BEFORE_TYPE:
        variable = coder.encode(variable, name=name)
    if variable.dtype == dtype or variable.dtype.kind not in "biufc":
        return variable
    entered = functools.partial(_entered, dtype=dtype, is_packed=is_packed)
    found = apply_ufunc(entered, variable, dask="parallelized", output_dtypes=[dtype])
    encoding = {key: value for key, value in variable.encoding.items() if key != "dtype"}
    return Variable(variable.dims, found.data, variable.attrs, encoding)


def _with_other_sign(
    name: str, variable: Variable, dtype: np.dtype[Any], unsigned: str
) -> Variable:
    """Converts elements to integers whose sign is not that of their stored type, by NetCDF's convention."""
    read = np.dtype(f"{'u' if unsigned == 'true' else 'i'}{dtype.itemsize}")
    encoding = {key: value for key, value in variable.encoding.items() if key != "_Unsigned"}
    found = Variable(variable.dims, variable.data, variable.attrs, {**encoding, "dtype": read})
    found = _with_type(name, found)
    wrapped = apply_ufunc(
        lambda values: values.view(dtype), found, dask="parallelized", output_dtypes=[dtype]
    )
    encoding = {key: value for key, value in found.encoding.items() if key != "dtype"}
    attributes = {**found.attrs, "_Unsigned": unsigned}
    return Variable(variable.dims, wrapped.data, attributes, encoding)


def decoded(
    name: str, given: Variable, array: Array, bounded: Mapping[str, Any] | None = None
) -> Variable:
    """A stored variable in the form in which another is given, with its encoding.

    ``bounded`` has the units of the variable of which this one has the bounds; bounds of times may lack
    them.
    """
    # Xarray decodes durations that have only units if it is told so.
    durations = True if given.dtype.kind == "m" else None
    variable = stored_variable(name, array)
    if bounded and "since" in str(bounded.get("units")):
        variable.attrs = {**bounded, **variable.attrs}
    return conventions.decode_cf_variable(name, variable, decode_timedelta=durations)


def encoded_as_stored(
    name: str, given: Variable, stored: Variable, array: Array, casting: Casting = "exact"
) -> Variable:
    """Encodes a variable so that it reads the same beside the stored elements.

    Raises
    ------
    ValueError, TypeError, OverflowError
        If the stored attributes or the stored type cannot express an element.
    """
    variable = given.copy(deep=False)
    if array.dtype.kind not in "mM":
        # Other arrays have times as numbers.
        variable.encoding = _encoding(stored, array)
        variable = encoded(name, variable, casting)
    with noted(f"while variable {name!r} was encoded as the stored one, of {array.dtype}"):
        _check_meaning(name, given, variable, stored)
        if casting == "unsafe":
            return _unsafe(variable, array)
        if variable.dtype.kind == "f" and integer_limits(array.dtype) is not None:
            whole = functools.partial(_whole, dtype=array.dtype)
            variable = apply_ufunc(whole, variable, dask="parallelized", output_dtypes=[array.dtype])
        _check_fits(given, variable, array)
    return variable


def _encoding(stored: Variable, array: Array) -> dict[Any, Any]:
    """The encoding of a stored variable, but without conversions that would change elements.

    Xarray converts to ``dtype`` without looking at the elements: integers are wrapped, missing strings
    become "nan". The array converts them exactly, or refuses them.
    """
    encoding = dict(stored.encoding)
    if _is_nan(encoding.get("_FillValue")):
        del encoding["_FillValue"]
    if "since" in encoding.get("units", ""):
        # What attributes do not name is the standard calendar, also for numpy's times.
        encoding.setdefault("calendar", "standard")
    if array.dtype.kind not in "iufc" or not {"units", *PACKING} & set(encoding):
        encoding.pop("dtype", None)
    return encoding


def _check_meaning(name: str, given: Variable, found: Variable, stored: Variable) -> None:
    """Raises an error if the stored attributes give encoded elements another meaning."""
    if stored.dtype.kind == "b" and given.dtype.kind != "b" and given.chunks is None:
        # Numbers that another program stores as truth values, by an attribute.
        cast(given.values, np.dtype(bool))
    units, needed = stored.encoding.get("units"), found.attrs.get("units")
    if units is None and "units" in set(found.attrs) - set(given.attrs):
        raise ValueError(f"variable {name!r} has elements of {given.dtype}, but what is stored has no units of times")
    if units is not None and needed is None:
        raise ValueError(f"variable {name!r} has elements of {given.dtype}, but what is stored are times, in {units!r}")
    if units is not None and not _are_same(
        units, stored.encoding.get("calendar"), needed, found.attrs.get("calendar")
    ):
        raise ValueError(
            f"variable {name!r} needs the units {needed!r}, but what is stored has {units!r} and keeps "
            "them: finer units, or floats, are chosen when a variable is created"
        )
    for attribute in PACKING:
        value = found.attrs.get(attribute)
        if value is not None and attribute not in stored.encoding and not _is_nan(value):
            raise ValueError(f"variable {name!r} has the attribute {attribute}={value!r}, but what is stored has not")


def _are_same(units: str, calendar: str | None, other: Any, other_calendar: str | None) -> bool:
    """Whether units give numbers the same times, however they are spelled."""
    calendars = calendar or "standard", other_calendar or "standard"
    if units == other and calendars[0] == calendars[1]:
        return True
    if "since" not in units or "since" not in str(other):
        return False
    times = [
        conventions.decode_cf_variable("", Variable("x", [0, 1], {"units": u, "calendar": c})).values
        for u, c in zip((units, other), calendars, strict=True)
    ]
    return bool((times[0] == times[1]).all())


def _check_fits(given: Variable, variable: Variable, array: Array) -> None:
    """Raises an error if the array cannot store an element, before anything is changed."""
    if variable.chunks is None:
        if variable.dtype != array.dtype:
            array._elements.checked(variable.load().values)
    elif given.dtype.kind in "mMO" and variable.dtype.kind in "iu" and variable.size:
        # Tasks find times that the stored units cannot express when the array has grown already.
        ends = Dataset({"low": variable.min(), "high": variable.max()}).compute()
        array._elements.checked(np.array([ends.low, ends.high]))


def _unsafe(variable: Variable, array: Array) -> Variable:
    """A variable in the type of an array, whatever its elements become."""
    if array.dtype.kind in "TO":
        return variable
    convert = functools.partial(cast, dtype=array.dtype, casting="unsafe")
    found = apply_ufunc(convert, variable, dask="parallelized", output_dtypes=[array.dtype])
    return Variable(variable.dims, found.data, variable.attrs, variable.encoding)


def _entered(values: NDArray[Any], dtype: np.dtype[Any], is_packed: bool) -> NDArray[Any]:
    """Numbers in the type that stores them; packed numbers are rounded to integers, as Xarray does."""
    if values.dtype.kind != "f" or integer_limits(dtype) is None:
        return cast(values, dtype)
    return _whole(np.rint(values) if is_packed else values, dtype)


def _whole(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Floats as integers, as Xarray makes them of integers that it masks or moves."""
    low, high = integer_limits(dtype) or (0, 0)
    # Half floats have no number for the limits.
    floats = values.astype(np.promote_types(values.dtype, np.float32), copy=False)
    fits = (floats == np.rint(floats)) & (floats >= low) & (floats < high + 1)
    if lost := np.argwhere(~fits).tolist():
        raise ValueError(
            f"{_element(lost[0])}: {floats[tuple(lost[0])]} does not fit into {dtype}, which has integers "
            f"from {low} to {high}"
        )
    return values.astype(dtype)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(pd.isnull(value))
