"""Arrays: types, documents, changes, errors and pickles."""

import copy
import json
import pickle
import shutil
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
import zarr_kit

def test_signed_bits_are_stored_with_their_sign(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4, dtype="int4", codecs=[{"name": "bytes"}])
    array[:] = np.array([-8, -1, 0, 7], ml_dtypes.int4)
    assert (tmp_path / "a.zarr/c/0").read_bytes() == b"\xf8\xff\x00\x07"


def test_the_fill_value_is_a_scalar_of_the_dtype(tmp_path):
    for dtype, fill in [("i2", -5), ("f4", np.nan), ("f8", np.inf), ("bool", True), ("c8", 1 - 2j), ("int4", -3)]:
        array = zarr_kit.create("memory:", shape=3, dtype=dtype, fill_value=fill)
        assert array.fill_value == fill or np.isnan(array.fill_value)
        assert np.asarray(array.fill_value).dtype == array.dtype
        np.testing.assert_array_equal(array[:].astype("c16"), np.full(3, fill, "c16"))


@pytest.mark.filterwarnings("error")
def test_fill_values_that_do_not_fit_are_refused():
    for dtype, fill in [("f4", 1e39), ("f2", -65536), ("c8", 1e39j), ("i1", 128), ("u1", -1), ("i4", np.nan), ("i2", 0.5), ("float8_e4m3fn", 1e4), ("f4", 10**39), ("f8", 10**400), ("bfloat16", 10**39), ("bool", 2), ("bool", 0.5), ("float4_e2m1fn", 100), ("float4_e2m1fn", -6.5), ("float4_e2m1fn", np.nan), ("float8_e4m3fn", np.inf), ("float8_e8m0fnu", -1)]:
        with pytest.raises(OverflowError, match="does not fit into"):
            zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=fill)
    for dtype, fill in [("f4", 1 + 2j), ("f4", "5"), ("i4", "5"), ("bool", "False"), ("c8", np.datetime64("2001"))]:
        with pytest.raises(TypeError):
            zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=fill)
    for dtype, fill in [("S3", b"four"), ("U2", "abc"), ("M8[s]", np.datetime64("2001-01-01T00:00:00.5")), ("M8[D]", "2001-01-01T05"), ([("a", "S1")], (b"xy",))]:
        with pytest.raises(ValueError, match="does not fit into"):
            zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=fill)
    for dtype, fill in [("f4", np.inf), ("f2", -np.inf), ("f2", 65504), ("c8", complex(np.inf, 1)), ("f4", np.float64(1 / 3)), ("S3", b"abc"), ("U2", "ab"), ("i4", 5.0), ("bool", 1), ("f4", 10**30), ("f4", 3.4028235e38), ("c8", 1), ("f4", "Infinity")]:
        array = zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=fill)
        assert array.fill_value == np.dtype(dtype).type(fill)


def test_small_integers_in_records_have_their_sign(tmp_path):
    dtype = np.dtype([("day", "u1"), ("at", [("x", ml_dtypes.int4), ("y", ml_dtypes.int2)])])
    layout = {"shape": 3, "dtype": dtype, "codecs": [{"name": "bytes"}], "chunks": 3}
    array = zarr_kit.create(tmp_path / "a.zarr", fill_value=(1, (-5, -2)), **layout)
    values = np.array([(255, (3, 1)), (0, (-8, -1)), (7, (-1, -2))], dtype)
    values["at"]["x"] = values["at"]["x"] - ml_dtypes.int4(1)  # numpy's bytes lack the sign
    expected = [(day, (int(x), int(y))) for day, (x, y) in values.tolist()]
    assert [int(x) for x in values["at"]["x"]] == [2, 7, -2]

    def numbers(found):
        return [(day, (int(x), int(y))) for day, (x, y) in found.tolist()]

    assert numbers(array[...]) == [(1, (-5, -2))] * 3 and array.fill_value["at"]["x"] == -5
    array[:] = values
    assert (tmp_path / "a.zarr/c/0").read_bytes() == b"\xff\x02\x01\0\x07\xff\x07\xfe\xfe"
    assert numbers(array[...]) == expected and array[...].tobytes() == values.tobytes()
    out = np.zeros((3, 2), dtype)[:, 1]
    assert array.read(out=out).tobytes() == array.vindex[[0, 1, 2]].tobytes() == values.tobytes()
    array[1] = (4, (-3, 0))
    assert numbers(array[1:2]) == [(4, (-3, 0))]


def test_appended_values_have_the_shape_of_the_elements():
    array = zarr_kit.create("memory:", shape=1, dtype=[("a", "i4"), ("b", "i4")], chunks=1)
    array.append([(1, 2)])
    array.append([(3, 4), (5, 6)])
    assert array[:].tolist() == [(0, 0), (1, 2), (3, 4), (5, 6)]
    numbers = zarr_kit.create("memory:", shape=(2, 3), dtype="i4")
    for value in (5, [5], np.zeros((2, 1, 1), "i4"), np.zeros((3, 1), "i4")):
        with pytest.raises(ValueError, match="axis 1 of .* cannot grow by shape"):
            numbers.append(value, axis=1)
    numbers.append([[5], [6]], axis=1)
    assert numbers[:, 3].tolist() == [5, 6]
    with pytest.raises(ValueError, match=r"axis 0 of \(4,\) cannot grow by shape \(\)"):
        array.append((1, 2))


def test_chunks_by_default_are_neither_small_nor_large():
    for shape, expected in [
        ((3, 5), [3, 5]),
        ((10_000, 10_000), [1250, 625]),
        ((0,), [1 << 20]),
        ((0, 100_000), [8, 100_000]),
    ]:
        array = zarr_kit.create("memory:", shape=shape, dtype="f4")
        assert array.metadata["chunk_grid"]["configuration"]["chunk_shape"] == expected


def test_values_that_do_not_fit_are_refused():
    array = zarr_kit.create("memory:", shape=3, dtype="u1")
    with pytest.raises(OverflowError, match="300 does not fit into uint8"):
        array[:] = [1, 300, 2]
    with pytest.raises(TypeError):
        array[:] = [0.5, 1, 2]
    with pytest.raises(ValueError):
        array[:] = [1, 2]
    assert array[:].tolist() == [0, 0, 0]


def test_values_that_codecs_cannot_keep_are_refused():
    codecs = [{"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 9}}]
    array = zarr_kit.create("memory:", shape=3, dtype="u2", codecs=codecs)
    with pytest.raises(ValueError, match="3000"):
        array[:] = [1, 3000, 2]


def test_grids_are_those_asked_for(tmp_path):
    array = zarr_kit.create(tmp_path / "r.zarr", shape=(59, 10), dtype="i2", chunks=[(31, 28), 4])
    assert array.chunks == array.write_chunk_sizes == ((31, 28), (4, 4, 2))
    assert array.metadata["chunk_grid"] == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[31, 28], 4]},
    }
    regular = zarr_kit.create(tmp_path / "g.zarr", shape=(59, 10), dtype="i2", chunks=[20, 4])
    assert regular.metadata["chunk_grid"]["name"] == "regular" and regular.chunks == (20, 4)
    assert regular.write_chunk_sizes[0] == (20, 20, 19)
    many = zarr_kit.create("memory:", shape=10**9, dtype="i1", chunks=10**3)
    assert many.chunks == (1000,) and len(many.write_chunk_sizes[0]) == 10**6
    for chunks, says in [
        ([(31, 27), 4], "add up to 58"),
        ([(31,)], "1 axis"),
        ([(59, 0), 4], "at least 1"),
        (0, "at least 1"),
    ]:
        with pytest.raises(ValueError, match=says):
            zarr_kit.create("memory:", shape=(59, 10), dtype="i2", chunks=chunks)


def test_shards(tmp_path):
    array = zarr_kit.create(tmp_path / "s.zarr", shape=(8, 8), dtype="u2", chunks=2, shards=4)
    array[...] = np.arange(64).reshape(8, 8)
    assert array.shards == (4, 4) and array.write_chunk_sizes == ((4, 4), (4, 4))
    assert array.chunks == (2, 2) and array.read_chunk_sizes == ((2, 2, 2, 2), (2, 2, 2, 2))
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "s.zarr")[...], np.arange(64).reshape(8, 8))


def test_chunks_of_sharded_arrays_are_the_inner_ones_and_repeat_the_array():
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    for chunks, shards, expected in [
        ((2, 3), (4, 6), ((2, 3), (4, 6))),
        ((1, 7), (5, 7), ((1, 7), (5, 7))),
        ((1, 1), [(2, 3), (3, 4)], (((1,) * 5, (1,) * 7), ((2, 3), (3, 4)))),
    ]:
        array = zarr_kit.create("memory:", shape=(5, 7), dtype="u2", chunks=chunks, shards=shards)
        assert (array.chunks, array.shards) == expected
        again = zarr_kit.create("memory:", shape=(5, 7), dtype="u2", chunks=array.chunks, shards=array.shards)
        assert again.metadata["codecs"] == array.metadata["codecs"]
        assert (again.chunks, again.shards) == expected
    sharding = {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [3, 2], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}
    turned = zarr_kit.create("memory:", shape=(4, 6), dtype="u2", chunks=(4, 6), codecs=[transpose, sharding])
    assert (turned.chunks, turned.shards) == ((2, 3), (4, 6))
    reshaped = [{"name": "reshape", "configuration": {"shape": [-1]}}, {**sharding, "configuration": {**sharding["configuration"], "chunk_shape": [4]}}]
    flat = zarr_kit.create("memory:", shape=(4, 6), dtype="u2", chunks=(4, 6), codecs=reshaped)
    assert flat.chunks == flat.shards == (4, 6)
    assert zarr_kit.create("memory:", shape=0, dtype="u2", chunks=2, shards=4).read_chunk_sizes == ((0,),)


def test_attributes_are_a_mapping_that_is_stored(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=1, dtype="i1", attributes={"units": "m"})
    array.attrs["scale"] = np.float32(0.5)
    array.attrs.update(a=[1, 2], b=None)
    del array.attrs["units"]
    assert dict(zarr_kit.open(tmp_path / "a.zarr").attrs) == {"scale": 0.5, "a": [1, 2], "b": None}
    with pytest.raises(KeyError):
        del array.attrs["units"]
    with pytest.raises(ValueError, match="'x' is no JSON value"):
        array.attrs["x"] = float("nan")
    for value in (object(), *(np.datetime64("2001", unit) for unit in ("D", "ns")), np.array([5], "m8[ns]")):
        with pytest.raises(TypeError, match="'x' is no JSON value"):
            array.attrs["x"] = value


def test_attributes_of_two_handles_are_all_kept(tmp_path):
    array = zarr_kit.create(tmp_path / "g/a.zarr", shape=4, dtype="i1", attributes={"a": 0})
    zarr_kit.create_group(tmp_path / "h.zarr")
    for one, other in [
        (array, zarr_kit.open(tmp_path / "g/a.zarr")),
        (zarr_kit.open_group(tmp_path / "h.zarr"), zarr_kit.open_group(tmp_path / "h.zarr")),
    ]:
        one.attrs["b"] = 1
        other.attrs.update(c=2, a=3)
        assert dict(other.attrs) == {"a": 3, "b": 1, "c": 2}
        del one.attrs["b"]
        assert dict(one.refresh().attrs) == {"a": 3, "c": 2}


def test_a_handle_notices_others_changes(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4, dtype="i1", chunks=2)
    other = zarr_kit.open(tmp_path / "a.zarr")
    other.resize((6,))
    assert array.shape == (4,)
    with pytest.raises(RuntimeError, match="changed by others"):
        array.resize((8,))
    assert array.refresh().shape == (6,)


def test_a_refreshed_handle_is_the_new_array(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4, dtype="i1", chunks=[(3, 1)], attributes={"a": 1}, threads=3)
    array[:] = [1, 2, 3, 4]
    outer, points = array.oindex, array.vindex
    assert (array.chunks, array.dtype, dict(array.attrs)) == (((3, 1),), np.dtype("i1"), {"a": 1})
    before = array.__dask_tokenize__()
    other = zarr_kit.open(tmp_path / "a.zarr")
    other.append([5, 6], chunks=[2])
    other.attrs["b"] = 2
    assert array.refresh() is array
    assert (array.shape, array.chunks, dict(array.attrs)) == ((6,), ((3, 1, 2),), {"a": 1, "b": 2})
    assert array[:].tolist() == array.read().tolist() == [1, 2, 3, 4, 5, 6]
    assert outer[[5, 0]].tolist() == points[[5, 0]].tolist() == [6, 1]
    assert array.__dask_tokenize__() == other.__dask_tokenize__() != before
    assert pickle.loads(pickle.dumps(array)).shape == (6,) and array._native.threads == 3
    array.append([7])
    assert other.refresh()[6] == 7
    # An array in place of the old one, of another type.
    shutil.rmtree(tmp_path / "a.zarr")
    zarr_kit.create(tmp_path / "a.zarr", shape=(2, 2), dtype="string", chunks=1)[0, 0] = "é"
    assert array.refresh().ndim == 2 and array.dtype == np.dtypes.StringDType() and array[0, 0] == "é"
    shutil.rmtree(tmp_path / "a.zarr")
    with pytest.raises(FileNotFoundError):
        array.refresh()
    assert array.shape == (2, 2)


def test_append_and_resize(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(31, 2), dtype="i2", chunks=[(31,), 2])
    array[...] = 1
    array.append(np.full((28, 2), 2), chunks=[28])
    assert array.shape == (59, 2)
    array.resize((62, 2), chunks=[[3], None])
    assert array.chunks[0][-1] == 3
    assert array[:, 0].tolist() == [1] * 31 + [2] * 28 + [0] * 3
    array.resize((10, 2))
    array.resize((62, 2))
    assert array[:, 0].tolist() == [1] * 10 + [0] * 52
    with pytest.raises(ValueError, match="cannot grow"):
        array.append(np.zeros((3, 3), "i2"))


def test_errors_are_pythons_kinds(tmp_path):
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(tmp_path / "none.zarr")
    zarr_kit.create_group(tmp_path / "g.zarr")
    with pytest.raises(KeyError):
        zarr_kit.open_group(tmp_path / "g.zarr")["none"]
    with pytest.raises(FileExistsError):
        zarr_kit.create(tmp_path / "g.zarr", shape=1, dtype="i1")
    (tmp_path / "bad.zarr").mkdir()
    (tmp_path / "bad.zarr/zarr.json").write_text('{"zarr_format": 4, "node_type": "array"}')
    with pytest.raises(ValueError, match=r"\$\.zarr_format: found 4"):
        zarr_kit.open(tmp_path / "bad.zarr")
    with pytest.raises(OSError) as raised:
        zarr_kit.open("s3://user:SECRET@bucket/x")
    assert "SECRET" not in str(raised.value)


def test_groups(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr", attributes={"title": "all"})
    group.create_array("a", shape=3, dtype="f4")
    inner = group.create_group("inner")
    inner.create_array("b", shape=(2, 2), dtype="u1")[...] = 5
    found = zarr_kit.open_group(tmp_path / "g.zarr")
    assert sorted(found) == ["a", "inner"]
    assert len(found) == 2 and "a" in found and "c" not in found
    assert found["inner/b"][0, 0] == 5
    assert [name for name, _ in found.arrays()] == ["a"]
    assert [name for name, _ in found.groups()] == ["inner"]
    assert found.attrs["title"] == "all"
    assert str(found.tree()) == "/\n├── a (3,) float32\n└── inner\n    └── b (2, 2) uint8"
    assert sorted(pickle.loads(pickle.dumps(found))) == ["a", "inner"]


def test_pickles_are_small_and_read_nothing(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=10**6, dtype="f4", chunks=[(31, 28) + (10**6 - 59,)])
    array[:3] = [1, 2, 3]
    text = pickle.dumps(array)
    assert len(text) < 1000
    (tmp_path / "a.zarr/zarr.json").rename(tmp_path / "hidden")
    assert pickle.loads(text)[:3].tolist() == [1, 2, 3]
    assert array.__dask_tokenize__() == pickle.loads(text).__dask_tokenize__()
    for memory in ("memory:", "Memory://"):
        with pytest.raises(ValueError, match="memory"):
            pickle.dumps(zarr_kit.create(memory, shape=1, dtype="i1"))
    # A shallow copy is sent nowhere.
    group = zarr_kit.create_group("memory:")
    array = group.create_array("a", shape=3, dtype="i1", fill_value=7)
    copied = copy.copy(array)
    copied.resize(4)
    assert (copied.shape, array.shape) == ((4,), (3,)) and copy.copy(group)["a"][:].tolist() == [7] * 4


@pytest.mark.parametrize(
    ("shape", "chunks", "shards"),
    [
        ((3650,), [[10] * 365], None),
        ((10**6, 720, 1440), [[744] * 1344 + [64], [360, 360], 100], None),
        ((10**9, 64), [[1000] * 500_000 + [2000] * 250_000, (32, 32)], None),
        ((10**6, 4096), (10, 64), (1000, 4096)),
    ],
)
def test_pickles_of_runs_have_little_beyond_attributes_and_codecs(tmp_path, shape, chunks, shards):
    codecs = [
        {"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 11}},
        {"name": "zstd", "configuration": {"level": 9, "checksum": True}},
    ]
    array = zarr_kit.create(
        tmp_path / "a.zarr", shape=shape, dtype="i2", chunks=chunks, shards=shards, codecs=codecs, fill_value=-999,
        dimension_names=["time", "latitude", "longitude"][: len(shape)], attributes={"history": "x" * 5000, "units": "K"},
        storage_options={"timeout": "30 s"},
    )  # fmt: skip
    found = array.metadata
    known = sum(len(json.dumps(found[name])) for name in ("attributes", "codecs"))
    assert known > 5000 and len(pickle.dumps(array)) <= known + 1024
    assert pickle.loads(pickle.dumps(array)).chunks == array.chunks


def test_other_processes_read_what_a_pickle_names(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=5, dtype="i4", chunks=2)
    array[:] = range(5)
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)[1:4].tolist())"
    run = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(array), capture_output=True, check=True)
    assert run.stdout == b"[1, 2, 3]\n"


def test_threads_write_parts_of_one_chunk_without_loss(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4000, dtype="i4", chunks=1000, threads=1)

    def write(first):
        for place in range(first, 4000, 8):
            array[place] = place + 1

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(array[:], np.arange(1, 4001))


def test_numpy_makes_arrays_of_it():
    array = zarr_kit.create("memory:", shape=(2, 3), dtype="i2", fill_value=4)
    assert np.asarray(array).tolist() == [[4] * 3] * 2
    assert np.asarray(array, "f8").dtype == "f8"
    assert np.sum(array) == 24
    assert [row.tolist() for row in array] == [[4] * 3] * 2
    with pytest.raises(ValueError, match="copy"):
        np.array(array, copy=False)


def test_zarr_python_reads_what_was_written(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(59, 4), dtype="f4", chunks=[(31, 28), 3],
                            dimension_names=["day", None], attributes={"a": 1}, fill_value=np.nan)
    array[10:40] = np.arange(120, dtype="f4").reshape(30, 4)
    with zarr.config.set({"array.rectilinear_chunks": True}):
        found = zarr.open_array(tmp_path / "a.zarr", mode="r")
        np.testing.assert_array_equal(found[...], array[...])
    assert json.loads((tmp_path / "a.zarr/zarr.json").read_text()) == array.metadata
    assert array.dims == ("day", None)


def test_chunks_of_only_the_fill_value_are_stored_on_request(tmp_path):
    def stored():
        return zarr_kit.open(tmp_path / "a.zarr").info.chunks_stored

    array = zarr_kit.create(tmp_path / "a.zarr", shape=6, dtype="i2", chunks=2, fill_value=7)
    array[:] = 7
    assert stored() == 0
    keeping = array.with_write_empty_chunks()
    keeping.with_threads(1)[:2] = 7
    pickle.loads(pickle.dumps(keeping))[2:4] = 7
    assert stored() == 2 and keeping[:].tolist() == [7] * 6
    keeping.with_write_empty_chunks(False)[:2] = 7
    assert stored() == 1
    zarr_kit.open(tmp_path / "a.zarr", write_empty_chunks=True)[:] = 7
    assert stored() == 3
    keeping.append([7, 7])
    assert stored() == 4
    group = zarr_kit.create_group(tmp_path / "g.zarr", write_empty_chunks=True)
    group.create_array("a", shape=2, dtype="i1")[:] = 0
    assert group["a"].info.chunks_stored == 1
    zarr_kit.open_group(tmp_path / "g.zarr")["a"][:] = 0
    assert group["a"].info.chunks_stored == 0
    zarr_kit.open_group(tmp_path / "g.zarr", write_empty_chunks=True)["a"][:] = 0
    assert group["a"].info.chunks_stored == 1


def test_tokens_tell_arrays_apart(tmp_path):
    tokenize = pytest.importorskip("dask.base").tokenize
    memory = [zarr_kit.create(url, shape=3, dtype="i1") for url in ("MEMORY:", "MEMORY:")]
    places = [zarr_kit.create(tmp_path / name, shape=3, dtype="i1") for name in "ab"]
    assert len({tokenize(array) for array in memory + places}) == 4
    assert tokenize(memory[0].with_threads(1)) == tokenize(memory[0])
    assert tokenize(zarr_kit.open(tmp_path / "a")) == tokenize(places[0])
    memory[0][:] = 1
    difference = memory[0].to_dask() - memory[1].to_dask()
    assert difference.compute().tolist() == [1, 1, 1]


def test_wrong_arguments_are_errors_of_numpys_kinds(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(5, 4), dtype="i2", chunks=2)
    huge = zarr_kit.create("memory:", shape=(2**62, 8), dtype="f8", chunks=(2**40, 8))
    place = tmp_path / "a.zarr"
    cases = [
        (lambda: array[5], IndexError, "index 5 is out of bounds for axis 0 with size 5"),
        (lambda: array[True], IndexError, "True is no index"),
        (lambda: array.__setitem__(0, None), TypeError, "int16"),
        (lambda: array.__setitem__(0, float("nan")), TypeError, "round them first"),
        (lambda: array.read(..., out=[0]), TypeError, "out is a numpy array, not list"),
        (lambda: array.with_threads(0), ValueError, "threads: at least 1"),
        (lambda: array.with_threads("many"), TypeError, "threads: an integer, or None, not str"),
        (lambda: zarr_kit.open(place, threads=-1), ValueError, "threads: at least 1"),
        (lambda: zarr_kit.open(place, storage_options=["region"]), TypeError, "a mapping of names to values, not list"),
        (lambda: zarr_kit.open(place, storage_options={"region": ["x"]}), TypeError, "region is text.*not list"),
        (lambda: zarr_kit.open(tmp_path), FileNotFoundError, "zarr.json|no node|nothing"),
        (lambda: zarr_kit.open_group(place), ValueError, "this is an array, not a group"),
        (lambda: zarr_kit.open("gopher://x/y"), OSError, "no client for gopher"),
        (lambda: zarr_kit.open(""), OSError, "neither a path nor a URL"),
        (lambda: zarr_kit.open("a\0b"), OSError, "NUL"),
        (lambda: zarr_kit.open(tmp_path, "../x"), ValueError, "would lead elsewhere"),
        (lambda: huge[: 2**45], MemoryError, "2.00 PiB"),
        (lambda: zarr_kit.open(tmp_path, 3), TypeError, "path.* is a str, not int"),
        (lambda: zarr_kit.open(place, threads=2.5), TypeError, "threads: an integer, or None, not float"),
        (lambda: array.resize(5), ValueError, "the shape has 1 axis, the array 2"),
        (lambda: array.resize((5, 5), chunks=[(2,)]), ValueError, "chunks has 1 entry, the array 2 axes"),
        (lambda: zarr_kit.create("memory:", shape=3, dtype="f4", codecs="zstd:99"), ValueError, r'level "99"; -131072 to 22'),
        (lambda: zarr_kit.create("memory:", shape=3, dtype="f4", codecs={"name": "zstd"}), TypeError, "a sequence of codecs"),
        (lambda: zarr_kit.create("memory:", shape=(3, 3), dtype="f4", dimension_names="xy"), TypeError, "a sequence of names"),
        (lambda: zarr_kit.create_group("memory:").create_array("a", shape=3), ValueError, "dtype is missing: give it, or data"),
    ]
    for work, kind, message in cases:
        with pytest.raises(kind, match=message):
            work()
    assert huge[2**61, 3] == 0 and "4611686018427387904" in repr(huge)


def test_errors_name_the_store(tmp_path):
    array = zarr_kit.create(tmp_path / "a\nb.zarr", "in/x", shape=4, dtype="i2")
    array[:] = 1
    (tmp_path / "a\nb.zarr/in/x/c/0").write_bytes(b"short")
    cases = [lambda: array[:], lambda: zarr_kit.open_group(tmp_path / "a\nb.zarr", "in/x"), lambda: array.__setitem__(0, 2)]
    for work in cases:
        with pytest.raises(ValueError) as raised:
            work()
        assert str(raised.value).startswith(f"{tmp_path}/a\\nb.zarr/in/x: ")
        assert str(raised.value).count(f"{tmp_path}") == 1
