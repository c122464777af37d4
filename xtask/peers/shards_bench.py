"""Reads, writes and moves around shards: bytes read, processor time and peak memory, beside other programs.

    python -m venv ENV
    ENV/bin/pip install zarr==3.4.2 tensorstore==0.1.86 ./crates/zarr-python
    ENV/bin/python xtask/peers/shards_bench.py [ROUNDS]

One shard of 128 inner chunks of 2 MiB, of random numbers of 12 bits as int32, uncompressed and with zstd.
Each measurement is a process of its own, whose first operation counts; programs take turns, and the best of
the rounds is printed. The peak of the memory counts from the start of the operation.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SHAPE, INNER = (1024, 256, 256), (8, 256, 256)
ROWS = [5, 301, 902]
PIPELINE = {"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}
READS = {
    "rows": ("kit", "loop", "zarr", "zarr+kit", "tensorstore"),
    "mask": ("kit", "zarr"),
    "points": ("kit", "zarr"),
    "slice": ("kit", "zarr", "tensorstore"),
    "all": ("kit", "zarr", "tensorstore"),
    "one": ("kit", "zarr", "tensorstore"),
    "append": ("kit", "zarr", "tensorstore"),
    "copy": ("kit", "zarr"),
    "into": ("kit", "zarr"),
    "out": ("kit", "zarr"),
    "between": ("kit", "zarr"),
}
"""What is measured, and of which programs."""

MOVES = {"copy": (None, None), "into": (None, SHAPE), "out": (SHAPE, None), "between": (SHAPE, (256, 256, 256))}
"""The shards of the source and of the target."""


def chain(compressed):
    zstd = [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}]
    return [{"name": "bytes", "configuration": {"endian": "little"}}] + (zstd if compressed else [])


def counter(path, name):
    return next(int(line.split()[1]) for line in Path(path).read_text().splitlines() if line.startswith(name))


def measured(work):
    """Bytes read, processor and clock time in milliseconds, and the peak in MiB, of a first call."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    read, memory = counter("/proc/self/io", "rchar"), counter("/proc/self/status", "VmHWM")
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    read, memory = counter("/proc/self/io", "rchar") - read, counter("/proc/self/status", "VmHWM") - memory
    print(json.dumps([read >> 10, cpu * 1e3, clock * 1e3, memory >> 10]))


def opened(who, place):
    if who == "tensorstore":
        import tensorstore

        return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": place + "/"}}, open=True).result()
    if who.startswith("zarr"):
        import zarr

        if who == "zarr+kit":
            zarr.config.set(PIPELINE)
        return zarr.open_array(place, mode="r+")
    import zarr_kit

    return zarr_kit.open(place)


def move(who, source, target, shards):
    """Copies an array into other shards of the same chunks."""
    if who == "kit":
        import zarr_kit

        measured(lambda: zarr_kit.copy(source, target, chunks=INNER, shards=shards))
        return
    import zarr

    # Chunks of the target at a time, which is how it is done without a tool.
    def by_hand():
        a = zarr.open_array(source, mode="r")
        codecs = "auto" if a.compressors else None
        b = zarr.create_array(target, shape=a.shape, dtype=a.dtype, chunks=INNER, shards=shards, compressors=a.compressors or codecs)
        step = (shards or INNER)[0]
        for start in range(0, a.shape[0], step):
            b[start : start + step] = a[start : start + step]

    measured(by_hand)


def one(kind, who, place, target):
    if kind in MOVES:
        return move(who, place, target, MOVES[kind][1])
    a = opened(who, place)
    n = a.shape[0]
    get = {
        "kit": lambda key: a[key],
        "loop": lambda key: [a[i] for i in key],
        "zarr": lambda key: a.oindex[key],
        "zarr+kit": lambda key: a.oindex[key],
        "tensorstore": lambda key: a[key].read().result(),
    }[who]
    if kind in ("one", "append"):
        x = np.random.default_rng(1).integers(0, 1 << 12, (16, 8, *a.shape[1:])).astype("i4")

        def put(at, values):
            if who == "tensorstore":
                a[at : at + 8].write(values).result()
            else:
                a[at : at + 8] = values

        return measured(lambda: [put(8 * i, x[i]) for i in range(16)] if kind == "append" else put(n // 2, x[0]))
    if kind == "slice":
        return measured((lambda: a[0:520].read().result()) if who == "tensorstore" else (lambda: a[0:520]))
    if kind == "all":
        return measured((lambda: a.read().result()) if who == "tensorstore" else (lambda: a[...]))
    get([0])
    mask = np.zeros(a.shape, bool)
    mask[5, 0, 0] = mask[902, 3, 2] = True
    points = lambda: a.vindex[[5, 902, 301], [0, 0, 0], [0, 0, 0]]
    return measured({"rows": lambda: get(ROWS), "mask": lambda: a[mask], "points": points}[kind])


def main(rounds):
    import zarr_kit

    folder = tempfile.mkdtemp()
    x = np.random.default_rng(0).integers(0, 1 << 12, SHAPE).astype("i4")
    for compressed in (False, True):
        name = "zstd" if compressed else "uncompressed"
        create = {"shape": SHAPE, "dtype": "i4", "chunks": INNER, "codecs": chain(compressed)}
        places = {}
        for shards in (None, SHAPE):
            places[shards] = f"{folder}/{name}-{'shard' if shards else 'chunks'}"
            zarr_kit.create(places[shards], shards=shards, **create)[...] = x
        for kind, programs in READS.items():
            best = {}
            for _ in range(rounds):
                for who in programs:
                    place, target = places[SHAPE], f"{folder}/target"
                    if kind in MOVES:
                        place = places[MOVES[kind][0]]
                    if kind == "one":
                        place = shutil.copytree(place, f"{folder}/written")
                    if kind == "append":
                        place = f"{folder}/written"
                        zarr_kit.create(place, shards=SHAPE, **create)
                    run = [sys.executable, __file__, kind, who, place, target]
                    found = json.loads(subprocess.run(run, capture_output=True, check=True, text=True).stdout)
                    best[who] = [min(pair) for pair in zip(found, best.get(who, found), strict=True)]
                    for used in ("target", "written"):
                        shutil.rmtree(f"{folder}/{used}", ignore_errors=True)
            for who, (read, cpu, clock, peak) in best.items():
                print(f"| {name} | {kind} | {who} | {read} | {cpu:.1f} | {clock:.1f} | {peak} |", flush=True)
        for place in places.values():
            shutil.rmtree(place)
    shutil.rmtree(folder)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        one(*sys.argv[1:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
