"""Zarr data types and numpy dtypes."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._extras import need

_NUMPY = {
    name: np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "float16 float32 float64 complex64 complex128"
    ).split()
}

ML_DTYPES = frozenset(
    "bfloat16 int2 int4 uint2 uint4 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 "
    "float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu".split()
)

STRING: np.dtype[Any] = np.dtypes.StringDType()
"""Strings of any length."""

SIGNED_BITS = {"int2": 2, "int4": 4}
"""Types with a byte that ml_dtypes stores without its sign; Zarr extends the sign."""


def to_numpy(data_type: str | dict[str, Any]) -> np.dtype[Any]:
    """The numpy dtype of a Zarr data type.

    Types that numpy lacks come from the package ``ml_dtypes``; byte strings of any length are
    objects. The byte order is the machine's; codecs convert the stored byte order.

    Raises
    ------
    TypeError
        If neither has such a type.
    ImportError
        If the type needs ``ml_dtypes`` and it is not installed.
    """
    if is_text(data_type):
        return STRING
    if is_bytes(data_type):
        return np.dtype(object)
    name, configuration = _parts(data_type)
    if name in _NUMPY:
        return _NUMPY[name]
    if name in ML_DTYPES:
        found: np.dtype[Any] = np.dtype(getattr(need("ml_dtypes", "types"), name))
        return found
    if name in ("complex_float32", "complex_float64"):
        return np.dtype("complex64" if name == "complex_float32" else "complex128")
    if raw := re.fullmatch(r"r([1-9][0-9]*)", name):
        return np.dtype(f"V{int(raw[1]) // 8}")
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        kind = "M8" if name == "numpy.datetime64" else "m8"
        unit, factor = configuration.get("unit", "generic"), configuration.get("scale_factor", 1)
        unit = "us" if unit == "μs" else unit
        return np.dtype(kind if unit == "generic" else f"{kind}[{factor}{unit}]")
    if name == "fixed_length_utf32":
        return np.dtype(f"U{configuration['length_bytes'] // 4}")
    if name == "null_terminated_bytes":
        return np.dtype(f"S{configuration['length_bytes']}")
    if name == "raw_bytes":
        return np.dtype(f"V{configuration['length_bytes']}")
    if name in ("struct", "structured"):
        return np.dtype([(name, to_numpy(kind)) for name, kind in map(_field_type, configuration["fields"])])
    raise TypeError(f"numpy has no type for the Zarr data type {name}")


def to_zarr(dtype: DTypeLike | dict[str, Any]) -> str | dict[str, Any]:
    """The Zarr data type of a numpy dtype, or of a Zarr name such as ``"int4"`` or ``"string"``.

    ``str`` becomes ``string`` and ``bytes`` stays ``bytes``: elements of any length. (For numpy
    both are types of length 0.)

    Raises
    ------
    TypeError
        If Zarr has no such type.
    """
    if hasattr(dtype, "to_native_dtype"):
        of_zarr: Any = dtype
        dtype = of_zarr.to_json(zarr_format=3)
    if isinstance(dtype, dict):
        return dict(dtype)
    if isinstance(dtype, str) and (dtype in ML_DTYPES or re.fullmatch(r"r[1-9][0-9]*", dtype)):
        return dtype
    if isinstance(dtype, str) and (is_text(dtype) or is_bytes(dtype)):
        return dtype
    found: np.dtype[Any] = np.dtype(dtype)
    if found.kind == "T" or found == np.dtype("U0"):
        return "string"
    if found == np.dtype("S0"):
        return "bytes"
    if found.kind == "O":
        raise TypeError(
            "objects have no type of their own: give dtype 'string' for elements of str, 'bytes' for "
            "elements of bytes"
        )
    if found.name in _NUMPY or found.name in ML_DTYPES:
        return found.name
    if found.kind in "Mm":
        unit, factor = np.datetime_data(found)
        name = "numpy.datetime64" if found.kind == "M" else "numpy.timedelta64"
        return _extension(name, unit=unit, scale_factor=factor)
    if found.kind == "U":
        return _extension("fixed_length_utf32", length_bytes=found.itemsize)
    if found.kind == "S":
        return _extension("null_terminated_bytes", length_bytes=found.itemsize)
    # Types of other packages, such as ml_dtypes' int1, may be of this kind too.
    if found.kind == "V" and found.fields is None and issubclass(found.type, np.void):
        return _extension("raw_bytes", length_bytes=found.itemsize)
    if found.kind == "V" and found.fields is not None:
        if any(found[name].subdtype for name in found.names or ()):
            raise TypeError(f"Zarr has no data type for arrays within records: {found}")
        fields = [{"name": name, "data_type": to_zarr(found[name])} for name in found.names or ()]
        return _extension("struct", fields=fields)
    raise TypeError(f"Zarr has no data type for numpy's {found}")


def is_text(data_type: str | dict[str, Any]) -> bool:
    """Whether elements are strings of any length."""
    return _parts(data_type)[0] == "string"


def is_bytes(data_type: str | dict[str, Any]) -> bool:
    """Whether elements are byte strings of any length, for which zarr-python has another name."""
    return _parts(data_type)[0] in ("bytes", "variable_length_bytes")


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """The smallest and the largest value of a type of integers, or None."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    if found := re.fullmatch(r"(u?)int([24])", dtype.name):
        bits = int(found[2])
        return (0, (1 << bits) - 1) if found[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return None


def from_stored(elements: NDArray[Any], data_type: str | dict[str, Any]) -> None:
    """Converts elements from Zarr's bytes to numpy's bytes, in place."""
    name, configuration = _parts(data_type)
    if name in SIGNED_BITS:
        raw = elements.view(np.uint8)
        raw &= (1 << SIGNED_BITS[name]) - 1
    for field, kind in map(_field_type, configuration.get("fields", ())):
        from_stored(elements[field], kind)


def to_stored(elements: NDArray[Any], data_type: str | dict[str, Any]) -> NDArray[Any]:
    """The elements with the bytes that Zarr defines; a copy if these differ from numpy's."""
    name, configuration = _parts(data_type)
    if name in SIGNED_BITS:
        bits = SIGNED_BITS[name]
        sign = np.int8(1 << (bits - 1))
        return ((elements.view(np.int8) & np.int8((1 << bits) - 1)) ^ sign) - sign
    found = elements
    for field, kind in map(_field_type, configuration.get("fields", ())):
        given = elements[field]
        stored = to_stored(given, kind)
        if stored is not given:
            found = elements.copy() if found is elements else found
            found[field].view(stored.dtype)[...] = stored
    return found


def native(array: NDArray[Any]) -> NDArray[Any]:
    """The same elements in the machine's byte order; the array itself if it is in this order."""
    if array.dtype.kind == "T":
        return array
    # Not by isnative, which does not look into arrays within records.
    dtype = array.dtype.newbyteorder("=")
    return array if array.dtype == dtype else reordered(array, dtype)


def reordered(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The same elements as a type that differs in byte order only.

    Nothing else may change the order of an array: numpy's ``astype``, and assignment to big-endian
    memory, do not swap the bytes of times without a unit.
    """
    # Zeros between the fields of records.
    out = np.zeros(array.shape, dtype)
    _assign(out, array)
    return out


def _assign(target: NDArray[Any], source: NDArray[Any]) -> None:
    if source.dtype.names is not None and target.dtype.names is not None:
        # As numpy assigns records: by the order of their fields.
        for into, name in zip(target.dtype.names, source.dtype.names, strict=True):
            _assign(target[into], source[name])
    elif source.dtype.kind in "mM":
        _counts(target)[...] = _counts(source)
    else:
        target[...] = source


def _counts(times: NDArray[Any]) -> NDArray[np.int64]:
    """Times as integers in the same memory."""
    return times.view(np.dtype("i8").newbyteorder(times.dtype.byteorder))


def _parts(data_type: str | dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(data_type, str):
        return data_type, {}
    return data_type["name"], data_type.get("configuration", {})


def _field_type(field: Any) -> tuple[str, str | dict[str, Any]]:
    """The name and the data type of a field, in both forms of the specification."""
    if isinstance(field, dict):
        return field["name"], field["data_type"]
    name, data_type = field
    return name, data_type


def _extension(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": json.loads(json.dumps(configuration))}
