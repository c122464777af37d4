"""Data types for zarr-python that it lacks: small floats and unsigned integers of ml_dtypes.

zarr-python finds them through their entry points once zarr-kit is installed; importing this module does the same.
``int2`` and ``int4`` are not among them: zarr-python's codec ``bytes`` would store their bits without the sign that
the specification asks for. `zarr_kit.open` reads and writes them.

Examples
--------
>>> import ml_dtypes, numpy as np, zarr, zarr_kit.dtypes
>>> a = zarr.create_array({}, shape=3, dtype=np.dtype(ml_dtypes.bfloat16), fill_value=1.5)
>>> a[:2] = [0.25, 3]
>>> a[:]
array([0.25, 3, 1.5], dtype=bfloat16)
"""

from __future__ import annotations

from ._extras import need

need("zarr", "zarr")

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from zarr.core.dtype import data_type_registry
from zarr.core.dtype.common import HasEndianness, HasItemSize
from zarr.core.dtype.wrapper import ZDType
from zarr.errors import DataTypeValidationError

from . import _create, _dtypes

__all__ = ["TYPES", "SmallType", "SmallTypeInBytes"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallType(ZDType[Any, Any], HasItemSize):
    """A type of one byte."""

    _zarr_v3_name: ClassVar[str]

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> Self:
        """The data type of numpy's; see zarr-python."""
        if not cls._check_native_dtype(dtype):
            raise DataTypeValidationError(f"{dtype} is not {cls._zarr_v3_name}")
        return cls()

    @classmethod
    def _from_json_v2(cls, data: Any) -> Self:
        raise DataTypeValidationError(f"version 2 has no data type {cls._zarr_v3_name}")

    @classmethod
    def _from_json_v3(cls, data: Any) -> Self:
        if data != cls._zarr_v3_name:
            raise DataTypeValidationError(f"{data!r} is not {cls._zarr_v3_name!r}")
        return cls()

    def to_native_dtype(self) -> Any:
        """numpy's data type."""
        return _dtypes.to_numpy(self._zarr_v3_name)

    def to_json(self, zarr_format: int) -> Any:
        """The name of the data type."""
        if zarr_format != 3:
            raise ValueError(f"version {zarr_format} has no data type {self._zarr_v3_name}")
        return self._zarr_v3_name

    @property
    def item_size(self) -> int:
        """The bytes of an element."""
        return int(self.to_native_dtype().itemsize)

    def _check_scalar(self, data: object) -> bool:
        try:
            self.cast_scalar(data)
        except (TypeError, ValueError, OverflowError):
            return False
        return True

    def cast_scalar(self, data: object) -> Any:
        """A value as a scalar of the type; only rounding may change it."""
        try:
            fill = _create.fill(data, self._zarr_v3_name)
        except (TypeError, ValueError, OverflowError) as error:
            if not isinstance(error, TypeError) and not isinstance(data, str | None):
                raise  # A number that the type does not have.
            # The words that zarr-python has for all its types.
            raise TypeError(
                f"Cannot convert object {data!r} with type {type(data)} to a scalar compatible with the "
                f"data type {self}."
            ) from error
        return self.from_json_scalar(fill, zarr_format=3)

    def default_scalar(self) -> Any:
        """Zero, or NaN for a type without zero."""
        return self.cast_scalar(float("nan") if self._zarr_v3_name == "float8_e8m0fnu" else 0)

    def from_json_scalar(self, data: Any, *, zarr_format: int) -> Any:
        """A fill value of a document."""
        if isinstance(data, str) and data.startswith("0x"):
            raw = np.array(int(data, 16), f"u{self.item_size}")
            return raw.view(self.to_native_dtype())[()]
        return np.asarray(float(data)).astype(self.to_native_dtype())[()]

    def to_json_scalar(self, data: object, *, zarr_format: int) -> Any:
        """The fill value for a document."""
        return _create.fill(data, self._zarr_v3_name)


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallTypeInBytes(SmallType, HasEndianness):
    """A type of several bytes, of which numpy knows one byte order."""

    def to_native_dtype(self) -> Any:
        """numpy's data type."""
        if self.endianness != "little":
            raise ValueError(f"{self._zarr_v3_name}: ml_dtypes has no {self.endianness}-endian elements")
        return _dtypes.to_numpy(self._zarr_v3_name)


class _Missing:
    """No element has this type: ml_dtypes is not installed."""


def _type(name: str) -> type[SmallType]:
    base = SmallTypeInBytes if name == "bfloat16" else SmallType
    try:
        native: type = type(_dtypes.to_numpy(name))
    except ImportError:
        # zarr-python loads the types of all packages at once: it must not fail for want of one.
        native = _Missing
    members = {"__slots__": (), "__module__": __name__, "_zarr_v3_name": name, "dtype_cls": native}
    members["__doc__"] = f"The data type ``{name}``."
    return dataclass(frozen=True, kw_only=True)(type(name, (base,), members))


TYPES = {name: _type(name) for name in sorted(_dtypes.ML_DTYPES - set(_dtypes.SIGNED_BITS))}
"""The data types by their Zarr names."""

globals().update(TYPES)
for _name, _found in TYPES.items():
    data_type_registry.register(_name, _found)


def __dir__() -> list[str]:
    return __all__
