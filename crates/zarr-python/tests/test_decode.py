"""Values as the attributes mean them: as xarray decodes them, and as the command line prints them."""

import subprocess
import sys

import numpy as np
import pytest
import zarr_kit


def stored(folder, dtype, values, **attributes):
    array = zarr_kit.create(folder, shape=np.shape(values), dtype=dtype, chunks=2, attributes=attributes)
    array[...] = values
    return array


def test_scale_offset_and_missing_values(tmp_path):
    array = stored(tmp_path / "t", "i2", [[-999, 4, 6], [8, 10, -1]], scale_factor=0.5, add_offset=10, _FillValue=-999, missing_value=-1)
    found = array.read(decode=True)
    assert found.dtype == "f8" and found.flags.writeable
    np.testing.assert_array_equal(found, [[np.nan, 12, 13], [14, 15, np.nan]])
    np.testing.assert_array_equal(array.read(np.s_[::-1, 1], decode=True), [15, 12])
    assert array.read((0, 1), decode=True).shape == () and array.read((0, 1), decode=True) == 12
    assert array.read().dtype == "i2"
    with pytest.raises(ValueError, match="decode makes a new array"):
        array.read(out=np.zeros((2, 3)), decode=True)


@pytest.mark.parametrize(("dtype", "values", "units", "expected"), [
    ("i4", [58, 59, 60], "days since 2012-01-01", np.array(["2012-02-28", "2012-02-29", "2012-03-01"], "M8[s]")),
    ("f8", [0.5, np.nan, -1.25], "hours since 1970-01-01", np.array(["1970-01-01T00:30", "NaT", "1969-12-31T22:45"], "M8[ns]")),
    ("i8", [2**53 + 1, 1, 0], "nanoseconds since 1970-01-01", np.array([2**53 + 1, 1, 0], "M8[ns]")),
    ("u1", [255, 0, 7], "seconds since 1970-01-01", np.array(["NaT", 0, 7], "M8[s]")),
])
def test_times_become_numpys(dtype, values, units, expected, tmp_path):
    attributes = {"_FillValue": 255} if dtype == "u1" else {}
    found = stored(tmp_path / "t", dtype, values, units=units, **attributes).read(decode=True)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    shown = subprocess.run(
        [sys.executable, "-m", "zarr_kit", "read", tmp_path / "t", "--decode", "-f", "csv"], capture_output=True, text=True, check=True,
    )
    assert shown.stdout.split() == [str(time) for time in expected]


def test_what_has_no_such_values(tmp_path):
    plain = stored(tmp_path / "p", "i2", [1, 2, 3])
    assert plain.read(decode=True).dtype == "i2" and plain.read(decode=True).tolist() == [1, 2, 3]
    assert stored(tmp_path / "s", str, ["a", "b"], units="days since 2000-01-01").read(decode=True).tolist() == ["a", "b"]
    times = np.array(["2012-02-28", "2012-02-29"], "M8[D]")
    np.testing.assert_array_equal(stored(tmp_path / "m", "M8[D]", times, scale_factor=2).read(decode=True), times)
    for name, attributes, message in [
        ("old", {"units": "days since 1582-10-15"}, "the time of -1 is out of the range of numpy's"),
        ("bad", {"units": "fortnights since 2000-01-01"}, "fortnights"),
    ]:
        with pytest.raises(ValueError, match=message):
            stored(tmp_path / name, "i4", [-1, 1], **attributes).read(decode=True)
    leap = {"units": "days since 2000-01-01", "calendar": "noleap"}
    assert stored(tmp_path / "leap", "i4", [-1, 59], **leap).read(decode=True).tolist() == ["1999-12-31T00:00:00", "2000-03-01T00:00:00"]
    with pytest.raises(TypeError, match="not real numbers"):
        stored(tmp_path / "c", "c8", [1j, 2j]).read(decode=True)


def test_as_xarray_decodes(tmp_path):
    xarray = pytest.importorskip("xarray")
    random = np.random.default_rng(37)
    for number, (dtype, attributes) in enumerate([
        ("i2", {"scale_factor": 0.01, "add_offset": -3.5, "_FillValue": 7}),
        ("u1", {"scale_factor": 0.25}),
        ("f4", {"_FillValue": 0.5, "add_offset": 2.0}),
        ("i8", {"units": "minutes since 1999-12-31 23:59:30"}),
        ("f8", {"units": "days since 1900-01-01", "calendar": "proleptic_gregorian"}),
    ]):
        values = (random.random(40) * 100).astype(dtype)
        array = stored(tmp_path / str(number), dtype, values, **attributes)
        variable = xarray.conventions.decode_cf_variable("v", xarray.Variable(["x"], values, attributes))
        found = array.read(decode=True)
        if found.dtype.kind == "M":
            # xarray cuts parts of a nanosecond off.
            difference = found - variable.to_numpy().astype(found.dtype)
            assert (abs(difference.astype("i8")) <= (found.dtype == "M8[ns]")).all()
        else:
            np.testing.assert_allclose(found, variable.to_numpy(), rtol=1e-6)
