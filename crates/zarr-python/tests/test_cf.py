"""Stored numbers mean what Xarray makes of them, or netCDF4 where Xarray fails, for random attributes."""

import base64
import struct
import warnings

import numpy as np
import pytest
import zarr_kit
from zarr_kit import _native

xr = pytest.importorskip("xarray")
cftime = pytest.importorskip("cftime")

TYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
UNITS = ("days", "hours", "minutes", "seconds", "milliseconds")
ZONES = ("", " UTC", "Z", " +01:00", " -05:30", " +0100")
CALENDARS = (None, "standard", "proleptic_gregorian", "noleap", "360_day", "julian", "all_leap")
OTHERS = CALENDARS[3:]


def elements(random, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.normal(scale=100, size=12).astype(dtype)
    info = np.iinfo(dtype)
    # All but the greatest, of which floats do not have each.
    low, high = max(info.min, -(2**40)), min(info.max, 2**40)
    found = random.integers(low, high, 12, endpoint=True, dtype="i8").astype(dtype)
    found[:2] = 0 if dtype.kind == "u" else -1, 1
    return found


def packed(random, dtype, values):
    """Random attributes, as they are stored, and as Xarray's engine gives them to its decoder."""
    stored, given = {}, {}
    if dtype[0] in "iu" and random.random() < 0.4:
        stored["_Unsigned"] = str(random.choice(["true", "false"]))
    if random.random() < 0.5:
        stored["scale_factor"] = float(random.choice([0.1, 0.5, 2.0, -3.25, 1.0]))
    if random.random() < 0.5:
        stored["add_offset"] = float(random.choice([273.15, -10.0, 0.0, 1e6]))
    given.update(stored)
    if random.random() < 0.5:
        value = values[random.integers(12)].item()
        given["_FillValue"] = stored["_FillValue"] = value
        if dtype[0] == "f" and random.random() < 0.5:
            stored["_FillValue"] = base64.b64encode(struct.pack("<d", value)).decode()
    if random.random() < 0.5:
        some = [values[n].item() for n in random.integers(12, size=random.integers(1, 4))]
        given["missing_value"] = stored["missing_value"] = some if len(some) > 1 else some[0]
    return stored, given


def xarrays(values, attributes):
    """Xarray's values; None if it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return xr.conventions.decode_cf_variable("v", xr.Variable("x", values, attributes)).values
        except (ValueError, OverflowError, KeyError, TypeError):
            return None


@pytest.mark.parametrize("seed", range(60))
def test_packed_numbers_are_those_of_xarray(seed):
    random = np.random.default_rng(seed)
    dtype = str(random.choice(TYPES))
    values = elements(random, dtype)
    stored, given = packed(random, dtype, values)
    expected = xarrays(values, given)
    array = zarr_kit.create("memory:", shape=12, dtype=dtype, attributes=stored)
    array[...] = values
    found = array.read(decode=True)
    if expected is None:
        pytest.skip("Xarray fails")
    assert found.dtype == expected.dtype, stored
    np.testing.assert_array_equal(found, expected, err_msg=str(stored))


@pytest.mark.parametrize("seed", range(60))
def test_times_are_those_of_xarray(seed):
    random = np.random.default_rng(1000 + seed)
    dtype = str(random.choice(["i2", "i4", "i8", "u2", "f4", "f8"]))
    values = random.integers(0, 20_000, 8).astype(dtype)
    if dtype[0] == "f":
        values = values + random.choice([0, 1 / 24, 1 / 3], 8).astype(dtype)
    units = f"{random.choice(UNITS)} since {random.choice(['1960-01-01', '2000-2-28 6:0:0', '1900-01-01T00:00:00'])}"
    if ":" in units:
        units += str(random.choice(ZONES))
    attributes = {"units": units}
    calendar = CALENDARS[random.integers(len(CALENDARS))]
    if calendar:
        attributes["calendar"] = calendar
    # In other calendars than numpy's, Xarray has no missing times: it fails, or takes them for the first.
    expected = xarrays(values, attributes) if calendar in OTHERS else None
    if random.random() < 0.4:
        attributes["_FillValue"] = values[0].item()
    missing = values == attributes.get("_FillValue")
    expected = xarrays(values, attributes) if expected is None else np.where(missing, None, expected)
    assert expected is not None, attributes
    array = zarr_kit.create("memory:", shape=8, dtype=dtype, attributes=attributes)
    array[...] = values
    found = array.read(decode=True)
    if expected.dtype.kind == "M":
        np.testing.assert_array_equal(found.astype(expected.dtype), expected, err_msg=str(attributes))
    else:
        texts = [time.isoformat() if isinstance(time, cftime.datetime) else "NaT" for time in expected]
        assert found.tolist() == texts, attributes


def test_numbers_are_those_of_netcdf4_where_xarray_fails():
    array = zarr_kit.create("memory:", shape=2, dtype="i2", attributes={"scale_factor": 2, "_FillValue": -1})
    array[...] = [3, -1]
    assert xarrays(np.array([3, -1], "i2"), {"scale_factor": 2, "_FillValue": -1}) is None
    np.testing.assert_array_equal(array.read(decode=True), [6, np.nan])


def test_durations_and_truth_values_are_those_of_xarray():
    for values, attributes in [
        (np.array([90, -9], "i4"), {"units": "seconds", "dtype": "timedelta64[ms]", "_FillValue": -9}),
        (np.array([0, 2], "i1"), {"dtype": "bool"}),
    ]:
        array = zarr_kit.create("memory:", shape=2, dtype=values.dtype, attributes=attributes)
        array[...] = values
        found = array.read(decode=True)
        expected = xarrays(values, attributes)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_bounds_and_climatologies_have_the_units_of_their_coordinate(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g")
    for key in ("bounds", "climatology"):
        units = {"units": "days since 2000-01-01", "calendar": "360_day", key: "b"}
        time = group.create_array(key, shape=2, dtype="i4", attributes=units, dimension_names=[key])
        time[...] = [0, 1]
        edges = group.create_group(f"{key}s").create_array("b", shape=(1, 2), dtype="i4", dimension_names=[key, "nv"])
        assert edges.read(decode=True).dtype == "i4"
    bounds = group.create_array("b", shape=(1, 2), dtype="i4", dimension_names=["climatology", "nv"])
    bounds[...] = [[0, 59]]
    assert bounds.read(decode=True).tolist() == [["2000-01-01T00:00:00", "2000-02-30T00:00:00"]]


def test_what_is_not_applied_is_said(caplog):
    attributes = {"scale_factor": 0.5, "valid_range": [0, 1], "missing_value": 300}
    array = zarr_kit.create("memory:", shape=1, dtype="i1", attributes=attributes)
    array.read(decode=True)
    assert "missing_value 300 is no value of int8" in caplog.text
    assert "valid_range describes values" in caplog.text


def test_the_lists_of_attributes_come_from_rust():
    assert {"_Unsigned", "dtype", "flag_meanings", "calendar"} < set(_native.MEANING)
    assert set(_native.PACKING) < set(_native.MEANING)
    assert "valid_range" in _native.DESCRIBING
    assert not set(_native.DESCRIBING) & set(_native.MEANING)


@pytest.mark.parametrize("name", ["_Unsigned", "dtype", "flag_values", "flag_meanings", "missing_value"])
def test_members_that_differ_in_a_meaning_are_not_joined(name, tmp_path):
    value = {"flag_values": [1, 2], "missing_value": 3}.get(name, "true")
    for folder, attributes in (("a", {name: value}), ("b", {})):
        array = zarr_kit.create(tmp_path / folder, shape=2, dtype="i2", attributes=attributes, dimension_names=["t"])
        array[...] = [-1, 5]
    with pytest.raises(ValueError, match=name):
        zarr_kit.join([tmp_path / "a", tmp_path / "b"], tmp_path / "c", along="t")
    with pytest.raises(ValueError, match=name):
        zarr_kit.join([tmp_path / "a", tmp_path / "b"], tmp_path / "c.zjoin", along="t", virtual=True)
