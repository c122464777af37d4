"""Names in buckets that URLs hold percent-encoded, and objects that are no keys."""

from urllib.parse import quote

import numpy as np
import pytest
import zarr_kit
from servers import ACCESS_KEY, SECRET_KEY

# The second is what the URL of the first would mean if it were not decoded.
NAMES = ["a b", "a%20b", "100%", "what?", "no#1", "1+1=2&x", "été", "it's (1)", "$HOME;~", "a:b@c", '"<q>"', "雨*"]


@pytest.fixture
def options(server):
    return server.options | {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY}


def test_nodes_are_called_what_they_are_called(server, options):
    group = zarr_kit.create_group("s3://bucket/in side/g", storage_options=options)
    for number, name in enumerate(NAMES, 1):
        group.create_array(name, shape=2, dtype="i4", chunks=1)[:] = [number, -1]
    assert sorted(group) == sorted(NAMES)
    keys = set(server.keys())
    for number, name in enumerate(NAMES, 1):
        assert {f"in side/g/{name}/zarr.json", f"in side/g/{name}/c/1"} <= keys, name
        url = f"s3://bucket/in%20side/g/{quote(name)}"
        for found in (zarr_kit.open(url, storage_options=options), group[name]):
            assert found[:].tolist() == [number, -1], name
        assert zarr_kit.open("s3://bucket", f"in side/g/{name}", storage_options=options)[0] == number
        assert found.check().is_clean and found.info.chunks_stored == 2
    zarr_kit.copy(group, "s3://bucket/copied", target_options=options)
    copied = {key.removeprefix("copied/") for key in server.keys_of_nodes() if key.startswith("copied/")}
    assert copied == {key.removeprefix("in side/g/") for key in keys}


def test_joins_name_their_members(server, options):
    for number, name in enumerate(NAMES):
        place = f"s3://bucket/in/{quote(name)}.zarr"
        zarr_kit.create(place, shape=2, dtype="i4", dimension_names=["x"], storage_options=options)[:] = number
    places = [f"s3://bucket/in/{quote(name)}.zarr" for name in NAMES]
    given = {"source_options": options, "target_options": options}
    expected = np.repeat(np.arange(len(NAMES)), 2)
    zarr_kit.join(places, "s3://bucket/all.zarr", along="x", **given)
    np.testing.assert_array_equal(zarr_kit.open("s3://bucket/all.zarr", storage_options=options)[:], expected)
    url = "s3://bucket/in/my%20join.zjoin"
    zarr_kit.join(places, url, along="x", virtual=True, **given)
    assert "in/my join.zjoin" in server.keys()
    virtual = zarr_kit.open(url, storage_options=options)
    np.testing.assert_array_equal(virtual[:], expected)
    added = zarr_kit.open(places[0], storage_options=options)
    virtual.rearrange([slice(2, 2 * len(NAMES)), added], "x")
    np.testing.assert_array_equal(virtual[:], np.roll(expected, -2))
    assert virtual.check().is_clean


@pytest.mark.parametrize("prefix", NAMES)
def test_stores_of_obstore_have_the_same_names(server, options, prefix):
    obstore = pytest.importorskip("obstore")
    pytest.importorskip("obstore.store")
    store = obstore.store.S3Store(
        "bucket", prefix=f"in/{prefix}", endpoint=server.endpoint, region="us-east-1", access_key_id=ACCESS_KEY,
        secret_access_key=SECRET_KEY, client_options={"allow_http": True},
    )  # fmt: skip
    zarr_kit.create(store, "a.zarr", shape=1, dtype="i4")[:] = 1
    obstore.put(store, "other", b"")
    ours, others = (next(key for key in server.keys() if key.endswith(end)) for end in ("a.zarr/c/0", "other"))
    assert ours.removesuffix("a.zarr/c/0") == others.removesuffix("other")
