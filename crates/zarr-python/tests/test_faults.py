"""Faults from outside: signals, full disks, missing rights, hostile stores, dead workers."""

import errno
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import zarr_kit

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix")

INTERRUPTED = """
import os, signal, sys, threading, time, numpy, zarr_kit

folder, what = sys.argv[1:]
raw = [{"name": "bytes", "configuration": {"endian": "little"}}]
array = zarr_kit.create(folder, shape=4_000_000, dtype="u1", chunks=100, codecs=raw, threads=2)
if what != "write":
    array[:100_000] = 1

def begin(*_):
    os.kill(os.getpid(), signal.SIGINT)

try:
    if what == "write":
        threading.Timer(0.05, begin).start()
        array[:] = 1
    elif what == "check":
        array.check(progress=begin)
    else:
        zarr_kit.copy(array, folder + "-2", chunks=10, memory="1MiB", progress=begin)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


@UNIX
@pytest.mark.parametrize("what", ["write", "check", "copy"])
def test_ctrl_c_ends_long_work_between_two_chunks(what, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "a.zarr"), what], capture_output=True, text=True, timeout=50
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
    array = zarr_kit.open(tmp_path / "a.zarr")
    assert array.check().errors == []
    if what == "write":
        assert 0 < array.info.chunks_stored < 40_000
    if what == "copy":
        with pytest.raises(zarr_kit.UnfinishedCopyError):
            zarr_kit.open(tmp_path / "a.zarr-2")


@UNIX
def test_ctrl_c_ends_a_long_read(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=3_000_000, dtype="u1", chunks=1)
    # Nothing is listed, so each of these chunks is requested, which takes seconds.
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        array[...]
    assert array[5:7].tolist() == [0, 0]


def test_exceptions_of_other_handlers_come_through(tmp_path):
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timers")

    def alarm(number, frame):
        raise TimeoutError("long enough")

    array = zarr_kit.create(tmp_path / "a.zarr", shape=3_000_000, dtype="u1", chunks=1)
    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match="long enough"):
            array[...]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_during_a_read(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=300_000, dtype="u1", chunks=1)
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    array[...]
    after = counted[0]
    ended.set()
    thread.join()
    assert after - before > 100


@UNIX
def test_missing_rights_are_permission_errors(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4, dtype="i4", chunks=2)
    array[:] = 1
    for folder in (tmp_path, tmp_path / "a.zarr"):
        folder.chmod(0o755)
    (tmp_path / "a.zarr/c").chmod(0)
    child = os.fork()
    if child == 0:
        # Root may do everything, so root becomes the user nobody here.
        status = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            for work in (lambda: array[:], lambda: array.__setitem__(0, 1)):
                try:
                    work()
                except PermissionError:
                    continue
                os._exit(2)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    (tmp_path / "a.zarr/c").chmod(0o755)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "a.zarr").write_text("")
    with pytest.raises(OSError):
        zarr_kit.open(tmp_path / "a.zarr")


def full(folder):
    """A very small file system, if this process may mount one."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    return done.returncode == 0


@UNIX
def test_a_full_disk_is_an_os_error_and_loses_nothing(tmp_path):
    if not full(tmp_path):
        pytest.skip("no file system of its own can be mounted")
    try:
        raw = [{"name": "bytes", "configuration": {"endian": "little"}}]
        array = zarr_kit.create(tmp_path / "a.zarr", shape=40_000, dtype="i4", chunks=2000, codecs=raw)
        array[:2000] = 7
        with pytest.raises(OSError, match="space|full"):
            array[:] = np.arange(40_000)
        assert set(np.unique(array[:2000])) <= {7, *range(2000)}
        assert array.check().errors == []
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_store_that_is_deleted_meanwhile(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=4, dtype="i4", chunks=2, fill_value=3)
    array[:] = 1
    (tmp_path / "a.zarr").rename(tmp_path / "b.zarr")
    for work in (lambda: array.refresh(), lambda: array.append([1]), lambda: array.attrs.update(a=1)):
        with pytest.raises(OSError):
            work()
    assert (tmp_path / "b.zarr/zarr.json").exists() and not (tmp_path / "a.zarr/zarr.json").exists()
    # What is missing reads as the fill value, here as everywhere, and no document appears again.
    assert array[:].tolist() == [3] * 4
    array[1] = 5
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(tmp_path / "a.zarr")
    with pytest.raises(FileNotFoundError):
        array.check()
    zarr_kit.create(tmp_path / "a.zarr", shape=(2, 2), dtype="f8")
    with pytest.raises(zarr_kit.ConflictError):
        array.append([1])
    assert zarr_kit.open(tmp_path / "a.zarr").shape == (2, 2)


def test_hostile_stores_raise_exceptions(tmp_path):
    with tarfile.open(FIXTURES / "conformance/stores/invalid.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    cases = json.loads((FIXTURES / "conformance/manifest.json").read_text())["cases"]
    cases = [case for case in cases if case["archive"] == "invalid"]
    assert len(cases) > 100
    kinds = (ValueError, OSError, MemoryError, TypeError)
    for case in cases:
        folder = tmp_path / case["path"]
        with pytest.raises(kinds):
            array = zarr_kit.open(folder)
            assert case["fails"] == "read", case["path"]
            array[...]
        if case["fails"] == "open":
            with pytest.raises(kinds):
                zarr_kit.open_group(folder)


def test_damaged_chunks_are_value_errors(tmp_path):
    for codecs in (None, [{"name": "packbits"}], [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}]):
        folder = tmp_path / str(codecs)[:40].replace("/", "")
        array = zarr_kit.create(folder, shape=64, dtype="u2", codecs=codecs)
        array[:] = range(64)
        chunk = folder / "c/0"
        for damaged in (b"", b"\0" * 7, chunk.read_bytes()[:-1], chunk.read_bytes() + b"\0"):
            chunk.write_bytes(damaged)
            with pytest.raises(ValueError, match="c/0"):
                array[:]


KILLED = """
import sys, zarr_kit
array = zarr_kit.open(sys.argv[1], threads=1)
print("ready", flush=True)
while True:
    array[3:997] = 7
"""


@UNIX
def test_a_killed_writer_leaves_whole_chunks(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=1000, dtype="i4", chunks=100)
    array[:] = 1
    for _ in range(5):
        worker = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "a.zarr")], stdout=subprocess.PIPE)
        worker.stdout.readline()
        time.sleep(0.02)
        worker.kill()
        worker.wait()
        worker.stdout.close()
        assert set(np.unique(array[:])) <= {1, 7} and array[:3].tolist() == [1, 1, 1]
        assert array.check().errors == []
    array[:] = 2
    assert set(array[:]) == {2}


@UNIX
def test_a_fork_after_a_local_read_works(tmp_path):
    from multiprocessing import get_context

    array = zarr_kit.create(tmp_path / "a.zarr", shape=1000, dtype="i4", chunks=10)
    array[:] = range(1000)
    assert array[:].sum() == 499_500
    with get_context("fork").Pool(2) as pool:
        found = pool.map_async(array.__getitem__, range(0, 1000, 100)).get(timeout=30)
    assert found == list(range(0, 1000, 100))


HUGE = """
import json, resource, sys, numpy as np, xarray, zarr_kit, zarr_kit.dask, zarr_kit.xarray
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
root = zarr_kit.open_group(sys.argv[1])
array, three = root["v"], xarray.Dataset({"v": ("x", np.ones(3, "i1"))}).chunk(x=2)
small = [
    lambda: (repr(array), array._repr_html_(), str(array.info), root.tree(), array.draw(), array.check()),
    lambda: (array[:3], array[:: 10**11], array.vindex[[5, -1]], array.stats(np.s_[:9]), array.draw(values=True)),
    lambda: (array.plan()[-1], len(array.plan()), array.write(np.s_[3:5], 7), zarr_kit.diff(array, array, metadata_only=True)),
    lambda: (root["v"].append([1]), root["v"].resize(10**12)),
]
listing = [
    lambda: array[:],
    lambda: array.write_chunk_sizes,
    lambda: array.to_dask(),
    lambda: array.to_dask("1GiB"),
    lambda: array.to_xarray(chunks={}),
    lambda: xarray.open_dataset(sys.argv[1], engine="zarr-kit", chunks={}),
    lambda: zarr_kit.xarray.to_zarr(three, root, region={"x": slice(4, 7)}, align_chunks=True),
]
if "declared" in sys.argv:
    listing += [lambda: zarr_kit.xarray.to_zarr(three, root, append_dim="x")]
    # A number stands for chunks of one length.
    (small if len(array.metadata["chunk_grid"]["configuration"]["chunk_shapes"][0]) == 1 else listing).append(array.to_xarray)
for work in small:
    work()
for number, work in enumerate(listing):
    try:
        work()
    except MemoryError:
        continue
    print("no error:", number)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20)
"""


@UNIX
@pytest.mark.parametrize("declared", [[], [[[1, 10**12]]], [[[1, 10**11], [9, 10**11]]]], ids=str)
def test_a_grid_of_a_trillion_chunks_takes_no_memory(declared, tmp_path):
    pytest.importorskip("xarray")
    array = zarr_kit.create(tmp_path / "g.zarr", "v", shape=10**12, dtype="i1", chunks=1, dimension_names=["x"])
    (tmp_path / "g.zarr/zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group"}))
    if declared:
        configuration = {"kind": "inline", "chunk_shapes": declared}
        document = array.metadata | {"chunk_grid": {"name": "rectilinear", "configuration": configuration}}
        (tmp_path / "g.zarr/v/zarr.json").write_text(json.dumps(document))
    command = [sys.executable, "-c", HUGE, str(tmp_path / "g.zarr"), *(["declared"] if declared else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_errors_of_huge_grids_name_the_axis():
    array = zarr_kit.create("memory:", shape=(2, 10**12), dtype="i1", chunks=1)
    with pytest.raises(MemoryError, match="axis 1 has 1000000000000 chunks"):
        array.write_chunk_sizes  # noqa: B018


def test_servers_that_refuse_are_named_with_what_to_do():
    answers = {"/private": (403, b"<Error><Code>AccessDenied</Code></Error>"), "/gone": (404, b"<Error><Code>NoSuchBucket</Code></Error>")}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = next((found for path, found in answers.items() if self.path.startswith(path)), (404, b""))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = {"endpoint": f"http://127.0.0.1:{server.server_port}", "allow_http": "true", "skip_signature": "true"}
        for url, kind, said in [
            ("s3://private/x", PermissionError, "refuses access (403 Forbidden, AccessDenied); set AWS_ACCESS_KEY_ID"),
            ("s3://gone/x", FileNotFoundError, "there is no such bucket; check its name, and AWS_ENDPOINT_URL"),
        ]:
            with pytest.raises(kind, match=re.escape(said)) as raised:
                zarr_kit.open(url, storage_options=options)
            assert "max_retries" not in str(raised.value)
            assert raised.value.errno == (errno.EACCES if kind is PermissionError else errno.ENOENT)
        server.shutdown()


def test_failed_requests_are_repeated_as_often_as_the_settings_say():
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = {"endpoint": f"http://127.0.0.1:{server.server_port}", "allow_http": True, "skip_signature": True}
        for limits, requests in [({"max_retries": 0}, 1), ({"max_retries": 2}, 3), ({"max_retries": 1, "retry_timeout": 3600}, 2)]:
            asked.clear()
            with pytest.raises(OSError, match="503"):
                zarr_kit.open_array("s3://bucket/x", storage_options=options | limits)
            assert [asked.count(path) for path in dict.fromkeys(asked)] == [requests]
        server.shutdown()
    for wrong in ({"max_retries": -1}, {"max_retries": 1.5}, {"retry_timeout": "soon"}, {"retry_timeout": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}: .*, not "):
            zarr_kit.open("s3://bucket/x", storage_options=wrong)
