"""Xarray writes to stored variables: elements keep their values and meanings, or are refused."""

import warnings

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
pytest.importorskip("dask.array")

from zarr_kit.xarray import to_zarr  # noqa: E402

DAYS = pd.date_range("2001-01-01", periods=3)
HOURS = pd.date_range("2001-01-04T05", periods=3, freq="h")


@pytest.fixture(autouse=True)
def quiet():
    """Xarray warns of encodings that it changes, which are errors here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def dataset(values):
    return xr.Dataset({"v": ("x", values)})


def stored(values, **encoding):
    group = zarr_kit.create_group("memory:")
    to_zarr(dataset(values), group, mode="a", encoding={"v": encoding})
    return group


def values(group):
    return xr.open_dataset(group, engine="zarr-kit").v.values


def write(group, new, chunked, region):
    ds = dataset(new)
    ds = ds.chunk(x=2) if chunked else ds
    to_zarr(ds, group, **({"region": {"x": slice(0, len(new))}} if region else {"append_dim": "x"}))


@pytest.mark.parametrize("region", [False, True])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("old", "encoding", "new"),
    [
        (DAYS, {}, HOURS),
        (pd.to_timedelta([1, 2, 3], "D"), {}, pd.to_timedelta([5], "h")),
        (np.arange(3), {}, DAYS),
        (np.arange(3.0), {}, DAYS),
        (np.arange(3), {}, pd.to_timedelta([5], "h")),
        (DAYS, {}, np.arange(3)),
        (DAYS, {"dtype": "i1"}, pd.date_range("2021-01-01", periods=2)),
        (DAYS, {"dtype": "i4"}, np.array(["NaT"], "M8[ns]")),
    ],
)
def test_times_that_the_stored_units_cannot_express(old, encoding, new, chunked, region):
    group = stored(old, **encoding)
    before = group["v"][:].tolist()
    with pytest.raises((ValueError, OverflowError)):
        write(group, new, chunked, region)
    assert group["v"][:].tolist() == before


@pytest.mark.parametrize("region", [False, True])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("old", "encoding", "new"),
    [
        (DAYS, {}, pd.date_range("2021-01-01", periods=2)),
        (DAYS, {"units": "hours since 2001-1-1"}, HOURS),
        (DAYS, {"units": "days since 2001-01-01", "dtype": "f8"}, HOURS),
        (DAYS, {"dtype": "i4", "_FillValue": -1}, np.array(["NaT", "2001-02-01"], "M8[ns]")),
        (pd.to_timedelta([1, 2, 3], "D"), {}, pd.to_timedelta([48], "h")),
        (np.arange(3, dtype="i4"), {}, np.array([5.0, 6.0])),
        (np.arange(3.0), {"dtype": "i2", "_FillValue": -1}, np.array([np.nan, 7.0])),
        (np.arange(3.0), {"dtype": "i2", "_FillValue": -1, "scale_factor": 0.5}, np.array([np.nan, 0.5])),
        (np.arange(3, dtype="f4"), {}, np.array([5, 6])),
        (np.arange(3.0), {"_FillValue": 1e20}, np.array([5, 6])),
        (np.array([1j, 2, 3]), {"_FillValue": 1 + 2j}, np.array([5, 6])),
        (np.array([True, False]), {}, np.array([0, 1])),
        (np.arange(3, dtype="u1"), {}, np.array([True])),
    ],
)
def test_elements_that_the_stored_type_expresses(old, encoding, new, chunked, region):
    group = stored(old, **encoding)
    write(group, new, chunked, region)
    found = values(group)
    np.testing.assert_array_equal(found[: len(new)] if region else found[len(old) :], new)


@pytest.mark.parametrize("region", [False, True])
@pytest.mark.parametrize(
    ("old", "encoding", "new", "error"),
    [
        (np.arange(3, dtype="i1"), {}, [300, -500], r"element \[0\]: 300 does not fit into int8"),
        (np.arange(3, dtype="u1"), {}, [300, -1, 256], "does not fit into uint8"),
        (np.arange(3, dtype="i4"), {}, [1.5, 2], "1.5 does not fit into int32"),
        (np.arange(3, dtype="i4"), {}, [np.nan, 2], "nan does not fit into int32"),
        (np.arange(3), {}, [2.0**63], "does not fit into int64"),
        (np.arange(3.0), {"dtype": "i2", "_FillValue": -1}, [1e9], "does not fit into int16"),
        (np.arange(3.0), {"dtype": "i2", "scale_factor": 0.1}, [1e4], "does not fit into int16"),
        (np.array([True, False]), {}, [5], "5 does not fit into bool"),
        (np.arange(3.0), {}, [1j], "no values of float64"),
        (np.array(["c"], object), {}, [5], "the array has elements of str"),
        (np.array(["c", "b"], object), {}, np.array(["d", 5], object), "mixed native types"),
    ],
)
def test_elements_that_the_stored_type_cannot_express(old, encoding, new, error, region):
    group = stored(old, **encoding)
    before = group["v"][:].tolist()
    for chunked in (False, True):
        with pytest.raises((ValueError, TypeError, OverflowError), match=error) as raised:
            write(group, new, chunked, region)
        # The tasks of Dask arrays look at their elements when the array has grown.
        grown = 0 if region or not chunked else len(new)
        assert chunked or "variable 'v'" in "".join(raised.value.__notes__)
        assert group["v"][: len(before)].tolist() == before and len(group["v"]) in (len(before), len(before) + grown)


@pytest.mark.parametrize(
    ("new", "encoding", "error"),
    [
        ([1, 300], {"dtype": "int8"}, "300 does not fit into int8"),
        ([-1], {"dtype": "uint64"}, "-1 does not fit into uint64"),
        ([1, np.nan], {"dtype": "int16"}, "nan does not fit into int16, which has integers from -32768 to 32767"),
        ([1e4], {"dtype": "int16", "scale_factor": 0.1}, "does not fit into int16"),
        ([1e4, np.nan], {"dtype": "int16", "scale_factor": 0.1, "_FillValue": -1}, "does not fit into int16"),
        ([2.0**63], {"dtype": "int64"}, "does not fit into int64"),
        (np.array([-np.inf], "f2"), {"dtype": "int32"}, "-inf does not fit into int32"),
        (np.array([2.0**64], "f4"), {"dtype": "uint64"}, "does not fit into uint64"),
        (np.array(["NaT"], "M8[ns]"), {"dtype": "int32", "units": "days since 2001-01-01"}, "int32"),
    ],
)
def test_elements_that_the_type_of_a_new_variable_cannot_express(new, encoding, error):
    group, ds = zarr_kit.create_group("memory:"), dataset(new)
    with pytest.raises((ValueError, TypeError, OverflowError), match=error) as raised:
        to_zarr(ds, group, mode="a", encoding={"v": encoding})
    assert "variable 'v'" in "".join(raised.value.__notes__) and not list(group)
    # The tasks of Dask arrays look at their elements.
    with pytest.raises((ValueError, TypeError, OverflowError), match=error):
        to_zarr(ds.chunk(x=1), group, mode="a", encoding={"v": encoding})
    # What was read keeps its encoding.
    changed = stored(np.zeros_like(new), **encoding)
    ds = xr.open_dataset(changed, engine="zarr-kit").load()
    ds["v"] = ds.v.copy(data=np.resize(new, ds.v.shape))
    for arguments in ({"mode": "w"}, {"region": {"x": slice(0, len(new))}}):
        with pytest.raises((ValueError, TypeError, OverflowError), match=error):
            to_zarr(ds, changed, **arguments)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("new", "encoding", "expected"),
    [
        ([1.0, -3.0], {"dtype": "int16"}, [1, -3]),
        ([1.4, -2.6], {"dtype": "int16", "add_offset": 0.0}, [1, -3]),
        ([1.0, np.nan], {"dtype": "uint8", "scale_factor": 0.1, "_FillValue": 255}, [10, 255]),
        (np.array([200, 3], "u1"), {"dtype": "int8", "_Unsigned": "true", "_FillValue": -1}, [-56, 3]),
        (np.array([2**64 - 1], "u8"), {"dtype": "uint64"}, [2**64 - 1]),
        ([True, False], {"dtype": "int8"}, [1, 0]),
    ],
)
def test_elements_that_the_type_of_a_new_variable_expresses(new, encoding, expected, chunked):
    group, ds = zarr_kit.create_group("memory:"), dataset(new)
    to_zarr(ds.chunk(x=1) if chunked else ds, group, mode="a", encoding={"v": encoding})
    assert group["v"].dtype == encoding["dtype"] and group["v"][:].tolist() == expected


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_strings_are_refused(missing):
    new = np.array(["d", missing], object)
    for ds in (dataset(new), dataset(new).chunk(x=1)):
        with pytest.raises(ValueError, match=r"element \[1\] is missing"):
            to_zarr(ds, zarr_kit.create_group("memory:"), mode="a")
    group = stored(np.array(["d", "e"], object))
    for arguments in ({"append_dim": "x"}, {"region": {"x": slice(0, 2)}}):
        with pytest.raises(ValueError, match=r"element \[1\] is missing"):
            to_zarr(dataset(new), group, **arguments)
    assert values(group).tolist() == ["d", "e"]


def test_attributes_that_stored_elements_have_not():
    group = stored(np.arange(3))
    for attribute, value in [("scale_factor", 0.1), ("_FillValue", -1), ("missing_value", -1)]:
        new = dataset(np.arange(3))
        new.v.attrs[attribute] = value
        with pytest.raises(ValueError, match=attribute):
            to_zarr(new, group, append_dim="x")
    assert group["v"].shape == (3,)


def test_times_of_other_programs():
    """Units without a calendar, durations without a type, and Zarr's own times."""
    group = zarr_kit.create_group("memory:")
    for name, dtype, units in [("t", "i8", "days since 2001-1-1"), ("d", "i8", "hours"), ("z", "M8[h]", None)]:
        array = group.create_array(name, shape=1, dtype=dtype, dimension_names=["x"])
        array[0] = "2001-01-01" if units is None else 0
        if units is not None:
            array.attrs["units"] = units
    new = {"t": pd.to_datetime(["2001-01-05"]), "d": pd.to_timedelta([2], "D"), "z": pd.to_datetime(["2001-01-01T05"])}
    to_zarr(xr.Dataset({name: ("x", times) for name, times in new.items()}), group, append_dim="x")
    assert (group["t"][1], group["d"][1], group["z"][1]) == (4, 48, np.datetime64("2001-01-01T05"))
    new["z"] += pd.to_timedelta("1min")
    with pytest.raises(ValueError, match="does not fit into datetime64"):
        to_zarr(xr.Dataset({name: ("x", times) for name, times in new.items()}), group, append_dim="x")
    assert {a.shape for a in group.values()} == {(2,)}


def test_bounds_without_units_have_those_of_their_variable(tmp_path):
    def months(start):
        time = pd.date_range(start, periods=2)
        bounds = np.stack([time, time + pd.Timedelta(days=1)], axis=1)
        variables = {"time": ("time", time, {"bounds": "time_bnds"}), "time_bnds": (("time", "two"), bounds)}
        return xr.Dataset(variables)

    to_zarr(months("2001-01-01"), tmp_path / "t")
    bounds = zarr_kit.open(tmp_path / "t/time_bnds")
    for name in ("units", "calendar"):
        bounds.attrs.pop(name, None)
    to_zarr(months("2001-01-03"), tmp_path / "t", append_dim="time")
    with xr.open_dataset(tmp_path / "t", engine="zarr-kit") as found:
        expected = xr.concat([months("2001-01-01"), months("2001-01-03")], "time")
        np.testing.assert_array_equal(found.time_bnds, expected.time_bnds)


def test_numbers_appended_to_stored_truth_values_are_truth_values(tmp_path):
    array = zarr_kit.create_group(tmp_path / "b").create_array("v", shape=2, dtype="i1", dimension_names=["x"])
    array.attrs["dtype"] = "bool"
    to_zarr(xr.Dataset({"v": ("x", [1, 0])}), tmp_path / "b", append_dim="x")
    with pytest.raises((TypeError, OverflowError), match="bool"):
        to_zarr(xr.Dataset({"v": ("x", [2, 3])}), tmp_path / "b", append_dim="x")
    assert zarr_kit.open(tmp_path / "b/v")[...].tolist() == [0, 0, 1, 0]
