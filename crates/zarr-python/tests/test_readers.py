"""The row on Xarray of the table of programs that read an array, by running Xarray."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import zarr_kit

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")

TABLE = Path(__file__).resolve().parents[3] / "crates/zarr-report/src/readers/programs.json"
PROGRAMS = {program["name"]: program for program in json.loads(TABLE.read_text("utf-8"))["programs"]}
XARRAY, READER = PROGRAMS["Xarray"], PROGRAMS["zarr-python"]
NUMBERS = [name for name in READER["data_types"] if name in np.sctypeDict and name not in ("bytes", "string")]
CHUNKS = {"regular": 4, "rectilinear": [[2, 3, 4]]}


def test_the_versions_are_those_that_run():
    for module, program in ((xr, XARRAY), (zarr, READER)):
        assert module.__version__.startswith(program["version"]), program["name"]


@pytest.mark.parametrize("grid", CHUNKS)
@pytest.mark.parametrize("data_type", NUMBERS)
def test_xarray_reads_what_its_row_says(tmp_path, grid, data_type):
    values = (np.arange(9) % 2).astype(data_type)
    zarr_kit.create_group(tmp_path / "g")
    array = zarr_kit.create(
        tmp_path / "g", "v", shape=9, dtype=data_type, chunks=CHUNKS[grid], dimension_names=["x"]
    )
    array[:] = values
    settings = {XARRAY["setting"][grid]: True} if grid in XARRAY["setting"] else {}
    for given in [settings, {name: False for name in settings}]:
        reads = given == settings and grid in XARRAY["grids"]
        with warnings.catch_warnings(), zarr.config.set(given):
            warnings.simplefilter("ignore")
            if reads:
                found = xr.open_dataset(tmp_path / "g", engine="zarr", consolidated=False, decode_cf=False)
                assert found.v.values.tobytes() == values.tobytes()
            else:
                with pytest.raises(ValueError, match=grid):
                    xr.open_dataset(tmp_path / "g", engine="zarr", consolidated=False)


WITHOUT_THIS_PACKAGE = """
import importlib.metadata as metadata
import sys

every = metadata.entry_points
metadata.entry_points = lambda **how: metadata.EntryPoints(
    entry for entry in every(**how) if not entry.value.startswith("zarr_kit")
)
import xarray

try:
    xarray.open_dataset(sys.argv[1], engine="zarr", consolidated=False)
except ValueError as error:
    print(error)
"""
"""Reads a group as if this package, whose entry points give zarr-python its codecs, were not installed."""


@pytest.mark.parametrize("codec", ["packbits", "reshape"])
def test_xarray_lacks_what_its_row_lacks(tmp_path, codec):
    assert codec not in READER["codecs"]
    reshape = [{"name": "reshape", "configuration": {"shape": [[0], 1]}}, "bytes"]
    codecs = reshape if codec == "reshape" else [codec]
    zarr_kit.create_group(tmp_path / "g")
    array = zarr_kit.create(tmp_path / "g", "v", shape=4, dtype="uint8", codecs=codecs, dimension_names=["x"])
    array[:] = 1
    command = [sys.executable, "-c", WITHOUT_THIS_PACKAGE, tmp_path / "g"]
    assert codec in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert xr.open_dataset(tmp_path / "g", engine="zarr-kit").v.values.tolist() == [1] * 4
