"""Xarray's own tests of its engine for Zarr, with our engine in its place.

They are run three times: we write and read, we write and its engine reads, its engine writes and we
read. Those that cannot pass are listed with the reason; one that is listed and passes is a failure.
"""

import asyncio
import contextlib

import pytest

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
pytest.importorskip("dask.array")
backends = pytest.importorskip("xarray.tests.test_backends")
trees = pytest.importorskip("xarray.tests.test_backends_datatree")

from xarray.tests.conftest import create_test_datatree, simple_datatree  # noqa: E402, F401
from zarr_kit.xarray import to_zarr  # noqa: E402

unaligned_datatree_zarr_factory = trees.unaligned_datatree_zarr_factory

WRITES = {
    "test_roundtrip_None_variable": "Zarr reserves names that begin with two underscores",
    "test_invalid_dataarray_names_raise": "another message: None is no name either",
    "test_attributes": "another message, which names the attribute",
    "test_shard_encoding_with_dask": "no error: tasks may share a shard",
    "test_chunk_encoding_with_dask": "no error: chunks may be ragged, and tasks may share one",
    "test_roundtrip_object_dtype": "missing values among strings are an error: they would be stored as empty ones",
    "test_zarr_encoding": "another message: encoding of nodes that the tree does not have",
    "test_append_with_append_dim_no_overwrite": "other coordinates, and the same times for the second time, are errors",
}
"""Tests that fail where we write."""

READS = {
    "test_read_non_consolidated_warning": "no warning: documents are read one by one by default",
    "test_compressor_encoding": "encoding has codecs as in zarr.json, not objects of zarr-python",
    "test_check_encoding_is_consistent_after_append": "the same",
    "test_zarr_encoding": "the same",
    "test_to_zarr_not_consolidated": "no warning, as above",
}
"""Tests that fail where we read."""


@pytest.fixture(params=[3])
def default_zarr_format(request):
    with zarr.config.set({"default_zarr_format": 3, "array.rectilinear_chunks": True}):
        yield request.param


@pytest.fixture(params=[True, False])
def use_dask(request):
    return request.param


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request):
    return request.param


@pytest.fixture(autouse=True)
def expectations(request):
    """What Xarray's own configuration of pytest does with its marks, and what is listed here."""
    for mark in request.node.iter_markers("skip_if_param"):
        if mark.kwargs.get("default_zarr_format") == 3 and mark.kwargs.get("condition", True):
            pytest.skip(mark.kwargs["reason"])
    if "zarr_format" in request.fixturenames and request.getfixturevalue("zarr_format") == 2:
        pytest.skip("we write version 3 only")
    name = request.node.name.partition("[")[0]
    expected = {**(WRITES if request.cls.writes else {}), **(READS if request.cls.reads else {})}
    if name in expected:
        request.node.add_marker(pytest.mark.xfail(reason=expected[name], strict=True))


def our_to_zarr(ds, store=None, chunk_store=None, mode=None, synchronizer=None, group=None,
                encoding=None, *, consolidated=None, zarr_format=None, write_empty_chunks=None, **arguments):
    """`Dataset.to_zarr` by us, with consolidated metadata by default as there."""
    assert zarr_format in (None, 3) and chunk_store is None and synchronizer is None
    consolidated = consolidated is not False and mode != "r+"
    return to_zarr(
        ds, store, mode=mode, group=group, encoding=encoding, consolidated=consolidated,
        write_empty_chunks=bool(write_empty_chunks), **arguments,
    )  # fmt: skip


def with_engine(open_theirs):
    """`open_dataset` and its kin, which take our engine for theirs."""

    def open_ours(where, *, engine="zarr", mode="r", consolidated=None, zarr_format=None, **arguments):
        assert engine == "zarr"
        more = arguments.pop("backend_kwargs", None) or {}
        more.pop("consolidated", None)
        return open_theirs(where, engine="zarr-kit", **arguments, **more)

    return open_ours


def open_zarr(where, chunks="default", **arguments):
    return with_engine(xr_open_dataset)(where, chunks={} if chunks == "default" else chunks, **arguments)


xr_open_dataset = xr.open_dataset


@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
@pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification")
class Base(backends.ZarrBase):
    __test__ = False
    writes, reads = True, True

    @pytest.fixture(autouse=True)
    def in_place(self, monkeypatch):
        if self.writes:
            monkeypatch.setattr(xr.Dataset, "to_zarr", our_to_zarr)
        if self.reads:
            monkeypatch.setattr(xr, "open_dataset", with_engine(xr_open_dataset))
            monkeypatch.setattr(xr, "open_zarr", open_zarr)

    def test_load_async(self):
        asyncio.run(super().test_load_async())

    @contextlib.contextmanager
    def create_zarr_target(self):
        with backends.create_tmp_file(suffix=".zarr") as path:
            yield path


class TestWeWriteAndRead(Base):
    __test__ = True


class TestWeWrite(Base):
    __test__ = True
    reads = False


class TestWeRead(Base):
    __test__ = True
    writes = False


class Trees(trees.TestZarrDatatreeIO):
    __test__ = False
    writes, reads = True, True

    @pytest.fixture(autouse=True)
    def in_place(self, monkeypatch):
        if self.writes:
            monkeypatch.setattr(xr.DataTree, "to_zarr", our_to_zarr)
        if self.reads:
            monkeypatch.setattr(xr, "open_dataset", with_engine(xr_open_dataset))
            for name in ("open_datatree", "open_groups", "load_datatree"):
                monkeypatch.setattr(trees, name, with_engine(getattr(trees, name)))


class TestWeWriteAndReadTrees(Trees):
    __test__ = True


class TestWeWriteTrees(Trees):
    __test__ = True
    reads = False


class TestWeReadTrees(Trees):
    __test__ = True
    writes = False
