"""Every data type, by every way that elements take: bytes in chunks, `out`, points, Dask, Xarray."""

import ml_dtypes
import numpy as np
import pytest
import zarr_kit
import zarr_kit.dask
import zarr_kit._dtypes

da = pytest.importorskip("dask.array")
xarray = pytest.importorskip("xarray")

import zarr_kit.xarray  # noqa: E402

BITS = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}
SMALL = sorted(zarr_kit._dtypes.ML_DTYPES)
RECORD = np.dtype([("day", "i2"), ("name", "S3"), ("at", [("x", "f4"), ("on", "?")])])
PLAIN = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 V3 M8[ns] M8[10s] m8[D] M8 U2 S3".split()
FIXED = [*PLAIN, *SMALL, RECORD]

BYTES = [{"name": "bytes", "configuration": {"endian": "little"}}]


def values_of(kind):
    """Elements with every bit pattern of a small type, and some of a large one."""
    if kind in SMALL:
        dtype = np.dtype(getattr(ml_dtypes, kind))
        if dtype.itemsize == 1:
            return np.arange(1 << BITS.get(kind, 8), dtype="u1").view(dtype)
        return np.arange(1 << 16, dtype="u2").view(dtype)[::1021].copy()
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return np.array([True, False, True, True])
    if dtype == RECORD:
        return np.array([(-1, b"ab", (np.nan, True)), (7, b"", (-0.0, False)), (0, b"abc", (1, True))], dtype)
    if dtype.kind == "U":
        return np.array(["", "é", "𝄞b"], dtype)
    if dtype.kind == "S":
        return np.array([b"", b"a", b"abc"], dtype)
    return np.random.default_rng(5).integers(0, 256, 12 * dtype.itemsize, "u1").view(dtype)


def stored(values):
    """The bytes that the specifications define: signed bits have their sign extended."""
    is_signed = values.dtype.name in ("int2", "int4")
    return (values.astype("i1") if is_signed else values).tobytes()


def create(place, values, **more):
    # Zeroed small types are not all valid for numpy's defaults: the name says what is meant.
    name = values.dtype.name if values.dtype.name in SMALL else values.dtype
    return zarr_kit.create(place, shape=values.shape, dtype=name, **more)


def memories(shape, dtype):
    """Memory of this shape in every order."""
    yield np.zeros(shape, dtype)
    yield np.zeros(shape, dtype, order="F")
    yield np.zeros([2 * n for n in shape], dtype)[(..., *(slice(1, None, 2) for _ in shape))]
    yield np.zeros(shape, dtype)[(..., *(slice(None, None, -1) for _ in shape))]
    # Elements at distances that are no multiple of their size.
    yield np.zeros(shape, [("before", "u1"), ("here", dtype)])["here"]


@pytest.mark.parametrize("kind", FIXED, ids=str)
def test_elements_of_every_type_are_those_bytes(kind, tmp_path):
    values = values_of(kind)
    array = create(tmp_path / "a.zarr", values, chunks=len(values), codecs=BYTES, write_empty_chunks=True)
    array[:] = values
    assert (tmp_path / "a.zarr/c/0").read_bytes() == stored(values)
    found = zarr_kit.open(tmp_path / "a.zarr")
    assert found.dtype == values.dtype
    assert found[:].tobytes() == found.read().tobytes() == values.tobytes()
    assert found[1:3].tobytes() == values[1:3].tobytes() and np.asarray(found[2]).tobytes() == values[2].tobytes()
    places = [2, 0, 2]
    assert found.vindex[places].tobytes() == found.oindex[places].tobytes() == values[places].tobytes()


@pytest.mark.parametrize("kind", FIXED, ids=str)
def test_every_type_is_read_into_and_written_from_any_memory(kind, tmp_path):
    values = np.resize(values_of(kind), (5, 4))
    array = create(tmp_path / "a.zarr", values, chunks=(2, 3), codecs=BYTES)
    for memory in memories(values.shape, values.dtype):
        array[...] = np.zeros_like(values)
        memory[...] = values
        array[...] = memory
        memory[...] = np.zeros_like(values)
        assert array.read(out=memory) is memory
        assert memory.tobytes() == values.tobytes()
    for key in (np.s_[3, 1:3], np.s_[::-2, ::3], np.s_[2, 2]):
        expected = np.array(values[key], values.dtype)
        for memory in memories(expected.shape, values.dtype):
            assert array.read(key, out=memory).tobytes() == expected.tobytes()
        array[key] = values[key]
    array.vindex[[0, 4], [3, 0]] = values[[0, 4], [3, 0]]
    array.append(values[:2])
    assert array[:].tobytes() == values.tobytes() + values[:2].tobytes()


@pytest.mark.parametrize("kind", FIXED, ids=str)
def test_every_type_passes_through_dask(kind, tmp_path):
    values = values_of(kind)
    array = create(tmp_path / "a.zarr", values, chunks=2)
    array[:] = values
    found = zarr_kit.dask.from_array(array)
    assert found.dtype == values.dtype and found.compute().tobytes() == values.tobytes()
    zarr_kit.dask.to_zarr(found[::-1], tmp_path / "b.zarr")
    again = zarr_kit.open(tmp_path / "b.zarr")
    assert again[:].tobytes() == values[::-1].tobytes() and again.metadata["data_type"] == array.metadata["data_type"]


@pytest.mark.parametrize("kind", FIXED, ids=str)
def test_every_type_passes_through_xarray(kind, tmp_path):
    values = values_of(kind)
    array = create(tmp_path / "a.zarr", values, chunks=2, dimension_names=["x"])
    array[:] = values
    found = array.to_xarray(chunks={})
    assert found.dtype == values.dtype and found.values.tobytes() == values.tobytes()
    if found.dtype.kind in "mM":
        return  # Xarray stores times as numbers
    zarr_kit.xarray.to_zarr(found.rename("v"), tmp_path / "b.zarr")
    again = zarr_kit.open(tmp_path / "b.zarr", "v")
    assert again[:].tobytes() == values.tobytes() and again.metadata["data_type"] == array.metadata["data_type"]
    opened = xarray.open_dataset(tmp_path / "b.zarr", engine="zarr-kit")
    assert opened.v[1:3].values.tobytes() == values[1:3].tobytes()


@pytest.mark.parametrize("values", [np.array(["", "é", "𝄞b"], np.dtypes.StringDType()), np.array([b"", b"\0a", b"abc"], object)])
def test_elements_of_any_length_pass_through_all(values, tmp_path):
    name = "bytes" if values.dtype == object else "string"
    array = zarr_kit.create(tmp_path / "a.zarr", shape=3, dtype=name, chunks=2, dimension_names=["x"])
    array[:] = values
    memory = np.empty((3, 2), values.dtype)
    assert array.read(out=memory[:, 1]).tolist() == memory[:, 1].tolist() == values.tolist()
    lazy = zarr_kit.dask.from_array(array)
    assert lazy.compute().tolist() == values.tolist()
    target = zarr_kit.create(tmp_path / "b.zarr", shape=3, dtype=name, chunks=2, dimension_names=["x"])
    zarr_kit.dask.to_zarr(lazy[::-1], target)
    assert target[:].tolist() == values[::-1].tolist()
    assert array.to_xarray().values.tolist() == array.to_xarray(chunks={}).values.tolist() == values.tolist()
    array.append(values[:1])
    assert array[:].tolist() == [*values, values[0]]


@pytest.mark.parametrize("kind", sorted({"int1", "uint1", "complex32"} & set(dir(ml_dtypes))))
def test_types_that_zarr_lacks_are_refused_and_no_raw_bytes(kind):
    with pytest.raises(TypeError, match=f"no data type for numpy's {kind}"):
        zarr_kit.create("memory:", shape=2, dtype=getattr(ml_dtypes, kind))
