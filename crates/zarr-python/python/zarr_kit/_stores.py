"""Finds the stores of zarr-python that the native part can open directly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr.storage import FsspecStore, LocalStore, MemoryStore, ObjectStore, WrapperStore, ZipStore

from . import _native
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


def place_of(store: Store) -> str | None:
    """The URL or path of any store of zarr-python, without its settings.

    Empty for stores in memory. None if it is not known, as for classes of other packages.
    """
    while isinstance(store, WrapperStore):
        store = store._store
    if isinstance(store, LocalStore):
        return str(store.root.absolute())
    if isinstance(store, ZipStore):
        return str(store.path)
    if isinstance(store, MemoryStore):
        return ""
    if isinstance(store, FsspecStore):
        return _of_protocol(store.fs.protocol, store.path)
    if isinstance(store, ObjectStore):
        below: Any = store.store
        name, prefix = type(below).__name__.removesuffix("Store"), getattr(below, "prefix", None) or ""
        if name == "Memory":
            return ""
        if name == "Local":
            return str(prefix or "/")
        if name == "HTTP":
            return str(below.url)
        config = dict(below.config)
        bucket = next((config[key] for key in ("bucket", "container_name") if key in config), None)
        scheme = {"S3": "s3", "GCS": "gs", "Azure": "az"}.get(name)
        return _url(bucket, str(prefix), scheme) if bucket and scheme else None
    return None


def _of_protocol(protocols: str | tuple[str, ...], path: str) -> str | None:
    """The URL of a path in a file system of fsspec."""
    protocol = protocols if isinstance(protocols, str) else protocols[0]
    if protocol in ("file", "local", "http", "https"):
        return path
    if protocol == "memory":
        return ""
    if _native.service(f"{protocol}:") is None:
        return None
    bucket, _, prefix = path.removeprefix(f"{protocol}://").strip("/").partition("/")
    return _url(bucket, prefix, protocol)


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
    """A local file system, or one of s3fs with options that include the credentials."""
    fs: Any = store.fs
    if type(getattr(fs, "sync_fs", fs)).__name__ == "LocalFileSystem":
        return StoreUrl(store.path, {"outside_links": "true"})
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


def _url(bucket: str, prefix: str, scheme: str = "s3") -> str:
    return f"{scheme}://{bucket}/{encoded(prefix.strip('/'))}".rstrip("/")
