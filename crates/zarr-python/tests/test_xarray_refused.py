"""What cannot be stored is refused before anything is changed."""

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
da = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr")
obstore = pytest.importorskip("obstore")

import obstore.store  # noqa: E402
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper  # noqa: E402
from fsspec.implementations.dirfs import DirFileSystem  # noqa: E402
from fsspec.implementations.local import LocalFileSystem  # noqa: E402
from zarr.experimental.cache_store import CacheStore  # noqa: E402
from zarr_kit.store import ZarrKitStore  # noqa: E402
from zarr_kit.xarray import to_zarr  # noqa: E402

OLD = xr.Dataset({"z": ("w", [1, 2])})


def open_kit(where):
    return xr.open_dataset(where, engine="zarr-kit")


def files(where):
    """The contents of all files."""
    return {p.relative_to(where): p.read_bytes() for p in where.rglob("*") if p.is_file() and "lock" not in p.name}


NAMES = ["a\\b", "a\0b", "zarr.json", ".zarray", ".zattrs", "...", "__a", "\ud800", "a/b", ""]


@pytest.mark.parametrize("mode", ["w", "a"])
@pytest.mark.parametrize("name", [*NAMES, "x" * 256])
def test_names_of_variables_that_no_store_can_have(tmp_path, name, mode):
    to_zarr(OLD, tmp_path / "a.zarr")
    before = files(tmp_path / "a.zarr")
    with pytest.raises((ValueError, OSError)):
        to_zarr(xr.Dataset({"new": ("w", [1]), name: ("w", [1])}), tmp_path / "a.zarr", mode=mode)
    assert files(tmp_path / "a.zarr") == before


@pytest.mark.parametrize("mode", ["w", "a"])
@pytest.mark.parametrize("name", ["a\\b", "zarr.json", "__a", "x" * 256])
def test_names_of_groups_that_no_store_can_have(tmp_path, name, mode):
    to_zarr(OLD, tmp_path / "a.zarr")
    before = files(tmp_path / "a.zarr")
    tree = xr.DataTree.from_dict({"/": OLD, f"/{name}": xr.Dataset({"count": ("v", [3])})})
    for data, group in [(tree, None), (OLD, f"g/{name}")]:
        with pytest.raises((ValueError, OSError)):
            to_zarr(data, tmp_path / "a.zarr", group=group, mode=mode)
        assert files(tmp_path / "a.zarr") == before


def test_a_group_in_the_place_of_a_variable(tmp_path):
    zarr_kit.create_group(tmp_path / "a.zarr").create_group("b")
    before = files(tmp_path / "a.zarr")
    with pytest.raises(FileExistsError, match="a group in the place of variable 'b'"):
        to_zarr(xr.Dataset({"aa": ("w", [1]), "b": ("w", [1])}), tmp_path / "a.zarr", mode="a")
    assert files(tmp_path / "a.zarr") == before


PACKED = [{"name": "packbits", "configuration": {"last_bit": 7}}]


@pytest.mark.parametrize("shards", [None, (4,)])
def test_elements_that_codecs_refuse(tmp_path, shards):
    def numbers(*values):
        return xr.Dataset({"a": ("w", [1] * len(values)), "b": ("w", np.array(values, "i2")), "c": ("w", ["text"] * len(values))})

    encoding = {"b": {"codecs": PACKED, "chunks": (2,), "shards": shards, "fill_value": 9}}
    to_zarr(numbers(1, 2, 3), tmp_path / "a.zarr", encoding=encoding)
    before = files(tmp_path / "a.zarr")
    for ds, arguments in [
        (numbers(1, 300), {"mode": "w", "encoding": encoding | {"b": encoding["b"] | {"shards": None}}}),
        (numbers(1, 300), {"append_dim": "w"}),
        (numbers(300, 1, 2), {"mode": "r+"}),
        (numbers(300)[["b"]], {"region": {"w": slice(2, 3)}}),
    ]:
        with pytest.raises(zarr_kit.LossError) as raised:
            to_zarr(ds, tmp_path / "a.zarr", **arguments)
        assert "variable 'b'" in "".join(raised.value.__notes__)
        assert files(tmp_path / "a.zarr") == before
    with pytest.raises(ValueError):
        to_zarr(xr.Dataset({"a": ("w", [1]), "s": ("w", np.array(["\ud800"], object))}), tmp_path / "a.zarr", mode="w")
    assert files(tmp_path / "a.zarr") == before
    to_zarr(numbers(4, 5), tmp_path / "a.zarr", append_dim="w")
    to_zarr(numbers(6)[["b"]], tmp_path / "a.zarr", region={"w": slice(0, 1)})
    assert open_kit(tmp_path / "a.zarr").b.values.tolist() == [6, 2, 3, 4, 5]


def test_a_fill_value_that_codecs_refuse_is_not_written(tmp_path):
    """Xarray's fill value of floats is NaN, which lossy zfp has not: no chunk has it here."""
    codecs = [{"name": "zfp", "configuration": {"mode": "fixed_accuracy", "tolerance": 0.01}}]
    ds = xr.Dataset({"a": ("w", np.arange(6.0))})
    to_zarr(ds, tmp_path / "a.zarr", codecs={"a": codecs}, chunks={"w": 3})
    to_zarr(ds.isel(w=[5]), tmp_path / "a.zarr", region={"w": slice(1, 2)})
    np.testing.assert_allclose(open_kit(tmp_path / "a.zarr").a, [0, 5, 2, 3, 4, 5], atol=0.01)


def test_names_and_attributes_that_cannot_be_stored(tmp_path):
    for ds, error in [
        (xr.Dataset({3: ("x", [1])}), TypeError),
        (xr.Dataset({"__a": ("x", [1])}), ValueError),
        (xr.Dataset({"": ("x", [1])}), ValueError),
        (xr.Dataset({"a": ("x", [1])}, attrs={"b": float("nan")}), ValueError),
        (xr.Dataset({"a": ("x", [1], {"b": object()})}), TypeError),
        (xr.Dataset({"a/b": ("x", [1])}), ValueError),
        (xr.Dataset({"a": ("x", np.array([object()]))}), ValueError),
    ]:
        with pytest.raises(error):
            to_zarr(ds, tmp_path / "a.zarr")
        assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize("dtype", ["U2", "S2"])
def test_a_fill_value_that_no_engine_reads(tmp_path, dtype):
    to_zarr(OLD, tmp_path / "a.zarr")
    before = files(tmp_path / "a.zarr")
    ds = xr.Dataset({"v": ("x", np.array(["a", "bb"], dtype))})
    with pytest.raises(ValueError, match="'v': attribute _FillValue"):
        to_zarr(ds, tmp_path / "a.zarr", mode="w", encoding={"v": {"_FillValue": ds.v.values[0]}})
    assert files(tmp_path / "a.zarr") == before


def test_an_array_in_the_place_of_the_group(tmp_path):
    zarr_kit.create(tmp_path / "a.zarr", shape=3, dtype="i2")[:] = 7
    before = files(tmp_path / "a.zarr")
    for mode in ("w", "w-", "a"):
        with pytest.raises(ValueError, match="is an array, not a group"):
            to_zarr(OLD, tmp_path / "a.zarr", mode=mode)
        assert files(tmp_path / "a.zarr") == before


@pytest.mark.parametrize(
    "spelling",
    [
        lambda path: path.as_uri(),
        lambda path: path.as_uri().replace("://", "://localhost"),
        zarr.storage.LocalStore,
        lambda path: zarr.storage.FsspecStore.from_url(path.as_uri()),
        lambda path: zarr.storage.ObjectStore(obstore.store.LocalStore(path)),
        lambda path: CacheStore(zarr.storage.LocalStore(path), cache_store=zarr.storage.MemoryStore()),
        ZarrKitStore,
    ],
)
def test_the_read_store_is_found_in_every_spelling(tmp_path, spelling):
    to_zarr(OLD, tmp_path / "a.zarr")
    store = spelling(tmp_path / "a.zarr")
    if isinstance(store, str):
        read = [xr.open_dataset(store, engine="zarr-kit", chunks={})]
    else:
        array = da.from_zarr(zarr.open_array(store, path="z", mode="r"))
        read = [xr.open_dataset(store, engine="zarr", chunks={}, consolidated=False), xr.Dataset({"z": ("w", array)})]
    for dataset in read:
        with pytest.raises(ValueError, match="variable 'z' is read from .*a.zarr.*mode 'w' deletes first: load"):
            to_zarr(dataset * 2, tmp_path / "a.zarr", mode="w")
        to_zarr(dataset * 2, tmp_path / "b.zarr", mode="w")
    np.testing.assert_array_equal(open_kit(tmp_path / "b.zarr").z, [2, 4])
    np.testing.assert_array_equal(open_kit(tmp_path / "a.zarr").z, [1, 2])


def test_a_link_within_the_read_store_is_followed(tmp_path):
    to_zarr(OLD, tmp_path / "a.zarr")
    zarr_kit.create_group(tmp_path / "b.zarr")
    (tmp_path / "b.zarr/in").symlink_to("../a.zarr")
    options = {"outside_links": True}
    found = xr.open_dataset(tmp_path / "b.zarr", group="in", engine="zarr-kit", chunks={}, storage_options=options)
    with pytest.raises(ValueError, match="variable 'z' is read from"):
        to_zarr(found, tmp_path / "a.zarr", mode="w")


def test_a_store_whose_place_is_not_known_may_be_the_same(tmp_path):
    to_zarr(OLD, tmp_path / "a.zarr")
    folder = DirFileSystem(str(tmp_path), LocalFileSystem())
    store = zarr.storage.FsspecStore(AsyncFileSystemWrapper(folder), path="a.zarr", read_only=True)
    found = xr.open_dataset(store, engine="zarr", chunks={}, consolidated=False)
    with pytest.raises(ValueError, match="'z' is read from a FsspecStore, whose place is not known, .*: load"):
        to_zarr(found, tmp_path / "a.zarr", mode="w")
    to_zarr(found, tmp_path / "b.zarr", mode="w")
    np.testing.assert_array_equal(open_kit(tmp_path / "b.zarr").z, [1, 2])


def test_members_and_targets_of_references_are_read_too(tmp_path):
    for name in "ab":
        to_zarr(OLD, tmp_path / f"{name}.zarr")
    zarr_kit.join([tmp_path / "a.zarr", tmp_path / "b.zarr"], tmp_path / "j.zjoin", along="w", virtual=True)
    zarr_kit.export(tmp_path / "j.zjoin", tmp_path / "r.json")
    for where in ("j.zjoin", "r.json"):
        found = open_kit(tmp_path / where).chunk()
        store = ZarrKitStore(tmp_path / where)
        with zarr.config.set({"array.rectilinear_chunks": True}):
            theirs = xr.open_dataset(store, engine="zarr", chunks={}, consolidated=False)
        for read, name in [(found, "a"), (found, "b"), (theirs, "a"), (theirs, "b")]:
            with pytest.raises(ValueError, match=f"'z' is read from .*{where}/z, which mode 'w' deletes first"):
                to_zarr(read, tmp_path / f"{name}.zarr", mode="w")
        to_zarr(found, tmp_path / "c.zarr", mode="w")
        np.testing.assert_array_equal(open_kit(tmp_path / "c.zarr").z, [1, 2, 1, 2])


def test_dask_arrays_of_unknown_length(tmp_path):
    values = da.arange(6, chunks=3)
    ds = xr.Dataset({"v": ("x", values[values > 1])})
    to_zarr(OLD, tmp_path / "a.zarr")
    before = files(tmp_path / "a.zarr")
    with pytest.raises(ValueError, match="variable 'v' has chunks of unknown length: call compute_chunk_sizes first"):
        to_zarr(ds, tmp_path / "a.zarr", mode="a")
    assert files(tmp_path / "a.zarr") == before


def test_a_fill_value_that_is_a_string_is_no_attribute(tmp_path):
    to_zarr(xr.Dataset({"s": ("x", np.array(["a", ""], object))}), tmp_path / "a.zarr")
    ds = xr.open_dataset(tmp_path / "a.zarr", engine="zarr-kit", use_zarr_fill_value_as_mask=True)
    with pytest.raises(ValueError, match="Unsupported dtype StringDType") as raised:
        to_zarr(ds, tmp_path / "b.zarr")
    assert raised.value.__notes__ == ["while variable 's' was encoded"]


def test_names_with_a_slash_are_refused_with_what_to_do(tmp_path):
    data = xr.Dataset({"in/rain": ("x", np.arange(3))})
    with pytest.raises(ValueError, match="'rain' in the group 'in', with group='in' or as a DataTree"):
        to_zarr(data, tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()
    to_zarr(data.rename({"in/rain": "rain"}), tmp_path / "a.zarr", group="in")
    assert zarr_kit.open(tmp_path / "a.zarr", "in/rain")[:].tolist() == [0, 1, 2]


def test_chunks_may_be_auto(tmp_path):
    data = xr.Dataset({"rain": (("x", "y"), np.zeros((6, 4)))}).chunk(x=(4, 2))
    to_zarr(data, tmp_path / "a.zarr", chunks="auto")
    to_zarr(data, tmp_path / "b.zarr", encoding={"rain": {"chunks": "auto"}})
    to_zarr(data, tmp_path / "c.zarr")
    chunks = [zarr_kit.open(tmp_path / f"{name}.zarr", "rain").chunks for name in "abc"]
    assert chunks == [(4, 4)] * 3
    with pytest.raises(ValueError, match='chunks: lengths by dimension, or "auto"'):
        to_zarr(data, tmp_path / "d.zarr", chunks="large")
    with pytest.raises(TypeError, match="is not a tuple"):
        to_zarr(data, tmp_path / "d.zarr", encoding={"rain": {"shards": "auto"}})
