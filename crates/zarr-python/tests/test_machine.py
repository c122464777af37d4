"""Random operations on a group of arrays, against models in numpy: hypothesis draws and shrinks them.

`HYPOTHESIS_PROFILE=thorough` runs 1,000 histories of 500 steps in place of 200 of 75.
"""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import zarr_kit
import zarr_kit.dask
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

xr = pytest.importorskip("xarray")
da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

from zarr_kit.xarray import to_zarr  # noqa: E402

HISTORIES, STEPS = {"thorough": (1_000, 500)}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), (200, 75))

# The lengths of the dimensions of 2-D arrays that do not grow.
WIDTH = 4

DTYPES = ("u1", "i2", "f4", "bool")
numbers = st.integers(0, 100)
names = st.sampled_from(["a", "b", "c", "d"])
edges = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def filled(shape, dtype, seed):
    """Elements that differ between seeds, many of them zero."""
    return np.random.default_rng(seed).integers(-1, 2, shape).clip(0).astype(dtype) * np.dtype(dtype).type(1)


def edges_of(array, axis=0):
    """Where chunks begin and the array ends."""
    return [0, *np.cumsum(array.write_chunk_sizes[axis]).tolist()]


def parts_of(length, parts):
    """A length as chunks of these lengths, again and again."""
    found = []
    while sum(found) < length:
        found.append(parts[len(found) % len(parts)])
    if found:
        found[-1] -= sum(found) - length
    return found


class Machine(RuleBasedStateMachine):
    """Each array is opened anew for every operation, as by another process."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.folder / "store.zarr"
        zarr_kit.create_group(self.store)
        self.models, self.attributes = {}, {}

    def teardown(self):
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def pick(self, number):
        """One of the arrays that are there: its name, handle and model."""
        if not self.models:
            return None
        name = sorted(self.models)[number % len(self.models)]
        return name, zarr_kit.open(self.store, name), self.models[name]

    @rule(name=names, length=st.integers(0, 9), is_flat=st.booleans(), dtype=st.sampled_from(DTYPES), parts=edges)
    def create(self, name, length, is_flat, dtype, parts):
        """With chunks of any lengths; over a name that is taken it is refused, and nothing changes."""
        group = zarr_kit.open_group(self.store)
        shape = (length,) if is_flat else (length, WIDTH)
        chunks = [parts_of(length, parts) or 1] + ([] if is_flat else [3])
        dims = ("x",) if is_flat else ("x", "y")
        arguments = {"shape": shape, "dtype": dtype, "chunks": chunks, "dimension_names": dims}
        if name in self.models:
            with pytest.raises((FileExistsError, ValueError)):
                group.create_array(name, **arguments)
            return
        group.create_array(name, **arguments)
        self.models[name], self.attributes[name] = np.zeros(shape, dtype), {}

    @rule(number=numbers, start=numbers, count=st.integers(0, 9), seed=numbers)
    def write(self, number, start, count, seed):
        if (found := self.pick(number)) is not None:
            _, array, model = found
            start %= len(model) + 1
            region = slice(start, min(start + count, len(model)))
            values = filled(model[region].shape, model.dtype, seed)
            array[region] = values
            model[region] = values

    @rule(number=numbers, start=numbers, step=st.sampled_from([-3, -2, -1, 2, 3]), value=st.integers(0, 1))
    def write_steps(self, number, start, step, value):
        if (found := self.pick(number)) is not None:
            _, array, model = found
            region = slice(start % (len(model) + 1), None, step)
            array[region] = value
            model[region] = value

    @rule(number=numbers, points=st.lists(numbers, max_size=5), seed=numbers)
    def write_points(self, number, points, seed):
        found = self.pick(number)
        if found is None or not len(found[2]):
            return
        _, array, model = found
        points = sorted({point % len(model) for point in points})
        values = filled((len(points), *model.shape[1:]), model.dtype, seed)
        array.oindex[points] = values
        model[points] = values

    @rule(number=numbers, start=numbers, stop=numbers, step=st.sampled_from([-2, -1, 1, 2, 3]))
    def read(self, number, start, stop, step):
        if (found := self.pick(number)) is not None:
            _, array, model = found
            region = slice(start % 12 - 2, stop % 12 - 2, step)
            np.testing.assert_array_equal(array[region], model[region])

    @rule(number=numbers, count=st.integers(0, 4), seed=numbers)
    def append(self, number, count, seed):
        found = self.pick(number)
        if found is None or len(found[2]) > 40:
            return
        name, array, model = found
        added = filled((count, *model.shape[1:]), model.dtype, seed)
        array.append(added)
        self.models[name] = np.concatenate([model, added])

    @rule(number=numbers, length=st.integers(0, 12), parts=edges)
    def resize(self, number, length, parts):
        if (found := self.pick(number)) is not None:
            name, array, model = found
            array.resize((length, *model.shape[1:]))
            kept = model[:length]
            grown = np.zeros((length - len(kept), *model.shape[1:]), model.dtype)
            self.models[name] = np.concatenate([kept, grown])

    @rule(number=numbers, cut=numbers, order=st.permutations([0, 1, 2]), count=st.integers(1, 3))
    def rearrange(self, number, cut, order, count):
        """Runs of whole chunks in any order, some of them left out."""
        found = self.pick(number)
        if found is None or not len(found[2]):
            return
        name, array, model = found
        places = edges_of(array)
        if places[-1] != len(model):
            return
        cuts = sorted([0, places[cut % len(places)], places[(cut // 2) % len(places)], len(model)])
        spans = [slice(cuts[at], cuts[at + 1]) for at in order][:count]
        spans = [span for span in spans if span.start < span.stop]
        if not spans:
            return
        try:
            array.rearrange(spans)
        except ValueError as error:
            # The last chunk of a regular axis, which reaches past the end, can only be last.
            assert "nothing can come after" in str(error) or "inside a chunk" in str(error), error
            return
        self.models[name] = np.concatenate([model[span] for span in spans])

    @rule(number=numbers, key=st.sampled_from(["first", "second"]), value=numbers)
    def set_attribute(self, number, key, value):
        if (found := self.pick(number)) is not None:
            name, array, _ = found
            array.attrs[key] = value
            self.attributes[name][key] = value

    @rule(number=numbers, key=st.sampled_from(["first", "second"]))
    def delete_attribute(self, number, key):
        if (found := self.pick(number)) is not None and key in self.attributes[found[0]]:
            del found[1].attrs[key]
            del self.attributes[found[0]][key]

    @rule(number=numbers, to=names, parts=st.integers(1, 5))
    def copy(self, number, to, parts):
        """Into other chunks; over a name that is taken only if that is asked for."""
        found = self.pick(number)
        if found is None or found[0] == to:
            return
        name, _, model = found
        chunks = [parts] + [2] * (model.ndim - 1)
        source, target = self.store / name, self.store / to
        if to in self.models:
            with pytest.raises(FileExistsError):
                zarr_kit.copy(source, target, chunks=chunks)
        zarr_kit.copy(source, target, chunks=chunks, overwrite=True)
        self.models[to], self.attributes[to] = model.copy(), dict(self.attributes[name])

    @rule(first=numbers, second=numbers, to=names, link=st.booleans())
    def join(self, first, second, to, link):
        """Of arrays that fit, end to end; linked chunks are written as new files."""
        found, other = self.pick(first), self.pick(second)
        if found is None or other is None or to in (found[0], other[0]):
            return
        if found[2].dtype != other[2].dtype or found[2].ndim != other[2].ndim:
            return
        sources = [self.store / found[0], self.store / other[0]]
        joined = np.concatenate([found[2], other[2]])
        if len(joined) > 40:
            return
        zarr_kit.join(sources, self.store / to, along=0, link=link, overwrite=True, combine_attrs="drop")
        self.models[to], self.attributes[to] = joined, {}

    @rule(first=numbers, second=numbers)
    def join_virtually(self, first, second):
        found, other = self.pick(first), self.pick(second)
        if found is None or other is None or found[2].dtype != other[2].dtype or found[2].ndim != other[2].ndim:
            return
        sources = [self.store / found[0], self.store / other[0]]
        target = self.folder / "joined.zjoin"
        zarr_kit.join(sources, target, along=0, virtual=True, combine_attrs="drop")
        np.testing.assert_array_equal(zarr_kit.open(target)[...], np.concatenate([found[2], other[2]]))
        target.unlink()

    @rule(number=numbers, blocks=st.integers(1, 5), seed=numbers)
    def write_with_dask(self, number, blocks, seed):
        found = self.pick(number)
        if found is None or not found[2].size:
            return
        _, array, model = found
        values = filled(model.shape, model.dtype, seed)
        with dask.config.set(scheduler="synchronous"):
            zarr_kit.dask.to_zarr(da.from_array(values, chunks=blocks), array)
            np.testing.assert_array_equal(array.to_dask().compute(), values)
        model[...] = values

    @rule()
    def read_with_xarray(self):
        """All arrays that share dimensions of one length."""
        by_length = {}
        for name, model in self.models.items():
            by_length.setdefault(len(model), []).append(name)
        for alike in by_length.values():
            for name in alike:
                found = zarr_kit.open(self.store, name).to_xarray()
                np.testing.assert_array_equal(found.values, self.models[name])
                assert found.dims == ("x", "y")[: self.models[name].ndim]

    @rule(number=numbers, count=st.integers(1, 4), seed=numbers)
    def append_with_xarray(self, number, count, seed):
        """A dataset of one array, which grows."""
        found = self.pick(number)
        if found is None or not found[2].size:
            return
        name, array, model = found
        where = self.folder / "dataset.zarr"
        more = filled((count, *model.shape[1:]), model.dtype, seed)
        first = xr.Dataset({name: (array.dims, model, self.attributes[name])})
        to_zarr(first, where, mode="w")
        to_zarr(xr.Dataset({name: (array.dims, more)}), where, append_dim="x")
        with xr.open_dataset(where, engine="zarr-kit") as grown:
            np.testing.assert_array_equal(grown[name].values, np.concatenate([model, more]))
            assert grown[name].dtype == model.dtype
            assert {key: int(value) for key, value in grown[name].attrs.items()} == self.attributes[name]

    @rule()
    def check(self):
        report = zarr_kit.check(self.store)
        assert not report.errors, report
        rules = {finding.rule for finding in report.warnings}
        assert not rules, report

    @invariant()
    def everything_is_as_modelled(self):
        if not hasattr(self, "folder"):
            return
        group = zarr_kit.open_group(self.store)
        assert sorted(group) == sorted(self.models)
        for name, array in group.arrays():
            model = self.models[name]
            assert array.dtype == model.dtype
            np.testing.assert_array_equal(array[...], model)
            assert dict(array.attrs) == self.attributes[name]


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=HISTORIES,
    stateful_step_count=STEPS,
    deadline=None,
    # The same histories each time; by hand, others are drawn with HYPOTHESIS_PROFILE.
    derandomize=HISTORIES == 200,
    database=None,
    suppress_health_check=list(HealthCheck),
)
