"""Joins and appends of numbers of different types, beside Xarray's concat and zarr-python's reading."""

import itertools

import numpy as np
import pytest
import xarray
import zarr
import zarr_kit

TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@pytest.fixture(autouse=True)
def ragged():
    with zarr.config.set({"array.rectilinear_chunks": True}):
        yield


def rounds(types):
    """Whether numpy's common type does not have each integer."""
    common = np.result_type(*types)
    return common.kind == "f" and any(np.dtype(one).kind in "iu" and np.dtype(one).itemsize == 8 for one in types)


def values(dtype, count, rng):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        found = rng.normal(size=count).astype(dtype)
        found[:3] = [np.nan, -np.inf, -0.0]
        return found
    ends = np.iinfo(dtype)
    found = rng.integers(ends.min, ends.max, size=count, dtype=dtype, endpoint=True)
    found[:2] = ends.min, ends.max
    return found


def stored(place, data, chunks, **options):
    a = zarr_kit.create(place, shape=data.shape, dtype=data.dtype.str, chunks=chunks, dimension_names=["x"], **options)
    a[:] = data
    return str(place)


@pytest.mark.parametrize("number", range(4))
def test_joins_have_the_type_and_the_values_of_xarray(tmp_path, number):
    rng = np.random.default_rng(number)
    pairs = itertools.product(TYPES, TYPES)
    triples = (tuple(map(str, rng.choice(TYPES, 3))) for _ in range(40))
    every = list(itertools.chain(pairs, triples))[number::4]
    for case, types in enumerate(every):
        parts = [values(one, int(rng.integers(4, 12)), rng) for one in types]
        places = [
            stored(tmp_path / f"{case}-{at}.zarr", part, int(rng.integers(2, 6)), fill_value=int(rng.integers(0, 2)))
            for at, part in enumerate(parts)
        ]
        target = str(tmp_path / f"{case}.zarr")
        if rounds(types):
            with pytest.raises(ValueError, match="no type of "):
                zarr_kit.join(places, target, along="x", promote=True)
            continue
        expected = xarray.concat([xarray.DataArray(part, dims="x") for part in parts], "x").values
        zarr_kit.join(places, target, along="x", promote=True)
        found = zarr.open_array(target)[:]
        assert found.dtype == expected.dtype, types
        np.testing.assert_array_equal(found, expected, err_msg=str(types))
        assert np.array_equal(np.signbit(found), np.signbit(expected)) or np.isnan(expected).any()
        assert not zarr_kit.check(target).errors


def test_without_the_option_the_refusal_names_it_and_the_plan_counts(tmp_path):
    wide = stored(tmp_path / "wide.zarr", np.arange(6, dtype="i2"), 2)
    narrow = stored(tmp_path / "narrow.zarr", np.arange(4, dtype="i1"), 2)
    with pytest.raises(ValueError, match=r"int8, but int16 in .*int16 has the numbers of both; promote=True converts them"):
        zarr_kit.join([wide, narrow], tmp_path / "to.zarr", along="x")
    for members in [wide, narrow], [narrow, wide]:
        plan = zarr_kit.join(members, along="x", promote=True, dry_run=True)
        assert (plan.moved_chunks, plan.written_chunks) == (3, 2)
        assert plan.reasons == {"a narrower data type": 2}
    with pytest.raises(ValueError, match="virtual join"):
        zarr_kit.join([wide, narrow], tmp_path / "to.zjoin", along="x", virtual=True, promote=True)
    with pytest.raises(ValueError, match="a join into a new array, with promote=True, converts them"):
        zarr_kit.join([wide, narrow], tmp_path / "to.zjoin", along="x", virtual=True)


def test_arrays_take_numbers_of_narrower_types_and_keep_their_own(tmp_path):
    rng = np.random.default_rng(1)
    for case, (own, other) in enumerate(itertools.product(TYPES, TYPES)):
        first, second = values(own, 6, rng), values(other, 5, rng)
        target = stored(tmp_path / f"{case}.zarr", first, 4)
        more = stored(tmp_path / f"{case}-more.zarr", second, 4)
        a, b = zarr_kit.open(target), zarr_kit.open(more)
        fits = not rounds((own, other)) and np.result_type(own, other) == np.dtype(own)
        if own != other:
            with pytest.raises(ValueError, match="data type"):
                a.rearrange([slice(0, 6), b])
        if not fits:
            with pytest.raises(ValueError, match="data type"):
                a.rearrange([slice(0, 6), b], promote=True)
            assert zarr_kit.open(target).shape == (6,)
            continue
        a.rearrange([slice(0, 6), b], promote=True)
        found = zarr.open_array(target)[:]
        assert found.dtype == first.dtype
        np.testing.assert_array_equal(found, np.concatenate([first, second]), err_msg=f"{own} {other}")


def test_groups_are_widened_array_by_array(tmp_path):
    rng = np.random.default_rng(2)

    def sample(name, dtype, start):
        data = xarray.Dataset(
            {"call": ("variants", values(dtype, 5, rng)), "same": ("alleles", np.arange(3, dtype=dtype))},
            {"variants": np.arange(start, start + 5, dtype=dtype)},
        )
        data.to_zarr(tmp_path / name, zarr_format=3, consolidated=False, encoding={"call": {"chunks": (2,)}})
        return data

    one, two, three = sample("1.zarr", "i1", 0), sample("2.zarr", "i2", 5), sample("3.zarr", "i1", 10)
    places = [str(tmp_path / f"{number}.zarr") for number in (1, 2, 3)]
    with pytest.raises(ValueError, match="promote"):
        zarr_kit.join(places, tmp_path / "all.zarr", along="variants")
    zarr_kit.join(places, tmp_path / "all.zarr", along="variants", promote=True)
    expected = xarray.concat([one, two, three], "variants", data_vars="minimal")
    found = xarray.open_zarr(tmp_path / "all.zarr", consolidated=False).load()
    xarray.testing.assert_equal(found, expected)
    assert found.call.dtype == expected.call.dtype == np.int16

    group = zarr_kit.open(places[1])
    with pytest.raises(ValueError, match="promote"):
        group.rearrange([slice(0, 5), zarr_kit.open(places[2])], "variants")
    group.rearrange([slice(0, 5), zarr_kit.open(places[2])], "variants", promote=True)
    found = xarray.open_zarr(places[1], consolidated=False).load()
    xarray.testing.assert_equal(found, xarray.concat([two, three], "variants", data_vars="minimal"))
    narrow = zarr_kit.open(places[0])
    with pytest.raises(ValueError, match="keeps its data type"):
        narrow.rearrange([slice(0, 5), zarr_kit.open(places[1])], "variants", promote=True)


def test_fill_values_keep_their_meaning(tmp_path):
    first = zarr_kit.create(tmp_path / "1.zarr", shape=4, dtype="f4", chunks=2, fill_value=0.1, dimension_names=["x"])
    second = zarr_kit.create(tmp_path / "2.zarr", shape=4, dtype="f8", chunks=2, fill_value=0.1, dimension_names=["x"])
    first[2:] = [1, 2]
    second[2:] = [3, 4]
    zarr_kit.join([first, second], tmp_path / "all.zarr", along="x", promote=True)
    found = zarr.open_array(tmp_path / "all.zarr")
    assert found.fill_value == np.float64(np.float32(0.1))
    np.testing.assert_array_equal(found[:], np.concatenate([first[:], second[:]]))

    odd = zarr_kit.create(tmp_path / "3.zarr", shape=4, dtype="f4", chunks=2, fill_value=np.nan, dimension_names=["x"])
    document = tmp_path / "3.zarr" / "zarr.json"
    document.write_text(document.read_text().replace('"NaN"', '"0x7fc00001"'))
    odd = zarr_kit.open(tmp_path / "3.zarr")
    with pytest.raises(ValueError, match="0x7fc00001.* is no value of float64"):
        zarr_kit.join([odd, second], tmp_path / "odd.zarr", along="x", promote=True)


def test_bits_with_another_meaning_are_not_widened(tmp_path):
    places = [
        stored(tmp_path / f"{dtype}.zarr", np.array([1, -1], dtype), 2, attributes={"_Unsigned": "true"})
        for dtype in ("i1", "i2")
    ]
    with pytest.raises(ValueError, match="_Unsigned"):
        zarr_kit.join(places, tmp_path / "all.zarr", along="x", promote=True)
    text = zarr_kit.create(tmp_path / "text.zarr", shape=2, dtype="string", dimension_names=["x"])
    with pytest.raises(ValueError, match="data type: string, but int8 in [^;]*$"):
        zarr_kit.join([places[0], text], tmp_path / "all.zarr", along="x", promote=True)


def test_small_integers_and_times(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    small = zarr_kit.create(tmp_path / "1.zarr", shape=4, dtype="int4", chunks=2, codecs=["packbits"], dimension_names=["x"])
    small[:] = np.array([-8, -1, 0, 7], ml_dtypes.int4)
    other = zarr_kit.create(tmp_path / "2.zarr", shape=2, dtype="uint4", chunks=2, codecs=["packbits"], dimension_names=["x"])
    other[:] = np.array([0, 15], ml_dtypes.uint4)
    zarr_kit.join([small, other], tmp_path / "all.zarr", along="x", promote=True)
    found = zarr.open_array(tmp_path / "all.zarr")
    assert (found.dtype, found[:].tolist()) == (np.int8, [-8, -1, 0, 7, 0, 15])

    days = stored(tmp_path / "days.zarr", np.array([0, 100], "i1"), 2, attributes={"units": "days since 2000-01-01"})
    hours = stored(tmp_path / "hours.zarr", np.array([0, 24], "i4"), 2, attributes={"units": "hours since 2000-06-01"})
    zarr_kit.join([hours, days], tmp_path / "times.zarr", along="x", promote=True)
    assert zarr.open_array(tmp_path / "times.zarr")[:].tolist() == [0, 24, -152 * 24, -52 * 24]
    a = zarr_kit.open(hours)
    a.rearrange([slice(0, 2), zarr_kit.open(days)], promote=True)
    assert zarr.open_array(hours)[:].tolist() == [0, 24, -152 * 24, -52 * 24]
