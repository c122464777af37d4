"""Processes that write next to each other, in the same chunks, lose nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

RACE = Path(__file__).parents[1] / "bench" / "race.py"


def check(*arguments):
    arguments = ["--runs", "1", "--kinds", "zarr-kit", "pipeline", *arguments]
    run = subprocess.run([sys.executable, RACE, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    store = arguments[arguments.index("--stores") + 1]
    expected = [f"{kind}, {store}: 0 lost in 1 runs: [0]" for kind in ("zarr-kit", "pipeline")]
    assert run.stdout.splitlines() == expected


def test_nothing_is_lost_in_a_folder():
    check("--stores", "local")


def test_nothing_is_lost_on_a_server(server):
    """The repository's server answers at the same time those requests that moto's answers in turn."""
    pytest.importorskip("obstore")
    # Seven tasks share a chunk, and a server that answers without locks loses elements in every run.
    check("--stores", "S3", "--tasks", "60", "--endpoint", server.endpoint)
