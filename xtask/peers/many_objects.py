"""Many small objects: listed, checked, copied and deleted by zarr-kit, rclone, zarr-python and zarrs.

    python -m venv ENV
    ENV/bin/pip install -r crates/zarr-python/tests/requirements.txt
    cargo build --release -p zarr-cli
    cargo build --release --manifest-path xtask/peers/array-bench/Cargo.toml
    ENV/bin/python xtask/peers/many_objects.py target/release/zarr-kit \
        xtask/peers/array-bench/target/release/array-bench FOLDER [chunks=N...] [arrays=N...] [s3=SERVER]

`rclone` is on the path. An array has N chunks of one byte, or a group has N arrays of one such chunk.
Each program works on its own copy, in turns; the best of three rounds counts, from the start of a process
to its end (of a call in zarr-python, without the time to import it). With `s3=` the objects are on the
S3 server (`xtask/peers/s3-server`), which answers 20 ms late, and requests are counted.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import zarr

DELAY = 0.02
ROUNDS = 3
# The server's answer to a listing of all folders at once is empty to rclone.
FLAGS = ["--transfers", "64", "--checkers", "64", "--disable", "ListR"]


def array(count):
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [count], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}],
    }  # fmt: skip
    return json.dumps(document)


def make(kind, count, folder):
    def put(at, text):
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)

    if kind == "chunks":
        put(folder / "zarr.json", array(count))
        for chunk in range(count):
            put(folder / "c" / str(chunk), "1")
        return
    put(folder / "zarr.json", json.dumps({"zarr_format": 3, "node_type": "group"}))
    for name in range(count):
        put(folder / str(name) / "zarr.json", array(1))
        put(folder / str(name) / "c/0", "1")


class Late:
    """A proxy that hands each request on after a delay, and counts them."""

    def __init__(self, port):
        self.count, self._port = 0, port
        started = threading.Event()
        threading.Thread(target=asyncio.run, args=(self._serve(started),), daemon=True).start()
        started.wait()

    async def _serve(self, started):
        server = await asyncio.start_server(self._client, "127.0.0.1", 0, limit=1 << 20)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await server.serve_forever()

    async def _client(self, reader, writer):
        answers, upstream = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.create_task(self._back(answers, writer))
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.count += 1
                await asyncio.sleep(DELAY)
                upstream.write(head)
                lines = head.lower().split(b"\r\n")
                if b"expect: 100-continue" in lines:
                    await upstream.drain()
                [length] = [line[15:] for line in lines if line.startswith(b"content-length:")] or [0]
                upstream.write(await reader.readexactly(int(length)))
                await upstream.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            upstream.close()
            back.cancel()
            writer.close()

    async def _back(self, answers, writer):
        while data := await answers.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()


def copied(source, target):
    """A group, or an array, of zarr-python, copied with its chunks."""
    node = zarr.open(source, mode="r")
    if isinstance(node, zarr.Array):
        zarr.from_array(target, data=node)
        return
    zarr.create_group(target)
    for name, member in node.arrays():
        zarr.from_array(target, name=name, data=member)


def listed(source, kind):
    node = zarr.open(source, mode="r")
    return node.nchunks_initialized if kind == "chunks" else len(node.members(max_depth=None))


def work(kind, ours, zarrs, x, y, remote):
    """What each program runs, by operation: x is the source, y the copy."""
    chunks = kind == "chunks"
    rclone = ["rclone", "--config", os.devnull, *FLAGS]
    return {
        "list": {
            "zarr-kit": [ours, "info" if chunks else "tree", x],
            "rclone": [*rclone, "size", remote(x)],
            "zarr-python": lambda: listed(python(x), kind),
            "zarrs": [zarrs, "list" if chunks else "tree", x],
        },
        "copy": {
            "zarr-kit": [ours, "copy", x, y],
            "rclone": [*rclone, "copy", remote(x), remote(y)],
            "zarr-python": lambda: copied(python(x), python(y)),
            "zarrs": [zarrs, "copy", x, y],
        },
        "check": {
            "zarr-kit": [ours, "check", "--data", y],
            "rclone": [*rclone, "check", remote(x), remote(y)],
        },
        "delete": {
            "zarr-kit": [ours, "delete", "--yes", y],
            "rclone": [*rclone, "purge", remote(y)],
            "zarr-python": lambda: remove(python(y)),
            "zarrs": [zarrs, "delete", y],
        },
    }


def python(where):
    """What zarr-python opens."""
    if not where.startswith("s3:"):
        return where
    from obstore.store import S3Store

    options = {
        "endpoint": os.environ["AWS_ENDPOINT_URL"], "region": "us-east-1", "access_key_id": "test",
        "secret_access_key": "test-secret", "client_options": {"allow_http": True},
    }  # fmt: skip
    bucket, _, prefix = where.removeprefix("s3://").partition("/")
    return zarr.storage.ObjectStore(S3Store(bucket, prefix=prefix, **options))


def remove(store):
    """All objects of a store of zarr-python."""
    if isinstance(store, str):
        store = zarr.storage.LocalStore(store)
    asyncio.run(store.clear())


def run(task):
    start = time.perf_counter()
    if callable(task):
        task()
    else:
        subprocess.run(task, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(kind, count, ours, zarrs, folder, late):
    best, requests = {}, {}
    for _ in range(ROUNDS):
        for who in ["zarr-kit", "rclone", "zarr-python", "zarrs"]:
            if late and who == "zarrs":
                continue
            # Removed with all that is in it, so not the given folder.
            place = folder / ("bucket" if late else "many-objects")
            shutil.rmtree(place, ignore_errors=True)
            make(kind, count, place / "x")
            x, y = ("s3://bucket/x", "s3://bucket/y") if late else (str(place / "x"), str(place / "y"))
            remote = lambda where: where.replace("s3://", ":s3,provider=Other,env_auth=true:")  # noqa: E731
            for operation, tasks in work(kind, ours, zarrs, x, y, remote).items():
                task = tasks.get(who)
                if task is None:
                    continue
                before = late.count if late else 0
                seconds = run(task)
                key = (operation, who)
                best[key] = min(best.get(key, seconds), seconds)
                requests[key] = (late.count if late else 0) - before
    for (operation, who), seconds in sorted(best.items()):
        row = f"{kind} {count:>7} {operation:<7} {who:<12} {seconds:8.2f} s {seconds / count * 1e6:9.1f} us each"
        print(row + (f" {requests[operation, who] / count:8.3f} requests each" if late else ""), flush=True)


def main(ours, zarrs, folder, *sizes):
    folder = Path(folder)
    [server] = [size[3:] for size in sizes if size.startswith("s3=")] or [None]
    late = None
    if server:
        (folder / "bucket").mkdir(parents=True, exist_ok=True)
        process = subprocess.Popen([server, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        late = Late(int(process.stdout.readline()))
        # rclone takes no bundle of certificates from there.
        os.environ.pop("AWS_CA_BUNDLE", None)
        os.environ |= {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{late.port}", "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test-secret",
            "RCLONE_S3_ENDPOINT": f"http://127.0.0.1:{late.port}", "RCLONE_S3_REGION": "us-east-1",
            "RCLONE_S3_LIST_VERSION": "2",
        }  # fmt: skip
    for kind, _, count in (size.partition("=") for size in sizes):
        if kind in ("chunks", "arrays"):
            measure(kind, int(count), ours, zarrs, folder, late)
    if server:
        process.stdin.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
