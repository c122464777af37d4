"""Xarray on object storage: servers of the S3 protocol on this machine."""

import json
import os

import numpy as np
import pytest
import zarr_kit
from servers import ACCESS_KEY, SECRET_KEY

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")

import zarr_kit.dask  # noqa: E402
from zarr_kit.xarray import to_zarr  # noqa: E402

MONTHS = (31, 28, 31)
URL = "s3://bucket/rain.zarr"
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@pytest.fixture
def options(server, monkeypatch):
    """Settings; credentials are in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    options = server.options
    try:
        zarr_kit.create_group("s3://bucket/probe", storage_options=options)
    except OSError as error:
        if "feature" in str(error):
            pytest.skip("built without object storage")
        raise
    return options


@pytest.fixture
def cluster(options, cluster):
    """Workers, which have the credentials in their environment as well."""
    cluster.run(lambda: os.environ.update(KEYS))
    yield cluster
    cluster.run(lambda: [os.environ.pop(name) for name in KEYS])


def rain():
    times = pd.date_range("2001-01-01", periods=90)
    values = np.arange(900, dtype="f4").reshape(90, 10)
    return xr.Dataset({"rain": (("time", "x"), values)}, {"time": times, "name": ("x", list("abcdefghij"))})


def open_kit(options, **arguments):
    return xr.open_dataset(URL, engine="zarr-kit", storage_options=options, **arguments)


def test_append_and_regions(options):
    first, rest = rain().isel(time=slice(0, 31)), rain().isel(time=slice(31, 90))
    to_zarr(first, URL, chunks={"time": [31]}, storage_options=options)
    to_zarr(rest.chunk(time=(28, 31)), URL, append_dim="time", storage_options=options)
    found = open_kit(options, chunks={})
    assert found.rain.chunks == (MONTHS, (10,))
    xr.testing.assert_equal(found, rain())
    points = {name: xr.DataArray(list_, dims="p") for name, list_ in (("time", [80, 2, 45]), ("x", [9, 0, 9]))}
    xr.testing.assert_equal(open_kit(options).isel(points), rain().isel(points))
    part = rain()[["rain"]].isel(time=slice(20, 70)) * 0
    to_zarr(part.chunk(time=9), URL, region="auto", storage_options=options)
    assert float(open_kit(options).rain.sum()) == float(rain().rain.sum() - rain().rain[20:70].sum())
    with pytest.raises(FileExistsError):
        to_zarr(first, URL, storage_options=options)
    to_zarr(first, URL, mode="w", consolidated=True, storage_options=options)
    xr.testing.assert_equal(open_kit(options).load(), first)
    assert sorted(zarr_kit.open_group(URL, storage_options=options)) == ["name", "rain", "time"]
    document = zarr_kit.open_group(URL, storage_options=options).metadata
    assert document["consolidated_metadata"]["metadata"]["rain"]["shape"] == [31, 10]
    assert SECRET_KEY not in json.dumps(document)


def test_a_cluster_stores_and_appends(options, cluster):
    first, rest = rain().isel(time=slice(0, 31)), rain().isel(time=slice(31, 90))
    to_zarr(first.chunk(time=8), URL, chunks={"time": [31]}, storage_options=options)
    to_zarr(rest.chunk(time=(28, 31)), URL, append_dim="time", storage_options=options)
    found = open_kit(options, chunks={})
    assert found.rain.chunks == (MONTHS, (10,))
    xr.testing.assert_equal(found.compute(), rain())
    monthly = found.rain.groupby("time.month").mean().compute()
    xr.testing.assert_allclose(monthly, rain().rain.groupby("time.month").mean())
    xr.testing.assert_allclose(found.rain.resample(time="1MS").sum(), rain().rain.resample(time="1MS").sum())
    # Other chunks, whose edges are not those of the blocks.
    other = "s3://bucket/other.zarr"
    to_zarr(found.chunk(time=40, x=3), other, encoding={"rain": {"chunks": (25, 4)}}, storage_options=options)
    again = xr.open_dataset(other, engine="zarr-kit", storage_options=options, chunks={})
    assert again.rain.chunks == ((25, 25, 25, 15), (4, 4, 2))
    xr.testing.assert_equal(again.compute(), rain())


def test_a_cluster_stores_arrays_whose_tasks_share_chunks(options, cluster):
    import zarr_kit.dask

    values = np.arange(1, 2401, dtype="i4").reshape(60, 40)
    array = zarr_kit.create("s3://bucket/a.zarr", shape=(60, 40), dtype="i4", chunks=[(31, 29), 25], storage_options=options)
    zarr_kit.dask.to_zarr(da.from_array(values, chunks=(20, 7)), array)
    stored = zarr_kit.dask.from_zarr("s3://bucket/a.zarr", storage_options=options)
    assert stored.chunks == ((31, 29), (25, 15))
    zarr_kit.dask.to_zarr(stored.rechunk((20, 40)), "s3://bucket/b.zarr", storage_options=options)
    for name in "ab":
        found = zarr_kit.open(f"s3://bucket/{name}.zarr", storage_options=options)
        np.testing.assert_array_equal(found[...], values)
        assert found.check().is_clean


def test_secrets_are_not_in_pickles(options):
    import pickle

    to_zarr(rain(), URL, storage_options=options)
    sent = pickle.dumps(open_kit(options))
    assert SECRET_KEY.encode() not in sent
    xr.testing.assert_equal(pickle.loads(sent), rain())


def test_what_is_read_from_a_bucket_is_not_deleted_first(options):
    to_zarr(rain(), URL, storage_options=options)
    found = open_kit(options, chunks={})
    with pytest.raises(ValueError, match="variable 'rain' is read from s3://bucket/rain.zarr/rain"):
        to_zarr(found, "s3://bucket", group="rain.zarr", mode="w", storage_options=options)
    xr.testing.assert_equal(open_kit(options).load(), rain())


def test_a_store_that_is_not_there(options):
    with pytest.raises(FileNotFoundError):
        open_kit(options)
    with pytest.raises(FileNotFoundError):
        to_zarr(rain(), URL, mode="r+", storage_options=options)
