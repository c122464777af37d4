"""Stores of zarr-python, Icechunk and fsspec: all operations, compared with zarr-python on the same store."""

import asyncio
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import zarr_kit

zarr = pytest.importorskip("zarr")
pytest.importorskip("fsspec")
from zarr.storage import FsspecStore, LocalStore, LoggingStore, MemoryStore, ObjectStore, ZipStore  # noqa: E402


def memory(tmp_path):
    return MemoryStore()


def local(tmp_path):
    return LocalStore(tmp_path / "local.zarr")


def logging_store(tmp_path):
    return LoggingStore(MemoryStore(), log_level="ERROR")


def archive(tmp_path):
    return ZipStore(tmp_path / "a.zip", mode="w")


def fsspec_memory(tmp_path):
    return FsspecStore.from_url("memory://" + tmp_path.name)


def obstore_memory(tmp_path):
    return ObjectStore(pytest.importorskip("obstore").store.MemoryStore())


def icechunk(tmp_path):
    package = pytest.importorskip("icechunk")
    return package.Repository.create(package.in_memory_storage()).writable_session("main").store


def a_dict(tmp_path):
    return {}


def mapper(tmp_path):
    import fsspec

    return fsspec.get_mapper(f"file://{tmp_path}/mapped.zarr")


KINDS = [memory, local, logging_store, archive, fsspec_memory, obstore_memory, icechunk, a_dict, mapper]
CHANGED = [kind for kind in KINDS if kind is not archive]
"""ZipStore of zarr-python can neither delete nor replace."""


def theirs(store, path):
    """The array as zarr-python reads it."""
    store = store.root if hasattr(store, "root") and hasattr(store, "fs") and isinstance(store.root, str) else store
    with zarr.config.set({"array.rectilinear_chunks": True}):
        return zarr.open_array(store, path=path, mode="r" if getattr(store, "read_only", False) else "r+")[...]


@pytest.mark.parametrize("kind", KINDS)
def test_what_one_writes_the_other_reads(kind, tmp_path):
    store = kind(tmp_path)
    root = zarr_kit.create_group(store, attributes={"by": "zarr-kit"})
    values = np.arange(60, dtype="i4").reshape(6, 10)
    ours = root.create_array("a", shape=values.shape, dtype="i4", chunks=(2, 5), shards=None if kind is archive else (4, 10))
    ours[...] = values
    np.testing.assert_array_equal(theirs(store, "a"), values)
    np.testing.assert_array_equal(zarr_kit.open(store, "a")[1:5:2, ::-3], values[1:5:2, ::-3])
    made = zarr.create_array(store.root if kind is mapper else store, name="b", data=values * 2, chunks=(4, 4))
    np.testing.assert_array_equal(zarr_kit.open(store, "b")[...], values * 2)
    assert zarr_kit.open(made) == zarr_kit.open(store, "b")
    assert sorted(zarr_kit.open_group(store)) == ["a", "b"]
    assert zarr_kit.open_group(store).check().is_clean
    np.testing.assert_array_equal(zarr_kit.open(store, "b").to_dask().sum(axis=0).compute(), (values * 2).sum(axis=0))
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(store, "none", mode="r")
    with pytest.raises(PermissionError):
        zarr_kit.open(store, "b", mode="r")[0] = 1


@pytest.mark.parametrize("kind", CHANGED)
def test_changes(kind, tmp_path):
    store = kind(tmp_path)
    root = zarr_kit.open_group(store)
    ragged = root.create_array("r", shape=59, dtype="i2", chunks=[(31, 28)], dimension_names=["day"])
    ragged[...] = range(59)
    ragged[29:33] = 0
    ragged.append(np.arange(31), chunks=[31])
    expected = np.concatenate([np.arange(59), np.arange(31)])
    expected[29:33] = 0
    np.testing.assert_array_equal(theirs(store, "r"), expected)
    ragged.rearrange([slice(31, 90), slice(0, 31)])
    expected = np.concatenate([expected[31:], expected[:31]])
    np.testing.assert_array_equal(theirs(store, "r"), expected)
    ragged.resize(70)
    ragged.resize(80)
    np.testing.assert_array_equal(theirs(store, "r"), np.concatenate([expected[:70], np.zeros(10)]))
    ragged.attrs["units"] = "mm"
    assert zarr_kit.open(store, "r").attrs["units"] == "mm"
    root.create_array("s", data=np.arange(12), chunks=4, overwrite=True)
    root.create_array("s", data=np.arange(8), chunks=4, overwrite=True)
    np.testing.assert_array_equal(theirs(store, "s"), np.arange(8))
    root.move("s", "t")
    np.testing.assert_array_equal(theirs(store, "t"), np.arange(8))
    assert sorted(zarr_kit.open_group(store)) == ["r", "t"]
    assert zarr_kit.open_group(store).check().is_clean


@pytest.mark.parametrize("kind", CHANGED)
def test_copies_and_joins(kind, tmp_path):
    store = kind(tmp_path)
    root = zarr_kit.open_group(store)
    parts = []
    for number, days in enumerate((31, 28)):
        part = root.create_array(f"part{number}", shape=days, dtype="f4", chunks=days, dimension_names=["day"])
        part[...] = number
        parts.append(part)
    expected = np.repeat([0, 1], [31, 28])
    zarr_kit.join(parts, tmp_path / "out.zarr", along="day")
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "out.zarr")[...], expected)
    # Into the store, with chunks that are written again.
    zarr_kit.join(parts, root.create_group("joined"), along="day", overwrite=True)
    np.testing.assert_array_equal(theirs(store, "joined"), expected)
    zarr_kit.copy(zarr_kit.open(store, "joined"), tmp_path / "copied.zarr", chunks=20)
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "copied.zarr")[...], expected)
    zarr_kit.copy(tmp_path / "copied.zarr", root.create_group("back"), chunks=7, overwrite=True)
    np.testing.assert_array_equal(theirs(store, "back"), expected)
    assert zarr_kit.open_group(store).check().is_clean


@pytest.mark.parametrize("kind", [memory, fsspec_memory, obstore_memory, icechunk])
def test_parts_of_one_chunk_by_ten_threads(kind, tmp_path):
    store = kind(tmp_path)
    zarr_kit.create_array(store, name="a", shape=1000, dtype="i4", chunks=1000)
    def write(number):
        array = zarr_kit.open(store, "a")
        for start in range(number * 100, number * 100 + 100, 10):
            array[start : start + 10] = number + 1
    threads = [threading.Thread(target=write, args=(number,)) for number in range(10)]
    for each in threads: each.start()
    for each in threads: each.join()
    np.testing.assert_array_equal(theirs(store, "a"), np.repeat(np.arange(1, 11), 100))


def of_one_dict(tmp_path):
    objects = {}
    return lambda root: MemoryStore(objects), False


def of_one_obstore(tmp_path):
    store = pytest.importorskip("obstore.store").MemoryStore()
    return lambda root: ObjectStore(store), False


def of_fsspec(tmp_path):
    return lambda root: FsspecStore.from_url(f"memory://my data=%20{tmp_path.name}/{root}"), True


def of_managed(tmp_path):
    Managed = getattr(zarr.storage, "ManagedMemoryStore", None)
    if Managed is None:
        pytest.skip("zarr-python is too old")
    whole = Managed()
    return lambda root: Managed(whole.name, path=root), True


def of_mappers(tmp_path):
    import fsspec

    return lambda root: fsspec.get_mapper(f"memory://{tmp_path.name}/{root}"), True


def of_one_session(tmp_path):
    package = pytest.importorskip("icechunk")
    session = package.Repository.create(package.in_memory_storage()).writable_session("main")
    return lambda root: LoggingStore(session.store, log_level="ERROR"), False


@pytest.mark.parametrize("kind", [of_one_dict, of_one_obstore, of_fsspec, of_managed, of_mappers, of_one_session])
def test_stores_of_the_same_objects_share_their_locks(kind, tmp_path):
    make, has_roots = kind(tmp_path)
    zarr_kit.create_array(make(""), name="time=2020 b/a", shape=1000, dtype="i4", chunks=1000)
    barrier = threading.Barrier(10)

    def write(number):
        barrier.wait()
        place = (make("time=2020 b"), "a") if has_roots and number % 2 else (make(""), "time=2020 b/a")
        array = zarr_kit.open(*place)
        for start in range(number * 100, number * 100 + 100, 10):
            array[start : start + 10] = number + 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(10)]
    for each in threads: each.start()
    for each in threads: each.join()
    np.testing.assert_array_equal(zarr_kit.open(make(""), "time=2020 b/a")[...], np.repeat(np.arange(1, 11), 100))


def test_stores_with_other_roots_are_others():
    Managed = getattr(zarr.storage, "ManagedMemoryStore", None)
    if Managed is None:
        pytest.skip("zarr-python is too old")
    whole = Managed()
    first, second = (Managed(whole.name, path=path) for path in ("one", "two"))
    arrays = [zarr_kit.create_array(store, data=np.arange(start, start + 2)) for store, start in ((first, 0), (second, 10))]
    assert arrays[0] != arrays[1] and arrays[0].__dask_tokenize__() != arrays[1].__dask_tokenize__()
    assert zarr_kit.open(Managed(whole.name, path="one")) == arrays[0]
    assert zarr_kit.open(whole, "one")[:].tolist() == [0, 1] and zarr_kit.open(whole, "two")[:].tolist() == [10, 11]


def of_fsspec_files(place):
    return FsspecStore.from_url(f"file://{os.getcwd()}/{place}")


@pytest.mark.parametrize("place", ["d/../s", "linked"])
@pytest.mark.parametrize("kind", [LocalStore, ZipStore, of_fsspec_files])
def test_a_local_place_has_one_identity(kind, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("d")
    os.symlink("s", "linked")
    zarr_kit.create_array("s.zip" if kind is ZipStore else "s", shape=3, dtype="i1")
    if kind is ZipStore:
        os.rename("s.zip", "s")
    first, other = (zarr_kit.open(LoggingStore(kind(at), log_level="ERROR")) for at in ("s", place))
    assert other == first and other.__dask_tokenize__() == first.__dask_tokenize__()


def test_a_forked_process_waits_for_no_thread_of_its_parent():
    held = zarr_kit._adapter._Held
    with held._FINDING:
        child = os.fork()
        if child == 0:
            os._exit(0 if held._FINDING.acquire(timeout=5) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_what_is_no_store_is_told_what_is():
    with pytest.raises(TypeError, match="a store of zarr-python or obstore"):
        zarr_kit.open(object())
    with pytest.raises(TypeError, match="buffers of zarr-python.* not bytes: 'zarr.json'"):
        zarr_kit.open({"zarr.json": b"{}"})


def test_parts_of_chunks_are_refused_where_others_may_write(tmp_path):
    store = LoggingStore(LocalStore(tmp_path / "shared.zarr"), log_level="ERROR")
    array = zarr_kit.create_array(store, shape=8, dtype="i4", chunks=4)
    array[0:4] = 1
    with pytest.raises(OSError, match="sole_writer"):
        array[0:2] = 2
    zarr_kit.open(store, storage_options={"sole_writer": True})[0:2] = 3
    assert theirs(store, "").tolist() == [3, 3, 1, 1, 0, 0, 0, 0]


def test_forked_sessions_of_icechunk_write_whole_chunks_alone(tmp_path):
    package = pytest.importorskip("icechunk")
    repository = package.Repository.create(package.in_memory_storage())
    session = repository.writable_session("main")
    zarr_kit.create_array(session.store, name="a", shape=8, dtype="i4", chunks=4)
    session.commit("empty")
    session = repository.writable_session("main")
    forks = [session.fork(), session.fork()]
    for number, fork in enumerate(forks):
        array = zarr_kit.open(fork.store, "a")
        with pytest.raises(OSError, match="lost"):
            array[number : number + 2] = 1
        array[4 * number : 4 * number + 4] = number + 1
    session.merge(*forks)
    session.commit("both")
    found = zarr_kit.open(repository.readonly_session("main").store, "a")
    assert found[...].tolist() == [1] * 4 + [2] * 4
    with pytest.raises(PermissionError):
        found[...] = 0


def test_versions_of_ragged_arrays_in_icechunk(tmp_path):
    package = pytest.importorskip("icechunk")
    repository = package.Repository.create(package.local_filesystem_storage(str(tmp_path / "repository")))
    session = repository.writable_session("main")
    array = zarr_kit.create_array(session.store, name="r", data=np.arange(59), chunks=[(31, 28)])
    first = session.commit("two months")
    session = repository.writable_session("main")
    array = zarr_kit.open(session.store, "r")
    array.append(np.arange(31), chunks=[31])
    session.commit("three months")
    old = zarr_kit.open(repository.readonly_session(snapshot_id=first).store, "r")
    new = zarr_kit.open(repository.readonly_session("main").store, "r")
    assert (old.chunks, new.chunks) == (((31, 28),), ((31, 28, 31),))
    assert old[-1] == 58 and new[-1] == 30
    assert pickle.loads(pickle.dumps(new))[:3].tolist() == [0, 1, 2]


def test_the_event_loops_own_thread_is_told_to_await():
    from zarr.core.sync import sync

    array = zarr_kit.create_array(MemoryStore(), data=np.arange(6), chunks=2)

    async def blocking():
        return array[...]

    async def awaiting():
        return await array.asynchronous.read(slice(1, 4))

    with pytest.raises(RuntimeError, match="await"):
        sync(blocking())
    assert sync(awaiting()).tolist() == [1, 2, 3]
    # Beside another loop, such as a notebook's, a blocking call works.
    assert asyncio.run(blocking()).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_is_told_to_open_the_store_again(tmp_path):
    array = zarr_kit.create_array(MemoryStore(), data=np.arange(6))
    native = zarr_kit.create_array(LocalStore(tmp_path / "a.zarr"), data=np.arange(6))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            array[...]
            said = "nothing"
        except RuntimeError as error:
            said = str(error)
        os.write(writing, f"{said}; {native[1:3].tolist()}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    said = os.read(reading, 1000).decode()
    assert "forked; open it again" in said and "[1, 2]" in said


def test_errors_of_a_store_are_its_own(tmp_path):
    class Failing(MemoryStore):
        async def get(self, key, prototype, byte_range=None):
            if "c/" in key:
                raise PermissionError("the door is shut")
            return await super().get(key, prototype, byte_range)

    array = zarr_kit.create_array(Failing(), data=np.arange(6))
    with pytest.raises(PermissionError, match="the door is shut"):
        array[...]
    with pytest.raises(TypeError, match="int"):
        zarr_kit.open(3)


def test_ranges_are_joined(tmp_path):
    seen = []

    class Counting(MemoryStore):
        async def get(self, key, prototype, byte_range=None):
            seen.append((key, byte_range))
            return await super().get(key, prototype, byte_range)

    store = Counting()
    array = zarr_kit.create_array(store, data=np.arange(4000).reshape(40, 100), chunks=(1, 100), shards=(40, 100), compressors=None)
    del seen[:]
    np.testing.assert_array_equal(zarr_kit.open(store)[::2], np.arange(4000).reshape(40, 100)[::2])
    # The index, and one range for twenty inner chunks. (To tell a size, this store reads an object.)
    of_parts = [part for key, part in seen if key.startswith("c/") and part is not None]
    assert len(of_parts) == 2, of_parts
    with pytest.raises(ValueError):
        pickle.dumps(zarr_kit.create("memory:", shape=1, dtype="i1"))
    assert array.store is store


PARTS = {
    "in front": lambda n: [None, slice(0, n)],
    "swapped": lambda n: [slice(n // 2, n), slice(0, n // 2)],
    "around": lambda n: [None, slice(n // 2, n), None, slice(0, n // 2)],
    "cut": lambda n: [slice(n // 4, n // 2), slice(n * 3 // 4, n)],
    "between, and cut": lambda n: [slice(n // 4, n // 2), None, slice(0, n // 4)],
    "shuffled": lambda n: [slice(start, start + n // 4) for start in range(n - n // 4, -1, -n // 4)],
}


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("shards", [None, (6, 4)], ids=["chunks", "shards"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("parts", PARTS)
def test_icechunk_renumbers_chunks(parts, axis, shards, committed, tmp_path, monkeypatch):
    package = pytest.importorskip("icechunk")
    repository = package.Repository.create(package.local_filesystem_storage(str(tmp_path / "r")))
    session = repository.writable_session("main")
    shape = (48, 4) if axis == 0 else (4, 48)
    layout = {"chunks": (3, 2) if axis == 0 else (2, 3), "shards": shards and (shards if axis == 0 else shards[::-1])}
    values = np.arange(1, 193).reshape(shape)
    array = zarr_kit.create_array(session.store, name="g/a", data=values, attributes={"units": "mm"}, **layout)
    inner = (slice(24, 30), slice(None))[:: 1 if axis == 0 else -1]
    array[inner] = values[inner] = 0
    fresh = -values[:12] if axis == 0 else -values[:, :12]
    other = zarr_kit.create_array(None, data=fresh, attributes={"units": "mm"}, **layout)
    first = None
    if committed:
        first = session.commit("before")
        session = repository.writable_session("main")
        array = zarr_kit.open_array(session.store, "g/a")
    written = []
    whole = zarr_kit._adapter.Adapter.set
    monkeypatch.setattr(zarr_kit._adapter.Adapter, "set", lambda self, key, value: (written.append(key), whole(self, key, value))[1])
    array.rearrange([other if part is None else part for part in PARTS[parts](48)], axis=axis)
    expected = np.concatenate(
        [np.asarray(other) if part is None else values[part if axis == 0 else (slice(None), part)] for part in PARTS[parts](48)], axis
    )
    # Only inserted chunks are written, and the document.
    inserted = sum(part is None for part in PARTS[parts](48))
    assert len([key for key in written if "zarr.json" not in key]) == inserted * (8 if shards is None else 2), written
    np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(theirs(session.store, "g/a"), expected)
    assert array.attrs["units"] == "mm" and zarr_kit.open_group(session.store).check().is_clean
    array.resize([n + 24 for n in array.shape])
    assert not array[expected.shape[0] :].any() and not array[:, expected.shape[1] :].any()
    array.resize(expected.shape)
    session.commit("after")
    np.testing.assert_array_equal(theirs(repository.readonly_session("main").store, "g/a"), expected)
    if first is not None:
        np.testing.assert_array_equal(theirs(repository.readonly_session(snapshot_id=first).store, "g/a"), values)


def test_a_renumbering_that_fails_leaves_the_array(monkeypatch):
    package = pytest.importorskip("icechunk")
    session = package.Repository.create(package.in_memory_storage()).writable_session("main")
    array = zarr_kit.create_array(session.store, name="a", data=np.arange(12), chunks=3)
    other = zarr_kit.create_array(None, data=np.arange(100, 106), chunks=3)

    def failing(self, path, axis, ranges):
        raise PermissionError("not now")

    monkeypatch.setattr(zarr_kit._adapter.Adapter, "renumber", failing)
    with pytest.raises(PermissionError, match="not now"):
        array.rearrange([other, slice(0, 12)])
    monkeypatch.undo()
    assert theirs(session.store, "a").tolist() == list(range(12))
    assert zarr_kit.open_group(session.store).check().is_clean
    array.resize(24)
    assert array[12:].tolist() == [0] * 12
    array.resize(12)
    array.rearrange([other, slice(0, 12)])
    assert theirs(session.store, "a").tolist() == [*range(100, 106), *range(12)]


@pytest.mark.parametrize("is_cut", [False, True])
def test_ctrl_c_in_a_renumbering_leaves_the_array(is_cut, monkeypatch):
    package = pytest.importorskip("icechunk")
    session = package.Repository.create(package.in_memory_storage()).writable_session("main")
    array = zarr_kit.create_array(session.store, name="a", data=np.arange(12), chunks=3)
    other = zarr_kit.create_array(MemoryStore(), data=np.arange(100, 112), chunks=3)
    read, armed = zarr_kit._adapter.Adapter.get, [True]

    def get(self, key, *spans):
        if armed and self.store is other.store and key.startswith("c/"):
            # The main thread has nothing left to do but to look for signals.
            if threading.current_thread() is threading.main_thread():
                time.sleep(0.05)
            else:
                armed.clear()
                time.sleep(0.3)
                signal.raise_signal(signal.SIGINT)
                time.sleep(0.3)
        return read(self, key, *spans)

    monkeypatch.setattr(zarr_kit._adapter.Adapter, "get", get)
    with pytest.raises(KeyboardInterrupt):
        array.rearrange([other, slice(3 if is_cut else 0, 12)])
    assert theirs(session.store, "a").tolist() == list(range(12))
    array = zarr_kit.open(session.store, "a")
    array.resize(30)
    assert array[...].tolist() == [*range(12), *[0] * 18]
    array.resize(12)
    array.rearrange([other, slice(0, 12)])
    assert theirs(session.store, "a").tolist() == [*range(100, 112), *range(12)]


def test_ctrl_c_while_chunks_get_numbers_comes_after_them(monkeypatch):
    package = pytest.importorskip("icechunk")
    session = package.Repository.create(package.in_memory_storage()).writable_session("main")
    array = zarr_kit.create_array(session.store, name="a", data=np.arange(12), chunks=3)
    whole = zarr_kit._adapter.Adapter.renumber

    def interrupted(self, path, axis, ranges):
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.1)
        whole(self, path, axis, ranges)

    monkeypatch.setattr(zarr_kit._adapter.Adapter, "renumber", interrupted)
    with pytest.raises(KeyboardInterrupt):
        array.rearrange([slice(6, 12), slice(0, 6)])
    assert theirs(session.store, "a").tolist() == [*range(6, 12), *range(6)]


def test_a_document_that_is_refused_after_the_renumbering_leaves_the_array(monkeypatch):
    package = pytest.importorskip("icechunk")
    session = package.Repository.create(package.in_memory_storage()).writable_session("main")
    array = zarr_kit.create_array(session.store, name="a", data=np.arange(12), chunks=3)
    other = zarr_kit.create_array(None, data=np.arange(100, 106), chunks=3)
    renumber, put, refused = zarr_kit._adapter.Adapter.renumber, zarr_kit._adapter.Adapter.set, []

    def renumbering(self, path, axis, ranges):
        renumber(self, path, axis, ranges)
        refused.append(not refused)

    def putting(self, key, value):
        if refused == [True]:
            refused.append(False)
            raise PermissionError("not now")
        put(self, key, value)

    monkeypatch.setattr(zarr_kit._adapter.Adapter, "renumber", renumbering)
    monkeypatch.setattr(zarr_kit._adapter.Adapter, "set", putting)
    with pytest.raises(PermissionError, match="not now"):
        array.rearrange([slice(6, 12), other, slice(0, 6)])
    monkeypatch.undo()
    array = zarr_kit.open(session.store, "a")
    array.resize(24)
    assert array[...].tolist() == [*range(12), *[0] * 12]


def test_a_session_without_backward_renumbers_by_copies():
    class Old:
        def reindex_array(self, path, shift):
            raise NotImplementedError

    assert not zarr_kit._adapter._renumbers(Old()) and not zarr_kit._adapter._renumbers(object())


def test_ragged_arrays_in_icechunk_move_by_copies():
    package = pytest.importorskip("icechunk")
    repository = package.Repository.create(package.in_memory_storage())
    session = repository.writable_session("main")
    ragged = zarr_kit.create_array(session.store, name="r", data=np.arange(59), chunks=[(31, 28)])
    ragged.rearrange([slice(31, 59), slice(0, 31)])
    session.commit("moved")
    assert theirs(repository.readonly_session("main").store, "r").tolist() == [*range(31, 59), *range(31)]
