"""Xarray datasets in Zarr.

The engine ``"zarr-kit"`` for `xarray.open_dataset`, `xarray.open_datatree` and similar functions
reads Zarr v3 groups with chunks of any length. `to_zarr` writes them.

Examples
--------
>>> import tempfile, numpy, xarray, zarr_kit.xarray
>>> url = tempfile.mkdtemp() + "/rain.zarr"
>>> rain = xarray.DataArray(numpy.ones(59, "f4"), dims="day", name="rain")
>>> zarr_kit.xarray.to_zarr(rain.chunk(day=(31, 28)), url)
>>> ds = xarray.open_dataset(url, engine="zarr-kit", chunks={})
>>> ds.rain.chunks
((31, 28),)
"""

from __future__ import annotations

from ._extras import need

need("xarray", "xarray")

from ._xarray.backend import Backend
from ._xarray.store import from_array
from ._xarray.writing import to_zarr

__all__ = ["Backend", "from_array", "to_zarr"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)
