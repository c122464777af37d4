"""Whole arrays and small regions by zarr-python and TensorStore, on the stores of `array-bench`.

    cargo build --release --manifest-path xtask/peers/array-bench/Cargo.toml
    ENV/bin/python xtask/peers/array_bench.py whole FOLDER [--threads N] [--repetitions N] [CASE...]
    ENV/bin/python xtask/peers/array_bench.py regions FOLDER
    ENV/bin/python xtask/peers/array_bench.py chunks

ENV is the environment that `cargo xtask interop` makes, `target/fixtures-python-*`. Both peers run
in turns in this process; right before and after it, `array-bench` measures the floor and zarr-kit
in a process of its own, and their mean is what ratios refer to. On one thread all of them have one
core: TensorStore limits its threads for files and for copies apart from each other. Every result is
compared with the elements that `array-bench` wrote, and every peer reads what zarr-kit wrote, where
it can.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
import tensorstore as ts
import zarr
from zarr.core.buffer.cpu import NDBuffer

BENCH = Path(__file__).parent / "array-bench/target/release/array-bench"
REGIONS = 200
WHOLE = ("write", "read, fresh", "read, reused")
PARTS = ("opened anew", "again")
CORES = os.sched_getaffinity(0)
CASES = (
    "bool-packbits",
    "uint16-bytes",
    "uint16-zstd",
    "uint16-transpose-zstd",
    "uint16-transpose-zstd-noisy",
    "uint16-transpose-bytes",
    "uint16-4d-3021-bytes",
    "uint16-4d-3021-zstd",
    "uint16-4d-0312-bytes",
    "uint16-4d-0312-zstd",
)
FUSED = "zarr.core.codec_pipeline.FusedCodecPipeline"
BATCHED = "zarr.core.codec_pipeline.BatchedCodecPipeline"


class ZarrPython:
    """Threads are those of its pool; requests at a time, as many."""

    def __init__(self, pipeline):
        self.pipeline = pipeline

    def configure(self, threads):
        zarr.config.set({
            "threading.max_workers": threads,
            "async.concurrency": threads,
            "codec_pipeline.path": self.pipeline,
            "codec_pipeline.max_workers": threads,
            "array.rectilinear_chunks": True,
        })

    def open(self, folder):
        return zarr.open_array(folder, mode="r+")

    def write(self, folder, values):
        self.open(folder)[...] = values

    def read(self, folder):
        return self.open(folder)[...]

    def read_into(self, folder, out):
        self.open(folder).get_basic_selection(..., out=NDBuffer.from_numpy_array(out))

    def region(self, array, rows, columns):
        return array[rows, columns]

    def can(self, case):
        return True


class TensorStore:
    def __init__(self, cache=0):
        self.cache = cache

    def configure(self, threads):
        limit = {"limit": threads}
        self.context = ts.Context({
            "data_copy_concurrency": limit,
            "file_io_concurrency": limit,
            "cache_pool": {"total_bytes_limit": self.cache},
        })

    def open(self, folder):
        store = {"driver": "file", "path": f"{folder}/"}
        spec = {"driver": "zarr3", "kvstore": store}
        return ts.open(spec, open=True, context=self.context).result()

    def write(self, folder, values):
        self.open(folder).write(values).result()

    def read(self, folder):
        return self.open(folder).read().result()

    def read_into(self, folder, out):
        into = ts.array(out, copy=False, write=True, context=self.context)
        into.write(self.open(folder)).result()

    def region(self, array, rows, columns):
        return array[rows, columns].read().result()

    def can(self, case):
        return "packbits" not in case


PEERS = {
    "zarr-python": ZarrPython(BATCHED),
    "zarr-python, fused": ZarrPython(FUSED),
    "TensorStore": TensorStore(),
}

# For regions: one that keeps the shards' indices, and what else has room.
CACHED = {"TensorStore, 4 MiB cache": TensorStore(4 << 20)}


def floor(folder, case, threads, repetitions, *more):
    """Seconds of the floor and of zarr-kit, by name."""
    found = measured("whole", folder, "--threads", str(threads),
                     "--repetitions", str(repetitions), "--without", "zarrs",
                     "--without", "zarr-kit, stored turned", *more, case)
    return {name: [found[name][f"{case}, {what}"] for what in WHOLE]
            for name in ("floor", "zarr-kit")}


def measured(*arguments):
    """Seconds that `array-bench` measured, by program and row."""
    environment = {**os.environ, "BENCH_RECORDS": "1"}
    output = subprocess.run([BENCH, *arguments], check=True, capture_output=True, text=True,
                            env=environment).stdout
    found = {}
    for record in re.findall(r"record\t(.*)", output):
        _, row, _, name, nanoseconds = record.split("\t")
        found.setdefault(name, {})[row] = float(nanoseconds) / 1e9
    return found


def use_cores(count):
    """For all threads of this process, and for those that they start."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), sorted(CORES)[:count])


def mean(before, after):
    return {name: [(a + b) / 2 for a, b in zip(before[name], after[name], strict=True)]
            for name in before}


def seconds(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def own_store(folder, case, peer):
    """A place with the document for a peer to write to: that of zarr-kit, or zarr-python's own."""
    theirs = folder / f"{case}-{peer.replace(', ', '-')}"
    shutil.rmtree(theirs, ignore_errors=True)
    theirs.mkdir()
    document = json.loads((folder / f"{case}-zarr-kit/zarr.json").read_text())
    if "packbits" in case:
        document["codecs"] = [{"name": "numcodecs.packbits", "configuration": {}},
                              {"name": "bytes"}]
    (theirs / "zarr.json").write_text(json.dumps(document))
    return theirs


def whole(folder, case, threads, repetitions):
    use_cores(threads)
    before = floor(folder, case, threads, repetitions, "--raw")
    document = json.loads((folder / f"{case}-zarr-kit/zarr.json").read_text())
    values = np.fromfile(folder / f"{case}.raw", dtype=document["data_type"])
    values = values.reshape(document["shape"])
    out = np.empty_like(values)
    times = {}
    for name, peer in PEERS.items():
        if not peer.can(case):
            continue
        peer.configure(threads)
        theirs = own_store(folder, case, name)
        ours = theirs if "packbits" in case else folder / f"{case}-zarr-kit"
        times[name] = [[], [], []]
        for _ in range(repetitions):
            times[name][0].append(seconds(lambda: peer.write(theirs, values))[0])
            took, fresh = seconds(lambda: peer.read(ours))
            times[name][1].append(took)
            assert np.array_equal(fresh, values), f"{name} reads other data"
            del fresh
            out.fill(0)
            times[name][2].append(seconds(lambda: peer.read_into(ours, out))[0])
            assert np.array_equal(out, values), f"{name} reads other data into a buffer"
        assert np.array_equal(peer.read(theirs), values), f"{name} wrote other data"
        shutil.rmtree(theirs)
    rows = mean(before, floor(folder, case, threads, repetitions))
    rows |= {name: [statistics.median(one) for one in three] for name, three in times.items()}
    print(f"{case}, {threads} threads (seconds, ratio to the floor)")
    record(f"arrays of 256 MiB, {threads} threads, beside Python libraries", case, WHOLE, rows)
    table(WHOLE, rows)


def record(name, case, columns, rows):
    """Every time, for `cargo xtask bench`."""
    if "BENCH_RECORDS" not in os.environ:
        return
    for who, figures in rows.items():
        role = {"floor": "floor", "zarr-kit": "ours"}.get(who, "peer")
        for column, figure in zip(columns, figures, strict=True):
            print(f"record\t{name}\t{case}, {column}\t{role}\t{who}\t{figure * 1e9}")


def table(columns, rows, scale=1.0, digits=3):
    print(f"  {'':<24}", *(f"{column:>16}" for column in columns))
    for name, figures in rows.items():
        cells = (f"{figure * scale:>9.{digits}f} {figure / base:>6.2f}"
                 for figure, base in zip(figures, rows["floor"], strict=True))
        print(f"  {name:<24}", *cells, flush=True)


def regions(folder):
    """Small regions, one after the other, on one thread."""
    kinds = ("uncompressed", "sharded", "sharded-zstd")

    def ours():
        found = measured("regions", folder, str(REGIONS))
        return [{name: [rows[f"{kind}, {what}"] for what in PARTS]
                 for name, rows in found.items()} for kind in kinds]

    use_cores(1)
    before = ours()
    values = np.fromfile(folder / "regions.raw", dtype="uint16").reshape(8192, 16384)
    places = [tuple(map(int, line.split()))
              for line in (folder / "regions.places").read_text().splitlines()]
    times = {kind: {} for kind in kinds}
    for kind in kinds:
        for name, peer in (PEERS | CACHED).items():
            peer.configure(1)
            both = times[kind].setdefault(name, [[], []])
            for _ in range(3):
                took = time.perf_counter()
                array = peer.open(folder / f"regions-{kind}")
                for one in both:
                    for row, column in places:
                        found = peer.region(array, slice(row, row + 16), slice(column, column + 16))
                    one.append((time.perf_counter() - took) / len(places))
                    took = time.perf_counter()
                    assert np.array_equal(found, values[row:row + 16, column:column + 16])
    for kind, first, last in zip(kinds, before, ours(), strict=True):
        rows = mean(first, last)
        rows |= {name: [statistics.median(one) for one in pair]
                 for name, pair in times[kind].items()}
        print(f"{len(places)} regions of 16 x 16, {kind} (microseconds each, ratio to the floor)")
        record("small regions, beside Python libraries", kind, PARTS,
               {name: row for name, row in rows.items() if name != "zarrs"})
        table(PARTS, rows, 1e6, 2)


def chunks():
    """The million chunks of an array of tiny ones, of which none is stored."""
    state = np.random.default_rng(1)
    explicit = [int(edge) for edge in state.integers(1, 8, 1000)]
    for name, edges in (("regular", [4] * 1000), ("rectilinear, explicit edges", explicit)):
        grid = {"name": "regular", "configuration": {"chunk_shape": [4, 4]}}
        if name != "regular":
            grid = {"name": "rectilinear",
                    "configuration": {"kind": "inline", "chunk_shapes": [edges, edges]}}
        extent = sum(edges)
        document = {
            "zarr_format": 3, "node_type": "array", "shape": [extent, extent],
            "data_type": "uint8", "chunk_grid": grid, "fill_value": 7,
            "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}],
        }
        print(f"1000 x 1000 chunks, {name}")
        chunks_of_zarr_python(document, sum(edges[:100]))
        if name == "regular":
            chunks_of_tensorstore(document)


def chunks_of_zarr_python(document, part):
    from zarr.core.buffer.cpu import Buffer  # noqa: PLC0415

    text = json.dumps(document).encode()
    store = zarr.storage.MemoryStore({"zarr.json": Buffer.from_bytes(text)})
    PEERS["zarr-python"].configure(1)
    opened = min(seconds(lambda: zarr.open_array(store, mode="r"))[0] for _ in range(7))
    print(f"  zarr-python: open {opened * 1e6:.0f} microseconds")
    array = zarr.open_array(store, mode="r")
    took, count = seconds(lambda: sum(1 for _ in zip(
        array._iter_shard_keys(), array._iter_chunk_regions(), strict=True)))  # noqa: SLF001
    print(f"  zarr-python: key and place {took / count * 1e9:.0f} ns a chunk")
    for name in ("zarr-python", "zarr-python, fused"):
        for threads in (1, 2):
            PEERS[name].configure(threads)
            array = zarr.open_array(store, mode="r")
            took, values = seconds(lambda array=array: array[:part, :part])
            assert (values == 7).all()
            print(f"  {name}: read 100 x 100, none stored, {threads} threads: "
                  f"{took / 10_000 * 1e9:.0f} ns a chunk", flush=True)


def chunks_of_tensorstore(document):
    metadata = {k: v for k, v in document.items() if k not in ("zarr_format", "node_type")}
    for threads in (1, 2):
        PEERS["TensorStore"].configure(threads)
        context = PEERS["TensorStore"].context
        spec = {"driver": "zarr3", "kvstore": {"driver": "memory"}}
        ts.open({**spec, "metadata": metadata, "create": True}, context=context).result()

        def opening(context=context, spec=spec):
            return ts.open(spec, open=True, context=context).result()

        opened = min(seconds(opening)[0] for _ in range(7))
        array = opening()
        took, values = seconds(lambda array=array: array.read().result())
        assert (values == 7).all()
        print(f"  TensorStore, {threads} threads: open {opened * 1e6:.0f} microseconds, "
              f"read, none stored: {took * 1e3:.0f} ns a chunk", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("whole", "regions", "chunks"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--threads", type=int, choices=(1, 2))
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_intermixed_args()
    warnings.filterwarnings("ignore", module="zarr")
    if args.what == "chunks":
        return chunks()
    if args.what == "regions":
        return regions(args.folder)
    for case in args.cases or CASES:
        for threads in (args.threads,) if args.threads else (1, 2):
            whole(args.folder, case, threads, args.repetitions)


if __name__ == "__main__":
    main()
