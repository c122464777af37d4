"""Runs zarr-python's own tests for arrays and codecs with the codec pipeline of zarr-kit.

    python run.py FOLDER [--fetch]

fetches zarr-python's source distribution into the folder, if it is not there, and runs its tests,
but not with ``--fetch``. Exactly those that `failing.txt` lists must fail: one that no longer does is a difference as well.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
SOURCE = "zarr==3.4.2 --hash=sha256:645d64f292f457120fc0ca18dbe38f665b4c21aaea38a2a88b5eead8f06f3d28\n"
TESTS = [
    "test_array.py",
    "test_codecs",
    "test_codec_pipeline.py",
    "test_codec_pipeline_suite.py",
    "test_config.py",
    "test_indexing.py",
    "test_resize.py",
    "test_unified_chunk_grid.py",
    "test_v2.py",
    # Its tests for authors of stores and of data types.
    str(HERE / "stores.py"),
    str(HERE / "dtypes.py"),
]
LEAST = 3900
"""Tests that pass at least: fewer were not found, or not run."""

NOTHING_NEW = [
    # Lists and numpy's integers for chunks and shards: the document holds the same tuples of Python's
    # integers, and a pipeline sees no more. Tuples run, on all stores.
    r"test_array\.py::test_from_array\[.*-(list|array|numpy-scalars|new_chunks[234])-",
    # Attributes of arrays without chunks, which a pipeline never reads.
    r"test_array\.py::test_update_attrs\[",
]
"""Tests that ask nothing of a codec pipeline that others do not ask: they do not run."""


class Results:
    """Which tests failed, and how many passed."""

    def __init__(self) -> None:
        self.failed: set[str] = set()
        self.passed = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not re.search("|".join(NOTHING_NEW), item.nodeid)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)


def fetched(folder: Path) -> Path:
    """The unpacked source distribution."""
    unpacked = folder / SOURCE.split()[0].replace("==", "-")
    if not unpacked.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "source.txt").write_text(SOURCE)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "zarr"]
        subprocess.run([*pip, "--dest", folder, "--requirement", folder / "source.txt"], check=True)
        with tarfile.open(unpacked.with_name(f"{unpacked.name}.tar.gz")) as archive:
            archive.extractall(folder, filter="data")
    return unpacked


def expected() -> set[str]:
    lines = (HERE / "failing.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def without_our_types() -> None:
    """Leaves zarr-python's data types alone.

    Its tests walk over all registered ones while the first look-up adds ours, and take each for one
    that version 2 and numpy's names have as well.
    """
    registry = importlib.import_module("zarr.dtype").data_type_registry
    registry.match_dtype(np.dtype("u1"))  # adds ours
    for name in importlib.import_module("zarr_kit.dtypes").TYPES:
        registry.unregister(name)


def run(source: Path, tests: list[str], results: object, traceback: str) -> None:
    """Runs these of zarr-python's tests, with a plugin that keeps what became of them."""
    # They are a package, which their processes import as well.
    os.chdir(source)
    sys.path.insert(0, str(source))
    without_our_types()
    options = ["-c", HERE / "pytest.ini", "--rootdir", source, "-q", "-p", "no:cacheprovider", f"--tb={traceback}"]
    pytest.main([*map(str, options), "-W", "ignore", "--no-summary", *(str(Path("tests", test)) for test in tests)], plugins=[results])


def main() -> int:
    source = fetched(Path(sys.argv[1]).resolve())
    if sys.argv[2:] == ["--fetch"]:
        return 0
    os.environ["ZARR_CODEC_PIPELINE__PATH"] = "zarr_kit.pipeline.ZarrKitCodecPipeline"
    results = Results()
    run(source, TESTS, results, "no")
    new, gone = sorted(results.failed - expected()), sorted(expected() - results.failed)
    for name in new:
        print(f"fails, and is not in failing.txt: {name}")
    for name in gone:
        print(f"in failing.txt, and does not fail: {name}")
    if results.passed < LEAST:
        print(f"{results.passed} tests passed, at least {LEAST} were expected")
    print(f"{results.passed} tests of zarr-python passed, {len(results.failed)} failed")
    return int(bool(new or gone or results.passed < LEAST))


if __name__ == "__mp_main__":
    # A process that a test has started, which imports the tests as well.
    without_our_types()
if __name__ == "__main__":
    sys.exit(main())
