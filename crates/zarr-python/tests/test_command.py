"""The command line as the package brings it, against what its documentation prints."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_kit

MODULE = [sys.executable, "-m", "zarr_kit"]


def run(*arguments, **options):
    return subprocess.run([*MODULE, *map(str, arguments)], capture_output=True, text=True, **options)


@pytest.fixture
def folder(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(59, 3), dtype="i2", chunks=[(31, 28), 3])
    array[:] = np.arange(177).reshape(59, 3)
    return tmp_path


def test_what_is_stored_is_read(folder):
    done = run("read", folder / "a.zarr", "--region", "57:59", "--format", "json")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, [[171, 172, 173], [174, 175, 176]], "")


def test_the_help_names_the_command():
    done = run("--help")
    assert done.returncode == 0 and "Usage: zarr-kit [OPTIONS] <COMMAND>" in done.stdout
    assert run("--version").stdout == f"zarr-kit {zarr_kit.__version__}\n"
    assert "Usage: zarr-kit read" in run("read", "--help").stdout


def test_exit_statuses_and_errors(folder):
    done = run("read", folder / "none.zarr")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("error: ")
    done = run("raed")
    assert done.returncode == 2 and done.stderr == 'error: there is no command "raed"; did you mean read?\n'
    done = run("read", "--quux")
    assert done.stderr == "error: there is no option --quux; see zarr-kit read --help\n"
    assert run().returncode == 2
    (folder / "a.zarr/stray").write_text("")
    done = run("check", folder / "a.zarr")
    assert done.returncode == 1 and "stray-object" in done.stdout


def test_output_goes_where_it_is_sent(folder):
    with (folder / "out.txt").open("wb") as out:
        out.write(b"before\n")
        out.flush()
        subprocess.run([*MODULE, "read", folder / "a.zarr", "--region", "0", "--format", "lines"], stdout=out, check=True)
    assert (folder / "out.txt").read_text() == "before\n0\n1\n2\n"


def test_a_reader_that_leaves_is_no_error(folder):
    zarr_kit.create(folder / "big.zarr", shape=2**20, dtype="i4")
    command = " ".join([*MODULE, "read", str(folder / "big.zarr"), "--format", "lines"])
    done = subprocess.run(["sh", "-c", f"({command}; echo $? >&2) | head -n 1"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "0\n")


def test_arguments_need_not_be_utf8(folder):
    name = os.fsencode(folder) + b"/\xff.zarr"
    done = subprocess.run([*MODULE, "create", name, "--shape", "3", "--dtype", "int8"], capture_output=True)
    assert done.returncode in (0, 2) and b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_it(folder):
    # A pipe that nobody reads blocks the command.
    zarr_kit.create(folder / "big.zarr", shape=2**20, dtype="i4")
    process = subprocess.Popen(
        [*MODULE, "read", folder / "big.zarr", "--format", "lines"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.read(2) == b"0\n"
    process.send_signal(signal.SIGINT)
    process.wait(20)
    assert process.returncode == 128 + signal.SIGINT
    process.stdout.close()
    assert b"interrupted" in process.stderr.read()
    process.stderr.close()


def test_the_script_is_the_same_program(folder):
    script = Path(sys.executable).with_name("zarr-kit")
    if not script.exists():
        pytest.skip("the package is not installed as a wheel")
    done = subprocess.run([script, "info", folder / "a.zarr"], capture_output=True, text=True)
    assert done.stdout == run("info", folder / "a.zarr").stdout


TWICE = """
import sys, threading, zarr_kit._native
def run(*arguments):
    return zarr_kit._native.main_from(["zarr-kit", "read", sys.argv[1], *arguments])
statuses = [run("--outside-members"), run(), run("--outside-members")]
threads = [threading.Thread(target=lambda: statuses.append(run("--outside-members"))), threading.Thread(target=run)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(statuses, file=sys.stderr)
"""


def test_a_call_allows_nothing_to_the_next(tmp_path):
    places = [tmp_path / name for name in ("a.zarr", "b.zarr")]
    for place in places:
        zarr_kit.create(place, shape=2, dtype="i1", dimension_names=["x"])
    (tmp_path / "inner").mkdir()
    zarr_kit.join(places, tmp_path / "inner/q.zjoin", along="x", virtual=True)
    done = subprocess.run([sys.executable, "-c", TWICE, str(tmp_path / "inner/q.zjoin")], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "[0, 2, 0, 0]"
