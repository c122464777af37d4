"""Times of arrays in stores of Python, beside zarr-python's own pipeline on the same store.

usage: python bench/adapter.py
"""

import time

import icechunk
import numpy as np
import obstore.store
import zarr
import zarr_kit
from zarr.storage import FsspecStore, MemoryStore, ObjectStore

STORES = {
    "MemoryStore": MemoryStore,
    "fsspec": lambda: FsspecStore.from_url("memory://bench"),
    "obstore": lambda: ObjectStore(obstore.store.MemoryStore()),
    "Icechunk": lambda: icechunk.Repository.create(icechunk.in_memory_storage()).writable_session("main").store,
}
CHUNKS = {"large": (256, 128), "small": (128, 16)}
KEYS = {"whole": np.s_[...], "box": np.s_[:10, :10, :10], "column": np.s_[:, 5, 5]}


def seconds(*works):
    """The least time of each, of five runs in turn."""
    found = [float("inf")] * len(works)
    for _ in range(5):
        for number, work in enumerate(works):
            start = time.perf_counter()
            work()
            found[number] = min(found[number], time.perf_counter() - start)
    return found


for name, make in STORES.items():
    store = make()
    for size, (length, edge) in CHUNKS.items():
        values = np.random.default_rng(0).integers(0, 4000, (length,) * 3).astype("i2")
        theirs = zarr.create_array(store, name=size, data=values, chunks=(edge,) * 3)
        ours = zarr_kit.open_array(store, size)
        rows = {row: (lambda key=key: ours[key], lambda key=key: theirs[key]) for row, key in KEYS.items()}
        rows["open, one element"] = (
            lambda size=size: zarr_kit.open_array(store, size, mode="r+")[0, 0, 0],
            lambda size=size: zarr.open_array(store, path=size, mode="r+")[0, 0, 0],
        )
        rows["write"] = (
            lambda values=values: ours.__setitem__(..., values),
            lambda values=values: theirs.__setitem__(..., values),
        )
        for row, works in rows.items():
            mine, other = seconds(*works)
            print(f"{name:12} {size} {row:18} {mine * 1e3:8.2f} ms, zarr-python {other * 1e3:8.2f} ms: {mine / other:.2f}", flush=True)
