"""Races bool packing with numpy, in one process and on numpy's own buffers.

Build first: `cargo build --release --manifest-path xtask/peers/packbits/Cargo.toml`; then run this
with numpy installed. Prints GB/s of unpacked bytes (medians of turns taken in one loop) and ratios
to a copy of them. Fresh outputs are arrays that numpy allocates anew in every call, for both: at
64 MiB on huge pages, at 64 KiB from memory it has used before.
"""

import ctypes
import pathlib
import time

import numpy as np

library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "target/release/libpackbits_peers.so"))


for function in (library.pack, library.unpack):
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_bool, ctypes.c_size_t]


def call(function, src, dst, length, portable=False, calls=1):
    function(src.ctypes.data, dst.ctypes.data, length, portable, calls)


def race(tasks, turns, calls):
    times = {name: [] for name in tasks}
    for _ in range(turns):
        for name, task in tasks.items():
            start = time.perf_counter()
            if name.endswith("reused"):  # loops inside, as a call through ctypes takes microseconds
                task(calls)
            else:
                for _ in range(calls):
                    task()
            times[name].append((time.perf_counter() - start) / calls)
    return {name: sorted(t)[len(t) // 2] for name, t in times.items()}


def main():
    print("numpy", np.__version__)
    for name, length, turns, calls in [("64 KiB", 1 << 16, 201, 40), ("64 MiB", 1 << 26, 15, 1)]:
        values = np.random.default_rng(1).integers(0, 2, length, np.uint8)
        packed = np.packbits(values, bitorder="little")
        copied, out, out_packed = np.empty_like(values), np.empty_like(values), np.empty_like(packed)
        copied[:], out[:], out_packed[:] = 1, 1, 1

        def ours_fresh():
            call(library.unpack, packed, np.empty(length, np.uint8), length)

        def ours_packs_fresh():
            call(library.pack, values, np.empty(length // 8, np.uint8), length)

        # numpy has no unpackbits into a given array: its own figure is always for a fresh one.
        tasks = {
            "copy": lambda: np.copyto(copied, values),
            "unpack, numpy, fresh": lambda: np.unpackbits(packed, bitorder="little"),
            "unpack, ours, fresh": ours_fresh,
            "unpack, ours, reused": lambda n: call(library.unpack, packed, out, length, calls=n),
            "unpack, ours portable, reused": lambda n: call(library.unpack, packed, out, length, True, n),
            "pack, numpy, fresh": lambda: np.packbits(values, bitorder="little"),
            "pack, ours, fresh": ours_packs_fresh,
            "pack, ours, reused": lambda n: call(library.pack, values, out_packed, length, calls=n),
            "pack, ours portable, reused": lambda n: call(library.pack, values, out_packed, length, True, n),
        }
        times = race(tasks, turns, calls)
        assert np.array_equal(out, values) and np.array_equal(out_packed, packed)
        print(f"\n| {name} | GB/s | to copy |\n|---|---|---|")
        for task, seconds in times.items():
            print(f"| {task} | {length / seconds / 1e9:.1f} | {times['copy'] / seconds:.3f} |")


main()
