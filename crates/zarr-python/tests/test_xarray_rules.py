"""Appends by the rules of the command, changes in place, and attributes that are no JSON."""

import itertools
import json

import numpy as np
import pytest
import zarr_kit

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")

import zarr_kit.dask  # noqa: E402
from zarr_kit.xarray import to_zarr  # noqa: E402


def kit(where, **arguments):
    return xr.open_dataset(where, engine="zarr-kit", **arguments)


def part(time, level=(1000, 850, 500), values=(0.0, 1, 2)):
    return xr.Dataset({"v": (("time", "level"), [list(values)])}, {"time": [time], "level": list(level)})


@pytest.mark.parametrize("mode", ["a", "a-"])
def test_appended_coordinates_are_those_that_are_stored(mode, tmp_path):
    to_zarr(part(0), tmp_path / "a")
    before = kit(tmp_path / "a").load()
    with pytest.raises(ValueError, match="'level' has no dimension 'time'"):
        to_zarr(part(1, (500, 850, 1000)), tmp_path / "a", append_dim="time", mode=mode)
    xr.testing.assert_identical(kit(tmp_path / "a").load(), before)
    to_zarr(part(1), tmp_path / "a", append_dim="time", mode=mode)
    assert kit(tmp_path / "a").v.values.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_appended_coordinates_follow_those_that_are_stored(tmp_path):
    times = pd.date_range("2001-01-01", periods=4)
    ds = xr.Dataset({"v": ("time", np.arange(4.0))}, {"time": times})
    to_zarr(ds, tmp_path / "a")
    for again in (ds, ds.isel(time=slice(3, 4)), ds.assign_coords(time=times - pd.Timedelta("9D"))):
        with pytest.raises(ValueError, match="overlap or go backwards") as error:
            to_zarr(again, tmp_path / "a", append_dim="time")
        assert "any_order=True" in error.value.__notes__[0]
    assert kit(tmp_path / "a").sizes == {"time": 4}
    to_zarr(ds, tmp_path / "a", append_dim="time", any_order=True)
    assert kit(tmp_path / "a").v.values.tolist() == [0, 1, 2, 3] * 2
    later = ds.assign_coords(time=times + pd.Timedelta("9D"))
    with pytest.raises(ValueError, match="2001-01-10"):
        to_zarr(later.isel(time=[1, 0]), tmp_path / "b", mode="w")
        to_zarr(later.isel(time=[3, 0]), tmp_path / "b", append_dim="time")


def test_climatologies_are_converted_as_time_is(tmp_path):
    def year(name, origin):
        group = zarr_kit.create_group(tmp_path / name)
        time = {"units": f"days since {origin}", "climatology": "cb"}
        for path, values, dims, attributes in (
            ("v", [1.0, 2], ["time"], {}),
            ("time", [15.0, 45], ["time"], time),
            ("cb", [[0.0, 31], [31, 59]], ["time", "nv"], {}),
        ):
            values = np.array(values)
            array = group.create_array(path, shape=values.shape, dtype="f8", dimension_names=dims, attributes=attributes)
            array[...] = values
        return tmp_path / name

    a, b = year("a", "2010-01-01"), year("b", "2010-03-01")
    to_zarr(kit(b).load(), a, append_dim="time")
    found = kit(a, decode_times=False)
    assert found.time.values.tolist() == [15, 45, 74, 104]
    assert found.cb.values.tolist() == [[0, 31], [31, 59], [59, 90], [90, 118]]


def test_a_coordinate_that_is_added_is_one(tmp_path):
    ds = xr.Dataset({"a": ("x", np.ones(3))})
    to_zarr(ds, tmp_path / "a")
    to_zarr(ds.assign_coords(c=("x", [1, 2, 3]), s=7), tmp_path / "a", mode="a")
    assert set(kit(tmp_path / "a").coords) == {"c", "s"}
    to_zarr(ds.assign(b=("x", np.zeros(3))), tmp_path / "a", mode="a")
    found = kit(tmp_path / "a")
    assert set(found.coords) == {"c", "s"} and set(found.data_vars) == {"a", "b"}


@pytest.fixture
def grid(tmp_path):
    lat = np.linspace(90, -90, 12)
    values = np.arange(48.0).reshape(4, 12)
    ds = xr.Dataset({"t": (("time", "lat"), values), "u": (("time", "lat"), -values)}, {"lat": lat, "time": range(4)})
    to_zarr(ds.chunk(time=2, lat=3), tmp_path / "g")
    return tmp_path / "g"


def test_data_in_another_order_is_not_written_to_its_source(grid):
    before = kit(grid).load()
    stored = kit(grid, chunks={})
    swapped = stored.drop_vars(["lat", "time"]).assign(t=stored.u.variable, u=stored.t.variable)
    for changed in (
        stored.sortby("lat"),
        stored.roll(lat=1),
        stored.isel(time=slice(None, None, -1)),
        stored - stored.mean("time"),
        stored.chunk(time=4, lat=12)[["t"]].sortby("lat").chunk(lat=3),
        swapped,
    ):
        with pytest.raises(ValueError, match="which is written at the same time"):
            to_zarr(changed.drop_vars(["lat", "time"], errors="ignore"), grid, mode="a")
    with pytest.raises(ValueError, match="which is written at the same time"):
        shifted = stored[["t"]].isel(time=slice(0, 2)).drop_vars(["lat", "time"])
        to_zarr(shifted, grid, region={"time": slice(2, 4), "lat": slice(0, 12)})
    xr.testing.assert_identical(kit(grid).load(), before)


def test_changes_element_by_element_and_of_whole_blocks_are_written_in_place(grid):
    before = kit(grid).load()
    stored = kit(grid, chunks={})
    to_zarr(stored + 1, grid, mode="a")
    np.testing.assert_array_equal(kit(grid).t, before.t + 1)
    to_zarr((stored[["t"]].isel(time=slice(2, 4)) * 2).drop_vars(["lat", "time"]), grid, region={"time": slice(2, 4), "lat": slice(0, 12)})
    np.testing.assert_array_equal(kit(grid).t[2:], (before.t[2:] + 1) * 2)
    # Blocks at the edges of the region read whole chunks.
    edge = grid.with_name("edge")
    to_zarr(before, edge, chunks={"time": 2, "lat": 3})
    part = (kit(edge, chunks={})[["t"]].isel(time=slice(1, 4), lat=slice(2, 7)) * 3).drop_vars(["lat", "time"])
    to_zarr(part, edge, region={"time": slice(1, 4), "lat": slice(2, 7)})
    expected = before.t.copy()
    expected[1:, 2:7] *= 3
    np.testing.assert_array_equal(kit(edge).t, expected)
    # Without Dask the data is read before any is written.
    lazy = kit(grid)
    t, u = lazy.t.values.copy(), lazy.u.values.copy()
    lazy = kit(grid)
    to_zarr(lazy.drop_vars(["lat", "time"]).assign(t=lazy.u.variable, u=lazy.t.variable), grid, mode="a")
    np.testing.assert_array_equal(kit(grid).t, u)
    np.testing.assert_array_equal(kit(grid).u, t)


def test_dask_arrays_are_not_written_to_their_source_in_another_order(tmp_path):
    array = zarr_kit.create(tmp_path / "a", shape=8, dtype="i4", chunks=2)
    array[...] = range(8)
    read = zarr_kit.dask.from_zarr(tmp_path / "a")
    for changed in (read[::-1], read.rechunk(8)[::-1].rechunk(2)):
        with pytest.raises(ValueError, match="which is written at the same time"):
            zarr_kit.dask.to_zarr(changed, array)
    assert array[:].tolist() == list(range(8))
    zarr_kit.dask.to_zarr(read * 2, array)
    assert array[:].tolist() == list(range(0, 16, 2))


def test_numbers_that_say_nothing_are_left_out(tmp_path):
    ds = xr.Dataset({"t": ("x", np.array([1, np.nan], "f4")), "n": ("x", [1, 2])})
    ds.t.attrs |= {"valid_range": np.array([0, np.inf])}
    ds.n.attrs |= {"valid_range": [-np.inf, 5.0], "valid_max": np.inf}
    ds.t.encoding = {"missing_value": np.float32(np.nan)}
    to_zarr(ds, tmp_path / "a")
    found = zarr_kit.open_group(tmp_path / "a")
    assert found["t"].attrs.asdict().get("valid_min") == 0 and "valid_range" not in found["t"].attrs
    assert found["n"].attrs.asdict() == {"valid_max": 5.0}
    for document in (tmp_path / "a").rglob("zarr.json"):
        json.loads(document.read_text(), parse_constant=pytest.fail)
    np.testing.assert_array_equal(kit(tmp_path / "a").t, [1, np.nan])
    ds.t.attrs = {"scale": [1, np.nan]}
    with pytest.raises(ValueError, match="'scale'") as error:
        to_zarr(ds, tmp_path / "b")
    assert "'t'" in "".join(error.value.__notes__)


def test_attributes_that_are_stored_are_not_written_again(tmp_path):
    ds = xr.Dataset({"t": ("x", [1.0, 2.0])}, {"x": [0, 1]}, {"nominal": np.nan})
    ds.to_zarr(tmp_path / "a", zarr_format=3, consolidated=False)
    document = (tmp_path / "a/zarr.json").read_text()
    found = kit(tmp_path / "a").load()
    to_zarr(found, tmp_path / "a", region="auto")
    to_zarr(found.assign_coords(x=[2, 3]), tmp_path / "a", append_dim="x")
    assert kit(tmp_path / "a").sizes == {"x": 4}
    assert (tmp_path / "a/zarr.json").read_text() == document
    with pytest.raises(ValueError, match="'other'") as error:
        to_zarr(found.assign_coords(x=[4, 5]).assign_attrs(other=np.inf), tmp_path / "a", append_dim="x")
    assert "the group" in "".join(error.value.__notes__)


def test_no_block_reads_what_another_one_writes(tmp_path):
    """All orders of small Dask arrays: refused, or written as they were computed before."""
    random = np.random.default_rng(59)
    values = np.arange(12).reshape(3, 4)
    refused = 0
    for chunks, flip, move in itertools.product([(1, 2), (3, 4), (2, 3)], [1, -1], [0, 1, 2]):
        place = tmp_path / f"{chunks}{flip}{move}"
        array = zarr_kit.create(place, shape=(3, 4), dtype="i4", chunks=chunks)
        array[...] = values
        blocks = zarr_kit.dask.from_zarr(place)
        changed = da.roll(blocks[::flip], move, axis=1) * int(random.integers(1, 5))
        expected = changed.compute()
        try:
            zarr_kit.dask.to_zarr(changed, array)
        except ValueError:
            refused += 1
            expected = values
        np.testing.assert_array_equal(array[...], expected)
    assert 0 < refused < 18
