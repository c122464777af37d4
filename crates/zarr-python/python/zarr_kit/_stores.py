"""Finds the stores of zarr-python that the native part can open directly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr.storage import FsspecStore, LocalStore, ObjectStore

from ._store import encoded

if TYPE_CHECKING:
    from zarr.abc.store import Store


class StoreUrl(NamedTuple):
    """The URL and the settings of a store."""

    url: str
    settings: dict[str, str]


def url_of(store: Store) -> StoreUrl | None:
    """The URL and settings of a store of zarr-python; None for stores that only zarr-python can read.

    Classes derived from zarr-python's may do anything, so they are not supported. Neither are stores
    with settings that have no equivalent here, above all credentials, which other clients look for
    elsewhere.
    """
    if type(store) is LocalStore:
        # zarr-python follows links wherever they lead.
        return StoreUrl(str(store.root.absolute()), {"outside_links": "true"})
    if type(store) is ObjectStore:
        return _of_obstore(store.store)
    if type(store) is FsspecStore:
        return _of_fsspec(store)
    return None


_OBSTORE_SETTINGS = frozenset(
    "access_key_id allow_http bucket endpoint region secret_access_key session_token skip_signature "
    "virtual_hosted_style_request".split()
)


def _of_obstore(store: Any) -> StoreUrl | None:
    """An S3 store with settings that include the credentials."""
    if type(store).__name__ != "S3Store" or store.credential_provider or store.retry_config:
        return None
    settings = {**store.config, **(store.client_options or {})}
    settings = {name.removeprefix("aws_"): value for name, value in settings.items()}
    if not settings.keys() <= _OBSTORE_SETTINGS or not _says_who(settings):
        return None
    bucket, prefix = settings.pop("bucket", None), store.prefix or ""
    if bucket is None or not all(isinstance(value, (str, bool)) for value in settings.values()):
        return None
    return StoreUrl(_url(bucket, prefix), {name: _text(value) for name, value in settings.items()})


_FSSPEC_OPTIONS = frozenset("key secret token anon endpoint_url client_kwargs asynchronous".split())


def _of_fsspec(store: FsspecStore) -> StoreUrl | None:
    """A file system of s3fs with options that include the credentials."""
    fs: Any = store.fs
    if type(fs).__name__ != "S3FileSystem" or fs.storage_args or "://" in store.path:
        return None
    options = dict(fs.storage_options)
    client = dict(options.pop("client_kwargs", None) or {})
    if not options.keys() <= _FSSPEC_OPTIONS or not client.keys() <= {"endpoint_url", "region_name"}:
        return None
    endpoint = options.get("endpoint_url") or client.get("endpoint_url")
    named = {
        "access_key_id": options.get("key"),
        "secret_access_key": options.get("secret"),
        "session_token": options.get("token"),
        "endpoint": endpoint,
        "region": client.get("region_name"),
        "skip_signature": "true" if options.get("anon") else None,
        "allow_http": "true" if str(endpoint).startswith("http:") else None,
    }
    settings = {name: str(value) for name, value in named.items() if value is not None}
    bucket, _, prefix = store.path.strip("/").partition("/")
    return StoreUrl(_url(bucket, prefix), settings) if bucket and _says_who(settings) else None


def _says_who(settings: Mapping[str, Any]) -> bool:
    """Whether the settings are complete without the environment, which clients read differently."""
    has_keys = settings.keys() >= {"access_key_id", "secret_access_key"}
    return (has_keys or _text(settings.get("skip_signature")) == "true") and "region" in settings


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _url(bucket: str, prefix: str) -> str:
    return f"s3://{bucket}/{encoded(prefix.strip('/'))}".rstrip("/")
