"""Cubed and xarray-beam: on arrays and datasets that we open, and through zarr-python with our codecs.

Neither is among the requirements of the tests, since Beam requires an older numpy: they run where
they are installed.
"""

import warnings

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
pytest.importorskip("dask.array")

from zarr_kit.xarray import to_zarr  # noqa: E402

MONTHS = (31, 28, 31)
PACKED = {"rain": [{"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 10}}]}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def rain():
    days = np.datetime64("2001-01-01") + np.arange(90)
    values = np.arange(900, dtype="i2").reshape(90, 10)
    return xr.Dataset({"rain": (("day", "x"), values)}, {"day": days})


def test_beam(tmp_path):
    beam = pytest.importorskip("apache_beam")
    xbeam = pytest.importorskip("xarray_beam")
    to_zarr(rain().chunk(day=MONTHS), tmp_path / "a.zarr", codecs=PACKED)
    to_zarr(rain(), tmp_path / "b.zarr", chunks={"day": 30}, codecs=PACKED)
    ragged = xr.open_dataset(tmp_path / "a.zarr", engine="zarr-kit")
    by_zarr_python, _ = xbeam.open_zarr(str(tmp_path / "b.zarr"), consolidated=False)
    for number, source in enumerate((ragged, by_zarr_python)):
        target = tmp_path / f"target {number}.zarr"
        with beam.Pipeline("DirectRunner") as pipeline:
            (
                pipeline
                | xbeam.DatasetToChunks(source, chunks={"day": 30, "x": 10})
                | beam.MapTuple(lambda key, ds: (key, ds * 2))
                | xbeam.ChunksToZarr(str(target), xbeam.make_template(source), zarr_chunks={"day": 30, "x": 10})
            )
        xr.testing.assert_equal(xr.open_dataset(target, engine="zarr-kit"), rain() * 2)


def test_cubed(tmp_path):
    cubed = pytest.importorskip("cubed")
    spec = cubed.Spec(work_dir=str(tmp_path / "work"), allowed_mem="100MB")
    to_zarr(rain(), tmp_path / "a.zarr", chunks={"day": 30}, codecs=PACKED)
    array = cubed.from_zarr(str(tmp_path / "a.zarr"), path="rain", spec=spec)
    np.testing.assert_array_equal((array + 1).compute(), rain().rain + 1)
    cubed.to_zarr(array * 2, str(tmp_path / "b.zarr"))
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "b.zarr")[...], rain().rain * 2)
    # Cubed has chunks of one length per axis: a ragged grid is read by such.
    to_zarr(rain().chunk(day=MONTHS), tmp_path / "c.zarr", codecs=PACKED)
    array = cubed.from_array(zarr_kit.open(tmp_path / "c.zarr", "rain"), chunks=(45, 10), spec=spec)
    np.testing.assert_array_equal((array * 3).compute(), rain().rain * 3)
