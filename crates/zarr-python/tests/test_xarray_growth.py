"""Chunks of a first short write, to which is appended."""

import logging

import numpy as np
import pytest
import xarray as xr
import zarr_kit
import zarr_kit.xarray as zx


def chunks(url):
    return {key: zarr_kit.open(url)[key].write_chunk_sizes for key in zarr_kit.open(url)}


def steps(start, stop, width=3):
    values = np.arange(start, stop)[:, None] + np.arange(width) / 8
    return xr.Dataset(
        {"v": (("t", "x"), values), "name": ("t", np.array([f"n{n}" for n in range(start, stop)], np.dtypes.StringDType()))},
        {"t": np.arange(start, stop), "x": np.arange(width)},
    )


@pytest.mark.parametrize("first", [0, 1])
def test_a_first_step_leaves_few_chunks(tmp_path, first, caplog):
    url = tmp_path / "a.zarr"
    zx.to_zarr(steps(0, first), url)
    with caplog.at_level(logging.WARNING, "zarr_kit"):
        for start, stop in ((first, 2), (2, 3), (3, 1000)):
            zx.to_zarr(steps(start, stop), url, append_dim="t")
    found = chunks(url)
    assert max(len(found[name][0]) for name in ("v", "t", "name")) == 1, found
    assert not caplog.records
    # The axes that do not grow are as they were.
    assert found["x"] == ((3,),) and found["v"][1] == (3,)
    read = xr.open_dataset(url, engine="zarr-kit").load()
    xr.testing.assert_equal(read, steps(0, 1000))


def test_xarray_and_zarr_python_read_and_append(tmp_path):
    url = tmp_path / "a.zarr"
    zx.to_zarr(steps(0, 1), url)
    steps(1, 40).to_zarr(url, append_dim="t", consolidated=False)
    zx.to_zarr(steps(40, 50).chunk(t=3), url, append_dim="t")
    for engine in ("zarr-kit", "zarr"):
        options = {} if engine == "zarr-kit" else {"consolidated": False}
        xr.testing.assert_equal(xr.open_dataset(url, engine=engine, **options).load(), steps(0, 50))
        lazy = xr.open_dataset(url, engine=engine, chunks={}, **options)
        assert lazy.v.chunks == ((50,), (3,))


def test_other_chunks_stay(tmp_path):
    """What is asked for, what is not short, and what is large enough."""
    wide = xr.Dataset({"v": (("t", "x"), np.zeros((1, 20_000)))})
    for number, (data, options, expected) in enumerate(
        (
            (steps(0, 2), {}, (2, 3)),
            (steps(0, 31), {}, (31, 3)),
            (steps(0, 1), {"chunks": {"t": 1}}, (1, 3)),
            (steps(0, 1), {"encoding": {"v": {"chunks": (5, 3)}}}, (5, 3)),
            (steps(0, 1).chunk(), {}, (1, 3)),
            (wide, {}, (1, 20_000)),
            (wide.isel(x=slice(1)).transpose("x", "t"), {}, (8192, 1)),
            (xr.Dataset({"v": ("t", np.zeros(1, "i1"))}), {}, (65536,)),
            (xr.Dataset({"v": ((), 1.0)}), {}, ()),
        )
    ):
        url = tmp_path / f"{number}.zarr"
        zx.to_zarr(data, url, **options)
        grid = zarr_kit.open(url)["v"].metadata["chunk_grid"]
        assert tuple(grid["configuration"]["chunk_shape"]) == expected, (number, grid)


def test_a_step_takes_little_space(tmp_path):
    """A stored chunk has its full length, which compresses to nothing."""
    zx.to_zarr(steps(0, 1), tmp_path / "a.zarr")
    files = (path for path in (tmp_path / "a.zarr").rglob("*") if path.is_file() and path.name != "zarr.json")
    sizes = [path.stat().st_size for path in files]
    assert sizes and max(sizes) < 400, sizes
