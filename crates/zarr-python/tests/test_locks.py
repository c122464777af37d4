"""A lock that another process holds."""

import signal
import subprocess
import sys

import pytest
import zarr_kit

fcntl = pytest.importorskip("fcntl")

WRITE = """
import sys, zarr_kit
array = zarr_kit.open(sys.argv[1])
try:
    print("writes", flush=True)
    {change}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    ("lock", "change"),
    [
        ("c/.zarr-kit-lock.0", "array[0] = 1"),
        (".zarr-kit-lock.zarr.json", "array.resize(9)"),
        (".zarr-kit-lock.zarr.json", "array.attrs['x'] = 1"),
    ],
)
def test_ctrl_c_ends_a_wait(tmp_path, lock, change):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4, dtype="u1", chunks=2)
    array[:] = 7
    with open(tmp_path / "a.zarr" / lock, "w") as held:
        # A lock of another open file excludes like that of another process.
        fcntl.flock(held, fcntl.LOCK_EX)
        command = [sys.executable, "-c", WRITE.format(change=change), str(tmp_path / "a.zarr")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout.readline() == "writes\n"
            # It waits, or is about to: either way the signal ends it, and nothing else would.
            writer.send_signal(signal.SIGINT)
            assert writer.communicate(timeout=60)[0] == "interrupted\n"
    assert zarr_kit.open(tmp_path / "a.zarr")[:].tolist() == [7, 7, 7, 7]
