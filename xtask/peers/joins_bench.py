"""Opening many arrays as one and reading them: Xarray, VirtualiZarr with kerchunk, TensorStore.

    python -m venv ENV
    ENV/bin/pip install -r xtask/peers/joins-requirements.txt ./crates/zarr-python
    ENV/bin/python xtask/peers/joins_bench.py [MEMBERS]

The members are stores with one variable `rain` along `time`, in one chunk each, all of one length, so
that references of kerchunk can name their chunks. Each program opens them in turns, and reads all of
them; what it reads is compared first. Prints the best of several rounds in milliseconds.
"""

import json
import logging
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import tensorstore
import xarray
import zarr
import zarr_kit

ROUNDS = 5
ROWS, WIDTH = 32, 1024


def make(folder, count):
    rng = np.random.default_rng(1)
    paths, values = [], []
    for number in range(count):
        path = folder / f"{number:05}.zarr"
        root = zarr.create_group(path)
        part = (np.arange(WIDTH) // 8 + rng.integers(0, 16, (ROWS, WIDTH))).astype("u2")
        array = root.create_array(
            "rain", shape=part.shape, chunks=part.shape, dtype="u2", dimension_names=["time", "x"]
        )
        array[...] = part
        zarr.consolidate_metadata(path)
        paths.append(path)
        values.append(part)
    return paths, np.concatenate(values)


def spec(path):
    store = {"driver": "file", "path": str(path / "rain")}
    return {"driver": "zarr3", "kvstore": store, "recheck_cached_data": False}


def open_xarray(paths, _):
    data = xarray.open_mfdataset(
        paths, engine="zarr", combine="nested", concat_dim="time", consolidated=True,
        data_vars="minimal", coords="minimal", compat="override", join="override",
    )  # fmt: skip
    return lambda: data["rain"].values


def open_tensorstore(paths, _):
    opening = [tensorstore.open(spec(path), open=True) for path in paths]
    joined = tensorstore.concat([one.result() for one in opening], axis=0)
    return lambda: joined.read().result()


def join_zarr_kit(paths, folder):
    place = folder / "all.zjoin"
    place.unlink(missing_ok=True)
    zarr_kit.join(paths, place, along="time", virtual=True)
    return open_zarr_kit(paths, folder)


def open_zarr_kit(_, folder):
    joined = zarr_kit.open_group(folder / "all.zjoin")["rain"]
    return lambda: joined[...]


def join_virtualizarr(paths, folder):
    from obstore.store import LocalStore
    from virtualizarr import open_virtual_dataset
    from virtualizarr.parsers import ZarrParser

    try:
        from obspec_utils.registry import ObjectStoreRegistry
    except ImportError:
        from virtualizarr.registry import ObjectStoreRegistry
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    parts = [
        open_virtual_dataset(f"file://{path}", registry=registry, parser=ZarrParser())
        for path in paths
    ]
    joined = xarray.concat(parts, dim="time", coords="minimal", compat="override", join="override")
    joined.vz.to_kerchunk(str(folder / "all.json"), format="json")
    return open_kerchunk(paths, folder)


def open_kerchunk(_, folder):
    data = xarray.open_dataset(str(folder / "all.json"), engine="kerchunk", chunks=None, mask_and_scale=False)
    return lambda: data["rain"].values


PROGRAMS = {
    "zarr-kit, joined and opened": join_zarr_kit,
    "zarr-kit, opened": open_zarr_kit,
    "Xarray `open_mfdataset`": open_xarray,
    "TensorStore `open` of each, `concat`": open_tensorstore,
    "VirtualiZarr, joined, and opened by kerchunk": join_virtualizarr,
    "the same references, opened by kerchunk": open_kerchunk,
}


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    names = ["zarr", "xarray", "dask", "virtualizarr", "kerchunk", "tensorstore"]
    print(json.dumps({name: version(name) for name in names}))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        paths, expected = make(folder, count)
        times = {}
        for _ in range(ROUNDS):
            for name, program in PROGRAMS.items():
                try:
                    start = time.perf_counter()
                    read = program(paths, folder)
                    opened = time.perf_counter()
                    found = read()
                    done = time.perf_counter()
                    assert np.array_equal(found, expected), name
                except Exception as error:  # A program that cannot is said so in the table.
                    times.setdefault(name, f"{type(error).__name__}: {error}".splitlines()[0][:200])
                    continue
                times.setdefault(name, []).append((opened - start, done - opened))
    print(f"\n{count} members of {ROWS} x {WIDTH} uint16, zstd\n\n| | open | read |\n| --- | --- | --- |")
    for name, found in times.items():
        if isinstance(found, str):
            print(f"| {name} | {found} | |")
            continue
        opened, read = (min(column) * 1e3 for column in zip(*found))
        print(f"| {name} | {opened:.0f} | {read:.0f} |")


if __name__ == "__main__":
    main()
