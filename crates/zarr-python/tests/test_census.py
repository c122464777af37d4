"""Which chunks are stored, by each face: the mask, `info`, `check`, `locate`, pictures and zarr-python."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import zarr_kit

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
INDEX = [BYTES, {"name": "crc32c"}]


def shard(shape, *inner):
    return {"name": "sharding_indexed", "configuration": {"chunk_shape": list(shape), "codecs": list(inner), "index_codecs": INDEX}}


ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
LAYOUTS = {
    "chunks": {"chunks": (3, 2), "codecs": [BYTES]},
    "shards": {"chunks": (6, 8), "codecs": [shard((3, 2), BYTES, ZSTD)]},
    "transposed": {"chunks": (6, 8), "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, shard((2, 3), BYTES)]},
    "nested": {"chunks": (6, 8), "codecs": [shard((3, 4), shard((1, 2), BYTES))]},
    "rectilinear": {"chunks": [[6, 3, 6, 3], [8, 4]], "codecs": [shard((3, 2), BYTES)]},
}


def command(*arguments):
    done = subprocess.run([sys.executable, "-m", "zarr_kit", *arguments], capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", LAYOUTS)
def test_all_faces_agree_on_what_is_stored(name, tmp_path):
    # Lengths of a rectilinear grid add up to the axis; others reach past it.
    place, shape = str(tmp_path / "a.zarr"), (18, 12) if name == "rectilinear" else (17, 11)
    array = zarr_kit.create(place, shape=shape, dtype="i4", **LAYOUTS[name])
    inner = (3, 4) if name == "nested" else (3, 2)
    assert not array.stored.any() and array.stored.shape == array.cdata_shape
    values = np.zeros(shape, "i4")
    for at in [(0, 0), (4, 5), (5, 10), (16, 10), (9, 3)]:
        array[at] = values[at] = 7
    grid = tuple(-(-length // edge) for length, edge in zip(shape, inner, strict=True))
    boxes = {at: tuple(slice(i * e, min((i + 1) * e, n)) for i, e, n in zip(at, inner, shape, strict=True)) for at in np.ndindex(grid)}
    expected = np.array([values[box].any() for box in boxes.values()]).reshape(grid)
    found = array.stored
    assert (found.dtype, found.shape) == (np.bool_, array.cdata_shape)
    np.testing.assert_array_equal(found, expected)
    info = array.info
    assert expected.sum() == (info.chunks_stored if name == "chunks" else info.inner_chunks_stored)
    assert array.nchunks == expected.size and array.nchunks_initialized >= expected.sum()
    # The elements of chunks that are not stored are the fill value, and the counts of values agree.
    assert array.stats()["fill"] == (values == 0).sum() and not any(values[box].any() for at, box in boxes.items() if not found[at])
    # Each missing inner chunk of a stored shard is named, with its region.
    report = command("check", place, "--complete", "--json")
    named = set()
    for finding in report["findings"]:
        if finding["message"].startswith("inner chunk"):
            named.add(tuple(int(start) for start in re.findall(r"(\d+):\d+", finding["region"])))
    stored_shards = {tuple(chunk) for chunk in np.argwhere(np.ones(info.chunks, bool)) if (tmp_path / "a.zarr" / "c" / "/".join(map(str, chunk))).exists()}
    for at, box in list(boxes.items())[::7]:  # each is a process
        start = tuple(side.start for side in box)
        where = command("locate", place, ",".join(map(str, start)), "--json")
        is_stored = where["stored_bytes"] is not None
        if name != "chunks":
            is_stored = is_stored and not where["inner_chunks"][0]["left_out"]
            is_missing = tuple(where["chunk"]) in stored_shards and not found[at]
            assert (start in named) == is_missing or len(named) >= 20, start
        assert is_stored == found[at], start
        reads = [part for chunk in array.plan(box) for part in chunk.reads]
        assert found[at] or name != "chunks" or not reads
    # A picture marks stored objects, and so does the notebook's.
    assert array.draw().count("not stored") == array._repr_html_().count("not stored")


def test_zarr_python_counts_the_same_chunks(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr_kit.create(tmp_path / "a.zarr", shape=20, dtype="i2", chunks=2)
    array[3:9] = 1
    theirs = zarr.open_array(tmp_path / "a.zarr")
    assert array.stored.sum() == theirs.nchunks_initialized == array.nchunks_initialized == 4


def test_hidden_indices_are_told(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=8, dtype="i4", chunks=4, codecs=[shard((2,), BYTES), {"name": "crc32c"}])
    array[:] = 1
    with pytest.raises(ValueError, match="indices that cannot be read"):
        array.stored
    reshape = {"name": "reshape", "configuration": {"shape": [2, 2]}}
    array = zarr_kit.create(tmp_path / "b.zarr", shape=8, dtype="i4", chunks=4, codecs=[reshape, shard((1, 2), BYTES)])
    array[5] = 1
    assert array.stored.tolist() == [False, True] and array.stored.shape == array.cdata_shape
