"""Dask: on threads, and on a cluster of processes."""

import os
import signal
import threading

import dask
import numpy as np
import pytest
import zarr_kit
import zarr_kit.dask

da = pytest.importorskip("dask.array")

MONTHS = (31, 28, 31, 30)


def test_the_stored_chunks_are_dasks(tmp_path):
    values = np.arange(120 * 7, dtype="i4").reshape(120, 7)
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(120, 7), dtype="i4", chunks=[MONTHS, 3])
    array[...] = values
    found = zarr_kit.dask.from_zarr(tmp_path / "a.zarr")
    assert found.chunks == (MONTHS, (3, 3, 1))
    np.testing.assert_array_equal(found.compute(), values)
    np.testing.assert_array_equal(found[30:33, ::-2].compute(), values[30:33, ::-2])
    np.testing.assert_array_equal(da.from_array(array.with_threads(1)).compute(), values)


def test_a_task_uses_one_thread(tmp_path, monkeypatch):
    used = []

    def noted(method):
        inner = getattr(zarr_kit.Array, method)

        def outer(array, *arguments):
            used.append((method, array._native.threads))
            return inner(array, *arguments)

        monkeypatch.setattr(zarr_kit.Array, method, outer)

    noted("__getitem__")
    noted("__setitem__")
    array = zarr_kit.create(tmp_path / "a.zarr", shape=120, dtype="i4", chunks=[MONTHS])
    assert array._native.threads is None
    zarr_kit.dask.to_zarr(da.ones(120, chunks=50, dtype="i4"), array)
    assert array.to_dask().sum().compute() == zarr_kit.dask.from_zarr(tmp_path / "a.zarr").sum().compute() == 120
    assert set(used) == {("__getitem__", 1), ("__setitem__", 1)}
    assert used.count(("__setitem__", 1)) == 3


def test_a_dask_array_is_stored_with_its_chunks(tmp_path):
    values = np.arange(120 * 7, dtype="f4").reshape(120, 7)
    darray = da.from_array(values, chunks=(MONTHS, (4, 3)))
    assert zarr_kit.dask.to_zarr(darray, tmp_path / "a.zarr", dimension_names=["day", "x"]) is None
    found = zarr_kit.open(tmp_path / "a.zarr")
    assert found.chunks == darray.chunks and found.dims == ("day", "x")
    assert found.metadata["chunk_grid"]["name"] == "rectilinear"
    np.testing.assert_array_equal(found[...], values)
    zarr_kit.dask.to_zarr(da.from_array(values, chunks=(50, 7)), tmp_path / "b.zarr")
    assert zarr_kit.open(tmp_path / "b.zarr").metadata["chunk_grid"]["name"] == "regular"


def test_sizes_fall_on_stored_edges(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(120, 70), dtype="i4", chunks=[MONTHS, 10])
    for size in ("1kiB", "5kiB", "12kiB", "1MiB"):
        found = zarr_kit.dask.from_zarr(tmp_path / "a.zarr", chunks=size)
        for edges, stored in zip(found.chunks, array.chunks, strict=True):
            assert set(np.cumsum(edges)) <= set(np.cumsum(stored))
        assert found.shape == array.shape
    assert zarr_kit.dask.aligned_chunks(array, "1MiB") == ((120,), (70,))
    assert zarr_kit.dask.aligned_chunks(array, "1") == array.chunks


def test_an_axis_may_have_the_chunks_that_are_stored(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(10, 4), dtype="i4", chunks=(3, 4), fill_value=1)
    for chunks in ((None, 2), [None, 2], (-1, 2), {0: None, 1: 2}):
        found = zarr_kit.dask.from_array(array, chunks=chunks)
        assert (sum(found.chunks[0]), found.chunks[1]) == (10, (2, 2)) and int(found.sum().compute()) == 40


def test_regions_of_an_existing_array(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(120, 7), dtype="i4", chunks=[MONTHS, 3])
    part = da.ones((50, 7), chunks=(7, 2), dtype="i4")
    stored = zarr_kit.dask.to_zarr(part, array, region=np.s_[20:70, :], compute=False)
    assert not array[...].any()
    stored.compute()
    assert array[...].sum() == 350 and array[20:70].all()
    with pytest.raises(ValueError, match=r"the region \(51, 7\)"):
        zarr_kit.dask.to_zarr(part, array, region=np.s_[20:71, :])
    for region in (np.s_[5:115, -4:], np.s_[-60:, :-1], np.s_[3:200:7, ::2], np.s_[-1:, 9:], np.s_[9:3, :]):
        array[...], expected = 0, np.zeros((120, 7), "i4")
        expected[region] = np.arange(expected[region].size).reshape(expected[region].shape)
        zarr_kit.dask.to_zarr(da.from_array(expected[region], chunks=(4, 2)), array, region=region)
        np.testing.assert_array_equal(array[...], expected)
    for region in (np.s_[:50], np.s_[:50, :, :]):
        with pytest.raises(ValueError, match="region: . slices for an array of 2 axes"):
            zarr_kit.dask.to_zarr(part, array, region=region if isinstance(region, tuple) else (region,))
    with pytest.raises(ValueError, match="region, axis 0: the step of a slice is at least 1, not -1"):
        zarr_kit.dask.to_zarr(part, array, region=np.s_[49::-1, :])
    for region in (slice(50), (slice(50), 3), 3):
        with pytest.raises(TypeError, match="region: a sequence with one slice per axis, not"):
            zarr_kit.dask.to_zarr(part, array, region=region)


def test_empty_and_scalar_arrays(tmp_path):
    for n, darray in enumerate([da.zeros((0, 3), chunks=(0, 2)), da.ones((), chunks=())]):
        zarr_kit.dask.to_zarr(darray, tmp_path / f"{n}.zarr")
        np.testing.assert_array_equal(zarr_kit.dask.from_zarr(tmp_path / f"{n}.zarr").compute(), darray.compute())
    empty = zarr_kit.create(tmp_path / "e.zarr", shape=(0, 4), dtype="i4", chunks=2)
    assert empty.write_chunk_sizes == ((0,), (2, 2))
    for chunks in (empty.write_chunk_sizes, "auto", "1MiB", None, (None, 2), 3):
        for found in (zarr_kit.dask.from_array(empty, chunks=chunks), da.from_array(empty, chunks="auto" if chunks is None else chunks)):
            assert found.chunks[0] == (0,) and found.compute().shape == (0, 4)
    for edges in (empty.write_chunk_sizes, ((), (2, 2)), [(0, 0), 2]):
        again = zarr_kit.create("memory:", shape=(0, 4), dtype="i4", chunks=edges)
        assert again.write_chunk_sizes == empty.write_chunk_sizes
        again.append(np.ones((3, 4), "i4"))
        assert again[...].sum() == 12


def test_an_archive_is_stored(tmp_path, monkeypatch):
    values = np.arange(1, 201, dtype="i4")
    exits = []
    exit_ = zarr_kit.Array.__exit__
    monkeypatch.setattr(zarr_kit.Array, "__exit__", lambda *of: (exits.append(1), exit_(*of)))
    # Threads share a block, in which tasks may also share a chunk; processes take turns.
    for number, (scheduler, chunks, blocks) in enumerate([("threads", 30, 1), ("synchronous", 10, 1), ("processes", 10, 0)]):
        exits.clear()
        path = tmp_path / f"{number}.zip"
        with dask.config.set(scheduler=scheduler, num_workers=4):
            stored = da.from_array(values, chunks=chunks)
            array = zarr_kit.create(path, shape=200, chunks=10, dtype="i4")
            zarr_kit.dask.to_zarr(stored, array)
        assert len(exits) == blocks
        np.testing.assert_array_equal(zarr_kit.open(path)[:], values)
    later = zarr_kit.dask.to_zarr(da.from_array(values, chunks=20), tmp_path / "later.zip", compute=False)
    later.compute()
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "later.zip")[:], values)
    assert sorted(os.listdir(tmp_path)) == ["0.zip", "1.zip", "2.zip", "later.zip"]


def test_unaligned_writes_of_many_processes_lose_nothing(tmp_path, cluster):
    values = np.arange(1, 4001, dtype="i4")
    for run in range(3):
        array = zarr_kit.create(tmp_path / f"{run}.zarr", shape=4000, dtype="i4", chunks=[(997, 1003, 2000)])
        zarr_kit.dask.to_zarr(da.from_array(values, chunks=10), array)
        np.testing.assert_array_equal(array[:], values)


def test_a_cluster_rechunks(tmp_path, cluster):
    values = np.random.default_rng(1).integers(0, 1000, (120, 40), "u2")
    codecs = [{"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 9}}, "zstd"]
    codecs[1] = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
    zarr_kit.dask.to_zarr(da.from_array(values, chunks=(MONTHS, 7)), tmp_path / "a.zarr", codecs=codecs)
    moved = zarr_kit.dask.from_zarr(tmp_path / "a.zarr").rechunk((50, 40))
    zarr_kit.dask.to_zarr(moved, tmp_path / "b.zarr")
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "b.zarr")[...], values)


def test_a_worker_that_is_killed_while_storing_loses_nothing(tmp_path, cluster):
    marker = tmp_path / "killed"

    def dies_once(block, block_info):
        if block_info[None]["chunk-location"] == (2, 1):
            try:
                marker.touch(exist_ok=False)
            except FileExistsError:
                return block
            # In the middle of a write, or right before or after one: it is another thread's.
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGKILL)).start()
            while True:
                array[1:119, 1:6] = values[1:119, 1:6]
        return block

    values = np.random.default_rng(2).integers(0, 1000, (120, 7), "i4")
    array = zarr_kit.create(tmp_path / "a.zarr", shape=values.shape, dtype="i4", chunks=[MONTHS, 3])
    blocks = da.from_array(values, chunks=(25, 4)).map_blocks(dies_once, dtype="i4")
    zarr_kit.dask.to_zarr(blocks, array)
    assert marker.exists()
    np.testing.assert_array_equal(array[...], values)
    assert array.check().errors == []


@pytest.mark.parametrize("length", [0, 1, 2])
def test_blocks_that_are_shorter_than_dask_declares(length):
    """numpy would repeat one element, and Dask leaves out empty blocks."""
    xr, to_zarr = pytest.importorskip("xarray"), pytest.importorskip("zarr_kit.xarray").to_zarr
    short = da.arange(1, 11, chunks=5).map_blocks(lambda block: block[:length], dtype="i8", meta=np.zeros(0, "i8"))
    group, ds = zarr_kit.create_group("memory:"), xr.Dataset({"v": ("x", short)})
    for store in (
        lambda: zarr_kit.dask.to_zarr(short, group.create_array("v", shape=10, dtype="i8")),
        lambda: to_zarr(ds, group, mode="w"),
        lambda: to_zarr(ds, group, mode="a", align_chunks=True),
    ):
        message = rf"written to memory:.*/v has the shape \({length},\), and its Dask array declares \(5,\)"
        with pytest.raises(ValueError, match=message):
            store()
        assert not group["v"][:].any()


def test_chunks_of_unknown_length():
    values = da.arange(10, chunks=5)
    with pytest.raises(ValueError, match="the Dask array has chunks of unknown length: call compute_chunk_sizes first"):
        zarr_kit.dask.to_zarr(values[values > 1], "memory:")


def test_a_group_is_no_dask_array(tmp_path):
    zarr_kit.create_group(tmp_path / "g.zarr")
    with pytest.raises(ValueError, match="group, not an array"):
        zarr_kit.dask.from_zarr(tmp_path / "g.zarr")


def test_chunks_and_shards_of_a_new_array(tmp_path):
    values = np.arange(48).reshape(8, 6)
    blocks = da.from_array(values, chunks=(2, 3))
    for name, given, expected in [
        ("a", {"chunks": (4, 6)}, ((4, 4), (6,))),
        ("b", {"shards": (4, 6)}, ((4, 4), (6,))),
        ("c", {"chunks": (1, 2), "shards": (8, 6)}, ((8,), (6,))),
    ]:
        zarr_kit.dask.to_zarr(blocks, tmp_path / name, **given)
        found = zarr_kit.open(tmp_path / name)
        assert found.write_chunk_sizes == expected
        np.testing.assert_array_equal(found[...], values)
    with pytest.raises(ValueError, match="of a new array"):
        zarr_kit.dask.to_zarr(blocks, found, chunks=2)
