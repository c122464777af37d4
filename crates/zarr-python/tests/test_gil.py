"""No call to a store holds the GIL: a server in a thread of this process answers every method.

If a call held it, the server could not answer, so the test would never end; faulthandler ends it.
"""

import faulthandler
import pickle

import numpy as np
import pytest
import zarr_kit
from servers import ACCESS_KEY, SECRET_KEY

NEVER = 300
"""Seconds after which a call does not end any more."""


@pytest.fixture
def options(moto):
    """Settings for a server that lives in a thread of this process."""
    faulthandler.dump_traceback_later(NEVER, exit=True)
    yield moto.options | {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY}
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def group(options):
    group = zarr_kit.create_group("s3://bucket/g.zarr", storage_options=options)
    array = group.create_array("a", shape=(6, 2), dtype="i2", chunks=(2, 2), dimension_names=["t", "x"])
    array[:] = np.arange(12).reshape(6, 2)
    group.create_array("s", shape=3, dtype=str)[:] = ["a", "b", "c"]
    group.create_group("inner").create_array("b", shape=2, dtype="u1")
    return group




def refused(call, *arguments):
    """Object storage has no locks, so some changes are refused, once the store has been asked."""
    with pytest.raises(OSError, match="no locks between processes"):
        call(*arguments)


ARRAY = {
    "append": lambda a: a.append(np.zeros((1, 2), "i2")),
    "open": lambda a: zarr_kit.Array.open(a),
    "attrs": lambda a: (a.attrs.update(x=1), dict(a.attrs), a.attrs.pop("x")),
    "check": lambda a: a.check(complete=True),
    "draw": lambda a: (a.draw(), a.draw(values=True)),
    "info": lambda a: str(a.info),
    "oindex": lambda a: a.oindex[[0, 3], :],
    "plan": lambda a: list(a.plan()),
    "read": lambda a: (a.read(), a.read(decode=True)),
    "rearrange": lambda a: refused(a.rearrange, [slice(2, 4), slice(0, 2), slice(4, None)]),
    "refresh": lambda a: a.refresh(),
    "resize": lambda a: (a.resize((8, 2), discard=False), a.resize((6, 2), discard=False), refused(a.resize, (4, 2))),
    "stats": lambda a: a.stats(),
    "stored": lambda a: a.stored.sum(),
    "to_dask": lambda a: a.to_dask().compute(),
    "to_xarray": lambda a: a.to_xarray().load(),
    "vindex": lambda a: (a.vindex[[0, 3], [1, 0]], a.vindex.__setitem__(([0], [1]), 5)),
    "with_threads": lambda a: a.with_threads(3)[:],
    "with_cache": lambda a: a.with_cache(2**20)[:],
    "with_write_empty_chunks": lambda a: a.with_write_empty_chunks(True).__setitem__(..., 0),
    "write": lambda a: a.write(..., np.ones((6, 2), "i2")),
    "blocks": lambda a: (a.blocks[0], a.blocks.__setitem__(0, 1)),
    "get_basic_selection": lambda a: a.get_basic_selection((0, slice(2))),
    "get_block_selection": lambda a: a.get_block_selection(0),
    "get_coordinate_selection": lambda a: a.get_coordinate_selection(([0], [1])),
    "get_mask_selection": lambda a: a.get_mask_selection(np.ones(a.shape, bool)),
    "get_orthogonal_selection": lambda a: a.get_orthogonal_selection(([0], [1])),
    "info_complete": lambda a: a.info_complete(),
    "nbytes_stored": lambda a: a.nbytes_stored(),
    "nchunks_initialized": lambda a: a.nchunks_initialized,
    "set_basic_selection": lambda a: a.set_basic_selection(0, 1),
    "set_block_selection": lambda a: a.set_block_selection(0, 1),
    "set_coordinate_selection": lambda a: a.set_coordinate_selection(([0], [1]), 1),
    "set_mask_selection": lambda a: a.set_mask_selection(np.ones(a.shape, bool), 1),
    "set_orthogonal_selection": lambda a: a.set_orthogonal_selection(([0], [1]), 1),
    "update_attributes": lambda a: a.update_attributes({"x": 1}),
    "with_config": lambda a: a.with_config({"write_empty_chunks": True})[:],
}
"""A call of each method of an array that asks the store."""

GROUP = {
    "arrays": lambda g: list(g.arrays()),
    "attrs": lambda g: (g.attrs.update(x=1), dict(g.attrs), g.attrs.pop("x")),
    "check": lambda g: g.check(complete=True),
    "create_array": lambda g: g.create_array("new", shape=1, dtype="u1"),
    "create_group": lambda g: g.create_group("deep/new"),
    "get": lambda g: (g.get("a"), g.get("none")),
    "get_array": lambda g: g.get_array("a"),
    "get_group": lambda g: g.get_group("inner"),
    "open": lambda g: zarr_kit.Group.open(g),
    "from_store": lambda g: zarr_kit.Group.from_store(g, overwrite=True),
    "groups": lambda g: list(g.groups()),
    "items": lambda g: list(g.items()),
    "keys": lambda g: list(g.keys()),
    "rearrange": lambda g: refused(g.rearrange, [slice(2, 4), slice(0, 2), slice(4, None)], "t"),
    "refresh": lambda g: g.refresh(),
    "tree": lambda g: (str(g.tree()), g.tree()._repr_html_()),
    "values": lambda g: list(g.values()),
    "array_keys": lambda g: list(g.array_keys()),
    "array_values": lambda g: list(g.array_values()),
    "group_keys": lambda g: list(g.group_keys()),
    "group_values": lambda g: list(g.group_values()),
    "info": lambda g: str(g.info),
    "members": lambda g: g.members(max_depth=None),
    "move": lambda g: g.move("a", "moved"),
    "nmembers": lambda g: g.nmembers(),
    "require_array": lambda g: g.require_array("required", shape=1),
    "require_group": lambda g: g.require_group("required"),
    "require_groups": lambda g: g.require_groups("required"),
    "update_attributes": lambda g: g.update_attributes({"x": 1}),
    **{name: lambda g, name=name: getattr(g, name)("new", shape=1) for name in ("empty", "ones", "zeros")},
    **{name: lambda g, name=name: getattr(g, name)("new", a=g["a"]) for name in ("empty_like", "full_like", "ones_like", "zeros_like")},
    "full": lambda g: g.full("new", shape=1, fill_value=2),
}
"""A call of each method of a group that asks the store."""

NOTHING = {
    "chunks", "dims", "dtype", "fill_value", "metadata", "nbytes", "ndim", "path", "shape", "shards", "size", "url",
    "async_array", "asynchronous", "basename", "cdata_shape", "compressor", "compressors", "config", "filters", "name", "nchunks",
    "order", "read_chunk_sizes", "read_only", "serializer", "store", "store_path", "write_chunk_sizes",
}  # fmt: skip
"""Names of data that an open node has already."""


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_method_has_a_call():
    assert public(zarr_kit.Array) - NOTHING == set(ARRAY)
    assert public(zarr_kit.Group) - NOTHING == set(GROUP)


@pytest.mark.parametrize("name", ARRAY)
def test_methods_of_arrays(group, name):
    pytest.importorskip({"to_dask": "dask.array", "to_xarray": "xarray"}.get(name, "numpy"))
    ARRAY[name](group["a"])


@pytest.mark.parametrize("name", GROUP)
def test_methods_of_groups(group, name):
    GROUP[name](group)


def test_special_methods(group, options):
    array, strings = group["a"], group["s"]
    array[0, 1], array[::2], array[[0, 2]], strings[:], list(strings), list(array), bool(strings)
    array[0, 0] = 5
    strings[1:] = ["x", "y"]
    assert "a" in group and "none" not in group and len(group) == 3 and list(group)
    assert list(pickle.loads(pickle.dumps(group))) == list(group)
    assert pickle.loads(pickle.dumps(array)).shape == array.shape
    assert hash(group) and array == group["a"] and repr(array) and repr(group) and array._repr_html_() and group._repr_html_()
    with group as block:
        block["a"][0] = 1
    with pytest.raises(FileNotFoundError):
        zarr_kit.open("s3://bucket/none", storage_options=options)


FUNCTIONS = {
    "advise": lambda at, o: zarr_kit.advise(zarr_kit.open(at, "a", storage_options=o)),
    "check": lambda at, o: zarr_kit.check(at, storage_options=o),
    "copy": lambda at, o: zarr_kit.copy(at, at + "2", source_options=o, target_options=o),
    "create": lambda at, o: zarr_kit.create(at, "new", shape=1, dtype="u1", storage_options=o),
    "create_group": lambda at, o: zarr_kit.create_group(at, "new", storage_options=o),
    "diff": lambda at, o: zarr_kit.diff(zarr_kit.open(at, storage_options=o), zarr_kit.open(at, storage_options=o)),
    "export": lambda at, o: zarr_kit.export(zarr_kit.open(at, storage_options=o)),
    "join": lambda at, o: zarr_kit.join(
        [zarr_kit.open(at, "a", storage_options=o)] * 2, at + "j", along=0, target_options=o
    ),
    "open": lambda at, o: (
        zarr_kit.open(at, storage_options=o), zarr_kit.open(at, "a", storage_options=o),
        zarr_kit.open(at, "inner", storage_options=o)["b"], zarr_kit.open(at, mode="r", storage_options=o)["a"],
    ),
    "open_group": lambda at, o: (zarr_kit.open_group(at, storage_options=o), zarr_kit.open_group(at, "inner", storage_options=o)),
    "array": lambda at, o: zarr_kit.array([1], store=at, name="new", storage_options=o),
    "consolidate_metadata": lambda at, o: zarr_kit.consolidate_metadata(zarr_kit.open(at, storage_options=o)),
    "create_array": lambda at, o: zarr_kit.create_array(at, name="a", data=[1], overwrite=True, storage_options=o),
    "delete": lambda at, o: zarr_kit.delete(at, "a", storage_options=o),
    "full": lambda at, o: zarr_kit.full(3, 1, store=at, name="new", storage_options=o),
    "group": lambda at, o: (zarr_kit.group(at, storage_options=o), zarr_kit.group(at, path="new", storage_options=o)),
    "load": lambda at, o: zarr_kit.load(zarr_kit.open(at, "a", storage_options=o)),
    "open_array": lambda at, o: zarr_kit.open_array(at, "a", storage_options=o),
    "open_consolidated": lambda at, o: (
        zarr_kit.consolidate_metadata(zarr_kit.open(at, storage_options=o)), zarr_kit.open_consolidated(at, storage_options=o),
    ),
    "save": lambda at, o: zarr_kit.save(zarr_kit.open(at, storage_options=o), [1], path="saved"),
    **{
        name: lambda at, o, name=name: getattr(zarr_kit, name)(1, store=at, name="new", storage_options=o)
        for name in ("empty", "ones", "zeros")
    },
    **{
        name: lambda at, o, name=name: getattr(zarr_kit, name)(zarr_kit.open(at, "a", storage_options=o))
        for name in ("empty_like", "full_like", "ones_like", "zeros_like")
    },
}  # fmt: skip
"""A call of each function of the package."""


def test_every_function_has_a_call():
    functions = {name for name in zarr_kit.__all__ if name[0].islower() and callable(getattr(zarr_kit, name))}
    assert functions == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(group, options, name):
    FUNCTIONS[name](group.url, options)
