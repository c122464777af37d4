"""Copies killed at many moments: zarr-python finds no array or group there, or a whole one.

`killed.py OURS WORK` by itself, or a step of `interop.py`.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import zarr

LENGTH = 1 << 19
KILLS = 24
MARKER = "zarr-kit-copy.json"


def copies(ours, work):
    """Kills, looks, resumes; ends with an error if zarr-python reads what is not there yet."""
    ours = Path(ours).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    expected = np.arange(1, LENGTH + 1, dtype="int32")
    source = zarr.open_group(work / "source", mode="w", zarr_format=3)
    for name in ("a", "b"):
        source.create_array(name, data=expected, chunks=(LENGTH // 4,), compressors=None)

    def copy(target, *more):
        return [ours, "copy", work / "source", target, "--chunks", "4096", "--memory", "4MiB", *more]

    begun = time.monotonic()
    subprocess.run(copy(work / "whole"), check=True, capture_output=True)
    whole = time.monotonic() - begun
    met = {"nothing": 0, "unfinished": 0, "finished": 0}
    for kill in range(KILLS):
        # Every other one over a finished copy of something else.
        target, overwrites = work / f"killed-{kill}", kill % 2 == 1
        if overwrites:
            shutil.copytree(work / "whole", target)
        child = subprocess.Popen(copy(target, *["--overwrite"] * overwrites),
                                 stderr=subprocess.DEVNULL)
        time.sleep(whole * kill / KILLS)
        child.kill()
        child.wait()
        met[look(target, expected)] += 1
        if any(target.rglob(MARKER)):
            subprocess.run(copy(target, "--resume"), check=True, capture_output=True)
            assert look(target, expected) == "finished", f"{target}: is not whole when resumed"
    return met


def look(target, expected):
    """What zarr-python makes of a target, and of each array in it by itself."""
    for name in ("a", "b"):
        if (array := opened(zarr.open_array, target / name)) is not None:
            assert np.array_equal(array[:], expected), f"{target / name}: holes are read as data"
    group = opened(zarr.open_group, target)
    if group is None:
        return "unfinished" if any(target.rglob(MARKER)) else "nothing"
    names = sorted(name for name, _ in group.members())
    assert names == ["a", "b"], f"{target}: a group that is not whole, with {names}"
    return "finished"


def opened(how, path):
    try:
        return how(path, mode="r", zarr_format=3)
    except (FileNotFoundError, zarr.errors.BaseZarrError):
        return None


if __name__ == "__main__":
    print(copies(sys.argv[1], Path(sys.argv[2])))
