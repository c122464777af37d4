"""Attributes that JSON cannot write as they are: NaN and infinite numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._attributes import _json

LIMITS = {"valid_range": ("valid_min", "valid_max"), "valid_min": ("valid_min",), "valid_max": ("valid_max",)}
"""The limits that an attribute has; one that is infinite says nothing."""


def finite(dtype: np.dtype[Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a variable without numbers that say nothing.

    NaN is missing in any float, and an infinite limit is none: ``valid_range = [0, inf]`` is
    ``valid_min = 0``. Other numbers that are not finite stay, and are an error when they are written.
    """
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        numbers = value if isinstance(value, list) else [value]
        if name == "_FillValue" or all(map(_is_finite, numbers)):
            found[name] = value
        elif name == "missing_value" and dtype.kind in "iufc":
            kept = [number for number in numbers if not _is_nan(number)]
            if kept:
                found[name] = kept if isinstance(value, list) else kept[0]
        elif name in LIMITS and len(numbers) == len(LIMITS[name]):
            found |= {limit: n for limit, n in zip(LIMITS[name], numbers, strict=True) if _is_finite(n)}
        else:
            found[name] = value
    return found


def attribute_texts(
    where: str, attributes: Mapping[str, Any], stored: Mapping[str, Any]
) -> dict[str, str]:
    """The JSON texts of attributes. Those that are stored already need not be written again.

    Raises
    ------
    ValueError, TypeError
        If one that differs from what is stored has no form in JSON.
    """
    texts = {}
    for name, value in attributes.items():
        # Not by ==: NaN is stored, and differs from itself.
        if name in stored and json.dumps(stored[name]) == _text(value):
            texts[name] = json.dumps(stored[name])
            continue
        try:
            texts[name] = _json(name, value)
        except (TypeError, ValueError) as error:
            error.add_note(f"in the attributes of {where}")
            raise
    return texts


def _text(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return None


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
