"""Joins of stores as Xarray writes them by default, each with times since its own first one, against
`xarray.concat` of the decoded datasets."""

import warnings

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
pytest.importorskip("zarr")
pytest.importorskip("cftime")

CALENDARS = ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[cC]onsolidated metadata.*")
        yield


def month(calendar, number, freq, days=30):
    """A dataset of the first days of a month, with bounds of its times."""
    start = f"2012-{number:02}-01"
    times = xr.date_range(start, periods=days, freq=freq, calendar=calendar, use_cftime=True)
    ends = xr.date_range(start, periods=days + 1, freq=freq, calendar=calendar, use_cftime=True)[1:]
    bounds = np.stack([times, ends], axis=1)
    rain = np.arange(days, dtype="f4") + 100 * number
    return xr.Dataset(
        {"rain": ("time", rain, {"units": "mm"}), "time_bnds": (("time", "bnds"), bounds)},
        {"time": ("time", times, {"bounds": "time_bnds"})},
    )


def stored(tmp_path, datasets, zarr_format, encoding):
    paths = []
    for number, ds in enumerate(datasets):
        paths.append(str(tmp_path / f"{number}.zarr"))
        ds.to_zarr(paths[-1], zarr_format=zarr_format, encoding=encoding, consolidated=False)
    return paths


def opened(path, engine):
    coder = xr.coders.CFDatetimeCoder(use_cftime=True)
    kwargs = {"consolidated": False} if engine == "zarr" else {}
    return xr.open_dataset(path, engine=engine, decode_times=coder, **kwargs)


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("freq", "encoding"),
    [("D", {}), ("6h", {}), ("12h", {"time": {"dtype": "float64", "units": None}}), ("D", {"time": {"dtype": "int32"}})],
)
def test_months_are_what_xarray_concatenates(tmp_path, calendar, zarr_format, freq, encoding):
    encoding = {name: {key: value for key, value in of.items() if value} for name, of in encoding.items()}
    members = [month(calendar, number, freq) for number in (1, 3, 4)]
    if freq == "D":
        # As whole days in each of two units.
        members[2].time.encoding["units"] = "hours since 2012-03-02"
        members[0].time.encoding["units"] = "hours since 2012-01-01"
    paths = stored(tmp_path, members, zarr_format, encoding)
    units = [zarr_kit.open_group(path)["time"].attrs["units"] for path in paths]
    assert len(set(units)) == 3, units
    with pytest.raises(ValueError, match="the attribute units is .*: a virtual join converts no values"):
        zarr_kit.join(paths, tmp_path / "all.zjoin", along="time", virtual=True)
    done = zarr_kit.join(paths, tmp_path / "all.zarr", along="time")
    assert done.linked + done.cloned + done.copied >= 3
    expected = xr.concat([opened(path, "zarr") for path in paths], "time", combine_attrs="override")
    found = opened(str(tmp_path / "all.zarr"), "zarr-kit")
    xr.testing.assert_identical(found.load(), expected.load())
    assert zarr_kit.open_group(tmp_path / "all.zarr")["time"].attrs["units"] == units[0]


def test_what_is_not_exact_names_the_step_that_makes_it_so(tmp_path):
    hourly = {"time": {"dtype": "float64", "units": "days since 2012-02-01"}}
    days = {"time": {"dtype": "float64", "units": "days since 2012-01-01"}}
    paths = stored(tmp_path, [month("standard", 1, "D")], 3, days)
    (tmp_path / "b").mkdir()
    paths += stored(tmp_path / "b", [month("standard", 2, "h")], 3, hourly)
    step = r'has no exact number in these units; write the times of all members in "seconds since 2012-01-01", as int64'
    with pytest.raises(ValueError, match=step):
        zarr_kit.join(paths, tmp_path / "all.zarr", along="time")
    assert not (tmp_path / "all.zarr").exists()
    seconds = {name: {"dtype": "int64", "units": "seconds since 2012-01-01"} for name in ("time", "time_bnds")}
    (tmp_path / "c").mkdir()
    paths = stored(tmp_path / "c", [month("standard", 1, "D"), month("standard", 2, "h")], 3, seconds)
    zarr_kit.join(paths, tmp_path / "all.zarr", along="time")
    expected = xr.concat([opened(path, "zarr") for path in paths], "time", combine_attrs="override")
    xr.testing.assert_identical(opened(str(tmp_path / "all.zarr"), "zarr-kit").load(), expected.load())
