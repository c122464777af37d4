"""Settings by the names of fsspec's file systems, and parts of objects that are none."""

import asyncio

import pytest
import zarr_kit
from zarr_kit import _store

KEYS = {"key": "k", "secret": "s", "token": "t", "endpoint_url": "http://localhost:9", "client_kwargs": {"region_name": "r"}}


def settings(url, **options):
    return _store.state(url, storage_options=options)[2]


def test_names_of_s3fs_are_ours():
    found = settings("s3://bucket/a", **KEYS)
    assert found == {
        "access_key_id": "k",
        "secret_access_key": "s",
        "token": "t",
        "endpoint": "http://localhost:9",
        "region": "r",
    }
    assert settings("s3://bucket/a", anon=True) == {"skip_signature": "true"}
    assert settings("S3://bucket/a", anon=False, key=None) == {}
    assert settings("gs://bucket/a", token="anon") == {"skip_signature": "true"}
    assert settings("az://bucket/a", anon=True, account_name="n") == {"skip_signature": "true", "account_name": "n"}
    # Secrets stay out of what is shown.
    assert _store.without_secrets("s3://bucket/a", found) == {"endpoint": "http://localhost:9", "region": "r"}


@pytest.mark.parametrize(
    "options", [{"key": "k", "access_key_id": "k"}, {"endpoint_url": "e", "endpoint": "e"}, {"anon": True, "skip_signature": "true"}]
)
def test_a_setting_under_both_names_is_refused(options):
    with pytest.raises(ValueError, match="is given twice"):
        settings("s3://bucket/a", **options)


def test_anonymous_is_a_truth_value():
    with pytest.raises(TypeError, match="anon is True or False"):
        settings("s3://bucket/a", anon="yes")


def test_other_places_have_no_such_names(tmp_path):
    assert settings(str(tmp_path), key="k") == {"key": "k"}


def test_unknown_parts_of_objects_are_refused(tmp_path):
    pytest.importorskip("zarr")
    from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
    from zarr.core.buffer import default_buffer_prototype
    from zarr_kit.store import ZarrKitStore

    zarr_kit.create(tmp_path, shape=2, dtype="i2")
    whole = (tmp_path / "zarr.json").read_bytes()
    store = ZarrKitStore(str(tmp_path))

    def get(part):
        return asyncio.run(store.get("zarr.json", default_buffer_prototype(), byte_range=part)).to_bytes()

    assert get(None) == whole and get(RangeByteRequest(1, 5)) == whole[1:5]
    assert get(OffsetByteRequest(7)) == whole[7:] and get(SuffixByteRequest(3)) == whole[-3:]
    for part in ((0, 2), slice(0, 2), 5, "0-2"):
        with pytest.raises(TypeError, match="byte_range"):
            get(part)
