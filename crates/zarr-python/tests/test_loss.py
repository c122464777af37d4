"""No value changes on its way into an array, by any way in, unless the caller asks for it.

The oracle is Python's own arithmetic of integers and fractions.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import zarr_kit

ml_dtypes = pytest.importorskip("ml_dtypes")

FLOATS = ["f2", "f4", "f8", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"]
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "int4", "uint4"]
NUMBERS = [
    *(sign * (1 << bits) + more for bits in (0, 3, 4, 7, 8, 10, 11, 16, 24, 31, 53, 62) for sign in (1, -1) for more in (0, 1)),
    2**64 - 1,
]


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def stored(dtype, write):
    array = zarr_kit.create("memory:", shape=2, dtype=dtype, fill_value=1)
    write(array)
    return array


WAYS = {
    "setitem": lambda v: lambda a: a.__setitem__(slice(None), v),
    "write": lambda v: lambda a: a.write(..., v),
    "oindex": lambda v: lambda a: a.oindex.__setitem__(([0, 1],), v),
    "vindex": lambda v: lambda a: a.vindex.__setitem__(([0, 1],), v),
    "append": lambda v: lambda a: a.append(v),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_integers_are_exact_or_refused(dtype, way):
    target = numpy_type(dtype)
    for number in NUMBERS:
        givens = [[1, number]]
        for given in ("i8", "u8", "i4", "i2", object):
            if given is object or np.iinfo(given).min <= number <= np.iinfo(given).max:
                givens.append(np.array([1, number], given))
        if dtype in FLOATS:
            # In a list with a fraction, which numpy makes floats.
            givens.append([0.5, number])
        with np.errstate(all="ignore"):
            kept = np.array([number], object).astype("f8").astype(target) if dtype in FLOATS else None
        if kept is None:
            bits = 4 if "4" in dtype and "int" in dtype else 8 * target.itemsize
            low, high = (0, 2**bits) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
            fits = low <= number < high
        else:
            value = float(kept[0])
            fits = np.isfinite(value) and int(value) == number
        for given in givens:
            if fits:
                assert Fraction(float(stored(dtype, WAYS[way](given))[-1])) == Fraction(float(number))
                continue
            with pytest.raises((ValueError, OverflowError), match=r"element \[1\]|1: ") as raised:
                stored(dtype, WAYS[way](given))
            assert str(number) in str(raised.value)


@pytest.mark.parametrize("given", ["f8", "f4", "f2", "g"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_finite_numbers_stay_finite(given, dtype):
    target = numpy_type(dtype)
    for number in (0.1, -2.5, 7.0, 1000.25, 70000.5, 1e30, -1e30, 3.5e38, 1e300):
        with np.errstate(all="ignore"):
            value = np.array([0.0, number], given)
            if not np.isfinite(value).all():
                continue
            expected = value.astype("f8").astype(target)
        largest = float(ml_dtypes.finfo(target).max)
        if np.isfinite(expected[1]) and abs(float(value[1])) <= largest * (1 + 2**-12):
            found = stored(dtype, WAYS["setitem"](value))[...]
            np.testing.assert_array_equal(found.astype("f8"), expected.astype("f8"))
        elif abs(float(value[1])) > 2 * largest:
            with pytest.raises(OverflowError, match=r"element \[1\]"):
                stored(dtype, WAYS["setitem"](value))
    if dtype != "float4_e2m1fn":
        assert np.isnan(stored(dtype, WAYS["setitem"](np.nan))[...].astype("f8")).all()


@pytest.mark.parametrize("value", [2.5, [1, 2.5], np.array([1.0, 2.0]), np.nan])
def test_fractions_do_not_enter_integers(value):
    with pytest.raises(TypeError, match="no values of int16"):
        stored("i2", WAYS["setitem"](value))


def test_complex_numbers_keep_both_parts():
    assert stored("c8", WAYS["setitem"]([1 + 2j, 3]))[...].tolist() == [1 + 2j, 3]
    for value in (2**24 + 1, np.array([2**24 + 1]), [0.5j, 2**24 + 1]):
        with pytest.raises((ValueError, OverflowError), match="16777217"):
            stored("c8", WAYS["setitem"](value))
    with pytest.raises(OverflowError):
        stored("c8", WAYS["setitem"](1e300j))


def test_the_caller_can_ask_for_loss():
    for dtype, value, found in (
        ("i1", [300, -1], [44, -1]),
        ("i2", [2.7, -2.7], [2, -2]),
        ("f4", [2**24 + 1, 1], [2**24, 1]),
        ("f2", [70000, 1.0], [np.inf, 1]),
        ("M8[D]", np.array(["2001-02-03T12", "2001-02-04"], "M8[h]"), np.array(["2001-02-03", "2001-02-04"], "M8[D]")),
    ):
        array = zarr_kit.create("memory:", shape=2, dtype=dtype)
        with pytest.raises((ValueError, TypeError, OverflowError)):
            array.write(..., value)
        array.write(..., value, casting="unsafe")
        np.testing.assert_array_equal(array[...], found)
        array.append(value, casting="unsafe")
        np.testing.assert_array_equal(array[2:], found)
        with pytest.raises(ValueError, match="casting must be 'exact' or 'unsafe'"):
            array.write(..., value, casting="same_kind")


def test_fill_values_are_rounded_as_documents_say():
    for dtype, value in (("f4", 1e300), ("float8_e4m3fn", 1000), ("i2", 2.5)):
        with pytest.raises((OverflowError, ValueError), match="fill value"):
            zarr_kit.create("memory:", shape=1, dtype=dtype, fill_value=value)
    for value in (0.1, 2**24 + 1):
        found = zarr_kit.create("memory:", shape=1, dtype="f4", fill_value=value).fill_value
        assert found == np.float32(value)


def types():
    """Every kind of numpy's types, in both byte orders."""
    plain = ["?", "i1", "u1", "i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16", "S3", "U3", "V5"]
    times = [f"{kind}8{unit}" for kind in "Mm" for unit in ("", "[s]", "[25us]", "[D]")]
    for order, name in itertools.product("<>", [*plain, *times]):
        yield np.dtype(name).newbyteorder(order)
    for order in "<>":
        inner = np.dtype([("x", "f4"), ("t", "M8")]).newbyteorder(order)
        yield np.dtype([("a", "i4"), ("t", "m8"), ("u", "U2"), ("n", inner)]).newbyteorder(order)
        yield np.dtype([("many", order + "i2", (2, 3)), ("t", order + "M8", (2,))])
    yield np.dtype([("little", "<i4"), ("big", ">M8"), ("byte", "u1")])
    yield np.dtype({"names": ["a", "b"], "formats": [">i4", ">m8"], "offsets": [2, 9], "itemsize": 20})


@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")
@pytest.mark.parametrize("dtype", list(types()), ids=str)
@pytest.mark.parametrize("step", [1, 2, -1])
def test_memory_becomes_native_as_by_assignment(dtype, step):
    from zarr_kit import _dtypes

    rng = np.random.default_rng(0)
    # Letters, which are valid in every type but bool.
    raw = rng.integers(0, 2 if dtype.kind == "b" else 100, 6 * dtype.itemsize, dtype="u1")
    if dtype.kind == "U":
        raw = rng.integers(65, 90, 6 * 3).astype(dtype.byteorder + "u4").view("u1")
    if dtype.kind == "V" and dtype.fields is not None:
        raw[:] = 0
    values = raw.view(dtype)[::step]
    if dtype.fields is not None:
        for name in dtype.names:
            field = values[name]
            if field.dtype.kind in "iuMm":
                numbers = np.arange(1, field.size + 1).reshape(field.shape)
                field[...] = numbers.astype(field.dtype.newbyteorder("=")) if field.dtype.kind in "iu" else numbers
    found = _dtypes.native(values)
    expected = np.zeros(values.shape, dtype.newbyteorder("="))
    expected[...] = values
    assert found.dtype == expected.dtype
    assert found is values or found.tobytes() == expected.tobytes()
    # Not by numpy: the bytes of each number reversed.
    if dtype.kind in "iufMm" and not dtype.isnative:
        bytes_of = np.ascontiguousarray(values).view("u1").reshape(-1, dtype.itemsize)[:, ::-1]
        assert found.tobytes() == bytes_of.tobytes()


@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")
@pytest.mark.parametrize("dtype", ["M8", "m8", "M8[s]", "i8", "f4", "U2", "c8"])
def test_big_endian_memory_is_written_as_its_values(dtype):
    numbers = np.array([0, 1, -2, 100])
    values = numbers.astype("=i8").view("=" + dtype) if dtype[0] in "mM" else numbers.astype("=" + dtype)
    big = np.empty(4, ">" + dtype)
    big[...] = values
    for given in (big, big[::-1][::-1], np.lib.stride_tricks.as_strided(big)):
        array = zarr_kit.create("memory:", shape=4, dtype="=" + dtype)
        array[...] = given
        array.append(given)
        assert array[...].tobytes() == values.tobytes() * 2
    records = np.empty(4, [("n", ">i4"), ("t", ">" + dtype)])
    records["n"], records["t"] = 7, big
    array = zarr_kit.create("memory:", shape=4, dtype=[("n", "i4"), ("t", "=" + dtype)])
    array[...] = records
    assert array[...]["t"].tobytes() == values.tobytes() and array[...]["n"].tolist() == [7] * 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["M8", "m8", "M8[s]", "i8", "U2"])
@pytest.mark.parametrize("order", "<>")
def test_the_pipeline_stores_what_zarr_python_stores(dtype, order, tmp_path):
    zarr = pytest.importorskip("zarr")
    ours = {"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}
    values = np.array([0, 1, -2, 100])
    given = values.astype(order + "i8").view(order + dtype) if dtype[0] in "mM" else values.astype(order + dtype)
    for name, settings in (("zarr", {}), ("ours", ours)):
        with zarr.config.set(settings):
            array = zarr.create_array(tmp_path / name, shape=(4,), chunks=(2,), dtype=given.dtype, compressors=None)
            array[...] = given
    assert (tmp_path / "zarr/c/1").read_bytes() == (tmp_path / "ours/c/1").read_bytes()
    for name, settings in itertools.product(("zarr", "ours"), ({}, ours)):
        with zarr.config.set(settings):
            found = zarr.open_array(tmp_path / name, mode="r")[...]
        # Version 3 stores the byte order of the elements in the codec, not in their type.
        integers = dtype[0] in "mMi"
        if integers:
            assert np.asarray(found).view(found.dtype.byteorder + "i8").tolist() == values.tolist(), (name, settings)
        else:
            assert found.tolist() == given.tolist()
