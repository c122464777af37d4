"""Times of zarr-kit beside zarr-python, zarrs and TensorStore, as a page of Markdown.

    python bench.py [FOLDER]

All are measured in one run, in turn, best of seven: the time that passes, and the time of processors,
which other work on the machine disturbs less. The arrays are made in FOLDER, or in a folder of the
system's for temporary files, and read from the page cache.
"""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarr

import zarr_kit

ROUNDS = 7
MEBIBYTE = 1 << 20
CORE = "zarr.core.codec_pipeline"
PIPELINES = {
    "pipeline": "zarr_kit.pipeline.ZarrKitCodecPipeline",
    "default": f"{CORE}.BatchedCodecPipeline",
    "fused": f"{CORE}.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
}
NAMES = {
    "zarr-kit": "zarr-kit",
    "pipeline": "zarr-python with our pipeline",
    "default": "zarr-python, default",
    "fused": "zarr-python, fused",
    "zarrs": "zarr-python with zarrs",
    "tensorstore": "TensorStore",
}
MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] * 4

PACK = {"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 11}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def make(folder: Path) -> None:
    """The arrays: smooth values, so that they compress as measured data does."""
    rng = np.random.default_rng(0)

    def smooth(shape: tuple[int, ...]) -> Any:
        steps = rng.integers(-3, 4, shape, "int16")
        return np.clip(np.cumsum(steps, axis=0, dtype="int16"), -2048, 2047)

    arrays: dict[str, tuple[Any, Any, list[Any]]] = {
        "large": (smooth((512, 512, 256)), [128, 128, 128], [LITTLE, ZSTD]),
        "small": (smooth((976, 192, 144)), [16, 16, 16], [LITTLE, ZSTD]),
        "ragged": (smooth((sum(MONTHS), 120, 120)), [MONTHS, 60, 60], [PACK]),
        "packed": (smooth((1000, 120, 120)), [100, 120, 120], [PACK]),
    }
    for name, (values, chunks, codecs) in arrays.items():
        array = zarr_kit.create(folder / name, shape=values.shape, dtype="int16", chunks=chunks, codecs=codecs)
        array[...] = values
        np.save(folder / f"{name}.npy", values)


class Peer:
    """A way to open an array, and to read an index expression of it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def open(self, path: Path) -> Any:
        if self.name == "zarr-kit":
            return zarr_kit.open(path)
        if self.name == "tensorstore":
            import tensorstore

            store = {"driver": "file", "path": str(path)}
            return tensorstore.open({"driver": "zarr3", "kvstore": store}, read=True).result()
        with zarr.config.set({"codec_pipeline.path": PIPELINES[self.name], "array.rectilinear_chunks": True}):
            return zarr.open_array(path, mode="r")

    def read(self, array: Any, key: Any) -> Any:
        if self.name == "tensorstore":
            return array[key].read().result()
        with zarr.config.set({"codec_pipeline.path": PIPELINES.get(self.name, PIPELINES["default"])}):
            return array[key]


ALL = ["zarr-kit", "pipeline", "default", "fused", "zarrs", "tensorstore"]
PACKING = [name for name in ALL if name != "tensorstore"]
BOX = np.s_[500:510, 50:60, 50:60]

CASES: list[tuple[str, str, Any, list[str], int, dict[str, float]]] = [
    ("Large zstd chunks, whole array", "large", np.s_[...], ALL, 1, {"fused": 1.0, "tensorstore": 1.0}),
    ("6,588 small zstd chunks, whole array", "small", np.s_[...], ALL, 1, {"fused": 0.4, "tensorstore": 0.7}),
    ("Rectilinear packbits, whole array", "ragged", np.s_[...], PACKING, 1, {"fused": 0.8, "zarrs": 0.05}),
    ("`[:, 10, 10]` of packbits", "packed", np.s_[:, 10, 10], PACKING, 20, {"fused": 0.15, "zarrs": 0.6}),
    (
        "10 x 10 x 10 box of packbits", "packed", BOX, PACKING, 20,
        {"default": 0.2, "fused": 0.2, "zarrs": 0.2},
    ),
    ("10 x 10 x 10 box of large zstd chunks", "large", np.s_[100:110, 50:60, 50:60], ALL, 3, {}),
]


class Times(NamedTuple):
    """Seconds that pass, and seconds of all processors, for each peer."""

    passed: dict[str, float]
    processors: dict[str, float]


def timed(work: Callable[[], Any], repeat: int) -> tuple[float, float]:
    begin = time.perf_counter(), time.process_time()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - begin[0]) / repeat, (time.process_time() - begin[1]) / repeat


def measured(peers: dict[str, Callable[[], Any]], repeat: int) -> Times:
    """The best times of each, measured in turn."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in peers}
    for _ in range(ROUNDS):
        for name, work in peers.items():
            times[name].append(timed(work, repeat))
    passed = {name: min(wall for wall, _ in found) for name, found in times.items()}
    return Times(passed, {name: min(cpu for _, cpu in found) for name, found in times.items()})


def read_cases(folder: Path) -> list[tuple[str, Times, dict[str, float]]]:
    results = []
    for title, name, key, names, repeat, floors in CASES:
        expected = np.load(folder / f"{name}.npy", mmap_mode="r")[key]
        work: dict[str, Callable[[], Any]] = {}
        for peer in map(Peer, names):
            array = peer.open(folder / name)
            np.testing.assert_array_equal(peer.read(array, key), expected)
            work[peer.name] = partial(peer.read, array, key)
        results.append((title, measured(work, repeat), floors))
    one = np.s_[0, 0, 0]

    def opened(peer: Peer) -> Any:
        return peer.read(peer.open(folder / "packed"), one)

    work = {peer.name: partial(opened, peer) for peer in map(Peer, PACKING)}
    results.append(("Open and read one element", measured(work, 20), {"default": 0.3}))
    return results


PEAK = """
import sys
sys.path.insert(0, {here!r})
from bench import *
peer = Peer({peer!r})
array = peer.open(Path({path!r}))
peer.read(array, np.s_[:1, :1, :1])
Path("/proc/self/clear_refs").write_text("5")
before = peak()
result = peer.read(array, np.s_[...])
print(peak() - before - np.asarray(result).nbytes)
"""


def peak() -> int:
    """The most memory of this process since `clear_refs` was last written to, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def peaks(folder: Path) -> dict[str, float]:
    """Bytes that reading the large array takes beyond its result, each in a process of its own."""
    found = {}
    for name in ALL:
        values = {"here": str(Path(__file__).parent), "peer": name, "path": str(folder / "large")}
        command = [sys.executable, "-c", PEAK.format(**values)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[name] = float(printed) / MEBIBYTE
    return found


def stalls(folder: Path) -> dict[str, float]:
    """The longest time that another Python thread waits during a read: the best of the rounds."""
    found = {}
    for peer in map(Peer, ALL):
        array, longest = peer.open(folder / "large"), []
        for _ in range(ROUNDS):
            gaps, done = [0.0], threading.Event()

            def tick(gaps: list[float] = gaps, done: threading.Event = done) -> None:
                last = time.perf_counter()
                while not done.is_set():
                    time.sleep(0.0005)
                    now = time.perf_counter()
                    gaps.append(now - last)
                    last = now

            thread = threading.Thread(target=tick)
            thread.start()
            peer.read(array, np.s_[...])
            done.set()
            thread.join()
            longest.append(max(gaps))
        found[peer.name] = min(longest)
    return found


def text(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def table(rows: list[tuple[str, dict[str, float]]], show: Callable[[float], str]) -> str:
    lines = ["| | " + " | ".join(NAMES[name] for name in ALL) + " |", "| --- |" + " --: |" * len(ALL)]
    for title, times in rows:
        cells = [show(times[name]) if name in times else "" for name in ALL]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def floors(results: list[tuple[str, Times, dict[str, float]]]) -> str:
    lines = [
        "| case | time of | floor | zarr-kit | processors | our pipeline | processors |",
        "| --- | --- | --: | --: | --: | --: | --: |",
    ]
    for title, times, limits in results:
        for name, limit in limits.items():
            ratios = [kind[ours] / kind[name] for ours in ("zarr-kit", "pipeline") for kind in times]
            cells = [f"{ratio:.2f}" if ratio <= limit else f"**{ratio:.2f}**" for ratio in ratios]
            lines.append(f"| {title} | {NAMES[name]} | {limit} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(folder: Path) -> None:
    make(folder)
    results = read_cases(folder)
    memory, waits = peaks(folder), stalls(folder)
    versions = ("zarr-kit", "zarr", "zarrs", "tensorstore", "numpy")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in versions), end="; ")
    print(f"CPython {platform.python_version()}, best of {ROUNDS}\n")
    print(f"## Ratios\n\nThose above their floor are bold.\n\n{floors(results)}\n")
    for title, place in (("Times", 0), ("Times of processors", 1)):
        print(f"## {title}\n\n{table([(case, times[place]) for case, times, _ in results], text)}\n")
    rows = [("Beyond the result, MiB", memory)]
    print(f"## Peak memory of reading 128 MiB\n\n{table(rows, lambda value: f'{value:.0f}')}\n")
    rows = [("Longest stall of another thread", waits)]
    print(f"## The interpreter's lock\n\n{table(rows, text)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
