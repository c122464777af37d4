"""Writes that survive a power failure."""

import os
import pickle
import shutil
import subprocess
import sys

import pytest
import zarr_kit

COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#define COUNT(name) \\
    int name(int file) { \\
        int log = open(getenv("COUNTED"), O_WRONLY | O_CREAT | O_APPEND, 0600); \\
        write(log, "+", 1); \\
        close(log); \\
        return ((int (*)(int)) dlsym(RTLD_NEXT, #name))(file); \\
    }
COUNT(fsync)
COUNT(fdatasync)
"""

WRITE = """
import pickle, sys
import zarr_kit
settings = {"durability": sys.argv[2]} if sys.argv[2] else None
zarr_kit.create(sys.argv[1], shape=4, dtype="i2", chunks=2, storage_options=settings)
array = zarr_kit.open(sys.argv[1], storage_options=settings)
if sys.argv[3]:
    array = pickle.loads(pickle.dumps(array))
array[...] = 5
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")
@pytest.mark.parametrize("pickled", ["", "pickled"])
def test_files_are_flushed_on_request(tmp_path, pickled):
    source, library = tmp_path / "counter.c", tmp_path / "counter.so"
    source.write_text(COUNTER)
    compiler = shutil.which("cc")
    assert compiler, "a C compiler, which the build needs too"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)

    def flushed(name, setting):
        log, place = tmp_path / f"{name}.log", tmp_path / f"{name}.zarr"
        log.touch()
        command = [sys.executable, "-c", WRITE, place, setting, pickled]
        environment = {**os.environ, "LD_PRELOAD": str(library), "COUNTED": str(log)}
        subprocess.run(command, check=True, env=environment)
        assert zarr_kit.open(place)[...].tolist() == [5, 5, 5, 5]
        return len(log.read_bytes())

    # Two chunks and the document, and at least the folder that names each.
    assert flushed("power", "power-failure") >= 6
    assert flushed("default", "") == 0
    assert flushed("process", "process-end") == 0


def test_other_words_are_refused(tmp_path):
    with pytest.raises(ValueError, match='durability: "process-end" or "power-failure", not "fire"'):
        zarr_kit.create(tmp_path / "a.zarr", shape=1, dtype="i1", storage_options={"durability": "fire"})
    assert list(tmp_path.iterdir()) == []
