"""Names and arguments of zarr-python: the same calls of both packages on the same store."""

import os
import subprocess
import sys

import numpy as np
import pytest
import zarr_kit

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")
VALUES = np.arange(54, dtype="i4").reshape(6, 9)


@pytest.fixture(params=[None, (4, 6)], ids=["chunks", "shards"])
def both(request, tmp_path):
    """An array that both packages have open."""
    theirs = zarr.create_array(
        tmp_path / "g.zarr", name="in/rain", data=VALUES, chunks=(2, 3), shards=request.param, fill_value=7,
        filters=zarr.codecs.TransposeCodec(order=(1, 0)), attributes={"units": "mm"}, dimension_names=["y", "x"],
    )
    return zarr_kit.open(tmp_path / "g.zarr", "in/rain"), theirs


@pytest.mark.parametrize(
    "name",
    "shape ndim size dtype nbytes name path basename cdata_shape nchunks nchunks_initialized compressors filters order "
    "read_only fill_value write_chunk_sizes read_chunk_sizes".split(),
)
def test_properties_are_those_of_zarr_python(both, name):
    ours, theirs = both
    assert getattr(ours, name) == getattr(theirs, name)


def test_what_an_array_says_of_itself(both):
    ours, theirs = both
    assert ours.nbytes_stored() == theirs.nbytes_stored()
    assert ours.serializer == theirs.serializer and ours.compressors != theirs.filters
    assert ours.store == theirs.store and ours.store_path == theirs.store_path
    assert ours.attrs.asdict() == dict(theirs.attrs)
    assert ours == zarr_kit.open(ours.url, "in/rain") and ours != 3
    with pytest.raises(TypeError):
        hash(ours)
    with pytest.raises(TypeError, match="compressors"):
        _ = ours.compressor
    assert ours.with_config({"write_empty_chunks": True}).config.write_empty_chunks
    with pytest.raises(ValueError, match="order"):
        ours.with_config({"order": "F"})


@pytest.mark.parametrize(
    ("name", "selection"),
    [
        ("basic", (slice(1, 4), 2)),
        ("basic", ()),
        ("orthogonal", ([0, 5], [1, 2, 8])),
        ("orthogonal", (slice(None), [True] * 3 + [False] * 6)),
        ("coordinate", ([0, 5], [1, 2])),
        ("mask", VALUES % 5 == 0),
        ("block", (0, 1)),
        ("block", (slice(0, 1), slice(None))),
    ],
)
def test_selections_by_their_names(both, name, selection):
    ours, theirs = both
    expected = getattr(theirs, f"get_{name}_selection")(selection)
    found = getattr(ours, f"get_{name}_selection")(selection)
    np.testing.assert_array_equal(found, expected, strict=True)
    out = np.empty_like(expected)
    assert getattr(ours, f"get_{name}_selection")(selection, out=out) is out
    np.testing.assert_array_equal(out, expected)
    for array in both:
        getattr(array, f"set_{name}_selection")(selection, expected + 100)
        np.testing.assert_array_equal(getattr(array, f"get_{name}_selection")(selection), expected + 100)
        getattr(array, f"set_{name}_selection")(selection, expected)
    np.testing.assert_array_equal(theirs[...], VALUES)


@pytest.mark.parametrize("key", [9, (0, 0, 0), slice(None, None, 2), "x"])
def test_wrong_blocks_are_index_errors(both, key):
    with pytest.raises((IndexError, TypeError)):
        _ = both[0].blocks[key]


CODECS = [
    {"codecs": ["zstd"]},
    {"codecs": ["bytes", "zstd:3"]},
    {"codecs": "transpose,zstd:5"},
    {"codecs": [zarr.codecs.BytesCodec(), zarr.codecs.BloscCodec(cname="lz4")]},
    {"compressors": None},
    {"compressors": "gzip:1"},
    {"compressors": zarr.codecs.ZstdCodec(level=2)},
    {"compressors": [zarr.codecs.BloscCodec(cname="zstd"), zarr.codecs.Crc32cCodec()]},
    {"compressors": numcodecs.Blosc(cname="lz4", shuffle=2)},
    {"compressors": numcodecs.Zstd(level=4)},
    {"compressors": numcodecs.BZ2(level=1)},
    {"filters": [zarr.codecs.TransposeCodec(order=(1, 0))]},
    {"serializer": zarr.codecs.BytesCodec(endian="big"), "compressors": {"name": "gzip", "configuration": {"level": 2}}},
]


@pytest.mark.parametrize("arguments", CODECS, ids=str)
@pytest.mark.parametrize("shards", [None, (6, 6)])
def test_codecs_in_all_forms_are_read_by_zarr_python(tmp_path, arguments, shards):
    made = zarr_kit.create_array(tmp_path / "a.zarr", data=VALUES, chunks=(2, 3), shards=shards, **arguments)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a.zarr")[...], VALUES)
    again = zarr_kit.create_array(
        tmp_path / "b.zarr", data=VALUES, filters=made.filters, serializer=made.serializer, compressors=made.compressors
    )
    assert [*again.filters, again.serializer, *again.compressors] == [*made.filters, made.serializer, *made.compressors]


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "M8[s]", "c16", "S5", [("a", "i2"), ("b", "f8")]], ids=str)
@pytest.mark.parametrize(
    "codec",
    [
        zarr.codecs.BloscCodec(),
        zarr.codecs.BloscCodec(cname="lz4", typesize=3, shuffle="bitshuffle"),
        zarr.codecs.BloscCodec(shuffle="noshuffle"),
        zarr.codecs.numcodecs.Shuffle(),
        zarr.codecs.GzipCodec(),
    ],
    ids=str,
)
@pytest.mark.parametrize("shards", [None, (6, 9)])
def test_codec_objects_take_from_the_array_what_they_take_in_zarr_python(dtype, codec, shards):
    new = {"shape": (6, 9), "chunks": (2, 3), "shards": shards, "dtype": dtype, "compressors": [codec]}
    theirs, ours = {}, {}
    zarr.create_array(theirs, **new)
    zarr_kit.create_array(ours, **new)
    assert zarr.open_array(ours).metadata.codecs == zarr.open_array(theirs).metadata.codecs


def test_submodules_need_no_import_of_their_own():
    script = (
        "import zarr_kit as zarr\n"
        "assert zarr.codecs.BloscCodec is __import__('zarr').codecs.BloscCodec\n"
        "assert 'PackBits' in dir(zarr.codecs) and zarr.dask and zarr.xarray\n"
        "for module in (zarr, zarr.codecs):\n"
        "    assert not hasattr(module, 'nothing')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"codecs": ["zstd"], "compressors": None}, "whole chain"),
        ({"codecs": ["bytes", "zstd:99"]}, 'level "99"; -131072 to 22'),
        ({"codecs": ["packbits:0"]}, "codec 0: packbits"),
        ({"codecs": [{"name": "zstd", "configuration": {"level": 99}}]}, r"\$\[0\]"),
        ({"zarr_format": 2}, "version 3"),
        ({"order": "F"}, "C order"),
        ({"serializer": None, "filters": None, "compressors": None}, "codec|serializer"),
        ({"shape": 3}, "shape: 3 is not that of data"),
        ({"chunks": (2, 3), "shards": "auto"}, "shards are an integer for all axes"),
        ({"chunks": (2, 3), "shards": (0, 3)}, "axis 0: a shard has at least 1 element"),
        ({"chunks": (2, 3), "shards": (2,)}, "shards have 1 axis"),
    ],
    ids=str,
)
def test_refusals_say_what_is_allowed(arguments, says):
    with pytest.raises((ValueError, TypeError), match=says):
        zarr_kit.create_array(data=VALUES, **arguments)


@pytest.mark.parametrize(
    ("value", "more", "error"),
    [
        (np.ma.masked_array([1, 2], [0, 1]), {}, ValueError),
        ([300], {"dtype": "i1"}, OverflowError),
        (["a", None], {"dtype": str}, ValueError),
        ([1000, 2], {"codecs": "packbits:3"}, zarr_kit.LossError),
        ([[1000, 2]], {"codecs": "packbits:3", "chunks": 1, "shards": (1, 2)}, zarr_kit.LossError),
    ],
)
def test_refused_elements_change_nothing(value, more, error, tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group["old"] = [1, 2, 3]
    for name in ("old", "new"):
        with pytest.raises(error, match="element|masked|None") as raised:
            group.create_array(name, data=value, overwrite=True, **more)
        assert "memory:" not in str(raised.value)
    assert list(group) == ["old"] and group["old"][:].tolist() == [1, 2, 3]


@pytest.mark.parametrize("layout", [{"chunks": [(3, 7), (4, 5, 1)]}, {"chunks": (2, 2), "shards": (4, 10)}, {"chunks": (1, 10)}])
def test_elements_are_tried_some_chunks_at_a_time(layout, monkeypatch):
    monkeypatch.setattr(zarr_kit._create, "_MOST_TRIED", 10)
    native, stored = zarr_kit._native.create_array, []

    def counting(at, document, overwrite):
        made = native(at, document, overwrite)
        stored.append(zarr_kit.Array(made))
        return made

    monkeypatch.setattr(zarr_kit._native, "create_array", counting)
    values = np.arange(100, dtype="u1").reshape(10, 10) % 8 + 8
    array = zarr_kit.create_array(None, data=values, codecs="packbits:4", **layout)
    np.testing.assert_array_equal(array[...], values)
    filled = sum((tried[...] != 0).astype(int) for tried in stored[:-1])
    assert len(stored) > 4 and (filled == 1).all()
    values[7, 9] = 16
    with pytest.raises(zarr_kit.LossError, match="is 16"):
        zarr_kit.create_array(None, data=values, codecs="packbits:4", **layout)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_arrays_of_no_or_one_element_are_tried(shape):
    array = zarr_kit.create_array(None, data=np.ones(shape, "u1"), codecs="packbits:4")
    assert array.shape == shape and (array[...] == 1).all()


def test_an_array_is_replaced_by_its_own_elements():
    group = zarr_kit.create_group("memory:")
    group["a"] = [1, 2, 3]
    group["a"] = group["a"]
    assert group["a"][:].tolist() == [1, 2, 3]
    group["a"] = group["a"].to_dask() + 1
    assert group["a"][:].tolist() == [2, 3, 4]


@pytest.mark.parametrize("name", ["from_array", "storage", "config", "tree"])
def test_other_names_say_what_to_use(name):
    with pytest.raises(AttributeError, match=f"'{name}': "):
        getattr(zarr_kit, name)


def test_modes(tmp_path):
    place = tmp_path / "a.zarr"
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(place)
    assert not place.exists()
    assert zarr_kit.open(place, mode="a", shape=3, dtype="i2")[:].tolist() == [0, 0, 0]
    with pytest.raises(FileExistsError):
        zarr_kit.open(place, mode="w-", shape=3, dtype="i2")
    assert zarr_kit.open_array(place, mode="a", shape=9, dtype="i2").shape == (3,)
    assert zarr_kit.open_array(place, mode="w", shape=9, dtype="i2").shape == (9,)
    with pytest.raises(TypeError, match="new array"):
        zarr_kit.open(place, shape=3)
    assert isinstance(zarr_kit.open(place, mode="w"), zarr_kit.Group)
    with pytest.raises(ValueError, match="group"):
        zarr_kit.open_array(place)
    assert zarr_kit.open_group(place, mode="a") == zarr_kit.open_group(place)
    # What is not a node is not replaced.
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.txt").write_text("years")
    with pytest.raises(FileNotFoundError):
        zarr_kit.delete(tmp_path / "other")
    zarr_kit.open(tmp_path / "other", mode="w", shape=3, dtype="i2")
    assert (tmp_path / "other/thesis.txt").read_text() == "years"


def test_groups_are_changed_as_in_zarr_python(tmp_path):
    ours = zarr_kit.create_group(tmp_path / "g.zarr")
    ours["a"] = VALUES
    ours["a"] = VALUES + 1
    ours["deep/er"] = np.arange(3)
    theirs = zarr.open_group(tmp_path / "g.zarr")
    np.testing.assert_array_equal(theirs["a"][...], VALUES + 1)
    assert sorted(name for name, _ in ours.members(max_depth=None)) == sorted(name for name, _ in theirs.members(max_depth=None))
    assert ours.nmembers() == 2 and list(ours.array_keys()) == ["a"] and list(ours.group_keys()) == ["deep"]
    ours.move("deep/er", "b")
    assert ours["b"][:].tolist() == [0, 1, 2] and "deep/er" not in ours
    with pytest.raises(ValueError, match="in it"):
        ours.move("deep", "deep/er")
    assert ours.require_array("b", shape=3, dtype="i8").path == "b"
    with pytest.raises(TypeError, match="shape"):
        ours.require_array("b", shape=4)
    with pytest.raises(TypeError, match="array"):
        ours.require_group("b")
    assert ours.require_groups("x", "deep") == (ours["x"], ours["deep"])
    del ours["deep"]
    assert sorted(theirs) == ["a", "b", "x"]
    with pytest.raises(KeyError):
        del ours["deep"]
    with pytest.raises(AttributeError, match=r"group\['a'\]"):
        _ = ours.a
    ours.attrs.update(x=1, y=2)
    ours.attrs.put({"z": 3})
    assert dict(zarr.open_group(tmp_path / "g.zarr").attrs) == {"z": 3}
    assert ours.zeros("n", shape=2)[:].tolist() == [0, 0] and ours.ones_like("o", ours["b"])[:].tolist() == [1, 1, 1]
    assert "arrays" in str(ours.info) and "z  3" in str(ours.info)


def test_functions_make_what_zarr_python_makes(tmp_path):
    for module in (zarr, zarr_kit):
        assert module.array([1, 2, 3])[:].tolist() == [1, 2, 3]
        assert module.full(2, fill_value=3)[:].tolist() == [3, 3] and module.ones(2).dtype == "f8"
        like = module.zeros_like(module.ones(5, dtype="i2"))
        assert (like.shape, like.dtype, like[:].tolist()) == ((5,), np.dtype("i2"), [0] * 5)
        module.save(tmp_path / f"{module.__name__}.zarr", np.arange(3), b=np.arange(2))
    assert {name: values.tolist() for name, values in zarr_kit.load(tmp_path / "zarr.zarr").items()} == {"arr_0": [0, 1, 2], "b": [0, 1]}
    assert zarr.open_group(tmp_path / "zarr_kit.zarr")["arr_0"][:].tolist() == [0, 1, 2]
    group = zarr_kit.consolidate_metadata(tmp_path / "zarr_kit.zarr")
    assert sorted(zarr.open_consolidated(tmp_path / "zarr_kit.zarr")) == sorted(group)
    assert zarr_kit.open_consolidated(tmp_path / "zarr_kit.zarr")["b"][:].tolist() == [0, 1]


def test_likeness_keeps_grids_and_codecs():
    ragged = zarr_kit.create("memory:", shape=59, dtype="int4", chunks=[(31, 28)], codecs="packbits,gzip:2")
    sharded = zarr_kit.create("memory:", shape=(8, 8), dtype="u2", chunks=(2, 4), shards=4, codecs="zstd:7")
    for array in (ragged, sharded):
        like = zarr_kit.zeros_like(array)
        for member in ("chunk_grid", "codecs", "data_type"):
            assert like.metadata[member] == array.metadata[member]


KILLED = "import zarr_kit; zarr_kit.create({place!r}, shape=400, dtype='i2', chunks=1, overwrite=True)"


@pytest.mark.parametrize("left", [402, 401, 300, 100, 1])
def test_overwriting_leaves_the_old_or_the_new_array_after_a_kill(tmp_path, left):
    place = tmp_path / "a.zarr"
    zarr_kit.open(place, mode="w", shape=400, dtype="i1", chunks=1)[...] = 1
    child = subprocess.Popen([sys.executable, "-c", KILLED.format(place=str(place))])
    while child.poll() is None and sum(len(files) for _, _, files in os.walk(place)) > left:
        pass
    child.kill()
    child.wait()
    try:
        found = zarr_kit.open(place)
    except zarr_kit.UnfinishedCopyError:
        pass
    else:
        assert set(np.unique(found[...])) == ({1} if found.dtype == "i1" else {0})
    assert zarr_kit.open(place, mode="w", shape=1, dtype="i1")[:].tolist() == [0]
    assert os.listdir(place) == ["zarr.json"]


def test_awaited_reads():
    import asyncio

    array = zarr_kit.array(np.arange(6))
    group = zarr_kit.group(attributes={"n": 1})
    group["a"] = np.arange(3)

    async def both():
        found = await asyncio.gather(*(array.asynchronous.read(slice(n, n + 2)) for n in range(5)))
        node = await group.asynchronous.node("a")
        return [each.tolist() for each in found], await node.asynchronous.read(), await group.asynchronous.names()

    parts, whole, names = asyncio.run(both())
    assert parts == [[n, n + 1] for n in range(5)] and whole.tolist() == [0, 1, 2] and names == ["a"]


def test_functions_take_open_groups():
    root = zarr_kit.group(attributes={"n": 1})
    assert zarr_kit.group(root) == root and zarr_kit.group(root, path="in").path == "in"
    zarr_kit.save(root, np.arange(3), path="in/a")
    with pytest.raises(ValueError, match="is an array"):
        zarr_kit.group(root, path="in/a")
    assert sorted(zarr_kit.consolidate_metadata(root)) == ["in"]
    assert zarr_kit.group(root, path="in")["a"][:].tolist() == [0, 1, 2]


def test_the_place_is_store_in_every_function():
    """As in zarr-python, by name or first; `create` takes the shape first as well."""
    made = {}
    group = zarr_kit.open_group(store=made, attributes={"units": "m"}, zarr_format=3)
    assert zarr_kit.create(shape=(4,), store=made, path="a").dtype == np.float64
    assert zarr_kit.create((4,), store=made, path="b", dtype="i2", data=[1, 2, 3, 4])[:].tolist() == [1, 2, 3, 4]
    assert zarr_kit.create_group(store=made, path="g", zarr_format=3).path == "g"
    assert zarr_kit.open(store=made, path=None) == group and group.attrs["units"] == "m"
    assert zarr_kit.open(store=made, path="c", mode="w", shape=3).dtype == np.float64
    assert zarr_kit.check(store=made).is_clean
    zarr_kit.delete(store=made, path="g")
    assert sorted(zarr_kit.Group.open(made)) == ["a", "b", "c"]
    assert zarr_kit.Array.open(made, "b").shape == (4,)
    assert zarr_kit.Group.from_store({}, attributes={"x": 1}).attrs["x"] == 1
    with pytest.raises(TypeError, match="given twice"):
        zarr_kit.create("memory:", shape=3, store={})


@pytest.mark.parametrize("create", [zarr_kit.create, zarr_kit.create_array, zarr_kit.open_array, zarr_kit.zeros])
def test_unknown_arguments_are_named(create):
    first = {} if create is not zarr_kit.open_array else {"mode": "w"}
    with pytest.raises(TypeError, match="unexpected argument 'chunk'"):
        create(shape=3, dtype="i2", chunk=2, **first)


def test_modes_of_create():
    made = {}
    zarr_kit.create(3, store=made)
    for mode in (None, "a", "r+", "w-"):
        with pytest.raises(FileExistsError):
            zarr_kit.create(4, store=made, mode=mode)
    assert zarr_kit.create(4, store=made, mode="w").shape == (4,)
    with pytest.raises(ValueError, match="mode: an array is created"):
        zarr_kit.create(4, store=made, mode="r")


@pytest.mark.parametrize("wrong", ["text", b"bytes", 3, None, {"a": 1}])
def test_save_writes_nothing_if_one_is_not_an_array(wrong):
    made = {}
    zarr_kit.save(made, np.arange(3))
    before = dict(made)
    with pytest.raises(TypeError, match="save: b is an array"):
        zarr_kit.save(made, a=np.arange(2), b=wrong)
    assert dict(made) == before


def test_children_are_read_side_by_side():
    """A store that takes 50 ms for each object: ten children take less than ten times that."""
    from zarr.testing.store import LatencyStore

    made = zarr.storage.MemoryStore()
    group = zarr_kit.create_group(made)
    for number in range(10):
        group.create_group(f"g{number}")
    running, most, keys = [0], [0], []

    class Counting(LatencyStore):
        async def get(self, key, *args, **kwargs):
            keys.append(key)
            running[0] += 1
            most[0] = max(most[0], running[0])
            try:
                return await super().get(key, *args, **kwargs)
            finally:
                running[0] -= 1

    found = zarr_kit.open_group(Counting(made, get_latency=0.05))
    assert [name for name, _ in found.groups()] == [f"g{number}" for number in range(10)]
    assert most[0] > 3
    assert sorted(keys) == sorted(["zarr.json", *(f"g{number}/zarr.json" for number in range(10))]), "once each"


def test_stored_chunks_are_counted_without_reading_shards():
    from zarr.testing.store import LatencyStore

    made, read = zarr.storage.MemoryStore(), []

    class Noting(LatencyStore):
        async def get(self, key, *args, **kwargs):
            read.append(key)
            return await super().get(key, *args, **kwargs)

    zarr_kit.create_array(made, shape=16, dtype="i1", chunks=2, shards=8)[:8] = 1
    array = zarr_kit.open_array(Noting(made))
    assert array.nchunks_initialized == 4 and set(read) == {"zarr.json"}


def test_buffers_of_zarr_python_receive_selections(both):
    from zarr.core.buffer import default_buffer_prototype

    ours, theirs = both
    out = default_buffer_prototype().nd_buffer.empty(shape=ours.shape, dtype=ours.dtype)
    ours.get_basic_selection(Ellipsis, out=out)
    np.testing.assert_array_equal(out.as_numpy_array(), VALUES)
    with pytest.raises(TypeError, match="out is a numpy array, not list"):
        ours.get_basic_selection(Ellipsis, out=[0])


def test_types_of_zarr_python(both):
    from zarr.dtype import Float32, FixedLengthUTF32

    group = zarr_kit.create_group("memory:")
    assert group.create_array("f", shape=2, dtype=Float32()).dtype == np.float32
    assert group.create_array("u", shape=2, dtype=FixedLengthUTF32(length=3)).dtype == np.dtype("U3")
    assert group.get_array("f").shape == (2,)
    for wrong, kind in (("f", "get_group"), ("missing", "get_array")):
        with pytest.raises((TypeError, KeyError)):
            getattr(group, kind)(wrong)


def test_arrays_of_other_packages_are_indices(both):
    import pandas as pd
    import xarray as xr

    ours, _ = both
    rows, mask = [2, 0, 5], VALUES[:, 0] % 2 == 0
    stored = zarr_kit.array(np.array(rows)), zarr_kit.array(mask)
    for index, flags in (stored, (pd.Series(rows), pd.Series(mask)), (xr.DataArray(rows), xr.DataArray(mask))):
        np.testing.assert_array_equal(ours[index], VALUES[rows])
        np.testing.assert_array_equal(ours.oindex[flags, [1, 0]], VALUES[np.ix_(mask, [1, 0])])
        np.testing.assert_array_equal(ours.vindex[index, index], VALUES[rows, rows])


def test_an_empty_array_reads_as_the_fill_value_of_what_it_is_like():
    filled = zarr_kit.create_array(shape=3, dtype="u1", fill_value=7)
    assert zarr_kit.empty_like(filled)[:].tolist() == [7, 7, 7]
    assert zarr_kit.zeros_like(filled)[:].tolist() == [0, 0, 0]
    assert zarr_kit.empty_like(np.ones(2))[:].tolist() == [0, 0]


class Counted:
    """An array of another package, which counts how often it is read."""

    def __init__(self, values):
        self.values, self.reads = np.array(values), 0
        self.dtype, self.shape, self.ndim = self.values.dtype, self.values.shape, self.values.ndim

    def __array__(self, dtype=None, copy=None):
        self.reads += 1
        return self.values


@pytest.mark.parametrize("values", [[1, 0], [True] * 6, 1])
def test_arrays_of_other_packages_are_read_once(both, values):
    ours, _ = both
    index = Counted(values)
    np.testing.assert_array_equal(ours[index], VALUES[np.array(values)])
    assert index.reads == 1
    data = Counted(values)
    zarr_kit.save({}, data)
    assert data.reads == 1
