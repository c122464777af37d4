"""Xarray reads: against its own engine for Zarr, and what that one cannot."""

import asyncio
import json
import pickle
import shutil
import tarfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
pd = pytest.importorskip("pandas")

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
MONTHS = (31, 28, 31, 30)


@pytest.fixture(autouse=True)
def rectilinear():
    """What zarr-python needs to read rectilinear grids."""
    with warnings.catch_warnings(), zarr.config.set({"array.rectilinear_chunks": True}):
        warnings.filterwarnings("ignore", message=".*Consolidated metadata.*")
        warnings.filterwarnings("ignore", message=".*consolidated metadata.*")
        warnings.filterwarnings("ignore", message=".*Zarr V3 specification.*")
        yield


def weather():
    """A dataset with what CF conventions encode: times, missing values, scales, units."""
    rng = np.random.default_rng(1)
    days = pd.date_range("2001-01-01", periods=120)
    temperature = rng.normal(280, 10, (120, 6, 8)).astype("f4")
    temperature[5, 2, 3] = np.nan
    return xr.Dataset(
        {
            "temperature": (("time", "y", "x"), temperature, {"units": "K", "valid": np.array([200, 350])}),
            "count": (("time", "x"), rng.integers(0, 9, (120, 8), "i2"), {"units": "1"}),
            "wet": (("y", "x"), rng.random((6, 8)) < 0.5),
            "z": ((), 2.5, {"größe": "ja"}),
            "spectrum": ("x", rng.random(8) + 1j * rng.random(8)),
            "since": ("time", days - days[0]),
        },
        {
            "time": days,
            "y": np.linspace(-1, 1, 6),
            "x": np.arange(8),
            "area": (("y", "x"), rng.random((6, 8)), {"long_name": "area"}),
            "lønn": ("y", np.arange(6)),
        },
        {"title": "weather", "version": np.int64(3), "range": np.array([1.0, 2.0])},
    )


def with_months(ds):
    return ds.chunk({"time": MONTHS, "x": 5})


def open_kit(where, **arguments):
    return xr.open_dataset(where, engine="zarr-kit", **arguments)


def open_zarr(where, **arguments):
    return xr.open_dataset(where, engine="zarr", consolidated=False, **arguments)


@pytest.mark.parametrize("chunks", [None, {}, "auto", {"time": 60}])
def test_both_engines_read_the_same(tmp_path, chunks):
    encoding = {"temperature": {"chunks": (30, 3, 8)}, "count": {"_FillValue": 3}}
    weather().to_zarr(tmp_path / "a.zarr", encoding=encoding)
    arguments = {"chunks": chunks, "decode_timedelta": True}
    expected = open_zarr(tmp_path / "a.zarr", **arguments)
    found = open_kit(tmp_path / "a.zarr", **arguments)
    xr.testing.assert_identical(found, expected)
    for name, variable in expected.variables.items():
        assert found[name].dtype == variable.dtype
        assert found[name].chunks == variable.chunks
        assert found[name].encoding["chunks"] == variable.encoding["chunks"]
    xr.testing.assert_identical(found.load(), expected.load())


@pytest.mark.parametrize("setting", ["decode_times", "mask_and_scale", "decode_coords", "decode_cf"])
def test_decoding_can_be_switched_off(tmp_path, setting):
    encoding = {"temperature": {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -32768}}
    weather().to_zarr(tmp_path / "a.zarr", encoding=encoding)
    found = open_kit(tmp_path / "a.zarr", **{setting: False})
    xr.testing.assert_identical(found, open_zarr(tmp_path / "a.zarr", **{setting: False}))


KEYS = [
    {"time": slice(3, 90, 7), "x": [5, 0, 3]},
    {"time": slice(None, None, -1)},
    {"time": slice(100, 20, -9), "y": slice(None, None, -2), "x": 3},
    {"time": [4, 4, -1, 0], "y": [True, False, True, True, False, False]},
    {"time": 5, "y": 2, "x": 3},
    {"time": slice(0, 0)},
    {"time": xr.DataArray([3, 119, 40], dims="p"), "x": xr.DataArray([1, 7, 1], dims="p")},
    {"time": xr.DataArray([[3, 119], [40, 3]], dims=("p", "q")), "y": slice(None, None, -2)},
    {"x": xr.DataArray([[1, 0], [7, 3]], dims=("p", "q")), "time": slice(10, 13)},
    {"time": xr.DataArray([], dims="p").astype(int), "x": xr.DataArray([], dims="p").astype(int)},
]


@pytest.mark.parametrize("chunks", [None, {}])
@pytest.mark.parametrize("key", KEYS, ids=lambda key: ",".join(key))
def test_every_kind_of_index(tmp_path, key, chunks):
    weather().to_zarr(tmp_path / "a.zarr", encoding={"temperature": {"chunks": (31, 4, 3)}})
    found = open_kit(tmp_path / "a.zarr", chunks=chunks).isel(key)
    expected = weather().isel(key)
    xr.testing.assert_equal(found, expected)
    # An index of an index is one read too.
    if found.sizes.get("x", 0) > 1:
        xr.testing.assert_equal(
            open_kit(tmp_path / "a.zarr", chunks=chunks).isel(key).isel(x=slice(None, None, -2)),
            expected.isel(x=slice(None, None, -2)),
        )


def ragged(folder):
    group = zarr_kit.create_group(folder, attributes={"title": "months"})
    day = group.create_array(
        "day", shape=120, dtype="i8", chunks=[MONTHS], dimension_names=["day"],
        attributes={"units": "days since 2001-01-01"},
    )
    day[...] = np.arange(120)
    rain = group.create_array(
        "rain", shape=(120, 7), dtype="f4", chunks=[MONTHS, 3], dimension_names=["day", "x"],
        codecs=[{"name": "bytes", "configuration": {"endian": "big"}}],
        fill_value=-1, attributes={"units": "mm"},
    )
    rain[...] = np.arange(840).reshape(120, 7)
    return group


def test_ragged_chunks_are_xarrays(tmp_path):
    ragged(tmp_path / "a.zarr")
    found = open_kit(tmp_path / "a.zarr", chunks={})
    assert found.rain.chunks == (MONTHS, (3, 3, 1))
    assert found.rain.encoding["chunks"] == (MONTHS, 3)
    assert found.rain.encoding["codecs"] == [{"name": "bytes", "configuration": {"endian": "big"}}]
    assert found.rain.encoding["fill_value"] == -1
    months = found.rain.groupby("day.month").sum().compute()
    if tuple(map(int, xr.__version__.split(".")[:2])) >= (2026, 9):  # others do not read such grids
        expected = open_zarr(tmp_path / "a.zarr").rain.groupby("day.month").sum()
        xr.testing.assert_identical(months, expected)
    assert months.sizes["month"] == 4
    # Each month is read from its own chunk, none is divided.
    resampled = found.rain.resample(day="1MS").mean()
    assert len(resampled.day) == 4
    np.testing.assert_allclose(resampled[0], np.arange(217).reshape(31, 7).mean(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_kit(tmp_path / "a.zarr", chunks="auto").rain.chunks == ((120,), (7,))


def test_shards(tmp_path):
    group = zarr_kit.create_group(tmp_path / "a.zarr")
    a = group.create_array(
        "a", shape=(120, 6), dtype="i4", chunks=(10, 2), shards=(40, 6), dimension_names=["t", "x"]
    )
    a[...] = np.arange(720).reshape(120, 6)
    found, expected = open_kit(tmp_path / "a.zarr"), open_zarr(tmp_path / "a.zarr")
    xr.testing.assert_identical(found, expected)
    for entry in ("chunks", "shards", "preferred_chunks"):
        assert found.a.encoding[entry] == expected.a.encoding[entry]
    assert [codec["name"] for codec in found.a.encoding["codecs"]] == ["bytes", "zstd"]


def test_groups_and_dropped_variables(tmp_path):
    weather().to_zarr(tmp_path / "a.zarr", group="inner/one")
    found = open_kit(tmp_path / "a.zarr", group="/inner/one", drop_variables=["count", "area"])
    xr.testing.assert_identical(found, weather().drop_vars(["count", "area"]))
    array = zarr_kit.open_group(tmp_path / "a.zarr").create_array("bare", shape=3, dtype="i1")
    with pytest.raises(ValueError, match="'bare' has no name for each dimension"):
        open_kit(tmp_path / "a.zarr")
    assert not open_kit(tmp_path / "a.zarr", drop_variables="bare").variables
    with pytest.raises(ValueError, match="not a group"):
        open_kit(zarr_kit.open_group(tmp_path / "a.zarr"), group=array.path)
    # Groups that have the name stay.
    tree = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit", drop_variables=["bare", "inner", "count"])
    assert tree.groups == ("/", "/inner", "/inner/one") and not tree.variables
    assert "count" not in tree["inner/one"]


def test_trees(tmp_path):
    tree = xr.DataTree.from_dict(
        {"/": xr.Dataset({"a": ("w", [1, 2])}, attrs={"top": 1}), "/b/c": weather().drop_vars("x"), "/b": xr.Dataset()}
    )
    tree.to_zarr(tmp_path / "a.zarr")
    xr.testing.assert_identical(xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit"), tree)
    below = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit", group="b")
    expected = xr.open_datatree(tmp_path / "a.zarr", engine="zarr", group="b")
    xr.testing.assert_identical(below, expected)
    groups = xr.open_groups(tmp_path / "a.zarr", engine="zarr-kit")
    assert list(groups) == ["/", "/b", "/b/c"]
    xr.testing.assert_identical(groups["/b/c"], weather().drop_vars("x"))


def test_many_stores_are_one_dataset(tmp_path):
    ds = weather().drop_vars(["wet", "z", "spectrum"])
    parts = [ds.isel(time=slice(0, 31)), ds.isel(time=slice(31, 59)), ds.isel(time=slice(59, 120))]
    for number, part in enumerate(parts):
        part.to_zarr(tmp_path / f"{number}.zarr")
    paths = [tmp_path / f"{number}.zarr" for number in range(3)]
    found = xr.open_mfdataset(paths, engine="zarr-kit", data_vars="minimal", coords="minimal", compat="override")
    xr.testing.assert_identical(found.load(), ds)
    assert found.temperature.chunks is None


def test_an_array_of_one_variable(tmp_path):
    array = weather().temperature
    array.to_dataset().drop_vars(["area", "lønn"]).to_zarr(tmp_path / "a.zarr")
    found = xr.open_dataarray(tmp_path / "a.zarr", engine="zarr-kit")
    xr.testing.assert_identical(found, array.drop_vars(["area", "lønn"]))


def test_an_array_alone(tmp_path):
    group = ragged(tmp_path / "a.zarr")
    found = group["rain"].to_xarray(chunks={})
    assert found.name == "rain" and found.dims == ("day", "x") and found.attrs == {"units": "mm"}
    assert found.chunks == (MONTHS, (3, 3, 1))
    np.testing.assert_array_equal(found, np.arange(840).reshape(120, 7))
    day = group["day"].to_xarray()
    assert day.dtype.kind == "M" and day.values[31] == np.datetime64("2001-02-01")
    bare = zarr_kit.create("memory:", shape=(3, 0), dtype="i2")
    assert bare.to_xarray().dims == ("dim_0", "dim_1") and bare.to_xarray().name is None
    assert bare.to_xarray({}).chunks == ((3,), (0,))


def test_reads_are_lazy_and_can_be_sent_to_other_processes(tmp_path):
    ragged(tmp_path / "a.zarr")
    found = open_kit(tmp_path / "a.zarr")
    assert not found.rain.variable._in_memory and found.day.variable._in_memory
    copy = pickle.loads(pickle.dumps(found))
    assert not copy.rain.variable._in_memory
    xr.testing.assert_identical(copy, found)
    assert not open_kit(tmp_path / "a.zarr").rain.isel(day=[3, 1]).variable._in_memory
    # What is pickled is the document, and no file is opened for it again.
    sent = pickle.dumps(open_kit(tmp_path / "a.zarr").rain.drop_vars("day"))
    assert len(sent) < 4000
    (tmp_path / "a.zarr/rain/zarr.json").unlink()
    np.testing.assert_array_equal(pickle.loads(sent)[3], np.arange(21, 28))


def test_points_of_many_chunks(tmp_path):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9999, (120, 40), "i4")
    ds = xr.Dataset({"a": (("t", "x"), values), "s": (("t", "x"), values.astype(np.dtypes.StringDType()))})
    ds.to_zarr(tmp_path / "a.zarr", encoding={"a": {"chunks": (13, 7)}, "s": {"chunks": (50, 9)}})
    t, x = rng.integers(-120, 120, (2, 5, 30)), rng.integers(0, 40, (5, 30))
    key = {"t": xr.DataArray(t, dims=("p", "q", "r")), "x": xr.DataArray(x, dims=("q", "r"))}
    for threads in (None, 1, 3):
        found = open_kit(tmp_path / "a.zarr", threads=threads).isel(key)
        np.testing.assert_array_equal(found.a, values[t, x])
        assert found.s.values.tolist() == values[t, x].astype(str).tolist()


def test_threads(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    from zarr_kit._xarray.lazy import LazyArray

    ragged(tmp_path / "a.zarr")
    lazy = LazyArray(zarr_kit.open(tmp_path / "a.zarr", "rain"))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lazy.reader).result() is not lazy.reader()
    found = open_kit(tmp_path / "a.zarr")
    with ThreadPoolExecutor(8) as pool:
        for row, read in enumerate(pool.map(lambda n: found.rain[n].values, range(120))):
            np.testing.assert_array_equal(read, np.arange(7) + 7 * row)
    xr.testing.assert_identical(open_kit(tmp_path / "a.zarr", threads=2), found)
    with pytest.raises(ValueError, match="threads"):
        open_kit(tmp_path / "a.zarr", threads=0)


def test_loading_as_a_coroutine(tmp_path):
    ragged(tmp_path / "a.zarr")
    xr.testing.assert_identical(
        asyncio.run(open_kit(tmp_path / "a.zarr").load_async()), open_kit(tmp_path / "a.zarr")
    )


def test_which_engine_is_chosen(tmp_path):
    weather().to_zarr(tmp_path / "a.zarr")
    (tmp_path / "a.zarr").rename(tmp_path / "no ending")
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "no ending"), weather())
    engine = xr.backends.list_engines()["zarr-kit"]
    assert engine.guess_can_open(zarr_kit.create_group("memory:"))
    for other in ("s3://bucket/a.zarr", tmp_path / "nowhere", "a\0b", b"bytes", 3, tmp_path):
        assert not engine.guess_can_open(other)
    weather().to_zarr(tmp_path / "b.zarr")
    assert xr.backends.plugins.guess_engine(str(tmp_path / "b.zarr")) == "zarr"


def test_fill_values_as_missing_values(tmp_path):
    group = zarr_kit.create_group(tmp_path / "a.zarr")
    for name, fill_value in [("a", 7), ("b", 0)]:
        array = group.create_array(
            name, shape=4, dtype="i2", chunks=2, dimension_names=["x"], fill_value=fill_value
        )
        array[:2] = [1, 0]
    assert open_kit(tmp_path / "a.zarr").a.values.tolist() == [1, 0, 7, 7]
    found = open_kit(tmp_path / "a.zarr", use_zarr_fill_value_as_mask=True)
    np.testing.assert_array_equal(found.a, [1, 0, np.nan, np.nan])
    np.testing.assert_array_equal(found.b, [1, np.nan, np.nan, np.nan])


def test_missing_values_of_other_programs(tmp_path):
    group = zarr_kit.create_group(tmp_path / "a.zarr")
    for name, dtype, value in [("a", "f4", -9999), ("b", "f8", "NaN"), ("c", "i2", 7)]:
        array = group.create_array(
            name, shape=3, dtype=dtype, dimension_names=["x"], attributes={"_FillValue": value}
        )
        array[:] = np.array([1, float(value), 2]).astype(dtype)
    found = open_kit(tmp_path / "a.zarr")
    for name in "abc":
        np.testing.assert_array_equal(found[name], [1, np.nan, 2])
    group["a"].attrs["_FillValue"] = "no number"
    with pytest.raises(ValueError, match="'a': attribute _FillValue 'no number'"):
        open_kit(tmp_path / "a.zarr")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"zarr_format": 2}',
        '{"zarr_format": 3, "node_type": "array"}',
        '{"zarr_format": 3, "node_type": "array", "shape": [1e30], "data_type": "int8"}',
        "[" * 100_000,
    ],
)
def test_documents_that_are_none(tmp_path, text):
    group = ragged(tmp_path / "a.zarr")
    assert open_kit(tmp_path / "a.zarr").sizes == {"day": 120, "x": 7}
    (tmp_path / "a.zarr/rain/zarr.json").write_text(text)
    with pytest.raises((ValueError, OSError)):
        open_kit(tmp_path / "a.zarr")
    assert "rain" in list(group)


def test_chunks_that_are_none(tmp_path):
    ragged(tmp_path / "a.zarr")
    chunk = tmp_path / "a.zarr/rain/c/0/0"
    chunk.write_bytes(b"no chunk")
    with pytest.raises(ValueError, match="c/"):
        open_kit(tmp_path / "a.zarr").rain.load()
    with pytest.raises(FileNotFoundError):
        open_kit(tmp_path / "b.zarr")


def test_stores_that_are_hostile(tmp_path):
    with tarfile.open(FIXTURES / "conformance/stores/invalid.tar.gz") as archive:
        archive.extractall(tmp_path / "stores", filter="data")
    cases = json.loads((FIXTURES / "conformance/manifest.json").read_text())["cases"]
    cases = [case for case in cases if case["archive"] == "invalid"]
    kinds = (ValueError, OSError, MemoryError, TypeError)
    for number, case in enumerate(cases):
        group = tmp_path / f"{number}.zarr"
        zarr_kit.create_group(group)
        shutil.copytree(tmp_path / "stores" / case["path"], group / "a")
        if case["fails"] == "read":
            document = json.loads((group / "a/zarr.json").read_text())
            document["dimension_names"] = [f"d{axis}" for axis in range(len(document["shape"]))]
            (group / "a/zarr.json").write_text(json.dumps(document))
        with pytest.raises(kinds):
            found = open_kit(group)
            assert case["fails"] == "read"
            found.load()


def test_four_years_of_weather():
    """Against the table that the store was made from."""
    ds = open_kit(FIXTURES / "seattle-weather.zarr", chunks={}, drop_variables=["time"])
    table = pd.read_csv(FIXTURES / "seattle-weather.csv", parse_dates=["date"])
    name, = {v.dims for v in ds.data_vars.values() if v.sizes == {v.dims[0]: 1461}}
    ds = ds[["precipitation", "temp_max", "wind"]].assign_coords({name[0]: table.date.values})
    assert ds.wind.chunks[0][:3] == (31, 29, 31)
    monthly = ds.resample({name[0]: "1MS"}).mean().compute()
    expected = table.set_index("date")[list(ds.data_vars)].resample("1MS").mean()
    for variable in ds.data_vars:
        np.testing.assert_allclose(monthly[variable], expected[variable], rtol=1e-5)
    assert len(monthly[name[0]]) == 48


def test_consolidated_metadata_is_used_if_asked_for(tmp_path):
    zarr_kit.create_group(tmp_path / "a.zarr")
    ragged(tmp_path / "a.zarr" / "in")
    with pytest.raises(FileNotFoundError, match="no consolidated"):
        open_kit(tmp_path / "a.zarr", group="in", consolidated=True)
    with pytest.raises(FileNotFoundError, match="no consolidated"):
        xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit", consolidated=True)
    zarr.consolidate_metadata(tmp_path / "a.zarr")
    tree = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit")
    for document in tmp_path.glob("a.zarr/in/*/zarr.json"):
        document.unlink()
    (tmp_path / "a.zarr/in/zarr.json").unlink()
    # All documents but the root's are gone, so these are its copies.
    for consolidated in (None, False):
        with pytest.raises((FileNotFoundError, KeyError)):
            open_kit(tmp_path / "a.zarr", group="in", consolidated=consolidated)
    found = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit", consolidated=True)
    xr.testing.assert_identical(found, tree)
    part = open_kit(tmp_path / "a.zarr", group="in", consolidated=True)
    xr.testing.assert_identical(part, tree["in"].to_dataset())
    group = zarr_kit.open_group(tmp_path / "a.zarr", use_consolidated=True)
    assert list(group["in"]) == ["day", "rain"] and group["in/rain"].shape == (120, 7)
    assert list(zarr_kit.open_group(tmp_path / "a.zarr")) == []


def test_many_chunks_of_a_short_document(monkeypatch):
    """A document of some bytes may declare millions of chunks: their lengths are not listed."""
    from zarr_kit._xarray import encoding

    monkeypatch.setattr(encoding, "MOST", 10)
    group = zarr_kit.create_group("memory:")
    for name, shape, chunks, expected in [
        ("few", 10, [1] * 10, (1,) * 10),
        ("past", 20, [2] * 20, (2,) * 10),
        ("many", 11, [1] * 11, 1),
        ("clipped", 32, [3] * 11, 3),
    ]:
        array = group.create_array(name, shape=sum(chunks), dtype="i1", chunks=[chunks], dimension_names=["d_" + name])
        array.resize(shape)
        assert encoding.chunks_of(array) == (expected,)
        assert encoding.stored(array, (name,))["preferred_chunks"] == {name: expected}
    group.create_array("ragged", shape=12, dtype="i1", chunks=[(1,) * 10 + (2,)], dimension_names=["x"])
    with pytest.raises(MemoryError, match="'ragged' has 11 chunks of several lengths.*drop_variables"):
        xr.open_dataset(group, engine="zarr-kit")
    assert xr.open_dataset(group, engine="zarr-kit", drop_variables="ragged", chunks={}).clipped.chunks == ((3,) * 10 + (2,),)
