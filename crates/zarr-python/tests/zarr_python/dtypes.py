"""zarr-python's own tests of a data type, with each of those that zarr-kit registers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.test_dtype.conftest import pytest_generate_tests  # noqa: F401, a hook of pytest
from tests.test_dtype.test_wrapper import BaseTestZDType
from zarr_kit.dtypes import TYPES

INTEGERS = {"uint2": 3, "uint4": 15}
"""The largest value of each."""

WITHOUT_ZERO = "float8_e8m0fnu"
WITHOUT_NAN = {"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"}


def _tests(name: str, made: Any) -> type[BaseTestZDType]:
    one, native = made(), made().to_native_dtype()
    small = 1 if name in INTEGERS else 1.0
    values = [(one, small, native.type(small)), (one, 2, native.type(2))]
    scalars = [(one, small), (one, INTEGERS.get(name, 2.0))]
    if name not in INTEGERS and name not in WITHOUT_NAN:
        scalars.append((one, "NaN"))
    if name not in INTEGERS and name != WITHOUT_ZERO:
        scalars.append((one, 0.0))
    members: dict[str, Any] = {
        "test_cls": made,
        "scalar_type": native.type,
        "valid_dtype": (native,),
        "invalid_dtype": (np.dtype("f8"), np.dtype("u1"), np.dtype("V1"), np.dtype("V2"), np.dtype("S1")),
        "invalid_json_v2": ({"name": native.str, "object_codec_id": None}, {"name": name, "object_codec_id": None}),
        "valid_json_v3": (name,),
        "invalid_json_v3": ("float64", f"{name}x", {"name": name, "configuration": {"endian": "little"}}),
        "scalar_v3_params": tuple(scalars),
        "cast_value_params": tuple(values),
        "invalid_scalar_params": ((one, "some text"), (one, [1, 2]), (one, None)),
        "item_size_params": (one,),
        "scalar_equals": lambda self, left, right: left == right or (math.isnan(left) and math.isnan(right)),
    }
    return type(f"Test_{name}", (BaseTestZDType,), members)


globals().update({f"Test_{name}": _tests(name, made) for name, made in TYPES.items()})
del BaseTestZDType
