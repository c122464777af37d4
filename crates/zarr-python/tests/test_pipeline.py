"""The codec pipeline: every store and index expression gives what zarr-python's own gives."""

from __future__ import annotations

import itertools
import os
import pickle

import numpy as np
import pytest
import zarr
from zarr.storage import FsspecStore, LocalStore, MemoryStore, ObjectStore, ZipStore

import zarr_kit
from zarr_kit.codecs import PackBits, Reshape
from zarr_kit.pipeline import ZarrKitCodecPipeline

OWN = "zarr.core.codec_pipeline.BatchedCodecPipeline"
OURS = "zarr_kit.pipeline.ZarrKitCodecPipeline"


@pytest.fixture(autouse=True)
def _pipeline():
    with zarr.config.set({"codec_pipeline.path": OURS, "array.rectilinear_chunks": True}):
        yield


def local(path):
    return LocalStore(path / "a.zarr")


def memory(path):
    return MemoryStore()


def fsspec_local(path):
    from zarr.storage._fsspec import _make_async

    fsspec = pytest.importorskip("fsspec")
    return FsspecStore(_make_async(fsspec.filesystem("file", auto_mkdir=True)), path=str(path / "a.zarr"))


def obstore_local(path):
    store = pytest.importorskip("obstore.store")
    (path / "a.zarr").mkdir()
    return ObjectStore(store.LocalStore(str(path / "a.zarr")))


def obstore_memory(path):
    return ObjectStore(pytest.importorskip("obstore.store").MemoryStore())


def icechunk(path):
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.in_memory_storage())
    return repository.writable_session("main").store


STORES = [local, memory, fsspec_local, obstore_local, obstore_memory, icechunk]


@pytest.fixture(params=STORES, ids=lambda store: store.__name__)
def store(request, tmp_path):
    return request.param(tmp_path)


LAYOUTS = {
    "regular": {"chunks": (4, 3, 2)},
    "rectilinear": {"chunks": [[1, 5, 3], [4, 2], [5]]},
    "packed": {"chunks": (4, 3, 2), "serializer": PackBits(last_bit=11), "compressors": None},
    "reshaped": {"chunks": [[1, 5, 3], [4, 2], [5]], "filters": [Reshape([[0, 1], 5])]},
    "sharded": {"chunks": (2, 3, 1), "shards": (4, 6, 5)},
    "one chunk": {"chunks": (9, 6, 5), "compressors": None},
    "points": {"chunks": (1, 1, 1)},
}

KEYS = [
    np.s_[...],
    np.s_[3],
    np.s_[-1, 2],
    np.s_[3, 2, 1],
    np.s_[1:8],
    np.s_[1:8:3, ::2, 4],
    np.s_[:, 5:6],
    np.s_[::4, 1, ::4],
    np.s_[5:5],
    np.s_[2:9:5, 4:],
]


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


def values(shape=(9, 6, 5)):
    return np.random.default_rng(0).integers(-2000, 2000, shape, "int16")


def test_every_store_and_layout_is_read_and_written(store, layout):
    expected = values()
    array = zarr.create_array(store, name="in/group", shape=expected.shape, dtype="int16", fill_value=7, **layout)
    np.testing.assert_array_equal(array[...], np.full_like(expected, 7))
    array[...] = expected
    for key in KEYS:
        np.testing.assert_array_equal(array[key], expected[key], err_msg=str(key))
    rng = np.random.default_rng(1)
    for key in KEYS:
        part = rng.integers(-2000, 2000, expected[key].shape, "int16")
        array[key] = part
        expected[key] = part
        # The 270 chunks of points are all read at the end.
        seen = key if layout == LAYOUTS["points"] else ...
        np.testing.assert_array_equal(array[seen], expected[seen], err_msg=str(key))
    array[2:7, ::3] = 5
    expected[2:7, ::3] = 5
    lists = np.ix_([8, 0, 3], [1, 5], [0, 4])
    np.testing.assert_array_equal(array.oindex[[8, 0, 3], [1, 5], [0, 4]], expected[lists])
    np.testing.assert_array_equal(array.oindex[[8, 0, 3], 1, 1:4], expected[[8, 0, 3], 1, 1:4])
    array.oindex[[8, 0, 3], 1, 1:4] = 6
    expected[[8, 0, 3], 1, 1:4] = 6
    array.vindex[[1, 2], [3, 4], [0, 0]] = [10, 11]
    expected[[1, 2], [3, 4], [0, 0]] = [10, 11]
    np.testing.assert_array_equal(array.vindex[[1, 2], [3, 4], [0, 0]], [10, 11])
    mask = expected > 1000
    np.testing.assert_array_equal(array[mask], expected[mask])
    np.testing.assert_array_equal(array[...], expected)
    # What was written is read by zarr-python alone.
    with zarr.config.set({"codec_pipeline.path": OWN}):
        again = zarr.open_array(store, path="in/group", mode="r")
        np.testing.assert_array_equal(again[...], expected)


def test_zip_stores_are_written_once_and_read(tmp_path, layout):
    expected = values()
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        array = zarr.create_array(store, shape=expected.shape, dtype="int16", **layout)
        array[...] = expected
    with ZipStore(tmp_path / "a.zip") as store:
        array = zarr.open_array(store, mode="r")
        for key in KEYS:
            np.testing.assert_array_equal(array[key], expected[key])


def opened(array):
    """The arrays that the native part opened by itself."""
    return array.async_array.codec_pipeline._opened


def test_only_known_stores_are_opened_natively(store):
    array = zarr.create_array(store, shape=9, chunks=4, dtype="int16")
    array[...] = np.arange(9)
    assert array[3] == 3
    assert bool(opened(array)) == (type(store).__name__ in ("LocalStore", "FsspecStore"))


def test_a_class_of_the_users_own_is_not_known(tmp_path):
    class Store(LocalStore):
        """May do anything."""

    array = zarr.create_array(Store(tmp_path), shape=9, chunks=4, dtype="int16")
    array[...] = np.arange(9)
    assert not opened(array) and array[3] == 3


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "<u2", ">u2", ">f8", "f2", "c16", "M8[s]", "m8[10ms]", "S3", "U4", ">U4"]
)
@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_every_type(store, dtype):
    expected = np.arange(10).astype(dtype)
    array = zarr.create_array(store, shape=10, chunks=4, dtype=dtype)
    array[...] = expected
    array[3:5] = expected[[0, 9]]
    expected[3:5] = expected[[0, 9]]
    assert array[...].tobytes() == expected.tobytes()
    assert array[1::3].dtype == expected.dtype


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_records(store):
    expected = np.array([(1, 2.5), (-3, 0.25), (0, 1e300)], [("a", "i2"), ("b", "f8")])
    array = zarr.create_array(store, shape=3, chunks=2, dtype=expected.dtype)
    array[...] = expected
    assert (array[...] == expected).all() and (array[1:] == expected[1:]).all()


def test_what_zarr_kit_does_not_know_is_left_to_zarr_python(store):
    text = zarr.create_array(store, name="text", shape=3, chunks=2, dtype="str")
    text[...] = np.array(["a", "", "ccc"], text.dtype)
    assert text[...].tolist() == ["a", "", "ccc"]
    assert text.async_array.codec_pipeline.compiled is None


def test_version_2_is_left_to_zarr_python(store):
    if type(store).__module__.startswith("icechunk"):
        pytest.skip("Icechunk has no arrays of version 2")
    array = zarr.create_array(store, shape=(4, 3), chunks=(2, 2), dtype="i4", zarr_format=2, order="F")
    array[...] = np.arange(12).reshape(4, 3)
    assert array[1:3, 2].tolist() == [5, 8]
    assert array.async_array.codec_pipeline.compiled is None


def test_zero_axes(store):
    array = zarr.create_array(store, shape=(), chunks=(), dtype="f4", fill_value=2.5)
    assert array[()] == 2.5
    array[...] = 4
    assert array[...] == 4 and array[()] == 4


def test_axes_of_no_length(store):
    array = zarr.create_array(store, shape=(0, 3), chunks=(2, 2), dtype="f4")
    array[...] = 1
    assert array[...].shape == (0, 3)
    array.resize((2, 3))
    assert (array[...] == 0).all()


@pytest.mark.parametrize("empty", [False, True])
def test_chunks_of_the_fill_value(tmp_path, empty):
    where = tmp_path / "a.zarr"
    array = zarr.create_array(
        where, shape=10, chunks=2, dtype="f4", fill_value=np.nan, config={"write_empty_chunks": empty}
    )
    array[:] = [np.nan, np.nan, 1, np.nan, 0, 0, -0.0, -0.0, 2, 3]
    assert sorted(os.listdir(where / "c")) == (["0", "1", "2", "3", "4"] if empty else ["1", "2", "3", "4"])
    array[2] = np.nan
    assert ("1" in os.listdir(where / "c")) == empty
    assert np.signbit(array[6])


def test_missing_chunks_are_told_where_that_is_wanted(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=4, chunks=2, dtype="i1", config={"read_missing_chunks": False})
    array[:2] = 1
    assert array[:2].tolist() == [1, 1]
    with pytest.raises(zarr.errors.ChunkNotFoundError):
        array[...]


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders(tmp_path, order):
    expected = values()
    array = zarr.create_array(tmp_path / "a.zarr", shape=expected.shape, chunks=(4, 6, 2), dtype="int16", config={"order": order})
    array[...] = expected
    found = array[1:, :, 2:]
    assert found.flags[f"{order}_CONTIGUOUS"]
    np.testing.assert_array_equal(found, expected[1:, :, 2:])
    out = zarr.core.buffer.cpu.NDBuffer.create(shape=(5, 9, 6), dtype=np.dtype("int16"), order=order)
    array.get_basic_selection(..., out=zarr.core.buffer.cpu.NDBuffer(out.as_numpy_array().transpose(1, 2, 0)))
    np.testing.assert_array_equal(out.as_numpy_array(), expected.transpose(2, 0, 1))


def test_a_resized_array_is_read_and_written_at_its_new_shape(store):
    array = zarr.create_array(store, shape=(5, 3), chunks=(2, 3), dtype="i2")
    array[...] = 1
    array.resize((9, 4))
    array[5:, 1:] = 2
    expected = np.zeros((9, 4), "i2")
    expected[:5, :3] = 1
    expected[5:, 1:] = 2
    np.testing.assert_array_equal(array[...], expected)
    array.resize((3, 2))
    array[...] = 3
    array.append([[4, 5]])
    assert array[...].tolist() == [[3, 3]] * 3 + [[4, 5]]


def test_what_others_have_appended_stays(tmp_path):
    """A chunk that the array's end cuts may have elements past it by now."""
    array = zarr.create_array(tmp_path / "a.zarr", shape=3, chunks=4, dtype="i2")
    old = zarr.open_array(tmp_path / "a.zarr")
    array.append(np.array([9], "i2"))
    old[...] = [1, 2, 3]
    assert array[...].tolist() == [1, 2, 3, 9]


def test_values_are_broadcast(store):
    array = zarr.create_array(store, shape=(4, 6), chunks=(3, 4), dtype="f4")
    array[1:3] = 5
    array[:, 1] = np.float64(2.25)
    expected = np.zeros((4, 6), "f4")
    expected[1:3] = 5
    expected[:, 1] = 2.25
    np.testing.assert_array_equal(array[...], expected)


def test_read_only_stores_are_not_written(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=4, chunks=2, dtype="i1")[...] = 1
    array = zarr.open_array(LocalStore(tmp_path / "a.zarr", read_only=True), mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2
    assert array[...].tolist() == [1] * 4


def test_losses_are_refused(store):
    """SD-49"""
    array = zarr.create_array(store, shape=4, chunks=2, dtype="i2", serializer=PackBits(last_bit=3), compressors=None)
    with pytest.raises(zarr_kit.LossError):
        array[...] = [1, 2, 3, 8]
    assert array[3] == 0


class Counting(MemoryStore):
    """Counts the bytes that are read; zarr-kit does not know the class."""

    taken = 0

    async def get(self, key, prototype, byte_range=None):
        return self._count(await super().get(key, prototype, byte_range))

    def get_sync(self, key, *, prototype=None, byte_range=None):
        return self._count(super().get_sync(key, prototype=prototype, byte_range=byte_range))

    def _count(self, found):
        self.taken += 0 if found is None else len(found)
        return found


PARTS = {
    "list": lambda a: a.oindex[[1, 2, 13], :, [0, 3]],
    "list of one axis": lambda a: a.oindex[[0, 15]],
    "points": lambda a: a.vindex[[1, 2, 13], [3, 4, 0], [0, 0, 3]],
    "mask": lambda a: a.oindex[np.arange(20) % 9 == 0, 1:2, :],
    "slice": lambda a: a[3:5, 1],
    "half": lambda a: a[:9],
    "steps": lambda a: a[::6, 2],
    "to the end": lambda a: a[16:],
    "whole": lambda a: a[...],
}


@pytest.mark.parametrize("kind", PARTS)
def test_no_more_of_shards_is_read_than_zarr_python_reads(kind):
    store, expected = Counting(), values((20, 6, 5))
    layout = {"chunks": (2, 3, 1), "shards": (8, 6, 5)}
    array = zarr.create_array(store, shape=expected.shape, dtype="int16", **layout)
    array[...] = expected
    with zarr.config.set({"codec_pipeline.path": OWN}):
        own = zarr.open_array(store, mode="r+")
        store.taken = 0
        wanted = PARTS[kind](own)
        most, store.taken = store.taken, 0
    np.testing.assert_array_equal(PARTS[kind](array), wanted)
    assert 0 < store.taken <= most


def test_damaged_chunks_are_errors(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=8, chunks=4, dtype="i2")
    array[...] = np.arange(8)
    (tmp_path / "a.zarr/c/1").write_bytes(b"no zstd")
    with pytest.raises(ValueError, match="c/1"):
        array[...]
    assert array[:4].tolist() == [0, 1, 2, 3]


def linked(where):
    """Arrays whose chunks are below one link each, to a folder and to files, and what these lead to."""
    for kind in ("folder", "files"):
        array = zarr.create_array(where / kind / "a.zarr", shape=8, chunks=4, dtype="i2")
        array[...] = np.arange(8)
        outside = where / kind / "elsewhere"
        (where / kind / "a.zarr/c").rename(outside)
        if kind == "folder":
            (where / kind / "a.zarr/c").symlink_to(outside)
        else:
            (where / kind / "a.zarr/c").mkdir()
            for number in "01":
                (where / kind / "a.zarr/c" / number).symlink_to(outside / number)
        yield array, outside


def test_links_out_of_the_store_are_followed_as_zarr_python_does(tmp_path):
    with zarr.config.set({"codec_pipeline.path": OWN}):
        expected = list(linked(tmp_path / "theirs"))
    for (ours, outside), (theirs, other) in zip(linked(tmp_path / "ours"), expected, strict=True):
        assert opened(ours)
        for array in (ours, theirs):
            assert array[...].tolist() == list(range(8))
            array[2:6] = -1
            assert array[...].tolist() == [0, 1, -1, -1, -1, -1, 6, 7]
        assert [(outside / n).read_bytes() for n in "01"] == [(other / n).read_bytes() for n in "01"]
    links = [
        [path.relative_to(where) for path in sorted(where.rglob("*")) if path.is_symlink()]
        for where in (tmp_path / "ours", tmp_path / "theirs")
    ]
    assert links[0] == links[1]


def test_an_error_of_a_store_is_not_tried_again(tmp_path, monkeypatch):
    array = zarr.create_array(tmp_path / "a.zarr", shape=8, chunks=4, dtype="i2")
    array[...] = np.arange(8)
    (tmp_path / "a.zarr/c/1").unlink()
    (tmp_path / "a.zarr/c/1").symlink_to("1")
    asked = []
    for name in ("get", "get_sync"):
        monkeypatch.setattr(zarr.storage.LocalStore, name, lambda *_, **__: asked.append(1))
    with pytest.raises(OSError, match="c/1"):
        array[...]
    assert asked == []


def test_keys_of_version_2_and_of_dots(tmp_path):
    for number, encoding in enumerate(itertools.product(["default", "v2"], ".|/".split("|"))):
        name, separator = encoding
        array = zarr.create_array(
            tmp_path / str(number), shape=(4, 4), chunks=(2, 3), dtype="i2",
            chunk_key_encoding={"name": name, "separator": separator},
        )
        array[...] = np.arange(16).reshape(4, 4)
        assert opened(array)
        with zarr.config.set({"codec_pipeline.path": OWN}):
            again = zarr.open_array(tmp_path / str(number))
            np.testing.assert_array_equal(again[...], np.arange(16).reshape(4, 4))


def test_pickles_carry_no_open_store(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=4, chunks=2, dtype="i2")
    array[...] = 3
    again = pickle.loads(pickle.dumps(array))
    assert again[...].tolist() == [3] * 4 and isinstance(again.async_array.codec_pipeline, ZarrKitCodecPipeline)


def test_memory_of_another_kind_is_left_to_zarr_python(monkeypatch):
    from zarr.core.buffer import BufferPrototype
    from zarr.testing.buffer import NDBufferUsingTestNDArrayLike, TestBuffer, TestNDArrayLike

    array = zarr.create_array({}, shape=5, chunks=2, dtype="i2")
    array[...] = np.arange(5)
    prototype = BufferPrototype(buffer=TestBuffer, nd_buffer=NDBufferUsingTestNDArrayLike)
    monkeypatch.setattr("zarr_kit._compiled.CompiledCodec._decode_sync", None)
    found = array.get_basic_selection(slice(1, 4), prototype=prototype)
    assert type(found) is TestNDArrayLike and found.tolist() == [1, 2, 3]


def test_another_class_of_a_known_name_is_asked(tmp_path):
    from zarr.codecs import GzipCodec
    from zarr.registry import register_codec

    class Counting(GzipCodec):
        """Counts the chunks that it decodes."""

        count = 0

        async def _decode_single(self, chunk_data, chunk_spec):
            type(self).count += 1
            return await super()._decode_single(chunk_data, chunk_spec)

        _decode_sync = None

    register_codec("gzip", Counting, qualname="tests.Counting")
    with zarr.config.set({"codecs.gzip": "tests.Counting"}):
        array = zarr.create_array(tmp_path / "a.zarr", shape=4, chunks=2, dtype="i2", compressors=Counting())
        array[...] = 3
        assert array.async_array.codec_pipeline.compiled is None


def test_tasks_side_by_side_lose_nothing(tmp_path):
    """Chunks of 7 written by tasks of 10: zarr-python's own pipeline loses a quarter of this."""
    from concurrent.futures import ThreadPoolExecutor

    array = zarr.create_array(tmp_path / "a.zarr", shape=1000, chunks=7, dtype="i4")

    def write(task):
        array[10 * task : 10 * task + 10] = np.arange(10 * task, 10 * task + 10)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(100)))
    np.testing.assert_array_equal(array[...], np.arange(1000))
