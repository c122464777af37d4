"""Zarr version 2 and zip archives, written by zarr-python, are read as any others."""

import warnings

import numpy as np
import pytest
import zarr_kit

zarr = pytest.importorskip("zarr")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [">i2", "f4", "S3", "M8[s]"])
def test_arrays_of_version_2_are_read(tmp_path, dtype, order):
    values = np.arange(35).reshape(7, 5).astype(dtype)
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=2)
    array = group.create_array("in/a", shape=values.shape, chunks=(3, 2), dtype=dtype, order=order)
    array[...] = values
    array.attrs["units"] = "mm"
    found = zarr_kit.open(tmp_path / "a.zarr", "in/a")
    np.testing.assert_array_equal(found[...], values)
    np.testing.assert_array_equal(found[5:1:-2, 1], values[5:1:-2, 1])
    assert dict(found.attrs) == {"units": "mm"}
    assert found.write_chunk_sizes == ((3, 3, 1), (2, 2, 1))
    with pytest.raises(Exception, match="version 2"):
        found[0] = found[1]
    np.testing.assert_array_equal(array[...], values)


def test_xarray_reads_version_2(tmp_path):
    xr = pytest.importorskip("xarray")
    ds = xr.Dataset({"rain": (("day", "x"), np.arange(12.0).reshape(4, 3), {"units": "mm"})}, {"day": [1, 2, 3, 4]})
    ds.to_zarr(tmp_path / "a.zarr", zarr_format=2)
    expected = xr.open_dataset(tmp_path / "a.zarr", engine="zarr")
    for consolidated in (False, True):
        found = xr.open_dataset(tmp_path / "a.zarr", engine="zarr-kit", consolidated=consolidated)
        xr.testing.assert_identical(found, expected)
