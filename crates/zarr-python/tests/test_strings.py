"""Strings and byte strings of any length, times, records: types that are more than numbers."""

import json
import pickle

import numpy as np
import pytest
import zarr_kit

pytestmark = pytest.mark.filterwarnings("ignore:The data type:Warning")

STRING = np.dtypes.StringDType()
WORDS = ["Genève", "", "Bern", "two\nlines", "nul\0within", "😀", "a" * 5000, "Chur", "n/a", "x", "y", "z"]
BLOBS = [b"\x89PNG", b"", b"trailing\0", b"\0", bytes(range(256)), b"\xff\xfe", b"a", b"b", b"c", b"d", b"e", b"f"]


def of(kind, shape=(3, 4)):
    dtype, values = (STRING, WORDS) if kind == "string" else (object, BLOBS)
    return np.array(values, dtype).reshape(shape)


def filled(kind, **arguments):
    array = zarr_kit.create("memory:", shape=(3, 4), dtype=kind, chunks=[(1, 2), 3], **arguments)
    array[...] = of(kind)
    return array


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tolist() == expected.tolist()


KINDS = pytest.mark.parametrize("kind", ["string", "bytes"])


@KINDS
def test_every_form_of_index_reads(kind):
    array, values = filled(kind), of(kind)
    assert array.dtype == values.dtype
    for key in (..., 1, np.s_[:, 2], np.s_[::-2, 1:], np.s_[None, 1:, ..., -1], np.s_[1:1], [2, 0]):
        same(array[key], values[key])
    same(array.oindex[[2, 0, 0], 1:], values[[2, 0, 0], 1:])
    same(array.oindex[np.array([True, False, True]), [3, 0]], values[[0, 2]][:, [3, 0]])
    same(array.vindex[[0, 2, 1], [3, 0, 3]], values[[0, 2, 1], [3, 0, 3]])
    mask = np.arange(12).reshape(3, 4) % 5 == 0
    same(array[mask], values[mask])
    assert array[0, 0] == values[0, 0] and type(array[0, 0]) is (str if kind == "string" else bytes)
    assert [row.tolist() for row in array] == values.tolist()
    same(np.asarray(array), values)


@KINDS
def test_every_form_of_index_writes(kind):
    array, values = filled(kind), of(kind)
    one, two = ("é", "two") if kind == "string" else (b"\0", b"two")
    for key, value in [
        (np.s_[0, 0], one),
        (np.s_[1], one),
        (np.s_[::2, ::-1], np.array([[one, two, one, two], [two, two, one, one]], object)),
        (np.s_[:, 1:2], [[one], [two], [one]]),
        (np.s_[1:1], one),
    ]:
        array[key] = value
        values[key] = value
        same(array[...], values)
    array.oindex[[2, 0], [1, 3]] = [[one, two], [two, one]]
    values[np.ix_([2, 0], [1, 3])] = [[one, two], [two, one]]
    array.vindex[[0, 0, 1], [0, 0, 2]] = [one, two, two]
    values[0, 0], values[1, 2] = two, two
    same(array[...], values)


@KINDS
def test_reads_go_into_arrays_that_exist(kind):
    array, values = filled(kind), of(kind)
    room = np.empty((6, 8), values.dtype)
    assert array.read(out=room[::2, ::-2]) is not None
    same(room[::2, ::-2], values)
    with pytest.raises(ValueError, match="dtype"):
        array.read(out=np.empty((3, 4), "U9"))


@KINDS
def test_fill_values(kind, tmp_path):
    fill = "n/a é" if kind == "string" else b"\xff\0"
    array = zarr_kit.create(tmp_path / "a.zarr", shape=3, dtype=kind, fill_value=fill, chunks=2)
    assert array.fill_value == fill and array[:].tolist() == [fill] * 3
    array[1] = fill[:1]
    assert zarr_kit.open(tmp_path / "a.zarr")[:].tolist() == [fill, fill[:1], fill]
    empty = zarr_kit.create("memory:", shape=(), dtype=kind)
    assert empty.fill_value == fill[:0] and empty[()] == fill[:0]
    with pytest.raises(TypeError, match="the fill value is int"):
        zarr_kit.create("memory:", shape=3, dtype=kind, fill_value=7)


@KINDS
def test_append_and_resize(kind):
    array, values = filled(kind), of(kind)
    array.append(values[:1])
    array.append(values[:1].tolist())
    same(array[...], np.concatenate([values, values[:1], values[:1]]))
    array.resize((2, 4))
    same(array[...], values[:2])


@pytest.mark.parametrize("dtype", [STRING, np.dtypes.StringDType(na_object=None), str, "string", "str", "U"], ids=repr)
def test_what_stands_for_strings(dtype):
    array = zarr_kit.create("memory:", shape=2, dtype=dtype)
    assert array.metadata["data_type"] == "string" and array.dtype == STRING
    assert [codec["name"] for codec in array.metadata["codecs"]] == ["vlen-utf8", "zstd"]


@pytest.mark.parametrize("dtype", [bytes, "bytes", "S", "variable_length_bytes"], ids=repr)
def test_what_stands_for_byte_strings(dtype):
    array = zarr_kit.create("memory:", shape=2, dtype=dtype)
    assert array.dtype == object and array.metadata["codecs"][0]["name"] == "vlen-bytes"


def test_objects_say_no_type():
    with pytest.raises(TypeError, match="dtype 'string' .* 'bytes'"):
        zarr_kit.create("memory:", shape=2, dtype=object)


def test_text_is_taken_in_all_of_numpys_forms():
    array = zarr_kit.create("memory:", shape=3, dtype=str, chunks=2)
    for value in (
        ["a", "é", ""],
        np.array(["a", "é", ""]),
        np.array(["a", "é", ""], object),
        np.array(["a", "é", ""], STRING),
        np.array(["a", "é", ""], np.dtypes.StringDType(na_object=np.nan)),
        np.array([np.str_("a"), "é", ""], object),
    ):
        array[:] = "?"
        array[:] = value
        assert array[:].tolist() == ["a", "é", ""]
    blobs = zarr_kit.create("memory:", shape=2, dtype=bytes)
    blobs[:] = np.array([b"a", b"bc"], "S2")
    assert blobs[:].tolist() == [b"a", b"bc"]


@pytest.mark.parametrize(
    ("missing", "says"),
    [(None, "None"), (float("nan"), "nan"), (np.datetime64("NaT", "s"), "NaT")],
)
def test_missing_values_are_refused(missing, says):
    array = zarr_kit.create("memory:", shape=2, dtype=str, fill_value="kept")
    for value in ([["a", missing]][0], np.array(["a", missing], object)):
        with pytest.raises(ValueError, match=rf"the element at \(1,\) is missing \(.*{says}"):
            array[:] = value
    with_na = np.array(["a", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(ValueError, match=r"the element at \(1,\) is missing"):
        array[:] = with_na
    assert array[:].tolist() == ["kept", "kept"]


def test_other_elements_are_refused():
    array = zarr_kit.create("memory:", shape=2, dtype=str)
    for value in (["a", 1], [b"a", "b"], np.arange(2), 5):
        with pytest.raises(TypeError, match="the array has elements of str"):
            array[:] = value
    with pytest.raises(UnicodeEncodeError):
        array[:] = ["a", "\ud800"]
    blobs = zarr_kit.create("memory:", shape=2, dtype=bytes)
    with pytest.raises(TypeError, match=r"the element at \(0,\) is str, the array has elements of bytes"):
        blobs[:] = ["a", b"b"]


@KINDS
def test_zarr_python_reads_what_is_written(kind, tmp_path):
    zarr = pytest.importorskip("zarr")
    values = of(kind)
    fill = "fé" if kind == "string" else b"f\xff"
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(5, 4), dtype=kind, chunks=[2, 3], fill_value=fill)
    array[:3] = values
    found = zarr.open_array(tmp_path / "a.zarr", mode="r")[...]
    assert found[:3].tolist() == values.tolist() and set(found[3:].flat) == {fill}


@KINDS
def test_what_zarr_python_writes_is_read(kind, tmp_path):
    zarr = pytest.importorskip("zarr")
    values = of(kind)
    dtype = STRING if kind == "string" else zarr.dtype.VariableLengthBytes()
    theirs = zarr.create_array(tmp_path / "a.zarr", shape=(5, 4), dtype=dtype, chunks=(2, 3), shards=(4, 6))
    theirs[:3] = values
    array = zarr_kit.open(tmp_path / "a.zarr")
    same(array[:3], values)
    assert not any(array[3:].flat)
    array[4] = values[0]
    assert zarr.open_array(tmp_path / "a.zarr", mode="r")[4].tolist() == values[0].tolist()


@KINDS
def test_dask_reads_and_stores(kind, tmp_path):
    da = pytest.importorskip("dask.array")
    import zarr_kit.dask

    values = of(kind)
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(3, 4), dtype=kind, chunks=[(1, 2), 3])
    array[...] = values
    found = zarr_kit.dask.from_zarr(tmp_path / "a.zarr")
    assert found.chunks == array.chunks and found.dtype == values.dtype
    same(found.compute(), values)
    same(found[1:, ::-1].compute(), values[1:, ::-1])
    same(pickle.loads(pickle.dumps(array))[...], values)
    target = zarr_kit.create(tmp_path / "b.zarr", shape=(3, 4), dtype=kind, chunks=2)
    zarr_kit.dask.to_zarr(found, target)
    same(target[...], values)
    if kind == "string":
        zarr_kit.dask.to_zarr(da.from_array(values, chunks=((2, 1), 4)), tmp_path / "c.zarr")
        same(zarr_kit.open(tmp_path / "c.zarr")[...], values)


def test_a_long_read_of_strings_is_whole():
    array = zarr_kit.create("memory:", shape=40_000, dtype=str, chunks=7_000)
    values = np.array([f"{n:x}" for n in range(40_000)], STRING)
    array[:] = values
    same(array[5:-7], values[5:-7])


def test_times_have_no_fill_but_nat(tmp_path):
    zarr = pytest.importorskip("zarr")
    for dtype, value in [("M8[ns]", "2024-02-29T12:00"), ("M8[10D]", "2024-02-29"), ("m8[s]", 90), (">M8[s]", "2024-02-29")]:
        native = np.dtype(dtype).newbyteorder("=")
        array = zarr_kit.create(tmp_path / f"{native}.zarr", shape=4, dtype=dtype, chunks=2)
        assert array.dtype == native and np.isnat(array.fill_value) and np.isnat(array[:]).all()
        values = np.array([value, "NaT", value], dtype)
        array[1:] = values
        np.testing.assert_array_equal(array[1:], values)
        assert np.isnat(array[0]) and array[1].dtype == native
        theirs = zarr.open_array(tmp_path / f"{native}.zarr", mode="r")
        np.testing.assert_array_equal(theirs[1:], values)
    hours = zarr_kit.create("memory:", shape=2, dtype="M8[h]")
    hours[:] = np.array(["2024-01-01T05:00", "NaT"], "M8[ns]")
    with pytest.raises(ValueError, match="does not fit"):
        hours[0] = np.datetime64("2024-01-01T05:30")
    with pytest.raises(TypeError, match="float64"):
        hours[0] = 0.5
    assert hours[0] == np.datetime64("2024-01-01T05") and np.isnat(hours[1])
    epoch = zarr_kit.create("memory:", shape=1, dtype="M8[s]", fill_value=0)
    assert epoch[0] == np.datetime64(0, "s")
    fixed = zarr_kit.create("memory:", shape=1, dtype="M8[s]", fill_value=np.datetime64("2024-01-01"))
    assert fixed.fill_value == np.datetime64("2024-01-01")


def test_strings_and_bytes_of_one_length(tmp_path):
    zarr = pytest.importorskip("zarr")
    for dtype, values in [("U4", ["Bern", "é", ""]), (">U4", ["Chur", "a", "b"]), ("S3", [b"abc", b"", b"\xff"])]:
        folder = tmp_path / np.dtype(dtype).str.strip("<>|") / dtype[0].strip(">")
        array = zarr_kit.create(folder, shape=4, dtype=dtype, chunks=2, fill_value=values[0])
        array[1:] = np.array(values, dtype)
        assert array[:].tolist() == values[:1] + values
        assert zarr.open_array(folder, mode="r")[:].tolist() == values[:1] + values
        with pytest.raises(ValueError, match="does not fit"):
            array[0] = values[0] * 5
        with pytest.raises(ValueError, match="missing"):
            array[:2] = [values[0], None]
        with pytest.raises(TypeError, match="is int"):
            array[0] = 5


def test_records_of_both_byte_orders(tmp_path):
    zarr = pytest.importorskip("zarr")
    for order in "<>":
        dtype = np.dtype([("day", f"{order}i4"), ("value", f"{order}f8"), ("flag", "u1")])
        values = np.array([(1, 0.5, 2), (-(2**31), np.inf, 255)], dtype)
        array = zarr_kit.create(tmp_path / f"{ord(order)}.zarr", shape=3, dtype=dtype, fill_value=(9, -1.0, 3))
        array[1:] = values
        found = zarr_kit.open(tmp_path / f"{ord(order)}.zarr")[:]
        assert found.tolist() == [(9, -1.0, 3), *values.tolist()]
        theirs = zarr.open_array(tmp_path / f"{ord(order)}.zarr", mode="r")
        assert theirs[:].tolist() == found.tolist()


def test_big_endian_memory_and_stores(tmp_path):
    big = [{"name": "bytes", "configuration": {"endian": "big"}}]
    array = zarr_kit.create(tmp_path / "a.zarr", shape=2, dtype=">u2", codecs=big, fill_value=0x0102)
    array[:1] = np.array([0x0304], ">u2")
    assert (tmp_path / "a.zarr/c/0").read_bytes() == b"\x03\x04\x01\x02"
    assert array.dtype == "<u2" and array[:].tolist() == [0x0304, 0x0102]
    assert json.loads((tmp_path / "a.zarr/zarr.json").read_text())["data_type"] == "uint16"
