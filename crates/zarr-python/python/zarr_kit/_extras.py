"""Packages that only a part of zarr-kit needs."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """A module of another package.

    Raises
    ------
    ImportError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        message = f"zarr-kit needs the package {package} for this: pip install 'zarr-kit[{extra}]'"
        raise ImportError(message, name=package) from None
