"""`to_zarr` changes no value: for new variables, appends and regions, in memory and by Dask."""

import warnings

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
pytest.importorskip("dask.array")

from zarr_kit.xarray import to_zarr  # noqa: E402


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def stored(values, encoding=None, attrs=None):
    group = zarr_kit.create_group("memory:")
    ds = xr.Dataset({"v": ("x", values, attrs or {})})
    to_zarr(ds, group, mode="a", encoding={"v": encoding or {}})
    return group


def write(group, new, how, **more):
    ds = xr.Dataset({"v": ("x", new)})
    ds = ds.chunk(x=1) if "dask" in how else ds
    place = {"region": {"x": slice(0, len(new))}} if "region" in how else {"append_dim": "x"}
    to_zarr(ds, group, **place, **more)


WAYS = ["append", "region", "append dask", "region dask"]
FLOATS = np.array([1.0, 2.0, 3.0])

LOST = [
    (np.array([7, 8, 9]), {"_FillValue": 0}, [-36.1, 8.9]),
    (np.array([7, 8, 9]), {}, [-36.1, 8.9]),
    (np.array([7, 8, 9]), {"_FillValue": -1}, [5, -1]),
    (FLOATS, {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -99}, [-49.5, 1.0]),
    (FLOATS, {"dtype": "u1", "scale_factor": 0.1, "_FillValue": 255}, [25.5, 1.0]),
    (FLOATS, {"dtype": "i2", "missing_value": 7, "add_offset": 1.0}, [8.0, 1.0]),
    (FLOATS, {"_FillValue": -9999.0}, [1.0, -9999.0]),
    (FLOATS.astype("f4"), {"_FillValue": np.float32(-9999)}, np.array([1, -9999], "f4")),
    (FLOATS, {"_FillValue": None}, np.array([1, 2**53 + 1])),
    (FLOATS.astype("f4"), {}, np.array([1, 2**24 + 1])),
    (FLOATS.astype("f4"), {}, np.array([1.0, 1e300])),
    (FLOATS.astype("f2"), {"_FillValue": np.float16(-1)}, np.array([1.0, 70000.0])),
    (FLOATS, {"dtype": "f4", "_FillValue": np.float32(-1)}, np.array([1.0, 1e300])),
    (np.array(["a", "b", "c"], object), {}, np.array(["d", None], object)),
    (np.array(["a", "b", "c"], object), {}, np.array(["d", np.nan], object)),
]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(("old", "encoding", "new"), LOST)
def test_values_that_would_change_are_refused(old, encoding, new, how):
    group = stored(old, encoding)
    before = group["v"][:3].tolist()
    with pytest.raises((ValueError, OverflowError), match=r"element|does not fit") as raised:
        write(group, np.array(new), how)
    if "dask" not in how:
        assert group["v"][...].tolist() == before, raised.value


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("old", "encoding", "new"), LOST)
def test_values_of_new_variables_that_would_change_are_refused(old, encoding, new, chunked):
    new = np.array(new)
    encoding = {**encoding}
    if new.dtype != old.dtype:
        encoding["dtype"] = encoding.get("dtype", old.dtype)
    group, ds = zarr_kit.create_group("memory:"), xr.Dataset({"v": ("x", new)})
    with pytest.raises((ValueError, OverflowError), match=r"element|does not fit"):
        to_zarr(ds.chunk(x=1) if chunked else ds, group, mode="a", encoding={"v": encoding})
    assert chunked or not list(group)


@pytest.mark.parametrize("how", WAYS)
def test_the_caller_can_ask_for_loss(how):
    group = stored(np.array([7, 8, 9]), {"_FillValue": 0})
    write(group, np.array([-36.1, 8.9]), how, casting="unsafe")
    group = stored(FLOATS.astype("f4"))
    write(group, np.array([1, 2**24 + 1]), how, casting="unsafe")
    assert 2.0**24 in group["v"][...]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(
    ("dtype", "units", "times", "fits"),
    [
        ("f4", "days since 1900-01-01", pd.date_range("2009-07-10T01:00", periods=2, freq="h"), False),
        ("f4", "days since 1900-01-01", pd.date_range("2009-07-10", periods=2, freq="D"), True),
        ("f4", "days since 1900-01-01", pd.date_range("2009-07-10", periods=2, freq="12h"), True),
        ("f8", "days since 1900-01-01", pd.date_range("2009-07-10T01:00", periods=50, freq="h"), True),
        ("f8", "days since 1900-01-01", pd.date_range("2009-07-10T01:00", periods=500, freq="min"), True),
        ("f8", "days since 1900-01-01", pd.date_range("2009-07-10T01:00", periods=3, freq="7ns"), False),
        ("i4", "hours since 1900-01-01", pd.date_range("2009-07-10T01:00", periods=2, freq="h"), True),
        ("f2", "hours since 2009-07-01", pd.date_range("2009-10-01", periods=2, freq="h"), False),
    ],
)
def test_times_are_exact_or_refused(dtype, units, times, fits, how):
    count = len(times)
    old = pd.date_range("2009-07-01", periods=count, freq="D")
    group = stored(old, {"dtype": dtype, "units": units, "calendar": "standard"})
    if not fits:
        with pytest.raises(ValueError, match="element|needs the units"):
            write(group, times, how)
        return
    write(group, times, how)
    found = xr.open_dataset(group, engine="zarr-kit").v.values
    found = found[:count] if "region" in how else found[count:]
    near = np.abs(found - times.values) < np.timedelta64(1, "us")
    assert near.all()


def test_missing_values_stay_missing():
    for old, encoding, new in (
        (FLOATS, {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -99}, [np.nan, -49.0]),
        (FLOATS, {"_FillValue": -9999.0}, [np.nan, 1.0]),
    ):
        group = stored(old, encoding)
        write(group, np.array(new), "append")
        found = xr.open_dataset(group, engine="zarr-kit").v.values[3:]
        np.testing.assert_array_equal(pd.isnull(found), pd.isnull(np.array(new)))


def test_many_small_chunks_are_said(caplog):
    group = zarr_kit.create_group("memory:")
    steps = lambda a, b: xr.Dataset({"v": ("t", np.arange(a, b) * 1.0)})  # noqa: E731
    to_zarr(steps(0, 2), group, mode="a")
    to_zarr(steps(2, 100), group, append_dim="t")
    assert "chunks" not in caplog.text
    to_zarr(steps(100, 1000), group, append_dim="t")
    assert "'v' has chunks of 2 along 't'" in caplog.text and "adds 450 of them" in caplog.text
