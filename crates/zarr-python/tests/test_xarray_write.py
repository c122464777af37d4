"""Xarray writes: read again by its own engine and by ours."""

import json
import warnings

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")

from zarr_kit.xarray import to_zarr  # noqa: E402

MONTHS = (31, 28, 31, 30)
RAW = [{"name": "bytes", "configuration": {"endian": "little"}}]

# The first release whose engine "zarr" reads rectilinear grids: ours needs no such release, only the
# comparison does.
ENGINE_READS_RAGGED = tuple(map(int, xr.__version__.split(".")[:2])) >= (2026, 9)


@pytest.fixture(autouse=True)
def rectilinear():
    """What zarr-python needs to read rectilinear grids."""
    with warnings.catch_warnings(), zarr.config.set({"array.rectilinear_chunks": True}):
        warnings.filterwarnings("ignore", message=".*[cC]onsolidated metadata.*")
        warnings.filterwarnings("ignore", message=".*Zarr V3 specification.*")
        yield


def weather(days=120, start="2001-01-01"):
    rng = np.random.default_rng(days)
    times = pd.date_range(start, periods=days)
    temperature = rng.normal(280, 10, (days, 6, 8)).astype("f4")
    temperature[5, 2, 3] = np.nan
    ds = xr.Dataset(
        {
            "temperature": (("time", "y", "x"), temperature, {"units": "K", "valid": np.array([200, 350])}),
            "count": (("time", "x"), rng.integers(0, 9, (days, 8), "i2"), {"units": "1"}),
            "wet": (("y", "x"), np.random.default_rng(1).random((6, 8)) < 0.5),
            "z": ((), 2.5, {"größe": "ja"}),
            "spectrum": ("x", np.arange(8) + 1j),
        },
        {
            "time": times,
            "y": np.linspace(-1, 1, 6),
            "x": np.arange(8),
            "area": (("y", "x"), np.ones((6, 8)), {"long_name": "area"}),
            "lønn": ("y", np.arange(6)),
        },
        {"title": "weather", "version": np.int64(3), "range": np.array([1.0, 2.0])},
    )
    ds.time.encoding = {"units": "days since 2001-01-01", "dtype": "int64"}
    return ds


def decoded(ds):
    """Attributes as JSON keeps them."""
    ds = ds.copy()
    for attributes in (ds.attrs, *(v.attrs for v in ds.variables.values())):
        for name, value in attributes.items():
            if hasattr(value, "tolist"):
                attributes[name] = value.tolist()
    return ds


def open_kit(where, **arguments):
    return xr.open_dataset(where, engine="zarr-kit", **arguments)


def both(where, **arguments):
    """What both engines read, which is the same."""
    found = open_kit(where, **arguments).load()
    if not ENGINE_READS_RAGGED:
        return found
    other = xr.open_dataset(where, engine="zarr", consolidated=False, **arguments).load()
    xr.testing.assert_identical(found, other)
    for name, variable in other.variables.items():
        assert found[name].dtype == variable.dtype
    return found


def document(where, name):
    return json.loads((where / name / "zarr.json").read_text())


@pytest.mark.parametrize("chunks", [None, {}, {"time": MONTHS, "x": 5}])
def test_datasets_are_read_by_both_engines(tmp_path, chunks):
    ds = weather() if chunks is None else weather().chunk(chunks)
    assert to_zarr(ds, tmp_path / "a.zarr") is None
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), decoded(weather()))


def test_both_write_the_same_documents(tmp_path):
    encoding = {
        "temperature": {"chunks": (31, 3, 8), "dtype": "i2", "scale_factor": 0.01, "_FillValue": -1},
        "count": {"chunks": (10, 2), "shards": (40, 8), "fill_value": 3},
        "time": {"units": "hours since 1999-01-01", "dtype": "i4"},
    }
    to_zarr(weather(), tmp_path / "a.zarr", encoding=encoding)
    weather().to_zarr(tmp_path / "b.zarr", encoding=encoding, consolidated=False)
    for name in weather().variables:
        ours, theirs = document(tmp_path / "a.zarr", name), document(tmp_path / "b.zarr", name)
        members = ["shape", "data_type", "chunk_grid", "fill_value", "attributes"]
        if not ENGINE_READS_RAGGED:
            members.remove("fill_value")  # Releases of 2025 store 0 for floats, later ones NaN as we do.
        for member in members:
            assert ours.get(member, {}) == theirs.get(member), (name, member)
        assert ours.get("dimension_names", []) == (theirs.get("dimension_names") or [])
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), both(tmp_path / "b.zarr"))


def test_ragged_blocks_make_a_rectilinear_grid(tmp_path):
    ds = weather()[["temperature", "count"]].chunk({"time": MONTHS, "y": 3, "x": (3, 3, 2)})
    to_zarr(ds, tmp_path / "a.zarr")
    grid = document(tmp_path / "a.zarr", "temperature")["chunk_grid"]
    assert grid["name"] == "rectilinear"
    assert grid["configuration"]["chunk_shapes"] == [[31, 28, 31, 30], 3, 3]
    found = open_kit(tmp_path / "a.zarr", chunks={})
    assert found.temperature.chunks == ds.temperature.chunks
    # Written again as it was read: chunks, codecs and all.
    to_zarr(found, tmp_path / "b.zarr")
    for name in found.variables:
        assert document(tmp_path / "a.zarr", name) == document(tmp_path / "b.zarr", name)
    to_zarr(found.load(), tmp_path / "c.zarr")
    assert document(tmp_path / "c.zarr", "count") == document(tmp_path / "a.zarr", "count")


def test_encoding_round_trips(tmp_path):
    codecs = [
        {"name": "packbits", "configuration": {"padding_encoding": "first_byte", "first_bit": 0, "last_bit": 4}},
        {"name": "zstd", "configuration": {"level": 5, "checksum": True}},
    ]
    to_zarr(
        weather(),
        tmp_path / "a.zarr",
        codecs={"count": codecs},
        encoding={"temperature": {"chunks": ((31, 28, 31, 30), 3, 8)}, "wet": {"chunks": (2, 2), "shards": (6, 8)}},
    )
    found = open_kit(tmp_path / "a.zarr")
    assert found["count"].encoding["codecs"] == codecs
    assert found.temperature.encoding["chunks"] == (MONTHS, 3, 8)
    assert found.wet.encoding["shards"] == (6, 8) and found.wet.encoding["chunks"] == (2, 2)
    to_zarr(found, tmp_path / "b.zarr")
    for name in found.variables:
        assert document(tmp_path / "a.zarr", name) == document(tmp_path / "b.zarr", name)
    # Shards with an index of their own kind are kept as the chain that they are.
    array = zarr_kit.open_group(tmp_path / "a.zarr").create_array(
        "odd", shape=8, dtype="i4", chunks=4, dimension_names=["x"],
        codecs=[{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2], "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "start"}}],
    )
    array[:] = range(8)
    to_zarr(weather()[["wet"]], tmp_path / "k.zarr", encoding={"wet": {"chunk_key_encoding": {
        "name": "v2", "configuration": {"separator": "."}}, "chunks": (3, 4)}})
    assert (tmp_path / "k.zarr/wet/0.1").exists()
    to_zarr(both(tmp_path / "k.zarr"), tmp_path / "l.zarr")
    assert document(tmp_path / "k.zarr", "wet") == document(tmp_path / "l.zarr", "wet")
    odd = open_kit(tmp_path / "a.zarr")[["odd"]]
    assert odd.odd.encoding["preferred_chunks"] == {"x": 2}
    to_zarr(odd, tmp_path / "c.zarr")
    assert document(tmp_path / "c.zarr", "odd") == document(tmp_path / "a.zarr", "odd")


def test_encodings_of_xarrays_engine(tmp_path):
    from zarr.codecs import BytesCodec, GzipCodec, TransposeCodec

    encoding = {
        "temperature": {
            "filters": TransposeCodec(order=(2, 1, 0)),
            "serializer": BytesCodec(endian="big"),
            "compressors": (GzipCodec(level=3),),
            "chunks": (30, 6, 8),
        },
        "count": {"compressors": None},
    }
    to_zarr(weather(), tmp_path / "a.zarr", encoding=encoding)
    assert document(tmp_path / "a.zarr", "temperature")["codecs"] == [
        {"name": "transpose", "configuration": {"order": [2, 1, 0]}},
        {"name": "bytes", "configuration": {"endian": "big"}},
        {"name": "gzip", "configuration": {"level": 3}},
    ]
    assert [c["name"] for c in document(tmp_path / "a.zarr", "count")["codecs"]] == ["bytes"]
    theirs = xr.open_dataset(tmp_path / "a.zarr", engine="zarr", consolidated=False)
    to_zarr(theirs, tmp_path / "b.zarr")
    for name in theirs.variables:
        assert document(tmp_path / "a.zarr", name) == document(tmp_path / "b.zarr", name)
    open_kit(tmp_path / "a.zarr").to_zarr(tmp_path / "c.zarr", consolidated=False)
    xr.testing.assert_identical(both(tmp_path / "c.zarr"), both(tmp_path / "a.zarr"))


def test_chunks_are_chosen(tmp_path):
    ds = xr.Dataset({"a": (("t", "x"), np.zeros((4000, 3000))), "b": ("t", np.zeros(4000))})
    to_zarr(ds, tmp_path / "a.zarr")
    found = open_kit(tmp_path / "a.zarr")
    plain = zarr_kit.create("memory:", shape=(4000, 3000), dtype="f8")
    assert found.a.encoding["chunks"] == plain.chunks
    assert found.b.encoding["chunks"] == (4000,)
    to_zarr(ds, tmp_path / "b.zarr", chunks={"t": [1000, 3000]}, encoding={"a": {"chunks": 7}})
    found = open_kit(tmp_path / "b.zarr")
    assert found.a.encoding["chunks"] == ((1000, 3000), 7)
    # What is remembered and does not fit is left aside, what is asked for is an error.
    part = open_kit(tmp_path / "b.zarr", chunks={}).isel(t=slice(1, 2001))
    to_zarr(part[["b"]], tmp_path / "c.zarr")
    assert open_kit(tmp_path / "c.zarr").b.encoding["chunks"] == ((999, 1001),)
    for wrong, error in [((5, 4.5), TypeError), ((5,), ValueError), (((3, 3), 5), ValueError), ("5", TypeError)]:
        with pytest.raises(error, match=r"variable 'a'"):
            to_zarr(ds, tmp_path / "d.zarr", encoding={"a": {"chunks": wrong}})
    with pytest.raises(ValueError, match="unexpected encoding.*'speed'"):
        to_zarr(ds, tmp_path / "d.zarr", encoding={"a": {"speed": 1}})
    with pytest.raises(KeyError, match="'c'"):
        to_zarr(ds, tmp_path / "d.zarr", encoding={"c": {}})
    with pytest.raises(ValueError):
        to_zarr(ds, tmp_path / "d.zarr", codecs=[{"name": "nonesuch"}])
    assert not (tmp_path / "d.zarr").exists()


def test_modes(tmp_path):
    first, second = weather()[["count"]], weather()[["temperature"]]
    to_zarr(first, tmp_path / "a.zarr", group="in/side")
    assert list(zarr_kit.open_group(tmp_path / "a.zarr")) == ["in"]
    with pytest.raises(FileExistsError):
        to_zarr(second, tmp_path / "a.zarr", group="in/side")
    with pytest.raises(ValueError, match="non-pre-existing variables"):
        to_zarr(second, tmp_path / "a.zarr", group="in/side", mode="r+")
    to_zarr(second, tmp_path / "a.zarr", group="in/side", mode="a")
    expected = weather()[["count", "temperature"]]
    xr.testing.assert_identical(both(tmp_path / "a.zarr", group="in/side"), decoded(expected))
    to_zarr(first * 0, tmp_path / "a.zarr", group="in/side", mode="r+")
    assert not open_kit(tmp_path / "a.zarr", group="in/side")["count"].any()
    to_zarr(second, tmp_path / "a.zarr", group="in/side", mode="w")
    xr.testing.assert_identical(both(tmp_path / "a.zarr", group="in/side"), decoded(second))
    to_zarr(first, tmp_path / "a.zarr", mode="w")
    assert "in" not in zarr_kit.open_group(tmp_path / "a.zarr")
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), decoded(first))
    with pytest.raises(FileNotFoundError):
        to_zarr(first, tmp_path / "b.zarr", mode="r+")
    with pytest.raises(ValueError, match="mode='x'"):
        to_zarr(first, tmp_path / "b.zarr", mode="x")
    with pytest.raises(ValueError, match="an array in the place of the group"):
        to_zarr(first, tmp_path / "a.zarr", group="count/x")


def test_a_mode_that_replaces_leaves_other_files(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    to_zarr(weather()[["z"]], tmp_path, mode="w")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_mode_that_replaces_removes_no_other_files(tmp_path):
    place = tmp_path / "a.zarr"
    to_zarr(weather()[["z"]], place, mode="w")
    (place / "thesis").mkdir()
    (place / "thesis/ch1.tex").write_text("mine")
    before = sorted(path.relative_to(place) for path in place.rglob("*"))
    with pytest.raises(FileExistsError, match="thesis/ch1.tex"):
        to_zarr(weather()[["z"]], place, mode="w")
    assert sorted(path.relative_to(place) for path in place.rglob("*")) == before
    (place / "thesis/ch1.tex").unlink()
    to_zarr(weather()[["z"]], place, mode="w")


def test_creating_among_other_files_is_told(tmp_path, caplog):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/ch1.tex").write_text("mine")
    group = zarr_kit.create_group(tmp_path)
    assert "thesis/ch1.tex" in caplog.text
    caplog.clear()
    group.create_array("a", shape=1, dtype="u1")
    assert not caplog.text
    (tmp_path / "b").mkdir()
    (tmp_path / "b/notes.txt").write_text("mine")
    group.create_array("b", shape=1, dtype="u1")
    assert "notes.txt" in caplog.text


def packed(engine, where, chunks):
    more = {"consolidated": False} if engine == "zarr" else {}
    return xr.open_dataset(where, engine=engine, chunks=chunks, **more)


@pytest.mark.parametrize("chunks", [{}, "auto"])
@pytest.mark.parametrize("engine", ["zarr-kit", "zarr"])
def test_what_is_read_from_the_store_is_not_deleted_first(tmp_path, engine, chunks):
    ds = weather()[["temperature", "count"]]
    encoding = {"temperature": {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -1}}
    to_zarr(ds, tmp_path / "a.zarr", group="in", encoding=encoding, chunks={"time": 40})
    (tmp_path / "link.zarr").symlink_to("a.zarr")
    for where in (tmp_path / "a.zarr/in", tmp_path / "link.zarr/in"):
        found = packed(engine, where, chunks)
        made = dask.optimize(found.chunk(time=9))[0]
        rechunked = found.rolling(time=3).mean().chunk(time=7)
        for data in (found, found * 2 + 1, found.isel(x=[3, 0]), found.temperature.rename("new"), made, rechunked):
            for place, group in ((tmp_path / "a.zarr", None), (tmp_path / "a.zarr", "in"), (where, None)):
                with pytest.raises(ValueError, match="variable '\\w+' is read from .*(a|link).zarr/in/.*load"):
                    to_zarr(data, place, group=group, mode="w")
    expected = packed("zarr", tmp_path / "a.zarr/in", None).load()
    np.testing.assert_array_equal(expected["count"], ds["count"])
    # Beside it, or after it has been loaded, it can be written. What is not Dask's is loaded first.
    for _ in range(2):
        to_zarr(found, tmp_path / "a.zarr", group="in2", mode="w")
    to_zarr(found.compute(), tmp_path / "a.zarr", group="in", mode="w")
    to_zarr(packed(engine, tmp_path / "a.zarr/in", None), tmp_path / "a.zarr", group="in", mode="w")
    for group in ("in", "in2"):
        xr.testing.assert_identical(open_kit(tmp_path / "a.zarr", group=group).load(), expected)


def test_what_is_read_from_memory_is_not_deleted_first(tmp_path):
    group, other = zarr_kit.create_group("memory:"), zarr_kit.create_group("memory:")
    to_zarr(weather()[["count"]], group, mode="a")
    found = open_kit(group, chunks={})
    with pytest.raises(ValueError, match="'count' is read from memory:.*mode 'w'"):
        to_zarr(found, group, mode="w")
    to_zarr(found, other, mode="w")
    np.testing.assert_array_equal(open_kit(other)["count"], weather()["count"])
    d = group["count"].to_dask()
    with pytest.raises(ValueError, match="is read from memory:"):
        to_zarr(xr.Dataset({"n": (("time", "x"), d)}), group, mode="w")


def test_names_that_are_nowhere_are_errors(tmp_path):
    tree = xr.DataTree.from_dict({"/": weather()[["z"]], "/b": weather()[["count"]]})
    for data in (weather(), tree):
        with pytest.raises(KeyError, match="codecs for 'cuont'"):
            to_zarr(data, tmp_path / "a.zarr", codecs={"cuont": RAW})
        with pytest.raises(ValueError, match="chunks for 'tiem'"):
            to_zarr(data, tmp_path / "a.zarr", chunks={"tiem": 3})
    for data in (3, {}, weather().variables["count"], weather().to_dict()):
        with pytest.raises(TypeError, match="a Dataset, DataArray or DataTree is stored, not"):
            to_zarr(data, tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
    to_zarr(tree, tmp_path / "a.zarr", codecs={"count": RAW}, chunks={"time": 50})
    assert zarr_kit.open(tmp_path / "a.zarr", "b/count").chunks[0] == 50


def test_in_memory():
    group = zarr_kit.create_group("memory:")
    to_zarr(weather(), group, mode="a")
    xr.testing.assert_identical(open_kit(group).load(), decoded(weather()))
    to_zarr(weather()[["z"]], group, mode="w")
    assert list(group) == ["z"]
    to_zarr(weather(), group, group="b/c")
    assert list(group["b/c"]) == sorted(weather().variables)


def test_stores_of_obstore(tmp_path):
    store = pytest.importorskip("obstore.store").LocalStore(tmp_path)
    to_zarr(weather().chunk(time=MONTHS), store, group="b")
    xr.testing.assert_identical(open_kit(store, group="b").load(), decoded(weather()))


def test_arrays(tmp_path):
    for number, array in enumerate([weather().temperature, weather()["count"], xr.DataArray(5, name="a")]):
        to_zarr(array, tmp_path / f"{number}.zarr")
        for engine, more in (("zarr-kit", {}), ("zarr", {"consolidated": False})):
            found = xr.open_dataarray(tmp_path / f"{number}.zarr", engine=engine, **more)
            expected = array.copy()
            expected.attrs = decoded(array.to_dataset(name="v")).v.attrs
            xr.testing.assert_identical(found, expected)
    for array in (weather().temperature.rename(None), weather().y):
        with pytest.raises(ValueError, match="name"):
            to_zarr(array, tmp_path / "b.zarr")
        array.to_zarr(tmp_path / "c.zarr", mode="w", consolidated=False)
        xr.testing.assert_equal(xr.open_dataarray(tmp_path / "c.zarr", engine="zarr-kit"), array)


def test_delayed(tmp_path):
    ds = weather().chunk({"time": MONTHS})
    later = to_zarr(ds, tmp_path / "a.zarr", compute=False)
    before = open_kit(tmp_path / "a.zarr")
    assert before.sizes == ds.sizes and before.temperature.isnull().all()
    np.testing.assert_array_equal(before.time, ds.time)
    later.compute()
    xr.testing.assert_identical(both(tmp_path / "a.zarr"), decoded(weather()))
    assert to_zarr(weather(), tmp_path / "b.zarr", compute=False).compute() is None


def test_trees(tmp_path):
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset({"a": ("w", [1, 2])}, {"w": [0, 1]}, {"top": 1}),
            "/b": xr.Dataset(attrs={"empty": True}),
            "/b/c": weather().drop_vars("x").chunk({"time": MONTHS}),
            "/d": xr.Dataset({"e": ("w", [3, 4])}),
        }
    )
    encoding = {"/b/c": {"count": {"chunks": (60, 8)}}}
    to_zarr(tree, tmp_path / "a.zarr", encoding=encoding)
    found = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit")
    if ENGINE_READS_RAGGED:
        other = xr.open_datatree(tmp_path / "a.zarr", engine="zarr", consolidated=False)
        xr.testing.assert_identical(found.load(), other.load())
    xr.testing.assert_equal(found, tree)
    assert found["/b/c/count"].encoding["chunks"] == (60, 8)
    assert "w" not in zarr_kit.open_group(tmp_path / "a.zarr", "d")
    to_zarr(tree, tmp_path / "a.zarr", mode="w", write_inherited_coords=True)
    assert "w" in zarr_kit.open_group(tmp_path / "a.zarr", "d")
    to_zarr(tree, tmp_path / "a.zarr", group="below")
    below = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit", group="below")
    xr.testing.assert_equal(below, tree)
    with pytest.raises(ValueError, match="nodes that the tree does not have"):
        to_zarr(tree, tmp_path / "b.zarr", encoding={"/x": {}})
    with pytest.raises(NotImplementedError):
        to_zarr(tree, tmp_path / "b.zarr", append_dim="time")


def test_encodings_of_a_part_of_a_tree(tmp_path):
    tree = xr.DataTree.from_dict({"/c": xr.Dataset({"v": ("y", np.arange(6))}), "/c/d": xr.Dataset({"w": ("z", np.arange(6))})})
    encoding = {"/c": {"v": {"chunks": (2,)}}, "/c/d": {"w": {"chunks": (3,)}}}
    to_zarr(tree["c"], tmp_path / "a.zarr", encoding=encoding)
    found = xr.open_datatree(tmp_path / "a.zarr", engine="zarr-kit")
    assert (found.v.encoding["chunks"], found["d"].w.encoding["chunks"]) == ((2,), (3,))
    with pytest.raises(ValueError, match="nodes that the tree does not have: \\['/', '/d'\\]"):
        to_zarr(tree["c"], tmp_path / "b.zarr", encoding={"/": {}, "/d": {}})


def consolidated(where):
    return json.loads((where / "zarr.json").read_text()).get("consolidated_metadata")


def test_consolidated_metadata_is_never_older_than_what_it_copies(tmp_path):
    ds = weather()[["count"]]
    ds.to_zarr(tmp_path / "a.zarr", group="b/c", consolidated=True)
    assert consolidated(tmp_path / "a.zarr")["metadata"]["b/c/count"]["shape"] == [120, 8]
    march = weather(days=31, start="2001-05-01")[["count"]]
    to_zarr(march, tmp_path / "a.zarr", group="b/c", append_dim="time")
    entries = consolidated(tmp_path / "a.zarr")["metadata"]
    assert entries["b/c/count"]["shape"] == [151, 8]
    assert entries["b/c/count"] == document(tmp_path / "a.zarr", "b/c/count")
    found = xr.open_dataset(tmp_path / "a.zarr", engine="zarr", group="b/c", consolidated=True)
    xr.testing.assert_identical(found.load(), open_kit(tmp_path / "a.zarr", group="b/c").load())
    to_zarr(ds, tmp_path / "a.zarr", group="b/d/e")
    assert {"b/d", "b/d/e", "b/d/e/count", "b/c/count"} <= set(consolidated(tmp_path / "a.zarr")["metadata"])
    to_zarr(ds.drop_vars("x"), tmp_path / "a.zarr", group="b/c", mode="w")
    entries = consolidated(tmp_path / "a.zarr")["metadata"]
    assert entries["b/c/count"]["shape"] == [120, 8] and "b/c/x" not in entries
    to_zarr(ds, tmp_path / "a.zarr", group="b/g")
    entries = consolidated(tmp_path / "a.zarr")["metadata"]
    assert {"b/g", "b/g/count", "b/c/count"} <= set(entries)
    for name, entry in entries.items():
        entry.pop("consolidated_metadata", None)
        assert entry == document(tmp_path / "a.zarr", name), name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xr.open_dataset(tmp_path / "a.zarr", engine="zarr", group="b/g")
    to_zarr(ds, tmp_path / "c.zarr")
    assert consolidated(tmp_path / "c.zarr") is None
    to_zarr(ds, tmp_path / "c.zarr", group="b", consolidated=True)
    assert "count" in consolidated(tmp_path / "c.zarr")["metadata"]
    to_zarr(ds, tmp_path / "c.zarr", mode="w")
    assert set(consolidated(tmp_path / "c.zarr")["metadata"]) == {"count", "time", "x"}
