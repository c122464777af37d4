"""The codec pipeline on object storage: servers of the S3 protocol on this machine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr
from zarr.storage import FsspecStore, ObjectStore

from servers import ACCESS_KEY, SECRET_KEY
from zarr_kit import _stores


@pytest.fixture
def endpoint(server):
    return server.endpoint


def by_obstore(endpoint, **options):
    store = pytest.importorskip("obstore.store")
    return ObjectStore(
        store.S3Store(
            "bucket", prefix="in/side", endpoint=endpoint, access_key_id=ACCESS_KEY,
            secret_access_key=SECRET_KEY, region="us-east-1", client_options={"allow_http": True}, **options,
        )
    )


def by_s3fs(endpoint, **options):
    s3fs = pytest.importorskip("s3fs")
    fs = s3fs.S3FileSystem(
        key=ACCESS_KEY, secret=SECRET_KEY, endpoint_url=endpoint, asynchronous=True, skip_instance_cache=True,
        client_kwargs={"region_name": "us-east-1"}, **options,
    )
    return FsspecStore(fs, path="bucket/in/side")


@pytest.fixture(params=[by_obstore, by_s3fs], ids=["obstore", "s3fs"])
def store(request, endpoint):
    with zarr.config.set({"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}):
        yield request.param(endpoint)


def test_chunks_are_read_and_written_natively(store, server):
    array = zarr.create_array(store, name="a", shape=(9, 6), chunks=(4, 5), dtype="i4")
    expected = np.arange(54, dtype="i4").reshape(9, 6)
    array[...] = expected
    np.testing.assert_array_equal(array[2:, ::2], expected[2:, ::2])
    np.testing.assert_array_equal(array.oindex[[8, 0], 1:3], expected[[8, 0], 1:3])
    array[3:5, 4:] = 7
    expected[3:5, 4:] = 7
    assert array.async_array.codec_pipeline._opened
    assert {"in/side/a/zarr.json", "in/side/a/c/0/0", "in/side/a/c/2/1"} <= set(server.keys())
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        np.testing.assert_array_equal(zarr.open_array(store, path="a")[...], expected)


def test_tasks_side_by_side_lose_nothing(store):
    array = zarr.create_array(store, name="race", shape=300, chunks=70, dtype="i4")

    def write(task):
        array[10 * task : 10 * task + 10] = np.arange(10 * task, 10 * task + 10)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(30)))
    np.testing.assert_array_equal(array[...], np.arange(300))


def test_settings_without_an_equal_are_zarr_pythons_affair(endpoint):
    """Credentials that another client finds elsewhere, retries, options of a session."""
    from datetime import timedelta

    assert _stores.url_of(by_obstore(endpoint)) is not None
    assert _stores.url_of(by_obstore(endpoint, retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=9)})) is None
    assert _stores.url_of(by_s3fs(endpoint)) is not None
    assert _stores.url_of(by_s3fs(endpoint, requester_pays=True)) is None
    s3fs = pytest.importorskip("s3fs")
    nobody = s3fs.S3FileSystem(endpoint_url=endpoint, asynchronous=True, skip_instance_cache=True)
    assert _stores.url_of(FsspecStore(nobody, path="bucket")) is None
