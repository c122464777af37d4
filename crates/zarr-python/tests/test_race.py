"""Processes that write next to each other, in the same chunks, lose nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

RACE = Path(__file__).parents[1] / "bench" / "race.py"


@pytest.mark.parametrize("store", ["local", "S3"])
def test_nothing_is_lost(store):
    if store == "S3":
        pytest.importorskip("moto.server")
        pytest.importorskip("obstore")
    arguments = ["--runs", "1", "--kinds", "zarr-kit", "pipeline", "--stores", store]
    run = subprocess.run([sys.executable, RACE, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    expected = [f"{kind}, {store}: 0 lost in 1 runs: [0]" for kind in ("zarr-kit", "pipeline")]
    assert run.stdout.splitlines() == expected
