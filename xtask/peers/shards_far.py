"""Shards on a server that answers late, and shards of strings, beside other programs.

    python -m venv ENV
    ENV/bin/pip install zarr==3.4.2 obstore tensorstore==0.1.86 ./crates/zarr-python
    cargo build --release --manifest-path xtask/peers/s3-server/Cargo.toml
    ENV/bin/python xtask/peers/shards_far.py strings [ROUNDS]
    ENV/bin/python xtask/peers/shards_far.py s3=xtask/peers/s3-server/target/release/s3-server [ROUNDS]

The shard of numbers is that of `shards_bench.py`, with zstd; the server is behind the proxy of
`many_objects.py`, which hands each request on 20 ms late. Requests and the bytes of their answers count
from the moment when the array is open. The shard of strings has 128 inner chunks of 8,192 strings of 0 to
24 letters, with zstd. The best of the rounds is printed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import many_objects
import numpy as np
import shards_bench

LENGTH, STRINGS = 1 << 20, 8192
PROGRAMS = {"rows": ("kit", "loop", "zarr", "zarr+kit", "tensorstore"), "points": ("kit", "zarr"), "slice": ("kit", "zarr", "tensorstore"), "one": ("kit", "tensorstore")}  # fmt: skip


class Counted(many_objects.Late):
    """The proxy, which counts the bytes of answers too."""

    bytes = 0

    async def _back(self, answers, writer):
        while data := await answers.read(1 << 16):
            self.bytes += len(data)
            writer.write(data)
            await writer.drain()
        writer.close()


def opened(who, place):
    if who == "tensorstore" and place.startswith("s3:"):
        import tensorstore

        store = {"driver": "s3", "bucket": "bucket", "path": place.rpartition("/")[2] + "/", "endpoint": os.environ["AWS_ENDPOINT_URL"], "aws_region": "us-east-1"}  # fmt: skip
        return tensorstore.open({"driver": "zarr3", "kvstore": store}, open=True).result()
    if who.startswith("zarr"):
        import zarr

        if who == "zarr+kit":
            zarr.config.set(shards_bench.PIPELINE)
        return zarr.open_array(many_objects.python(place), mode="r+")
    import zarr_kit

    if not place.startswith("s3:"):
        return zarr_kit.open(place)
    return zarr_kit.open(place, storage_options={"endpoint": os.environ["AWS_ENDPOINT_URL"], "allow_http": "true"})


def one(kind, who, place):
    a = opened(who, place)
    n = a.shape[0]
    rows = [5, n // 3, n - 7] if a.ndim == 1 else shards_bench.ROWS
    get = {"tensorstore": lambda key: a[key].read().result(), "kit": lambda key: a[key], "loop": lambda key: [a[i] for i in key]}
    get = get.get(who) or (lambda key: a[key] if isinstance(key, slice) else a.oindex[key])
    if a.ndim == 1:
        new = np.array(words(np.random.default_rng(1), 16 * STRINGS), object)
        step = STRINGS
    else:
        new, step = np.random.default_rng(1).integers(0, 1 << 12, (8, *a.shape[1:])).astype("i4"), 8

    def put(at, values):
        if who == "tensorstore":
            a[at : at + step].write(values).result()
        else:
            a[at : at + step] = values

    work = {
        "rows": lambda: get(rows),
        "points": lambda: a.vindex[rows] if a.ndim == 1 else a.vindex[rows, [0, 0, 0], [0, 0, 0]],
        "slice": lambda: get(slice(0, n // 2 + step)),
        "all": lambda: get(slice(0, n)),
        "one": lambda: put(n // 2, new[:step]),
        "append": lambda: [put(step * i, new[step * i : step * (i + 1)]) for i in range(16)],
    }[kind]
    print("open", flush=True)
    sys.stdin.readline()
    shards_bench.measured(work)


def words(random, count):
    letters = "".join(map(chr, random.integers(97, 123, 24 * count)))
    return [letters[24 * i : 24 * i + length] for i, length in enumerate(random.integers(0, 25, count))]


def run(kind, who, place, proxy=None):
    """Requests and MiB of their answers; bytes read, processor and clock time, and the peak."""
    command = [sys.executable, __file__, kind, who, str(place)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    before = (proxy.count, proxy.bytes) if proxy else (0, 0)
    found = process.communicate("\n")[0]
    after = (proxy.count, proxy.bytes) if proxy else (0, 0)
    read, cpu, clock, peak = json.loads(found)
    return [after[0] - before[0], (after[1] - before[1]) / (1 << 20), read / 1024, cpu, clock, peak]


def turns(kinds, place, rounds, proxy=None, written=None):
    for kind, programs in kinds.items():
        best = {}
        for _ in range(rounds):
            for who in programs:
                at = written(kind) if kind in ("one", "append") else place
                found = run(kind, who, at, proxy)
                best[who] = [min(pair) for pair in zip(found, best.get(who, found), strict=True)]
        for who, (requests, answers, read, cpu, clock, peak) in best.items():
            print(f"| {kind} | {who} | {requests} | {answers:.1f} | {read:.1f} | {cpu:.1f} | {clock:.1f} | {peak} |", flush=True)


def strings(rounds):
    import zarr_kit

    folder = Path(tempfile.mkdtemp())
    create = {"shape": LENGTH, "dtype": "str", "chunks": STRINGS, "shards": LENGTH, "codecs": "vlen-utf8,zstd"}
    zarr_kit.create(folder / "full", **create)[...] = np.array(words(np.random.default_rng(0), LENGTH), object)

    def written(kind):
        shutil.rmtree(folder / "written", ignore_errors=True)
        if kind == "one":
            return shutil.copytree(folder / "full", folder / "written")
        zarr_kit.create(folder / "written", **create)
        return folder / "written"

    both = ("kit", "zarr")
    kinds = {"rows": ("kit", "loop", "zarr", "zarr+kit"), "points": both, "slice": both, "all": both, "one": both, "append": both}
    turns(kinds, folder / "full", rounds, written=written)
    shutil.rmtree(folder)


def far(server, rounds):
    import zarr_kit

    folder = Path(tempfile.mkdtemp())
    (folder / "bucket").mkdir()
    process = subprocess.Popen([server, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    proxy = Counted(int(process.stdout.readline()))
    keys = {"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test-secret"}
    os.environ |= keys | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}"}
    x = np.random.default_rng(0).integers(0, 1 << 12, shards_bench.SHAPE).astype("i4")
    create = {"shape": x.shape, "dtype": "i4", "chunks": shards_bench.INNER, "shards": x.shape, "codecs": shards_bench.chain(True)}
    zarr_kit.create(folder / "bucket/full", **create)[...] = x
    del x

    def written(_):
        shutil.rmtree(folder / "bucket/written", ignore_errors=True)
        shutil.copytree(folder / "bucket/full", folder / "bucket/written")
        return "s3://bucket/written"

    turns(PROGRAMS, "s3://bucket/full", rounds, proxy, written)
    process.stdin.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what in PROGRAMS or what in ("all", "append"):
        one(what, *rest)
    elif what == "strings":
        strings(int(rest[0]) if rest else 3)
    else:
        far(what.removeprefix("s3="), int(rest[0]) if rest else 3)
