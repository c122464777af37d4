"""Xarray datasets in Zarr.

The engine ``"zarr-kit"`` for `xarray.open_dataset`, `xarray.open_datatree` and similar functions
reads Zarr v3 groups with chunks of any length.

Examples
--------
>>> import tempfile, xarray, zarr_kit
>>> folder = tempfile.mkdtemp()
>>> g = zarr_kit.create_group(folder)
>>> rain = g.create_array("rain", shape=59, dtype="f4", chunks=[(31, 28)], dimension_names=["day"])
>>> ds = xarray.open_dataset(folder, engine="zarr-kit", chunks={})
>>> ds.rain.chunks
((31, 28),)
"""

from __future__ import annotations

from ._xarray.backend import Backend

__all__ = ["Backend"]
