"""Converts elements to the type of an array, without silently changing any value."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _dtypes, _native

Casting = Literal["exact", "unsafe"]
"""Whether a value that would change is an error, or is converted as numpy's ``astype`` does."""


def cast(value: Any, dtype: np.dtype[Any], casting: Casting = "exact") -> NDArray[Any]:
    """Converts elements to a type, without silently changing any value.

    Fractions that enter floats are rounded to the nearest. All else is kept or an error: integers are
    exact, finite numbers stay finite, fractions do not enter integers, times and texts are not cut.
    With ``"unsafe"``, numbers and times are what numpy makes of them.
    """
    if casting not in ("exact", "unsafe"):
        raise ValueError(f"casting must be 'exact' or 'unsafe', not {casting!r}")
    if casting == "unsafe" and dtype.kind not in "USTO" and dtype.fields is None:
        _refuse_masked(value)
        with np.errstate(all="ignore"):
            return _dtypes.native(np.asarray(value)).astype(dtype, copy=False)
    if dtype.kind in "US":
        return _unchanged(texts(value, str if dtype.kind == "U" else bytes), dtype)
    _refuse_masked(value)
    if dtype.fields is not None:
        return _records(value, dtype)
    found = _dtypes.native(np.asarray(value))
    if found.dtype == dtype and (hasattr(value, "dtype") or dtype.kind not in "fc"):
        return found
    if dtype.kind in "Mm":
        return _times(found, dtype)
    if issubclass(dtype.type, np.void):
        return _raw(value, dtype)
    limits = _dtypes.integer_limits(dtype)
    return _floats(value, found, dtype) if limits is None else _integers(value, found, dtype, limits)


def _refuse_masked(value: Any) -> None:
    """Refuses masked elements: Zarr has none, and what is under the mask means nothing."""
    if not isinstance(value, np.ma.MaskedArray):
        return
    # Records have a mask for each field.
    mask = np.ma.getmaskarray(value)
    places = np.argwhere(mask if mask.dtype.names is None else mask != np.zeros((), mask.dtype))
    if len(places):
        what = f"the element at {tuple(map(int, places[0]))}" if value.ndim else "the value"
        raise ValueError(f"{what} is masked, and Zarr has no masked elements: write value.filled(..)")


def broadcast(value: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The value in the shape that is assigned to, as in numpy's assignments."""
    found = value
    while shape and found.ndim > len(shape) and len(found) == 1:
        found = found[0]
    try:
        return np.broadcast_to(found, shape)
    except ValueError:
        message = f"could not broadcast input array from shape {value.shape} into shape {shape}"
        raise ValueError(message) from None


def _records(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts records, given as a numpy array with the same fields or as tuples, field by field."""
    names = dtype.names or ()
    found = np.asarray(value) if hasattr(value, "dtype") else None
    _check_fields(value if found is None else found, names)
    if found is None or found.dtype.kind == "O":
        # Tuples are records for numpy only if it is told so. Objects keep each element as it is.
        found = np.asarray(value, np.dtype([(name, object) for name in names]))
    elif found.dtype.names is None:
        raise TypeError(f"elements of {found.dtype} are no records with the fields {names}, in this order")
    records = np.empty(found.shape, dtype)
    for name in names if found.size else ():
        column, field = found[name], dtype.fields[name][0] if dtype.fields else dtype
        plain: Any = column.tolist() if column.dtype.kind == "O" else column
        records[name] = cast(plain, field)
    return records


def _check_fields(value: Any, names: tuple[str, ...]) -> None:
    """Refuses records with other fields: numpy takes fields by their place, whatever their names."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        value = list(value.flat)
    if isinstance(value, list):
        for element in value:
            _check_fields(element, names)
    elif isinstance(value, (np.ndarray, np.void)) and value.dtype.names not in (None, names):
        raise TypeError(f"elements of {value.dtype.names} are no records with the fields {names}, in this order")


def _raw(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts byte strings to raw bytes; zeros follow those that are shorter, as in numpy."""
    given = np.asarray(value).dtype
    if given.kind == "V":
        raise TypeError(f"elements of {given} are no values of {dtype}")
    found = texts(value, bytes).astype(object)
    for element in found.flat:
        if len(element) > dtype.itemsize:
            raise ValueError(f"{element!r} does not fit into {dtype}")
    return found.astype(dtype)


def _integers(
    value: Any, found: NDArray[Any], dtype: np.dtype[Any], limits: tuple[int, int]
) -> NDArray[Any]:
    """Converts integers and truth values."""
    if found.dtype.kind == "f" and not hasattr(value, "dtype"):
        # A list of a negative integer and one above 2^63 - 1 is an array of floats for numpy.
        exact = np.asarray(value, object)
        found = exact if all(map(_is_integer, exact.flat)) else found
    if found.dtype.kind == "O":
        for index, element in np.ndenumerate(found):
            if not _is_integer(element):
                raise TypeError(f"{_element(index)}: {element!r} is no value of {dtype}")
            if not limits[0] <= element <= limits[1]:
                raise OverflowError(f"{_element(index)}: {element} does not fit into {dtype}")
        return found.astype(dtype)
    if _dtypes.integer_limits(found.dtype) is None:
        advice = ": round them first" if found.dtype.kind in "fcV" else ""
        raise TypeError(f"elements of {found.dtype} are no values of {dtype}{advice}")
    return _converted(found, dtype)


def _is_integer(element: Any) -> bool:
    return isinstance(element, (int, np.integer, np.bool_))


def _floats(value: Any, found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts real or complex numbers: fractions are rounded to the type's precision, integers are not."""
    if found.dtype.kind in "fc" and not hasattr(value, "dtype"):
        # numpy would round the integers of a list that has floats too.
        exact = np.asarray(value, object)
        found = exact if any(map(_is_integer, exact.flat)) else found
    if found.dtype.kind == "O":
        for index, element in np.ndenumerate(found):
            # numpy parses texts, and takes the numbers of times.
            if isinstance(element, (str, bytes, np.datetime64, np.timedelta64, np.void)):
                raise TypeError(f"{_element(index)}: {element!r} is no value of {dtype}")
        return _objects(found, dtype)
    is_real = found.dtype.kind in "biufV" and not issubclass(found.dtype.type, np.void)
    if not is_real and (found.dtype.kind, dtype.kind) != ("c", "c"):
        raise TypeError(f"elements of {found.dtype} are no values of {dtype}")
    return _converted(found, dtype)


def _objects(found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts objects to floats: integers exactly, others by numpy's float64, since ml_dtypes takes few."""
    whole = np.fromiter(map(_is_integer, found.flat), bool, found.size).reshape(found.shape)
    others = np.where(whole, 0, found) if found.size else found
    out = _converted(others.astype(np.complex128 if dtype.kind == "c" else np.float64), dtype)
    if not whole.any():
        return out
    data_type = json.dumps(_dtypes.to_zarr(dtype))
    for index in zip(*np.nonzero(whole), strict=True) if found.ndim else ((),):
        number = int(found[index])
        text = f"[{number}, 0]" if dtype.kind == "c" else str(number)
        try:
            out[index] = np.frombuffer(_native.element(data_type, text, False), dtype)[0]
        except ValueError:
            raise OverflowError(f"{_element(index)}: {number} does not fit into {dtype}") from None
    return out


def _converted(found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts numbers of a type that Zarr has by the rule of the native part.

    Raises
    ------
    OverflowError, ValueError
        If an element would become another number; the message names the first.
    """
    if found.dtype == dtype:
        return found
    try:
        given = _dtypes.to_zarr(found.dtype)
    except TypeError:
        # A type of numpy or ml_dtypes that Zarr lacks, such as longdouble or int1.
        if found.dtype.kind not in "fc":
            return _converted(found.astype(np.int8), dtype)
        with np.errstate(over="ignore"):
            wide = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
        if lost := np.argwhere(np.isfinite(found) & ~np.isfinite(wide)).tolist():
            raise OverflowError(f"{_element(lost[0])}: {found[tuple(lost[0])]} does not fit into {dtype}") from None
        return _converted(wide, dtype)
    stored = _dtypes.to_stored(np.ascontiguousarray(found), given)
    taken = _dtypes.to_zarr(dtype)
    if not found.size:
        return np.empty(found.shape, dtype)
    raw = _native.convert(
        stored.reshape(-1).view(np.uint8), found.shape, json.dumps(given), json.dumps(taken), False
    )
    out = np.frombuffer(bytearray(raw), dtype).reshape(found.shape)
    _dtypes.from_stored(out, taken)
    return out


def _element(index: Any) -> str:
    """An element in messages, by its index on each axis."""
    return f"element {list(map(int, index))}" if len(index) else "the value"


def _times(found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts points in time, or durations."""
    kind = found.dtype.kind
    if kind == dtype.kind:
        return _unchanged(found, dtype)
    if kind in "iu":
        last = np.iinfo(np.int64).max
        if found.size and int(found.max()) > last:
            raise OverflowError(f"{found.max()} does not fit into {dtype}, whose numbers end at {last}")
        return found.astype(dtype)
    if kind in "OT":
        found = found.astype(object)
        if not set(map(type, found.flat)) <= {str, type(None)}:
            times = np.empty(found.shape, dtype)
            for place, element in enumerate(found.flat):
                times.flat[place] = _time(element, dtype)
            return times
        found = np.array([text or "NaT" for text in found.flat], "U").reshape(found.shape)
    elif kind not in "US":
        raise TypeError(f"elements of {found.dtype} are no values of {dtype}")
    return _parsed(found.astype("U"), dtype)


def _time(element: Any, dtype: np.dtype[Any]) -> Any:
    """Converts one point in time, or duration."""
    # pandas' times are datetimes too; numpy would drop their nanoseconds.
    exact = getattr(element, "asm8", element)
    if isinstance(exact, date):
        exact = np.datetime64(exact)
    elif isinstance(exact, timedelta):
        exact = np.timedelta64(exact)
    found = np.asarray(exact)
    # pandas has one NaT, of points in time, for durations too.
    if exact is None or (found.dtype.kind in "Mm" and np.isnat(found)):
        return "NaT"
    if isinstance(exact, int) and not isinstance(exact, bool) and found.dtype.kind == "O":
        raise OverflowError(f"{exact} does not fit into {dtype}")
    if found.dtype.kind == "O":
        raise TypeError(f"{exact!r} is no value of {dtype}")
    return _times(found, dtype)[()]


def _parsed(found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts texts, which hold points in time, or numbers of a duration's unit."""
    if dtype.kind == "m":
        return found.astype(dtype)
    places = [place for place, text in enumerate(found.flat) if text.lower() not in ("nat", "")]
    times = np.full(found.shape, "NaT", dtype)
    if not places:
        return times
    texts = found.reshape(-1)[places]
    try:
        # In the finest unit of the texts themselves, which NaT does not have.
        given = np.array(texts, "M8")
        years = texts.astype("M8[Y]")
    except ValueError:
        raise ValueError(f"no times, which are text such as 2001-02-03T04:05: {found!r}") from None
    # numpy's parser wraps years that this unit does not reach.
    if np.any(given.astype("M8[Y]") != years):
        raise ValueError(f"no times of one unit, since years in {given.dtype} do not reach so far: {found!r}")
    times.flat[places] = _unchanged(given, dtype)
    return times


def _unchanged(found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts elements to another type if it keeps them all.

    Raises
    ------
    ValueError
        If it does not: a text is too long, or a time is not a multiple of the type's unit.
    """
    if found.dtype == dtype:
        return found
    try:
        converted = found.astype(dtype)
    except OverflowError as error:  # of numpy 2.5; before it, times wrap
        raise ValueError(f"{found!r} does not fit into {dtype}: {error}") from None
    if found.dtype.kind in "Mm":
        # Converted back, because a comparison converts to the finer unit, and wraps as well.
        differs = (converted.astype(found.dtype) != found) & ~np.isnat(found)
    else:
        differs = converted.astype(object) != found.astype(object)
    if np.any(differs):
        first = found[differs].flat[0] if found.ndim else found[()]
        raise ValueError(f"{first!r} does not fit into {dtype}")
    return converted


def texts(value: Any, kind: type[str] | type[bytes]) -> NDArray[Any]:
    """A value as an array of only strings, or only byte strings."""
    _refuse_masked(value)
    # Without an explicit type, numpy would convert numbers and missing values to text.
    found = np.asarray(value) if hasattr(value, "dtype") else np.asarray(value, object)
    if found.dtype.kind == ("U" if kind is str else "S"):
        return found
    if found.dtype.kind == "T" and kind is str and not hasattr(found.dtype, "na_object"):
        return found
    found = found.astype(object)
    if set(map(type, found.flat)) <= {kind}:
        return found
    for index, element in np.ndenumerate(found):
        if isinstance(element, kind):
            continue
        if _is_missing(element):
            raise ValueError(
                f"the element at {index} is missing ({element!r}): elements of {kind.__name__} have "
                "no missing values in Zarr; write another value in its place"
            )
        raise TypeError(
            f"the element at {index} is {type(element).__name__}, the array has elements of "
            f"{kind.__name__}"
        )
    return found


def _is_missing(element: Any) -> bool:
    """Whether it is None, NaN, NaT, or pandas' NA (which does not compare equal to itself)."""
    if element is None:
        return True
    try:
        return bool(element != element)
    except (TypeError, ValueError):
        return True
