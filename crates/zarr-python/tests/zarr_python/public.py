"""Runs zarr-python's tests of its public interface with ``zarr_kit`` in the place of ``zarr``.

    python public.py FOLDER [TEST ..]

takes zarr-python's source distribution from the folder, as `run.py` does. In each module of tests, ``zarr``
and the names that were imported from it are those of zarr_kit where it has them. A test may fail only for a
reason of `REASONS`, which stand in docs/from-zarr-python.md, or as `LEFT_OUT` says.
"""

from __future__ import annotations

import re
import sys
import types
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zarr
import zarr.api.synchronous
import zarr_kit

sys.path.insert(0, str(Path(__file__).parent))  # pytest imports this file as well, to look for examples
from run import fetched, run  # noqa: E402

TESTS = ["test_api.py", "test_array.py", "test_attributes.py", "test_group.py", "test_indexing.py"]
LEAST = 2000
"""Tests that pass at least, if all run."""

NOT_RUN = [
    # Of the asynchronous interface, which has other names here (`array.asynchronous`), and of processes,
    # which import the tests without this program.
    r"[Aa]sync",
    r"multiprocessing",
    # `zarr_kit.copy` has the place of from_array, create_hierarchy has none.
    r"test_from_array",
    r"create_hierarchy|rooted_hierarchy",
    # Measures time.
    r"test_group_members_concurrency_limit",
    # Thousands of cases with one call to the public interface.
    r"test_update_attrs\[",
    r"test_default_endianness",
]

REASONS = {
    "version 2 is only read": r"are written in version 3, not 2|unexpected argument 'compressor'|'dimension_separator'",
    "private names, and the asynchronous classes": r"has no attribute '(_\w+|from_dict|from_store|create_array)'|"
    r"'?AsyncArray'? object has no attribute|AsyncGroup.__init__|type object 'Async\w+' has no attribute|"
    r"isinstance\(<(Async)?(Group|Array) |zarr\.errors\.Contains",
    "metadata is a dict, as in zarr.json": r"'dict' object has no attribute",
    "an error of this kind, in other words": r"Actual message:",
    "no warning where nothing is lost": r"Emitted warnings:|DID NOT WARN",
    "reads are in C order; absent chunks are the fill value": r"order is 'C' and read_missing_chunks True",
    "ArrayConfig has the names that change something": r"== ArrayConfig\(",
    "more keys are indices, as in numpy": r"DID NOT RAISE IndexError",
}

LEFT_OUT = {
    "test_like_zarr_format": "version 2 is only read",
    "test_creation_from_other_zarr_format": "version 2 is only read",
    "test_array_like_creation": "its functions are asynchronous",
    "test_overwrite_without_deletes_keeps_existing_node": "stores that cannot delete are changed by other steps",
    "test_overwrite_invalid_fill_value_keeps_existing_node": "a TypeError, where zarr-python has a ValueError",
    "test_overwrite_read_only_store_names_mode": "a PermissionError, where zarr-python has a ValueError",
    "test_overwrite_invalid_keyword_keeps_existing_node": "create_array without a shape is a ValueError first",
    "test_create_mode_w_minus_existing_data": "an error of another kind",
    "test_create": "chunk_shape, an older name of chunks",
    "test_open_array_unknown_config_key": "a dict of settings: no error while nothing is created",
    "test_open_array_invalid_config_value": "a dict of settings: no error while nothing is created",
    "test_open_group_with_config": "config is for arrays",
    "test_require_array_unknown_config_key": "config of require_array is for new arrays",
    "test_require_array_invalid_config_value": "config of require_array is for new arrays",
    "test_open_with_mode_r": "an error of another kind",
    "test_no_overwrite_load": "an error of another kind",
    "test_api_exports": "the stand-in has no __all__",
    "test_auto_chunks": "calls functions by their signatures",
    "test_create_array_with_data_num_gets": "fewer requests",
    "test_resize_sharded_keeps_cells_beyond_shape": "what is cut off is gone",
    "test_resize_2d": "what is cut off is gone",
    "test_resize_1d": "shape has no setter",
    "test_nbytes_stored": "looks at the store by private names",
    "test_orthogonal_set_total_slice": "one chunk of elements beyond the shape",
    "test_invalid_v3_arguments": "older names of arguments",
    "test_array_repr": "names zarr_kit",
    "test_get_selection_out": "out has the type of the array",
    "test_orthogonal_bool_indexing_like_numpy_ix": "a[mask, mask] is numpy's; oindex is orthogonal",
    "test_group_get_array_missing": "a KeyError, where zarr-python has its own",
    "test_group_get_group_missing": "a KeyError, where zarr-python has its own",
    "test_group_get_array_wrong_node_type": "a TypeError, where zarr-python has its own",
    "test_group_get_group_wrong_node_type": "a TypeError, where zarr-python has its own",
    "test_open_consolidated_raises": "an error of another kind",
    "test_group_delitem_consolidated_aliased": "a group by consolidated metadata is as old as that",
    "test_info": "info has zarr_kit's lines",
    "test_open_array_as_group": "an error of another kind",
}


class Stand(types.ModuleType):
    """zarr_kit under the name of zarr; what it lacks is zarr-python's."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in zarr_kit.__all__ and name != "codecs":
            return getattr(zarr_kit, name)
        return getattr(zarr, name)


STAND = Stand("zarr")
STAND.api = types.SimpleNamespace(synchronous=STAND, asynchronous=zarr.api.asynchronous)  # type: ignore[attr-defined]


def stood_in(name: str, value: object) -> object:
    """What a name of a module of tests stands for."""
    if value is zarr or value is zarr.api.synchronous:
        return STAND
    if isinstance(value, type) and issubclass(value, Exception) and value.__module__ == "zarr.errors":
        # Our errors are Python's own.
        kinds = {"Contains": FileExistsError, "NotFound": FileNotFoundError}
        return next((kind for part, kind in kinds.items() if part in name), value)
    return getattr(zarr_kit, name) if name in zarr_kit.__all__ and getattr(zarr, name, None) is value else value


class Results:
    """What became of each test."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not re.search("|".join(NOT_RUN), item.nodeid)]
        for module in {item.module for item in items}:  # type: ignore[attr-defined]
            for name, value in list(vars(module).items()):
                setattr(module, name, stood_in(name, value))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)


def function(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0]


def main() -> int:
    source, chosen = fetched(Path(sys.argv[1]).resolve()), sys.argv[2:] or TESTS
    results = Results()
    run(source, chosen, results, "short")
    why: Counter[str] = Counter()
    unexplained, left_out = [], set[str]()
    for test, text in sorted(results.failed.items()):
        reason = next((r for r, form in REASONS.items() if re.search(form, text)), None)
        if reason is None and (reason := LEFT_OUT.get(function(test))) is not None:
            left_out.add(function(test))
        why[reason or "unexplained"] += 1
        if reason is None:
            unexplained.append(f"{test}: {text.splitlines()[-1]}")
    no_longer = LEFT_OUT.keys() - left_out if chosen is TESTS else set()
    print(*unexplained, *(f"left out, and does not fail: {name}" for name in sorted(no_longer)), sep="\n")
    for reason, count in why.most_common():
        print(f"{count:6} {reason}")
    print(f"{len(results.passed)} tests of zarr-python's public interface passed with zarr_kit, {len(results.failed)} did not")
    is_less = chosen is TESTS and len(results.passed) < LEAST
    return int(bool(unexplained or no_longer or is_less))


if __name__ == "__main__":
    sys.exit(main())
