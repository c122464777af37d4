"""Races bool packing with numpy, in one process and on numpy's own buffers.

Build first: `cargo build --release --manifest-path xtask/peers/packbits/Cargo.toml`; then run this
with numpy installed. Prints GB/s of unpacked bytes (medians of turns taken in one loop) and ratios
to a copy of them.

numpy always allocates its result, so that its figures are for fresh ones. At 64 MiB ours is then
allocated by numpy, too, on huge pages. At 64 KiB a call through ctypes takes as long as numpy's
work, so that ours loops inside, with malloc and free in every turn as numpy has; and what a call
takes in numpy, that of a single byte, is subtracted from its time.
"""

import ctypes
import os
import pathlib
import time

import numpy as np

library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "target/release/libpackbits_peers.so"))


for function in (library.pack, library.unpack):
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_bool, ctypes.c_size_t]
for function in (library.pack_fresh, library.unpack_fresh):
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]


def race(tasks, turns, calls):
    """Median seconds of one call; a task is told how many to make."""
    times = {name: [] for name in tasks}
    for _ in range(turns):
        for name, task in tasks.items():
            start = time.perf_counter()
            task(calls)
            times[name].append((time.perf_counter() - start) / calls)
    return {name: sorted(t)[len(t) // 2] for name, t in times.items()}


def record(size, times):
    """Seconds of one call by task, for `cargo xtask bench`."""
    for task, seconds in times.items():
        word, *who = task.split(", ", 1)
        if not who:
            continue
        who = who[0]
        role = {"numpy": "peer", "ours, fresh": "ours"}.get(who, "other")
        row = f"{word} bool into fresh memory, {size}"
        print(f"record\tpackbits beside numpy\t{row}\t{role}\t{who}\t{seconds * 1e9}")


def main():
    print("numpy", np.__version__)
    for name, length, turns, calls in [("64 KiB", 1 << 16, 201, 40), ("64 MiB", 1 << 26, 15, 1)]:
        values = np.random.default_rng(1).integers(0, 2, length, np.uint8)
        packed = np.packbits(values, bitorder="little")
        copied, out, out_packed = np.empty_like(values), np.empty_like(values), np.empty_like(packed)
        copied[:], out[:], out_packed[:] = 1, 1, 1
        byte = np.ones(1, np.uint8)
        small = length < 1 << 20

        def repeat(task):
            def run(n):
                for _ in range(n):
                    task()
            return run

        def ours(function, src, portable=False):
            dst = out_packed if function is library.pack else out
            return lambda n: function(src.ctypes.data, dst.ctypes.data, length, portable, n)

        def fresh(function, inside, src):
            if small:
                return lambda n: inside(src.ctypes.data, length, n)
            size = length // 8 if function is library.pack else length

            def task():
                dst = np.empty(size, np.uint8)
                function(src.ctypes.data, dst.ctypes.data, length, False, 1)
            return repeat(task)

        tasks = {
            "copy": repeat(lambda: np.copyto(copied, values)),
            "unpack, numpy": repeat(lambda: np.unpackbits(packed, bitorder="little")),
            "unpack, ours, fresh": fresh(library.unpack, library.unpack_fresh, packed),
            "unpack, ours, reused": ours(library.unpack, packed),
            "unpack, ours portable, reused": ours(library.unpack, packed, True),
            "pack, numpy": repeat(lambda: np.packbits(values, bitorder="little")),
            "pack, ours, fresh": fresh(library.pack, library.pack_fresh, values),
            "pack, ours, reused": ours(library.pack, values),
            "pack, ours portable, reused": ours(library.pack, values, True),
            "copy, one byte": repeat(lambda: np.copyto(byte, byte)),
            "unpack, one byte": repeat(lambda: np.unpackbits(byte, bitorder="little")),
            "pack, one byte": repeat(lambda: np.packbits(byte, bitorder="little")),
        }
        times = race(tasks, turns, calls)
        assert np.array_equal(out, values) and np.array_equal(out_packed, packed)
        overhead = {word: times.pop(f"{word}, one byte") for word in ("copy", "unpack", "pack")}
        print(f"\n| {name} | GB/s | GB/s less numpy's call | to copy |\n|---|---|---|---|")
        copy = times["copy"] - overhead["copy"]
        if "BENCH_RECORDS" in os.environ:
            record(name, {task: seconds if "ours" in task else seconds - overhead[task.split(",")[0]]
                          for task, seconds in times.items()})
        for task, seconds in times.items():
            word = task.split(",")[0]
            work = seconds if "ours" in task else seconds - overhead[word]
            print(f"| {task} | {length / seconds / 1e9:.1f} | {length / work / 1e9:.1f} | {copy / work:.3f} |")


main()
