"""Xarray appends and writes regions: alone, on a cluster of processes, and to object storage."""

import json
import os
import signal
import threading
import warnings
from concurrent.futures import Future

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")

from zarr_kit.xarray import to_zarr  # noqa: E402

MONTHS = (31, 28, 31, 30)

# The first release whose engine "zarr" reads rectilinear grids: ours needs no such release, only the
# comparison does.
ENGINE_READS_RAGGED = tuple(map(int, xr.__version__.split(".")[:2])) >= (2026, 9)
STARTS = (0, 31, 59, 90)


@pytest.fixture(autouse=True)
def rectilinear():
    """What zarr-python needs to read rectilinear grids."""
    with warnings.catch_warnings(), zarr.config.set({"array.rectilinear_chunks": True}):
        warnings.filterwarnings("ignore", message=".*[cC]onsolidated metadata.*")
        yield


def rain(days=120, start="2001-01-01"):
    times = pd.date_range(start, periods=days)
    values = np.random.default_rng(days).random((days, 10)).astype("f4")
    ds = xr.Dataset(
        {"rain": (("time", "x"), values), "station": ("x", np.arange(10))},
        {"time": times, "month": ("time", times.month)},
    )
    ds.time.encoding = {"units": "days since 2001-01-01"}
    return ds


def months(ds):
    return [ds.isel(time=slice(start, start + n)) for start, n in zip(STARTS, MONTHS)]


def open_kit(where, **arguments):
    return xr.open_dataset(where, engine="zarr-kit", **arguments)


def both(where):
    found = open_kit(where).load()
    if not ENGINE_READS_RAGGED:
        return found
    xr.testing.assert_identical(found, xr.open_dataset(where, engine="zarr", consolidated=False).load())
    return found


@pytest.mark.parametrize(
    ("blocks", "start", "expected"),
    [
        # Months of 31, 28, 31 and 30 days.
        ((10,) * 12, 0, (31, 28, 31, 30)),
        ((31, 28, 31, 30), 0, (31, 28, 31, 30)),
        ((1, 119), 0, (31, 89)),
        ((60, 60), 0, (90, 30)),
        ((5,) * 12, 20, (11, 28, 21)),
        ((3, 4), 60, (7,)),
    ],
)
def test_blocks_are_joined_at_chunks(tmp_path, monkeypatch, blocks, start, expected):
    url, days = tmp_path / "a.zarr", sum(blocks)
    to_zarr(rain() * 0, url, chunks={"time": MONTHS})
    part = rain().isel(time=slice(start, start + days)).chunk(time=blocks)[["rain"]].drop_vars("month")
    written = []
    write = zarr_kit.Array.__setitem__

    def noted(array, key, value):
        if array.ndim == 2:
            written.append(value.shape[0])
        write(array, key, value)

    monkeypatch.setattr(zarr_kit.Array, "__setitem__", noted)
    to_zarr(part, url, region={"time": slice(start, start + days)}, align_chunks=True)
    assert sorted(written) == sorted(expected)
    values = (rain() * 0).rain.values.copy()
    values[start : start + days] = rain().rain[start : start + days]
    np.testing.assert_array_equal(open_kit(url).rain, values)


@pytest.mark.parametrize("chunked", [False, True])
def test_month_by_month(tmp_path, chunked):
    for number, month in enumerate(months(rain())):
        month = month.chunk(time=-1, x=4) if chunked else month
        if number == 0:
            to_zarr(month, tmp_path / "a.zarr", chunks={"time": [31]})
        else:
            to_zarr(month, tmp_path / "a.zarr", append_dim="time")
        if number == 0:
            # A copy of what has one chunk can grow by other lengths too.
            to_zarr(open_kit(tmp_path / "a.zarr"), tmp_path / "b.zarr")
            (tmp_path / "a.zarr").rename(tmp_path / "first.zarr")
            (tmp_path / "b.zarr").rename(tmp_path / "a.zarr")
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), rain())
    found = open_kit(tmp_path / "a.zarr", chunks={})
    assert found.rain.chunks == (MONTHS, (4, 4, 2) if chunked else (10,))
    assert zarr_kit.open(tmp_path / "a.zarr", "time").chunks == (MONTHS,)
    checked = len(list((tmp_path / "a.zarr/rain/c").iterdir()))
    assert checked == 4


def test_blocks_that_are_appended_are_chunks(tmp_path):
    to_zarr(months(rain())[0], tmp_path / "a.zarr", chunks={"time": (20, 11)})
    rest = rain().isel(time=slice(31, 120)).chunk(time=(40, 9, 40))
    to_zarr(rest, tmp_path / "a.zarr", append_dim="time", mode="a-")
    assert zarr_kit.open(tmp_path / "a.zarr", "rain").chunks[0] == (20, 11, 40, 9, 40)
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), rain())
    # Chunks that the document declares past the end are filled before others are added.
    for name in ("rain", "time", "month"):
        array = zarr_kit.open(tmp_path / "a.zarr", name)
        array.resize((100, *array.shape[1:]))
    to_zarr(rain().isel(time=slice(100, 120)).drop_vars("station"), tmp_path / "a.zarr", append_dim="time")
    assert zarr_kit.open(tmp_path / "a.zarr", "rain").chunks[0] == (20, 11, 40, 9, 40)
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), rain())


def test_regular_grids_stay_regular(tmp_path):
    to_zarr(rain(31), tmp_path / "a.zarr", chunks={"time": 20})
    first, more = rain(31), rain(50, "2001-02-01")
    to_zarr(more.chunk(time=7), tmp_path / "a.zarr", append_dim="time")
    assert zarr_kit.open(tmp_path / "a.zarr", "rain").metadata["chunk_grid"]["name"] == "regular"
    expected = xr.concat([first, more], "time", data_vars="minimal", coords="minimal")
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), expected)


def test_what_is_appended_is_encoded_as_what_is_stored(tmp_path):
    encoding = {
        "rain": {"dtype": "i2", "scale_factor": 0.001, "_FillValue": -1},
        "time": {"units": "hours since 2000-12-01", "dtype": "i4"},
    }
    first, second = months(rain())[:2]
    to_zarr(first, tmp_path / "a.zarr", encoding=encoding)
    second.rain[3, 4] = np.nan
    second.time.encoding = {"units": "seconds since 1970-01-01"}
    to_zarr(second.transpose(), tmp_path / "a.zarr", append_dim="time")
    raw = zarr_kit.open_group(tmp_path / "a.zarr")
    assert raw["rain"].dtype == "i2" and raw["rain"][34, 4] == -1
    assert raw["time"][31:33].tolist() == [62 * 24, 63 * 24]
    expected = xr.concat([first, second], "time", data_vars="minimal", coords="minimal")
    xr.testing.assert_allclose(both(tmp_path / "a.zarr"), expected, atol=6e-4)


def state(where):
    """All documents and chunks of a store."""
    return {p.relative_to(where): p.read_bytes() for p in where.rglob("*") if p.is_file() and "lock" not in p.name}


def test_a_refused_append_changes_nothing(tmp_path):
    first, second = months(rain())[:2]
    first["name"] = ("time", np.full(31, "abc"))
    second["name"] = ("time", np.full(28, "abcdef"))
    to_zarr(first, tmp_path / "a.zarr")
    before = state(tmp_path / "a.zarr")
    fine = second.drop_vars("name")
    for ds, arguments, message in [
        (second, {"append_dim": "time"}, "Mismatched dtypes"),
        (fine, {"append_dim": "day"}, "does not match any existing"),
        (fine.isel(x=slice(5)), {"append_dim": "time"}, "different dimension sizes"),
        (fine.rename(x="y"), {"append_dim": "time"}, "different dimension names"),
        (fine, {"mode": "a"}, "different dimension sizes"),
        (fine, {"append_dim": "time", "encoding": {"rain": {}}}, "but encoding was provided"),
        (fine, {"append_dim": "time", "mode": "w"}, "cannot set append_dim"),
        (fine.assign_attrs(a=float("nan")), {"append_dim": "time"}, "no JSON value"),
        (fine, {"region": {"time": slice(40, 68)}}, "time"),
        (first[["rain"]], {"region": {"time": slice(1, 32)}}, "different dimension sizes"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            to_zarr(ds, tmp_path / "a.zarr", **arguments)
        assert state(tmp_path / "a.zarr") == before, message


def test_dimensions_keep_one_length(tmp_path):
    first, second = months(rain())[:2]
    to_zarr(first, tmp_path / "a.zarr")
    before = state(tmp_path / "a.zarr")
    new = second.assign(snow=("time", np.zeros(28)))
    for ds, arguments in [
        (second.drop_vars("month"), {"append_dim": "time"}),
        (second.drop_vars("time"), {"append_dim": "time"}),
        (second.drop_vars("rain").chunk(time=5), {"append_dim": "time", "mode": "a-"}),
        (new, {"append_dim": "time"}),
        (new, {"append_dim": "time", "mode": "a-"}),
        (xr.Dataset({"snow": ("time", np.zeros(30))}), {"mode": "a"}),
        (xr.Dataset({"snow": (("x", "y"), np.zeros((9, 2)))}), {"mode": "a"}),
    ]:
        with pytest.raises(ValueError, match="dimension '(time|x)' would have the length"):
            to_zarr(ds, tmp_path / "a.zarr", **arguments)
        assert state(tmp_path / "a.zarr") == before
    snow = xr.Dataset({"snow": (("time", "y"), np.ones((31, 2)))})
    to_zarr(snow, tmp_path / "a.zarr", mode="a")
    to_zarr(second.assign(snow=(("time", "y"), np.zeros((28, 2)))), tmp_path / "a.zarr", append_dim="time")
    found = both(tmp_path / "a.zarr")
    assert found.sizes == {"time": 59, "x": 10, "y": 2} and found.snow.sum() == 62
    # What stays as it is may disagree: a part of it can still be written.
    zarr_kit.open(tmp_path / "a.zarr", "snow").resize((50, 2))
    to_zarr(rain()[["rain"]].isel(time=slice(3, 9)).drop_vars("month") * 0, tmp_path / "a.zarr", region={"time": slice(3, 9)})
    assert not zarr_kit.open(tmp_path / "a.zarr", "rain")[3:9].any()


def test_another_process_has_appended_meanwhile(tmp_path, monkeypatch):
    from zarr_kit._xarray import writing

    to_zarr(months(rain())[0], tmp_path / "a.zarr")
    planned = writing.planned

    def overtaken(*arguments):
        plan = planned(*arguments)
        array = zarr_kit.open(tmp_path / "a.zarr", "month")
        array.append(np.full(5, 2))
        return plan

    monkeypatch.setattr(writing, "planned", overtaken)
    with pytest.raises(zarr_kit.ConflictError):
        to_zarr(months(rain())[1], tmp_path / "a.zarr", append_dim="time")


def two_days(*days):
    """Variables whose order is not that of their names."""
    values = np.array(days, "f8")
    return xr.Dataset({"b": ("time", values), "a": ("time", values)}, {"time": pd.to_datetime(days, unit="D")})


def test_an_append_that_is_killed_can_be_completed(tmp_path, monkeypatch):
    to_zarr(two_days(1, 2), tmp_path / "a.zarr")
    write = zarr_kit.Array.__setitem__

    def killed(array, key, value):
        if array.dtype == "f8":
            raise KeyboardInterrupt
        write(array, key, value)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(zarr_kit.Array, "__setitem__", killed)
        to_zarr(two_days(3, 4), tmp_path / "a.zarr", append_dim="time")
    found = both(tmp_path / "a.zarr")
    np.testing.assert_array_equal(found.a, [1, 2, np.nan, np.nan])
    np.testing.assert_array_equal(found.b, found.a)
    to_zarr(two_days(3, 4), tmp_path / "a.zarr", region="auto")
    xr.testing.assert_equal(both(tmp_path / "a.zarr"), two_days(1, 2, 3, 4))


def test_arrays_grow_together_after_ctrl_c(tmp_path, monkeypatch):
    to_zarr(two_days(1, 2), tmp_path / "a.zarr")
    resize, result, waits = zarr_kit.Array.resize, Future.result, threading.Event()

    def interrupted(array, *arguments, **settings):
        resize(array, *arguments, **settings)
        if array.path == "a" and waits.wait(60):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(zarr_kit.Array, "resize", interrupted)
    monkeypatch.setattr(Future, "result", lambda future: (waits.set(), result(future))[1])
    with pytest.raises(KeyboardInterrupt):
        to_zarr(two_days(3, 4), tmp_path / "a.zarr", append_dim="time")
    assert both(tmp_path / "a.zarr").sizes == {"time": 4}


def test_an_append_that_begins_during_another_stores_nothing(tmp_path, monkeypatch):
    from zarr_kit._xarray import writing

    to_zarr(two_days(1, 2), tmp_path / "a.zarr")
    resize, execute, later = zarr_kit.Array.resize, writing._execute, []

    def planned_only(*arguments):
        later.append(arguments)

    def overtaken(array, *arguments, **settings):
        resize(array, *arguments, **settings)
        if later:
            with pytest.raises(zarr_kit.ConflictError):
                execute(*later.pop())

    with monkeypatch.context() as patch:
        patch.setattr(writing, "_execute", planned_only)
        to_zarr(two_days(5, 6)[["a", "b"]], tmp_path / "a.zarr", append_dim="time")
    monkeypatch.setattr(zarr_kit.Array, "resize", overtaken)
    to_zarr(two_days(3, 4), tmp_path / "a.zarr", append_dim="time")
    assert not later
    xr.testing.assert_equal(both(tmp_path / "a.zarr"), two_days(1, 2, 3, 4))


def test_regions(tmp_path):
    ds = rain().chunk(time=MONTHS)
    to_zarr(ds * 0, tmp_path / "a.zarr", compute=False)
    for start in range(0, 120, 17):
        part = rain()[["rain"]].isel(time=slice(start, start + 17)).drop_vars("month")
        where = "auto" if start % 2 else {"time": slice(start, min(start + 17, 120))}
        to_zarr(part, tmp_path / "a.zarr", region=where)
    np.testing.assert_array_equal(both(tmp_path / "a.zarr").rain, rain().rain)
    corner = rain().rain.isel(time=slice(30, 33), x=slice(2, 5)) * 0
    to_zarr(corner.drop_vars("month"), tmp_path / "a.zarr", region={"time": "auto", "x": slice(2, 5)})
    expected = rain().rain.values
    expected[30:33, 2:5] = 0
    np.testing.assert_array_equal(both(tmp_path / "a.zarr").rain, expected)
    outside = rain(5, "2002-01-01")[["rain"]]
    with pytest.raises(KeyError, match="Not all values of coordinate 'time'"):
        to_zarr(outside, tmp_path / "a.zarr", region={"time": "auto"})
    with pytest.raises(ValueError, match="non-contiguous"):
        to_zarr(rain()[["rain"]].isel(time=[0, 2]), tmp_path / "a.zarr", region={"time": "auto"})


def test_tasks_that_share_chunks_lose_nothing(tmp_path, cluster):
    to_zarr(rain(), tmp_path / "a.zarr", encoding={"rain": {"chunks": (MONTHS, 10)}})
    to_zarr((rain() * 0)[["rain"]].drop_vars("month").chunk(time=7, x=3), tmp_path / "a.zarr", mode="r+")
    assert not open_kit(tmp_path / "a.zarr").rain.any()
    to_zarr(rain()[["rain"]].chunk(time=7, x=3), tmp_path / "a.zarr", mode="r+")
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), rain())


def test_a_store_that_cannot_exclude_others(tmp_path, monkeypatch):
    from zarr_kit._xarray import writing

    monkeypatch.setattr(writing, "_excludes_processes", lambda group: False)
    to_zarr(rain().chunk(time=MONTHS), tmp_path / "a.zarr")
    to_zarr(rain().chunk(time=(59, 61)), tmp_path / "a.zarr", mode="a")
    with pytest.raises(ValueError, match="variable 'rain'.*would overlap one stored"):
        to_zarr(rain().chunk(time=50), tmp_path / "a.zarr", mode="a")
    part = rain().isel(time=slice(10, 41))[["rain"]]
    to_zarr(part.chunk(time=(21, 10)), tmp_path / "a.zarr", region={"time": slice(10, 41)})
    with pytest.raises(ValueError, match="would overlap"):
        to_zarr(part.chunk(time=(20, 11)), tmp_path / "a.zarr", region={"time": slice(10, 41)})
    to_zarr(part.chunk(time=(20, 11)), tmp_path / "a.zarr", region={"time": slice(10, 41)}, safe_chunks=False)
    with pytest.raises(ValueError, match="would overlap"):
        to_zarr(rain().chunk(time=5), tmp_path / "b.zarr", encoding={"rain": {"chunks": (30, 10)}})


def test_a_cluster_stores_appends_and_reads(tmp_path, cluster):
    first, *rest = months(rain())
    to_zarr(first.chunk(time=10), tmp_path / "a.zarr", chunks={"time": [31]})
    for month in rest:
        later = to_zarr(month.chunk(time=-1, x=3), tmp_path / "a.zarr", append_dim="time", compute=False)
        cluster.compute(later).result()
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), rain())
    found = open_kit(tmp_path / "a.zarr", chunks={})
    assert found.rain.chunks[0] == MONTHS
    xr.testing.assert_allclose(found.groupby("time.month").mean(), rain().groupby("time.month").mean())
    xr.testing.assert_allclose(found.rain.resample(time="1MS").sum(), rain().rain.resample(time="1MS").sum())
    to_zarr(found.chunk(time=50), tmp_path / "b.zarr")
    xr.testing.assert_identical(both(tmp_path / "b.zarr"), rain())


def test_a_worker_that_dies_is_replaced(tmp_path, cluster):
    """Dask repeats the tasks of a process that is killed; no chunk is torn."""
    flag = tmp_path / "killed"

    def dies_once(block):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block
        os.kill(os.getpid(), 9)

    ds = rain().chunk(time=5)
    ds["rain"] = ds.rain.copy(data=ds.rain.data.map_blocks(dies_once, dtype="f4", meta=np.empty((0, 0), "f4")))
    to_zarr(ds, tmp_path / "a.zarr", encoding={"rain": {"chunks": (MONTHS, 10)}})
    assert flag.exists()
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), rain())


def test_strings(tmp_path):
    words = np.array(["Genève", "", "a longer one", "Bern"], object)
    ds = xr.Dataset(
        {
            "objects": ("t", words),
            "strings": ("t", words.astype(np.dtypes.StringDType())),
            "fixed": ("t", np.array(["ab", "c", "", "dé"])),
            "raw": ("t", np.array([b"ab", b"c", b"", b"\xff"])),
        },
        {"t": ["p", "q", "r", "s"]},
    )
    to_zarr(ds, tmp_path / "a.zarr", encoding={"objects": {"chunks": ((1, 3),)}})
    found = both(tmp_path / "a.zarr")
    # Xarray decodes strings to objects before release 2026.9.
    expected = np.dtypes.StringDType() if ENGINE_READS_RAGGED else object
    assert found.objects.dtype == found.strings.dtype == expected
    assert json.loads((tmp_path / "a.zarr/fixed/zarr.json").read_text())["data_type"]["name"] == "fixed_length_utf32"
    for name in ds.variables:
        assert found[name].values.tolist() == ds[name].values.tolist()
    assert found.sel(t=["s", "p"]).objects.values.tolist() == ["Bern", "Genève"]
    lazy = open_kit(tmp_path / "a.zarr").isel(t=xr.DataArray([[3, 0]], dims=("u", "v"))).objects
    assert lazy.values.tolist() == [["Bern", "Genève"]]
    assert open_kit(tmp_path / "a.zarr", chunks={}).objects[1:].values.tolist() == words[1:].tolist()
    ds.to_zarr(tmp_path / "b.zarr", consolidated=False)
    xr.testing.assert_identical(both(tmp_path / "b.zarr").drop_vars("t"), found.drop_vars("t"))
    to_zarr(ds.isel(t=[3, 2]), tmp_path / "a.zarr", append_dim="t")
    assert both(tmp_path / "a.zarr").objects.values.tolist() == [*words, "Bern", "a longer one"]
    to_zarr(ds[["objects"]].isel(t=[3]), tmp_path / "a.zarr", region={"t": slice(1, 2)})
    assert both(tmp_path / "a.zarr").objects.values[1] == "Bern"
    again = open_kit(tmp_path / "a.zarr", chunks={})
    to_zarr(again, tmp_path / "c.zarr")
    xr.testing.assert_identical(both(tmp_path / "c.zarr"), both(tmp_path / "a.zarr"))
