"""Single elements (`vindex`, masks, Xarray's vectorized indexing) against numpy's fancy indexing."""

import subprocess
import sys

import numpy as np
import pytest
import zarr_kit

RAW = {"name": "bytes", "configuration": {"endian": "little"}}
PACKED = {"name": "packbits", "configuration": {"last_bit": 11}}


def turned(rank):
    return {"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}}


def sharded(inner, *codecs):
    index = [RAW, {"name": "crc32c"}]
    return {
        "name": "sharding_indexed",
        "configuration": {"chunk_shape": inner, "codecs": list(codecs), "index_codecs": index},
    }


def layouts(rng, shape):
    """Arrays of one shape: regular, ragged, sharded, transposed and packed."""
    regular = [int(rng.integers(1, length + 2)) for length in shape]
    ragged = []
    for length in shape:
        edges = []
        while sum(edges) < length:
            edges.append(int(rng.integers(1, length - sum(edges) + 1)))
        ragged.append(edges)
    inner = [int(rng.integers(1, 5)) for _ in shape]
    shards = [4 * edge for edge in inner]
    rank = len(shape)
    for chunks, codecs in [
        (regular, [RAW]),
        (regular, [turned(rank), RAW, {"name": "zstd", "configuration": {"level": 1, "checksum": False}}]),
        (ragged, [RAW, {"name": "crc32c"}]),
        (ragged, [PACKED]),
        (ragged, [turned(rank), PACKED]),
        (shards, [sharded(inner, RAW, {"name": "crc32c"})]),
        (shards, [turned(rank), sharded(inner[::-1], PACKED)]),
    ]:
        yield zarr_kit.create("memory:", shape=shape, dtype="u2", chunks=chunks, codecs=codecs, fill_value=7)


def test_points_are_those_of_numpy():
    rng = np.random.default_rng(1)
    for shape in [(40,), (17, 23), (1, 60), (5, 9, 11), (3, 2, 4, 5)]:
        for array in layouts(rng, shape):
            values = np.full(shape, 7, "u2")
            for count in (0, 1, 2, 30, 400):
                key = tuple(rng.integers(-length, length, count) for length in shape)
                new = rng.integers(0, 4096, count, "u2")
                array.vindex[key] = new
                values[key] = new  # The last of several values of one element stays.
                np.testing.assert_array_equal(array[...], values)
                key = tuple(rng.integers(-length, length, (2, count)) for length in shape)
                found = array.vindex[key]
                assert found.dtype == values.dtype and found.shape == (2, count)
                np.testing.assert_array_equal(found, values[key])
            for share in (0, 0.01, 0.3, 1):
                mask = rng.random(shape) < share
                np.testing.assert_array_equal(array.vindex[mask], values[mask])
                new = rng.integers(0, 4096, int(mask.sum()), "u2")
                array.vindex[mask] = new
                values[mask] = new
                np.testing.assert_array_equal(array[...], values)
            array[mask] = 9  # A single value for all.
            np.testing.assert_array_equal(array[...], 9)


def test_indices_are_broadcast_as_numpy_does():
    values = np.arange(42.0).reshape(6, 7)
    array = zarr_kit.create("memory:", shape=(6, 7), dtype="f8", chunks=[(1, 5), 3])
    array[...] = values
    key = np.array([[5], [-6]]), np.array([0, -1, 3])
    np.testing.assert_array_equal(array.vindex[key], values[key])
    array.vindex[key] = [[1], [2]]
    values[key] = [[1], [2]]
    array.vindex[3, np.arange(7)] = np.arange(14)[::2]  # Not contiguous in memory.
    values[3] = np.arange(14)[::2]
    np.testing.assert_array_equal(array[...], values)
    assert array.vindex[2, 3] == values[2, 3] and array.vindex[2, 3].shape == ()
    for new in ([1, 2], np.ones((2, 3, 2))):
        with pytest.raises(ValueError, match="broadcast|more dimensions"):
            array.vindex[key] = new
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize("dtype", ["bool", "i1", "f4", "c16", "M8[s]", "S3", "U5"])
@pytest.mark.filterwarnings("ignore:The data type:Warning")
def test_points_of_every_kind_of_element(dtype):
    rng = np.random.default_rng(2)
    numbers = rng.integers(0, 2 if dtype == "bool" else 100, (8, 9))
    values = numbers.astype("M8[s]" if dtype == "M8[s]" else dtype)
    array = zarr_kit.create("memory:", shape=values.shape, dtype=dtype, chunks=(3, 4))
    array[...] = values
    key = rng.integers(0, 8, 20), rng.integers(0, 9, 20)
    np.testing.assert_array_equal(array.vindex[key], values[key])
    array.vindex[key] = values[0, 0]
    values[key] = values[0, 0]
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize("dtype", ["string", "bytes"])
@pytest.mark.filterwarnings("ignore:The data type:Warning")
def test_points_of_strings(dtype):
    rng = np.random.default_rng(3)
    kind = np.dtypes.StringDType() if dtype == "string" else object
    of = (lambda n: "é" * n) if dtype == "string" else (lambda n: b"\0" * n)
    values = np.full((11, 13), of(0), kind)
    array = zarr_kit.create("memory:", shape=values.shape, dtype=dtype, chunks=[(4, 7), 5])
    for count in (0, 1, 50, 300):
        key = rng.integers(0, 11, count), rng.integers(0, 13, count)
        new = np.array([of(int(n)) for n in rng.integers(0, 9, count)], kind)
        array.vindex[key] = new
        values[key] = new
        assert array[...].tolist() == values.tolist()
        assert array.vindex[key].tolist() == values[key].tolist()


def test_mistakes_change_nothing():
    array = zarr_kit.create("memory:", shape=(4, 4), dtype="u2", chunks=2, codecs=[PACKED])
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
        array.vindex[[0, 1], [0, 4]] = 1
    with pytest.raises(zarr_kit.LossError, match=r"element \[3, 2\] is 4096"):
        array.vindex[[3], [2]] = 4096
    with pytest.raises(OverflowError):
        array.vindex[[3], [2]] = -1
    assert array.info.chunks_stored == 0


WRITER = """
import sys, numpy, zarr_kit
array, number = zarr_kit.open(sys.argv[1]), int(sys.argv[2])
places = numpy.arange(3600).reshape(60, 60)
for part in range(6):
    mask = (places % 4 == number) & (places // 4 % 6 == part)
    array.vindex[mask] = places[mask] + 1
"""


def test_processes_with_points_in_the_same_chunks_lose_nothing(tmp_path):
    folder = str(tmp_path / "a.zarr")
    array = zarr_kit.create(folder, shape=(60, 60), dtype="i4", chunks=[(7, 20, 33), 25])
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, folder, str(number)]) for number in range(4)]
    assert [writer.wait(timeout=100) for writer in writers] == [0] * 4
    np.testing.assert_array_equal(array[...], np.arange(1, 3601).reshape(60, 60))
