"""The examples of the pages on Python."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_kit

ROOT = Path(__file__).resolve().parents[3]


def blocks_of(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/past-one-machine.md", "crates/zarr-python/README.md"])
def test_examples_run(page, tmp_path, monkeypatch):
    pytest.importorskip("dask.array")
    monkeypatch.chdir(tmp_path)
    blocks, names = blocks_of(page), {}
    assert blocks
    for number, block in enumerate(blocks):
        if '__name__ == "__main__"' in block:
            (tmp_path / "script.py").write_text(block)
            subprocess.run([sys.executable, "script.py"], check=True)
        else:
            exec(compile(block, f"{page}, example {number + 1}", "exec"), names)


def test_years_of_netcdf_become_one_array(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    pytest.importorskip("kerchunk.hdf")
    pytest.importorskip("dask.array")
    monkeypatch.chdir(tmp_path)
    fixtures = ROOT / "fixtures/netcdf-years"
    for file in fixtures.glob("*.nc"):
        shutil.copy(file, tmp_path)
    references, opened = blocks_of("docs/netcdf.md")
    exec(compile(references, "netcdf.md, example 1", "exec"), {})
    members = sorted(tmp_path.glob("kerchunk-*.json"))
    assert len(members) == 20
    zarr_kit.join(members, tmp_path / "years.zjoin", along="time", virtual=True)
    temp = zarr_kit.open("years.zjoin/temp")
    assert temp.shape == (7305, 2) and temp.chunks[0][:4] == (365, 365, 365, 366)
    assert temp[...].tobytes() == (fixtures / "temp.raw").read_bytes()
    names = {}
    exec(compile(opened, "netcdf.md, example 2", "exec"), names)
    assert names["ds"].temp.chunks[0] == temp.chunks[0]
    assert np.isfinite(names["ds"].temp.groupby("time.year").mean().compute()).all()
