"""Counts elements that processes lose which write next to each other.

    python race.py [--runs N] [--tasks N] [--kinds KIND ...] [--stores STORE ...] [--endpoint URL]

400 tasks on 4 processes write 10 elements each of an array of 4,000 in chunks of 70, so that all
chunks are written by several tasks at once: in a local folder, and on a server of the S3 protocol on
this machine (the package moto). Prints the losses of every run, and fails if an array of zarr-kit, or
one of zarr-python with its codec pipeline, has any. zarr-python's default pipeline does.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import zarr

import zarr_kit

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import servers  # noqa: E402

PART, CHUNK = 10, 70
OURS = "zarr_kit.pipeline.ZarrKitCodecPipeline"
DEFAULT = "zarr.core.codec_pipeline.BatchedCodecPipeline"


def opened(kind: str, url: str, options: dict[str, str]) -> Any:
    if kind == "zarr-kit":
        return zarr_kit.open(url, storage_options=options)
    zarr.config.set({"codec_pipeline.path": OURS if kind == "pipeline" else DEFAULT})
    if not options:
        return zarr.open_array(url)
    from obstore.store import S3Store
    from zarr.storage import ObjectStore

    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    store = S3Store(
        bucket, prefix=prefix, endpoint=options["endpoint"], region=options["region"], access_key_id=servers.ACCESS_KEY,
        secret_access_key=servers.SECRET_KEY, client_options={"allow_http": True},
    )
    return zarr.open_array(ObjectStore(store))


def write(kind: str, url: str, options: dict[str, str], task: int) -> None:
    first = task * PART
    opened(kind, url, options)[first : first + PART] = np.arange(first, first + PART) + 1


def lost(kind: str, url: str, options: dict[str, str], pool: ProcessPoolExecutor, tasks: int) -> int:
    """How many elements of one run are not there."""
    zarr_kit.create(url, shape=tasks * PART, dtype="int32", chunks=CHUNK, storage_options=options)
    for future in [pool.submit(write, kind, url, options, task) for task in range(tasks)]:
        future.result()
    found = zarr_kit.open(url, storage_options=options)[...]
    return int((found != np.arange(tasks * PART) + 1).sum())


@contextmanager
def bucket(endpoint: str | None) -> Iterator[dict[str, str]]:
    """The settings of the server at this address, or of moto's."""
    os.environ |= {"AWS_ACCESS_KEY_ID": servers.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": servers.SECRET_KEY}
    with nullcontext(servers.Server(endpoint)) if endpoint else servers.moto() as server:
        yield server.options


@contextmanager
def folder() -> Iterator[dict[str, str]]:
    yield {}


def main(runs: int, tasks: int, kinds: list[str], stores: list[str], endpoint: str | None) -> int:
    ours = 0
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as temporary:
        for name in stores:
            place, root = (folder(), temporary) if name == "local" else (bucket(endpoint), "s3://bucket")
            with place as options, ProcessPoolExecutor(4, context) as pool:
                for kind in kinds:
                    losses = [lost(kind, f"{root}/{kind}-{run}", options, pool, tasks) for run in range(runs)]
                    print(f"{kind}, {name}: {sum(losses)} lost in {runs} runs: {losses}", flush=True)
                    ours += sum(losses) if kind != "default" else 0
    return int(ours > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--kinds", nargs="+", default=["zarr-kit", "pipeline", "default"])
    parser.add_argument("--stores", nargs="+", default=["local", "S3"])
    parser.add_argument("--endpoint")
    sys.exit(main(**vars(parser.parse_args())))
