"""Arrays with a cache of decoded chunks."""

import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import zarr
from zarr.storage import MemoryStore

import zarr_kit

VALUES = np.arange(32 * 32, dtype="i4").reshape(32, 32)


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "a.zarr"
    array = zarr_kit.create(place, shape=VALUES.shape, dtype="i4", chunks=(4, 4), shards=(16, 16), codecs=["bytes", "zstd"])
    array[:] = VALUES
    # What was written a moment ago is not kept.
    time.sleep(0.06)
    return place


def test_windows_are_read_as_without_the_cache(place):
    array = zarr_kit.open(place, cache=2**20)
    keys = [np.s_[3:9, 10:22], np.s_[::-3, [5, 1, 30]], np.s_[[7, 2, 7], [1, 2, 3]], np.s_[5], np.s_[VALUES % 97 == 0], np.s_[...]]
    for _ in range(2):
        for key in keys:
            np.testing.assert_array_equal(array[key], VALUES[key])
            np.testing.assert_array_equal(array.with_threads(1)[key], VALUES[key])
    out = np.zeros((32, 40), "i4", order="F")
    array.read(np.s_[:, 4:9], out=out[:, 2:7])
    np.testing.assert_array_equal(out[:, 2:7], VALUES[:, 4:9])
    np.testing.assert_array_equal(array.to_dask().compute(), VALUES)


def test_each_way_to_an_array_takes_a_cache(place):
    group = zarr_kit.create_group(place.parent / "g.zarr")
    group.create_array("x", shape=4, dtype="i1")
    handles = [
        zarr_kit.open(place, cache=5000),
        zarr_kit.open_array(place, cache=5000),
        zarr_kit.open_group(group.url, cache=5000)["x"],
        zarr_kit.open_group(group.url, cache=5000).arrays,
        zarr_kit.open(place).with_cache(5000).with_threads(2),
    ]
    for array in handles:
        array = dict(array())["x"] if callable(array) else array
        for again in (array, pickle.loads(pickle.dumps(array)), array.refresh()):
            assert again._native.state()[5] == 5000
            assert again.with_cache(0)._native.state()[5] == 0
            again[:2]
    with pytest.raises(TypeError, match="cache: a number of bytes, or 0 for none, not str"):
        zarr_kit.open(place, cache="64 MiB")
    for with_cache in (lambda cache: zarr_kit.open(place, cache=cache), zarr_kit.open(place).with_cache):
        for cache, allowed in ((-1, "a number of bytes, or 0 for none"), (2**64, "at most [0-9]+")):
            with pytest.raises(ValueError, match=f"cache: {allowed}, not {cache}"):
                with_cache(cache)
        with pytest.raises(TypeError, match="cache: a number of bytes, or 0 for none, not bool"):
            with_cache(True)
        with_cache(np.int64(5000))[:2], with_cache(sys.maxsize)[:2]
    for threads, error in ((True, TypeError), (2**64, ValueError)):
        with pytest.raises(error, match="threads: "):
            zarr_kit.open(place).with_threads(threads)


def test_writes_of_others_are_seen(place):
    array = zarr_kit.open(place, cache=2**20)
    window = np.s_[2:6, 2:6]
    zarr_array = zarr.open_array(place)
    code = "import sys, zarr_kit; zarr_kit.open(sys.argv[1])[2:6, 2:6] = int(sys.argv[2])"
    for round in range(4):
        array[window], array[window]
        match round:
            case 0:
                zarr_array[window] = round
            case 1:
                array[window] = round
            case 2:
                subprocess.run([sys.executable, "-c", code, str(place), str(round)], check=True)
            case 3:
                zarr_kit.open(place)[window] = round
        assert (array[window] == round).all()
        time.sleep(0.06)
        assert (array[window] == round).all()
    array.resize((40, 32))
    array[36:] = 7
    assert (array[35:38, 3] == [0, 7, 7]).all() and (array[window] == 3).all()
    with array:
        array[window] = 9
        assert (array[window] == 9).all()
    assert (array[window] == 9).all()


def test_threads_share_the_cache(place):
    array, failed = zarr_kit.open(place, cache=20_000), []

    def read(seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            i, j = random.integers(0, 27, 2)
            if not (array[i : i + 5, j : j + 5] == VALUES[i : i + 5, j : j + 5]).all():
                failed.append((i, j))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed


def test_stores_of_python_are_read_rightly():
    store = MemoryStore()
    array = zarr_kit.create(store, shape=8, dtype="i4", chunks=4).with_cache(2**20)
    for round in range(3):
        array[:] = round
        assert array[2:6].tolist() == [round] * 4
