"""zarr-python's own look-ups, on the axes that `grid-bench` measures.

    python -m venv ENV && ENV/bin/pip install 'zarr==3.4.*'
    ENV/bin/python xtask/peers/grid_bench.py

Prints nanoseconds for each look-up, the best of several rounds.
"""

import json
import random
import time

import numpy as np
import zarr
from zarr.core.chunk_grids import ChunkGrid, FixedDimension, VaryingDimension
from zarr.core.metadata.v3 import ArrayV3Metadata

MILLION = 1_000_000
ROUNDS = 7


def best(run, operations):
    """Nanoseconds per operation in the best round."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return min(times) / operations


def open_json(text):
    """From the text of an array's metadata to its grid."""
    return ChunkGrid.from_metadata(ArrayV3Metadata.from_dict(json.loads(text)))


def main():
    rng = random.Random(1)
    months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    lists = {
        "one run, `[[1, 1000000]]`": [1] * MILLION,
        "months": [months[n % 12] for n in range(MILLION)],
        "explicit, 1 to 100": [rng.randint(1, 100) for _ in range(MILLION)],
    }
    print(f"zarr-python {zarr.__version__}, numpy {np.__version__}\n")
    print("| | index to chunk | in bulk, unsorted | JSON to a grid, milliseconds |")
    print("| --- | --- | --- | --- |")
    zarr.config.set({"array.rectilinear_chunks": True})
    for name, edges in lists.items():
        extent = sum(edges)
        dimension = VaryingDimension(edges, extent)
        indices = [rng.randrange(extent) for _ in range(50_000)]
        array = np.array(indices)
        single = best(lambda: [dimension.index_to_chunk(index) for index in indices], len(indices))
        bulk = best(lambda: dimension.indices_to_chunks(array), len(indices))
        shapes = [[[1, MILLION]]] if len(set(edges)) == 1 else [edges]
        document = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [extent],
            "data_type": "uint8",
            "chunk_grid": {
                "name": "rectilinear",
                "configuration": {"kind": "inline", "chunk_shapes": shapes},
            },
            "chunk_key_encoding": {"name": "default"},
            "codecs": [{"name": "bytes"}],
            "fill_value": 0,
        }
        text = json.dumps(document)
        opened = best(lambda: open_json(text), 1_000_000)
        print(f"| {name} | {single:.1f} | {bulk:.1f} | {opened:.1f} |")
    fixed = FixedDimension(100, MILLION * 100)
    indices = [rng.randrange(MILLION * 100) for _ in range(50_000)]
    single = best(lambda: [fixed.index_to_chunk(index) for index in indices], len(indices))
    print(f"| regular | {single:.1f} | | |")

    edges = [rng.randint(1, 100) for _ in range(1000)]
    extent = sum(edges)
    grid = ChunkGrid(dimensions=(VaryingDimension(edges, extent), VaryingDimension(edges, extent)))
    walked = best(lambda: sum(1 for _ in grid.iter_chunk_regions()), 1_000_000)
    print(f"\nAll regions of 1000 x 1000 chunks: {walked:.1f} ns a chunk.")


if __name__ == "__main__":
    main()
