"""The codec pipeline with values in any memory: another byte order, and strides within elements."""

from __future__ import annotations

import numpy as np
import pytest
import zarr
from zarr.core.buffer.cpu import NDBuffer

from zarr_kit.codecs import PackBits

RECORDS = np.array([(0, number) for number in range(9)], [("a", "i1"), ("b", "i4")])

VALUES = {
    "big-endian": np.arange(9, dtype=">i4"),
    "fields": RECORDS["b"],
    "reversed fields": RECORDS["b"][::-1],
    "scalar": np.array(7, ">i4"),
}

LAYOUTS = {
    "plain": {},
    "packed": {"serializer": PackBits(last_bit=11), "compressors": None},
    "sharded": {"shards": (8,)},
}


@pytest.fixture(autouse=True)
def _pipeline():
    with zarr.config.set({"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}):
        yield


@pytest.mark.parametrize("dtype", ["<i4", ">i4"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", VALUES)
def test_values_are_written_with_locks(tmp_path, monkeypatch, dtype, layout, kind):
    """zarr-python reads, changes and stores a chunk without locks: others' elements are lost."""
    values = np.broadcast_to(VALUES[kind], 9)
    array = zarr.create_array(tmp_path, shape=9, chunks=4, dtype=dtype, **LAYOUTS[layout])
    for name in ("set", "set_sync"):
        monkeypatch.setattr(zarr.storage.LocalStore, name, None)
    for key in (slice(7), slice(3, 9)):
        array[key] = values[key] if VALUES[kind].ndim else VALUES[kind]
    assert array[...].tolist() == values.tolist()
    assert array[...].dtype == array.dtype


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["big-endian", "fields", "reversed fields"])
def test_values_for_other_stores_are_encoded(layout, kind):
    array = zarr.create_array({}, shape=9, chunks=4, dtype="i4", **LAYOUTS[layout])
    array[...] = VALUES[kind]
    array.oindex[[0, 2]] = VALUES[kind][[0, 2]]
    assert array[...].tolist() == VALUES[kind].tolist()


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_records_with_other_names_are_written_with_locks(tmp_path, monkeypatch):
    array = zarr.create_array(tmp_path, shape=3, chunks=2, dtype=[("x", "f4"), ("y", "i2")])
    for name in ("set", "set_sync"):
        monkeypatch.setattr(zarr.storage.LocalStore, name, None)
    array[...] = np.array([(1, 2), (3, 4), (5, 6)], [("p", ">i2"), ("q", "<i4")])
    assert array[...].tolist() == [(1.0, 2), (3.0, 4), (5.0, 6)]


def test_fields_are_read_into(tmp_path):
    array = zarr.create_array(tmp_path, shape=9, chunks=4, dtype="i4")
    array[...] = np.arange(9)
    out = np.zeros(9, RECORDS.dtype)
    array.get_basic_selection(..., out=NDBuffer(out["b"]))
    assert out["b"].tolist() == list(range(9))
    assert not out["a"].any()
