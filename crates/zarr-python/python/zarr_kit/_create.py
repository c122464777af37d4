"""Documents of new arrays and groups."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import _attributes, _codecs, _dtypes, _grid, _native, _store
from ._cast import cast
from ._codecs import Codecs
from ._elements import values_of

if TYPE_CHECKING:
    from ._array import Array


_AUTO: Any = "auto"

_KEEPS_ALL = frozenset(
    "blosc bytes crc32c gzip reshape sharding_indexed transpose vlen-bytes vlen-utf8 zstd".split()
)


class New(TypedDict, total=False):
    """The arguments of a new array by the names of `zarr_kit.create` and of zarr-python."""

    shape: int | Sequence[int] | None
    dtype: DTypeLike | str | None
    data: ArrayLike | None
    chunks: Any
    shards: Any
    codecs: Codecs | None
    filters: Any
    compressors: Any
    serializer: Any
    fill_value: Any
    order: str | None
    zarr_format: int | None
    chunk_key_encoding: Any
    dimension_names: Sequence[str | None] | None
    attributes: Mapping[str, Any] | None
    portable: bool
    config: Any
    write_data: bool


def array_document(
    *,
    shape: int | Sequence[int],
    dtype: DTypeLike | str,
    chunks: Any = None,
    shards: Any = None,
    codecs: Codecs | None = None,
    filters: Any = _AUTO,
    compressors: Any = _AUTO,
    serializer: Any = _AUTO,
    fill_value: Any = None,
    order: str | None = None,
    zarr_format: int | None = 3,
    chunk_key_encoding: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    portable: bool = False,
) -> str:
    """The ``zarr.json`` of a new array; see `zarr_kit.create` for the arguments."""
    check_format(zarr_format)
    if order not in ("C", None):
        raise ValueError(f"order: arrays are read in C order, not {order!r}; TransposeCodec stores another")
    shape = _grid.checked_shape(shape)
    data_type = _dtypes.to_zarr(dtype)
    if codecs is None:
        codecs = _codecs.joined(filters, serializer, compressors, data_type)
    elif any(part is not _AUTO for part in (filters, serializer, compressors)):
        raise ValueError("codecs are the whole chain: give filters, serializer and compressors, or codecs")
    chain = None if codecs is None else _codecs.as_json(codecs, data_type, shape)
    chunks = _grid.familiar(chunks)
    if shards is not None:
        chunks, shards = _grid.clipped(chunks, shape), _grid.clipped(shards, shape, "shard")
    grid = None if chunks is None else json.dumps(_grid.document(chunks, shape))
    value = None if fill_value is None else json.dumps(fill(fill_value, data_type))
    made = _native.array_document(
        list(shape), json.dumps(data_type), grid=grid, codecs=chain, fill_value=value
    )
    found: dict[str, Any] = json.loads(made)
    if shards is not None:
        if chunks is None:
            raise ValueError("shards hold chunks: give the shape of chunks as well")
        inner = found["chunk_grid"]
        if inner["name"] != "regular":
            raise ValueError("chunks within shards have one length per axis")
        found["chunk_grid"] = _grid.document(shards, shape, "shard")
        found["codecs"] = [_sharding(inner["configuration"]["chunk_shape"], found["codecs"])]
    # The type as it was named, because the native part has its own names.
    found["data_type"] = data_type
    if chunk_key_encoding is not None:
        found["chunk_key_encoding"] = _codecs.named(chunk_key_encoding)
    if dimension_names is not None:
        found["dimension_names"] = names_of(dimension_names)
    if attributes:
        found["attributes"] = _checked(attributes)
    document = json.dumps(found, allow_nan=False)
    if portable:
        _native.check_portable(document)
    return document


def array(at: Any, overwrite: bool = False, **new: Unpack[New]) -> Array:
    """Creates an array at a place, and writes its data.

    Parameters
    ----------
    at
        The state of a place, or a native group and a path below it.
    overwrite
        Whether a node in its place is removed.
    new
        As for `zarr_kit.create_array`.
    """
    from ._array import Array

    rest: dict[str, Any] = dict(new)
    for name in rest.keys() - New.__annotations__.keys():
        raise TypeError(f"unexpected argument {name!r}; those of a new array are {', '.join(New.__annotations__)}")
    data, is_written, config = rest.pop("data", None), rest.pop("write_data", True), rest.pop("config", None)
    if data is not None:
        data = data if hasattr(data, "dtype") and hasattr(data, "shape") else np.asarray(data)
        if rest.get("shape") is not None and _grid.checked_shape(rest["shape"]) != data.shape:
            raise ValueError(f"shape: {rest['shape']} is not that of data, {data.shape}")
        rest |= {"shape": data.shape, "dtype": data.dtype if rest.get("dtype") is None else rest["dtype"]}
    for name in ("shape", "dtype"):
        if rest.get(name) is None:
            raise ValueError(f"{name} is missing: give it, or data")
    document = array_document(**rest)
    if data is not None and is_written:
        # Before anything changes: elements may be refused, or be those of the array that is replaced.
        data = values_of(data, json.loads(document)["data_type"])
        if _may_refuse(json.loads(document)["codecs"]):
            _try(document, data)
    made = Array(_native.create_array(at, document, overwrite))
    if config is not None:
        made = made.with_config(config)
    if data is not None and is_written:
        made[...] = data
    return made


_MOST_TRIED = 64 << 20
"""Bytes of elements that are encoded before the elements of an array are known to be accepted."""


def _try(document: str, data: Any) -> None:
    """Encodes all elements, some chunks at a time, and keeps nothing: codecs may refuse one."""
    from ._array import Array

    def made() -> Array:
        return Array(_native.create_array(_store.state("memory:"), document, False))

    empty = made()
    ends = [[0, *accumulate(map(int, empty._edges(axis)))] for axis in range(data.ndim)]
    for part in _parts(ends, _MOST_TRIED // max(data.dtype.itemsize, 1)):
        try:
            made()[part] = data[part]
        except _native.LossError as error:
            raise _native.LossError(str(error).removeprefix("memory:: ")) from None


def _parts(ends: list[list[int]], most: int) -> Iterator[tuple[slice, ...]]:
    """Regions of whole chunks that make up an array, with so many elements, or one chunk."""
    axis = next((axis for axis, bounds in enumerate(ends) if len(bounds) > 2), None)
    if axis is None or math.prod(bounds[-1] - bounds[0] for bounds in ends) <= most:
        yield tuple(slice(bounds[0], bounds[-1]) for bounds in ends)
        return
    middle = len(ends[axis]) // 2
    for half in (ends[axis][: middle + 1], ends[axis][middle:]):
        yield from _parts([*ends[:axis], half, *ends[axis + 1 :]], most)


def _may_refuse(codecs: Sequence[Any]) -> bool:
    """Whether codecs refuse elements that they would change."""
    names = [codec if isinstance(codec, str) else codec["name"] for codec in codecs]
    inner = (codec["configuration"]["codecs"] for codec in codecs if not isinstance(codec, str) and codec["name"] == "sharding_indexed")
    return not _KEEPS_ALL.issuperset(names) or any(map(_may_refuse, inner))


def check_format(zarr_format: int | None) -> None:
    """Raises an error if this is not the version of the format that is written."""
    if zarr_format not in (3, None):
        raise ValueError(f"zarr_format: arrays and groups are written in version 3, not {zarr_format}")


def default_dtype(dtype: Any, data: Any) -> Any:
    """The type of a new array: the given one, that of its data (None), or zarr-python's default."""
    return "f8" if dtype is None and data is None else dtype


def group_document(attributes: Mapping[str, Any] | None = None, zarr_format: int | None = None) -> str:
    """The ``zarr.json`` of a new group."""
    check_format(zarr_format)
    found: dict[str, Any] = {"zarr_format": 3, "node_type": "group"}
    if attributes:
        found["attributes"] = _checked(attributes)
    return json.dumps(found, allow_nan=False)


def fill(value: Any, data_type: str | dict[str, Any]) -> Any:
    """A fill value as the specifications write it in JSON."""
    if _dtypes.is_text(data_type) or _dtypes.is_bytes(data_type):
        return _fill_of_any_length(value, data_type)
    dtype = _dtypes.to_numpy(data_type)
    if issubclass(dtype.type, np.void) and dtype.fields is None:
        raw = bytes(dtype.itemsize) if _is_zero(value) else cast(value, dtype).tobytes()
        is_core = isinstance(data_type, str)
        return list(raw) if is_core else base64.b64encode(raw).decode()
    if dtype.fields is not None:
        record = np.zeros((), dtype) if _is_zero(value) else cast(value, dtype)
        return base64.b64encode(_dtypes.to_stored(record, data_type).tobytes()).decode()
    if dtype.kind == "S":
        raw = b"" if _is_zero(value) else bytes(cast(value, dtype)[()])
        return base64.b64encode(raw).decode()
    if dtype.kind == "U":
        return "" if _is_zero(value) else str(cast(value, dtype)[()])
    if dtype.kind in "Mm":
        scalar = cast("NaT" if value is None else value, dtype)
        return "NaT" if np.isnat(scalar) else int(scalar.view(np.int64))
    scalar = _number(value, dtype)
    if dtype.kind == "b":
        return bool(scalar)
    if _dtypes.integer_limits(dtype) is not None:
        return int(scalar)
    if dtype.kind == "c":
        return [_float(scalar.real), _float(scalar.imag)]
    return _float(scalar)


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A fill value as a scalar of a type of numbers; only rounding may change it."""
    does_not_fit = OverflowError(f"fill value {value} does not fit into {dtype.name}")
    is_integer = _dtypes.integer_limits(dtype) is not None
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity") and not is_integer:
        value = float(value)  # as documents write it
    if is_integer and np.asarray(value).dtype.kind == "f":
        if not float(value).is_integer():
            raise does_not_fit
        value = int(value)
    try:
        if isinstance(value, int) and not is_integer:
            # Documents round the integers of floats too (SD-45).
            value = float(value)
        scalar = cast(value, dtype)[()]
    except (OverflowError, ValueError):
        raise does_not_fit from None
    with np.errstate(invalid="ignore", over="ignore"):
        # Types without infinity have their largest value, or NaN, in its place.
        largest = complex(np.asarray(np.inf).astype(dtype)).real
    parts = () if is_integer else (complex(value).real, complex(value).imag)
    if any(largest < abs(part) < math.inf for part in parts):
        raise does_not_fit
    return scalar


def _fill_of_any_length(value: Any, data_type: str | dict[str, Any]) -> str:
    kind = str if _dtypes.is_text(data_type) else bytes
    found = kind() if _is_zero(value) else value
    if not isinstance(found, kind):
        raise TypeError(f"the fill value is {type(found).__name__}, elements are {kind.__name__}")
    return base64.b64encode(found).decode() if isinstance(found, bytes) else str(found)


def _is_zero(value: Any) -> bool:
    """Whether a fill value is the default zero, which every type has."""
    return value is None or (isinstance(value, int) and value == 0)


def _float(value: Any) -> float | str:
    number = float(value)
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def _sharding(chunk_shape: list[int], chain: list[Any]) -> dict[str, Any]:
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": chunk_shape,
            "codecs": chain,
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_location": "end",
        },
    }


def _checked(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: json.loads(_attributes._json(name, value)) for name, value in attributes.items()}


def names_of(names: Any) -> list[str | None]:
    """The names of dimensions, which are no text."""
    if isinstance(names, str):
        raise TypeError(f"dimension_names: a sequence of names, such as [{names!r}], not a string")
    return list(names)
