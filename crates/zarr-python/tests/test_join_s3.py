"""Joins in a bucket, whose chunks the server copies itself."""

import numpy as np
import pytest
import zarr_kit
from servers import ACCESS_KEY, PAGE, SECRET_KEY

MONTHS = {"jan": 31, "feb": 28, "mar": 31}


@pytest.fixture
def options(server):
    return server.options | {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY}


@pytest.fixture
def months(options):
    """The URLs of three arrays, and their values."""
    urls, values = [], []
    for number, (name, days) in enumerate(MONTHS.items()):
        urls.append(f"s3://bucket/in/{name}.zarr")
        values.append(np.arange(days * 3, dtype="i4").reshape(days, 3) + 1000 * number + 1)
        array = zarr_kit.create(
            urls[-1], shape=(days, 3), dtype="i4", chunks=(days, 2), dimension_names=["day", "x"],
            storage_options=options,
        )  # fmt: skip
        array[...] = values[-1]
    return urls, values


def stored(server, prefix):
    """The objects below a prefix, as another client than zarr-kit's reads them."""
    client = server.client
    keys = [key for key in server.keys() if key.startswith(prefix)]
    objects = {key: client.get_object(Bucket="bucket", Key=key)["Body"].read() for key in keys}
    return {key.removeprefix(prefix): value for key, value in objects.items() if "/c/" in key}


def test_the_server_copies_the_chunks_of_a_join(server, options, months):
    urls, values = months
    given = {"source_options": options, "target_options": options}
    expected = {}
    for number, name in enumerate(MONTHS):
        chunks = stored(server, f"in/{name}.zarr/c/0/")
        expected |= {f"c/{number}/{key}": value for key, value in chunks.items()}
    server.requests.clear()
    done = zarr_kit.join(urls, "s3://bucket/all.zarr", along="day", **given)
    asked = list(server.requests)
    assert (done.copied, done.written) == (6, 0)
    assert stored(server, "all.zarr/") == expected
    found = zarr_kit.open("s3://bucket/all.zarr", storage_options=options)
    assert found.chunks == ((31, 28, 31), (2, 1)) and found.check().is_clean
    np.testing.assert_array_equal(found[...], np.concatenate(values))
    if server.is_moto:
        sources = {source.lstrip("/") for method, _, source in asked if method == "PUT" and source is not None}
        assert sources == {f"bucket/in/{name}.zarr/c/0/{x}" for name in MONTHS for x in (0, 1)}
        assert not [path for method, path, _ in asked if method == "GET" and "/c/" in path]


def test_chunks_that_do_not_fit_are_decoded_and_the_others_are_not(server, options, months):
    urls, values = months
    given = {"source_options": options, "target_options": options}
    chunks = [[31, 14, 14, 31], 2]
    done = zarr_kit.join(urls, "s3://bucket/all.zarr", along="day", chunks=chunks, **given)
    assert (done.copied, done.written) == (4, 4)
    found = zarr_kit.open("s3://bucket/all.zarr", storage_options=options)
    np.testing.assert_array_equal(found[...], np.concatenate(values))


def test_virtual_joins_in_a_bucket(server, options, months):
    urls, values = months
    given = {"source_options": options, "target_options": options}
    zarr_kit.join(urls, "s3://bucket/in/year.zjoin", along="day", virtual=True, **given)
    virtual = zarr_kit.open("s3://bucket/in/year.zjoin", storage_options=options)
    np.testing.assert_array_equal(virtual[29:60, ::-1], np.concatenate(values)[29:60, ::-1])
    assert virtual.check().is_clean
    assert zarr_kit.copy(virtual, "s3://bucket/real.zarr", target_options=options).arrays == 1
    real = zarr_kit.open("s3://bucket/real.zarr", storage_options=options)
    np.testing.assert_array_equal(real[...], np.concatenate(values))
    # A member that has changed is named.
    zarr_kit.open(urls[1], storage_options=options).attrs["changed"] = True
    with pytest.raises(ValueError, match="feb.zarr"):
        zarr_kit.open("s3://bucket/in/year.zjoin", storage_options=options)[31:40]


def test_what_takes_several_changes_needs_locks(options, months):
    urls, values = months
    array = zarr_kit.open(urls[0], storage_options=options)
    for change in (
        lambda: array.rearrange([slice(0, 31), zarr_kit.open(urls[1], storage_options=options)]),
        lambda: array.resize((7, 3)),
    ):
        with pytest.raises(OSError, match="several objects, and the store has no locks between processes"):
            change()
    np.testing.assert_array_equal(array.refresh()[...], values[0])
    assert array.check().is_clean


def test_more_chunks_than_a_page_of_a_listing(server, options):
    count = PAGE + 20
    array = zarr_kit.create("s3://bucket/many.zarr", shape=count, dtype="i1", chunks=1, storage_options=options)
    array[:] = 1
    assert array.info.chunks_stored == count and array.check().is_clean
    zarr_kit.join([array], "s3://bucket/again.zarr", along=0, target_options=options)
    assert len(server.keys_of_nodes()) == 2 * (count + 1)
