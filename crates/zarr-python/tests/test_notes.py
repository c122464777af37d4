"""The logger `zarr_kit` says who reads arrays that others refuse by default."""

import logging

import numpy as np
import pytest
import zarr_kit


@pytest.fixture
def stored(tmp_path):
    for name, length in {"january": 31, "february": 28}.items():
        zarr_kit.create(tmp_path / name, shape=length, dtype="i2", chunks=length)[...] = 1
    return [tmp_path / "january", tmp_path / "february"]


def test_of_a_join(stored, tmp_path, caplog):
    zarr_kit.join(stored, along=0, dry_run=True)
    zarr_kit.join(stored, tmp_path / "equal", along=0, chunks=59)
    assert not caplog.records
    zarr_kit.join(stored, tmp_path / "both", along=0)
    [record] = caplog.records
    assert (record.name, record.levelno) == ("zarr_kit", logging.WARNING)
    assert record.getMessage().startswith("the array: chunks of several lengths (rectilinear). Xarray reads them")


def test_what_is_said_is_true(tmp_path, caplog):
    xarray = pytest.importorskip("xarray")
    zarr = pytest.importorskip("zarr")
    import zarr_kit.xarray

    names = ["rain", "wind", "sun\nfog", "snow"]
    dataset = xarray.Dataset({name: ("day", np.ones(59, "i2")) for name in names})
    place = tmp_path / "d.zarr"
    zarr_kit.xarray.to_zarr(dataset, place, chunks={"day": [31, 28]})
    [record] = caplog.records
    assert record.getMessage().startswith(r"'rain', 'wind', 'sun\nfog' and 1 more: chunks of several lengths")
    caplog.clear()
    zarr_kit.xarray.to_zarr(dataset, place, append_dim="day")
    zarr_kit.xarray.to_zarr(dataset, tmp_path / "equal.zarr", chunks={"day": 20})
    assert not caplog.records
    with zarr.config.set({"array.rectilinear_chunks": False}), pytest.raises(ValueError, match="rectilinear"):
        zarr.open_group(place)["rain"]
    with zarr.config.set({"array.rectilinear_chunks": True}):
        assert zarr.open_group(place)["rain"].shape == (118,)
    assert xarray.open_dataset(place, engine="zarr-kit").rain.shape == (118,)
