"""Values that an array's type cannot hold are refused; records are what numpy makes of them."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest
import zarr_kit

RECORD = np.dtype([("day", "i2"), ("name", "U3"), ("at", [("x", "f4"), ("on", "?")])])


def written(dtype, value, shape=2):
    array = zarr_kit.create("memory:", shape=shape, dtype=dtype)
    array[...] = value
    return array[...]


@pytest.mark.parametrize(
    "value",
    [
        (1, "ab", (2.5, True)),
        [(1, "ab", (2.5, True)), (-3, "", (0, False))],
        np.array([(1, "ab", (2.5, True)), (-3, "", (0, False))], RECORD),
        np.array([(1, "ab", (2.5, True)), (-3, "", (0, False))], RECORD)[::-1],
        np.array((7, "abc", (1, 0)), RECORD),
    ],
)
def test_records_are_those_of_numpy(value):
    expected = np.zeros(2, RECORD)
    expected[...] = value
    np.testing.assert_array_equal(written(RECORD, value), expected)
    scalar = np.zeros((), RECORD)
    scalar[...] = expected[0]
    np.testing.assert_array_equal(written(RECORD, expected[0], shape=()), scalar)
    assert written(RECORD, np.zeros(0, RECORD), shape=0).shape == (0,)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ((70000, "ab", (2.5, True)), OverflowError),
        ((1, "abcd", (2.5, True)), ValueError),
        ((1.5, "ab", (2.5, True)), TypeError),
        ((1, "ab"), ValueError),
        (np.array([1, 2]), TypeError),
        (np.zeros(2, [("name", "U3"), ("day", "i2"), ("at", "i4")]), TypeError),
        (np.full(2, 70000, [("day", "i4"), ("name", "U3"), ("at", RECORD["at"])]), OverflowError),
    ],
)
def test_records_that_would_change_are_refused(value, error):
    with pytest.raises(error):
        written(RECORD, value)


@pytest.mark.parametrize("names", ["ba", "ac"])
def test_records_with_other_fields_are_refused_in_lists_too(names):
    dtype = [("a", "i4"), ("b", "i4")]
    record = np.array((1, 2), [(name, "i4") for name in names])
    objects = np.empty(1, object)
    objects[0] = record[()]
    for value in (record, record[()], [record[()]], [(3, 4), record[()]], [[record[()]]], [record], objects):
        with pytest.raises(TypeError, match="no records with the fields"):
            written(dtype, value)
    for value in ((record[()],), [((3, 4),), (record[()],)]):
        with pytest.raises(TypeError, match="no records with the fields"):
            written([("at", dtype)], value)
    series = pytest.importorskip("pandas").Series([(1, 2), (3, 4)])
    assert written(dtype, series).tolist() == [(1, 2), (3, 4)]
    same = np.array((1, 2), dtype)
    assert written(dtype, [same[()], (3, 4)]).tolist() == [(1, 2), (3, 4)]


def test_records_have_no_arrays_within():
    with pytest.raises(TypeError, match="arrays within records"):
        zarr_kit.create("memory:", shape=1, dtype=[("a", "i4", (2,))])
    titled = zarr_kit.create("memory:", shape=1, dtype=np.dtype([(("title", "a"), "i4")]))
    assert titled.dtype.names == ("a",)


@pytest.mark.filterwarnings("error:The 'generic' unit:DeprecationWarning:zarr_kit")
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("M8[D]", date(2001, 2, 3)),
        ("M8[D]", datetime(2001, 2, 3)),
        ("M8[s]", datetime(2001, 2, 3, 4, 5, 6)),
        ("M8[D]", [None, "NaT", "2001-02-03"]),
        ("M8[s]", ["2001-02-03T04:05", "NaT"]),
        ("M8[ms]", [["", "2001-02-03T04:05:06.789"], ["2001", "nAt"]]),
        ("M8[Y]", "2001"),
        ("M8[Y]", "NaT"),
        ("m8[s]", timedelta(minutes=2)),
        ("M8[ns]", np.datetime64("NaT", "D")),
        ("M8[M]", date(2001, 2, 1)),
        ("M8[us]", date(3000, 1, 1)),
        ("M8[s]", [None, 5]),
        ("M8[s]", np.array([5, 2**62], "u8")),
        ("m8[s]", ["5", "NaT"]),
    ],
)
def test_times_are_those_of_numpy(dtype, value):
    shape = np.shape(value) or (2,)
    expected = np.zeros(shape, dtype)
    expected[...] = value
    np.testing.assert_array_equal(written(dtype, value, shape), expected)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("M8[D]", datetime(2001, 2, 3, 4)),
        ("M8[D]", [None, datetime(2001, 2, 3, 4)]),
        ("M8[D]", "2001-02-03T04"),
        ("M8[Y]", "2001-02-03"),
        ("m8[s]", timedelta(milliseconds=2)),
        ("M8[D]", "soon"),
        ("M8[D]", [None, "soon"]),
        ("M8[ns]", date(3000, 1, 1)),
        ("M8[ns]", np.datetime64("3000-01-01")),
        ("M8[ns]", ["2001", "1000-01-01T00:00:00.123456789"]),
        ("M8[M]", date(2001, 1, 15)),
        ("M8[D]", ["2001-01-01T12:30", None]),
        ("M8[D]", [None, "2001-01-01T12:30", date(2001, 1, 1)]),
        ("M8[D]", np.array(["2001-01-01T12:30"], object)),
        ("M8[D]", np.array(["2001-01-01T12:30"], np.dtypes.StringDType())),
        ("M8[D]", np.array([b"2001-01-01T12:30"])),
    ],
)
def test_times_that_would_be_cut_are_refused(dtype, value):
    with pytest.raises(ValueError, match="does not fit into datetime64|does not fit into timedelta64|no times"):
        written(dtype, value, np.shape(value) or 2)


@pytest.mark.parametrize("kind", ["string", object, "S16", np.dtypes.StringDType()])
def test_texts_of_every_kind_are_times(kind):
    if kind == "string":
        value = pytest.importorskip("pandas").Series(["2001-02-03T04:05"])
    else:
        value = np.array(["2001-02-03T04:05"], kind)
    assert written("M8[m]", value, 1)[0] == np.datetime64("2001-02-03T04:05")


def test_what_is_no_time_is_refused():
    for value in (2**63, 2**64, [None, 2**64], np.array([2**63 + 5], "u8")):
        with pytest.raises(OverflowError, match="does not fit into datetime64"):
            written("M8[s]", value, np.shape(value))
    for value in (timedelta(1), np.timedelta64(5, "s"), [None, True], [None, 1.5], [None, object()]):
        with pytest.raises(TypeError, match=r"no values? of datetime64\[s\]"):
            written("M8[s]", value, np.shape(value))
    with pytest.raises(TypeError, match=r"no values of timedelta64\[s\]"):
        written("m8[s]", date(2001, 1, 1))
    with pytest.raises(ValueError, match="does not fit"):
        zarr_kit.create("memory:", shape=1, dtype="M8[ns]", fill_value=date(3000, 1, 1))


def test_pandas_has_one_nat():
    pd = pytest.importorskip("pandas")
    found = written("m8[s]", [pd.NaT, pd.Timedelta("5s")])
    assert np.isnat(found[0]) and found[1] == np.timedelta64(5, "s")


def test_pandas_times_have_nanoseconds():
    pd = pytest.importorskip("pandas")
    time = pd.Timestamp("2001-02-03T04:05:06.000000007")
    assert written("M8[ns]", time)[0] == time.to_datetime64()
    with pytest.raises(ValueError, match="does not fit"):
        written("M8[us]", time)


@pytest.mark.parametrize("name", ["int2", "int4", "uint2", "uint4"])
def test_small_integers_are_not_made_of_fractions(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for value in (1.5, np.nan, np.array([1, 1], ml_dtypes.bfloat16)):
        with pytest.raises(TypeError, match=f"no values of {name}"):
            written(name, value)
    assert written(name, np.array([1, 0], ml_dtypes.int4)).tolist() == [1, 0]
    with pytest.raises(OverflowError):
        written(name, np.array([5, -5], ml_dtypes.int4) if name != "int4" else np.array([8, 0], ml_dtypes.uint4))


def test_raw_bytes_are_neither_cut_nor_made_of_numbers():
    assert written("V3", [b"ab", b"abc"]).tolist() == [b"ab\0", b"abc"]
    assert written("V3", [np.void(b"abc")] * 2).tolist() == written("V3", np.array([b"abc"], "S5")).tolist()
    for value in (b"abcd", b"abc\0", [b"a", b"abcd"], np.array([b"abcd"], "S5")):
        with pytest.raises(ValueError, match=r"does not fit into \|V3"):
            written("V3", value)
    for value in (5, 1.5, "abc", np.void(b"ab"), np.void(b"abcd"), np.array([1], "u1"), np.zeros(1, "i1,i1,i1")):
        with pytest.raises(TypeError, match=r"the array has elements of bytes|are no values of \|V3"):
            written("V3", value)
    for dtype in ("V3", "r24"):
        assert zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=b"ab").fill_value.tobytes() == b"ab\0"
        with pytest.raises(ValueError, match="does not fit"):
            zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=b"abcdef")
        with pytest.raises(TypeError, match="elements of bytes"):
            zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=5)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "bfloat16"])
def test_floats_are_made_of_numbers_only(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    texts = ("1.5", [b"1.5", b"2"], ["1.5", None], np.array(["1.5"], np.dtypes.StringDType()))
    times = (np.datetime64("2001"), np.timedelta64(5, "s"), [None, np.datetime64("2001")])
    for value in (*texts, *times, np.void(b"abcdefgh"), np.zeros(1, [("a", "f8")])):
        with pytest.raises(TypeError, match="no values? of"):
            written(dtype, value)
    if dtype != "c8":
        with pytest.raises(TypeError, match="elements of complex128 are no values of"):
            written(dtype, 1 + 2j)
    for value in (1.5, [True, 2], np.array([0.1]), np.array([-3], ml_dtypes.int4), np.array([1.5], ml_dtypes.bfloat16)):
        expected = np.broadcast_to(np.asarray(value).astype(np.dtype(dtype)), 2)
        np.testing.assert_array_equal(written(dtype, value), expected)


@pytest.mark.parametrize("dtype", ["i4", "u8", "bool", "int4"])
def test_integers_of_any_size_do_not_fit(dtype):
    for value in (2**64, [2**64], [-1, 2**63], np.array([5, -(2**70)], object)):
        with pytest.raises(OverflowError, match="does not fit into"):
            written(dtype, value)
    for value in ("5", ["5"], [None, 1], [1, 2.0], np.array(["5"], object), np.array([None]), 2.0, np.datetime64("2001")):
        with pytest.raises(TypeError, match="no values? of"):
            written(dtype, value)
    assert written(dtype, np.array([1, True], object)).tolist() == [1, 1]
    assert written(dtype, [], 0).shape == (0,)


def test_shapes_are_integers():
    for shape in (3.5, "3", [3, None]):
        with pytest.raises(TypeError, match="a shape is an integer"):
            zarr_kit.create("memory:", shape=shape, dtype="i4")
    array = zarr_kit.create("memory:", shape=3, dtype="i4", chunks=2)
    array.resize(5)
    assert array.shape == (5,)
    with pytest.raises(ValueError, match="at least 0"):
        array.resize(-1)
    for chunks in ("all", 2.0, [(1.7, 1.3)], [(1.0, 2.0)], [("1", "2")], ["3"], [2.0]):
        with pytest.raises(TypeError, match="chunks are (an )?integer"):
            zarr_kit.create("memory:", shape=3, dtype="i4", chunks=chunks)
    for chunks in ([np.array([1, 2])], [(np.int32(1), 2)]):
        assert zarr_kit.create("memory:", shape=3, dtype="i4", chunks=chunks).chunks == ((1, 2),)
    for length in (2**63, 2**63 - 1):
        assert zarr_kit.create("memory:", shape=length, dtype="i1", chunks=length).chunks == (length,)
    with pytest.raises(ValueError, match="at least 1"):
        array.with_threads(-1)
    with pytest.raises(TypeError, match="limits of a slice"):
        array["a":]
