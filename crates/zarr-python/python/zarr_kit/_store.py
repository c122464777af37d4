"""Places of nodes: URLs, folders, and stores of the package obstore."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from . import _native

Url = Any
"""A folder or URL as `str` or `os.PathLike`, or a store: of obstore, of zarr-python (an array or a
group, too), of Icechunk, an fsspec mapper, a `UPath`, or a dict."""


def state(
    url: Url,
    path: str | None = "",
    storage_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    write_empty_chunks: bool = False,
    cache: int = 0,
) -> _native.State:
    """What the native part needs to open a node."""
    path = "" if path is None else path
    if storage_options is not None and not isinstance(storage_options, Mapping):
        raise TypeError(f"storage_options: a mapping of names to values, not {type(storage_options).__name__}")
    if not isinstance(path, str):
        raise TypeError(f"path: the path of a node in the store is a str, not {type(path).__name__}")
    check_threads(threads)
    check_cache(cache)
    given = of_fsspec(str(url).partition("://")[0].lower(), storage_options or {})
    settings = {str(name): _setting(name, value) for name, value in given.items()}
    if type(url).__module__.split(".")[0] == "obstore" and (known := _of_obstore(url)) is not None:
        url, more = known
        settings = {**more, **settings}
    elif not isinstance(url, str | os.PathLike) or type(url).__module__.startswith("upath"):
        url, path, settings = _of_object(url, path, settings)
    url = _text(url)
    check_text("the place", url, may_show=False)
    check_text("the path", path)
    for name, value in settings.items():
        check_text("the name of a setting", name)
        check_text(f"the setting {name}", "".join(value), may_show=False)
    return url, path, settings, threads, write_empty_chunks, cache


def check_text(what: str, text: str, may_show: bool = True) -> None:
    """Raises an error if this is no Unicode text, as file names may be that are not UTF-8.

    The error shows it, unless it may hold a password.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = f"{text!r} has half surrogate pairs" if may_show else f"half surrogate pairs at character {error.start}"
        raise ValueError(f"{what}: {found}, which UTF-8 cannot store") from None


_OF_FSSPEC = {
    "AWS_": {
        "key": "access_key_id",
        "secret": "secret_access_key",
        "endpoint_url": "endpoint",
        "region_name": "region",
    },
    "GOOGLE_": {},
    "AZURE_": {},
}
"""The settings of fsspec's file systems that have another name here, by the client of a scheme."""

_WITHOUT_MEANING = ("asynchronous", "skip_instance_cache", "use_listings_cache")
"""Options of fsspec that change nothing that a caller can see."""


def of_fsspec(scheme: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of object storage, with those of fsspec's file systems under the names that they have here.

    Raises
    ------
    ValueError
        If a setting is given under both names.
    """
    names = _OF_FSSPEC.get(_CLIENTS.get(scheme, ""))
    if names is None:
        return dict(options)
    flat = {name: value for name, value in options.items() if name != "client_kwargs"}
    flat.update(options.get("client_kwargs") or {})
    if scheme == "gs" and flat.get("token") == "anon":
        flat["anon"] = flat.pop("token") == "anon"
    found: dict[str, Any] = {}
    for name, value in flat.items():
        if name in _WITHOUT_MEANING:
            continue
        if name == "anon":
            if not isinstance(value, bool):
                raise TypeError(f"the setting anon is True or False, not {type(value).__name__}")
            name, value = "skip_signature", "true" if value else None
        ours = names.get(name, name)
        if value is None:
            continue
        if ours in found or ours != name and ours in flat:
            raise ValueError(f"the setting {ours} is given twice: fsspec calls it {name}")
        found[ours] = value
    return found


def _of_object(
    given: Any, path: str, settings: dict[str, str | list[str]]
) -> tuple[Any, str, dict[str, str | list[str]]]:
    """The text, the path and the settings of an object that is not a path."""
    from . import _adapter
    from ._node import Node

    if isinstance(given, Node):
        if settings.keys() - {"read_only"}:
            raise TypeError("an open node has the settings that it was opened with")
        url, within, kept, *_ = given._state()
        return url, f"{within}/{path}".strip("/"), {**kept, **settings}
    found = _adapter.place(given)
    if found is None:
        return given, path, settings
    url, within, more = found
    return url, f"{within}/{path}".strip("/"), {**more, **settings}


def with_mode(options: Mapping[str, Any] | None, mode: str) -> Mapping[str, Any] | None:
    """The settings of a store that is opened in this mode."""
    if mode not in ("r", "r+"):
        raise ValueError(f'mode: "r" or "r+", not {mode!r}')
    return options if mode == "r+" else {**(options or {}), "read_only": True}


def path(name: str) -> str:
    """The path of a node without slashes at its ends and double ones."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a node is a string, not {type(name).__name__}")
    check_text("the name of a node", name)
    return "/".join(filter(None, name.split("/")))


def check_threads(threads: int | None) -> None:
    """Raises an error if this is no number of threads."""
    if threads is not None:
        _check_number("threads", threads, "an integer, or None", 1, "at least 1, or None")


def check_cache(cache: int) -> None:
    """Raises an error if this is no number of bytes of a cache."""
    bytes_or_none = "a number of bytes, or 0 for none"
    _check_number("cache", cache, bytes_or_none, 0, bytes_or_none)


def _check_number(name: str, value: int, wanted: str, least: int, allowed: str) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: {wanted}, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name}: {allowed}, not {value}")
    if value > sys.maxsize:
        raise ValueError(f"{name}: at most {sys.maxsize}, not {value}")


def _setting(name: str, value: Any) -> str | list[str]:
    if name != "targets":
        if not isinstance(value, (str, bool, int, float)):
            raise TypeError(f"the setting {name} is text, a number or a bool, not {type(value).__name__}")
        return str(value)
    places = [value] if isinstance(value, (str, os.PathLike)) else list(value)
    # A worker may have another current folder.
    return [place if "://" in place else os.path.abspath(place) for place in map(_text, places)]


def _text(place: Any) -> str:
    text = os.fspath(place) if isinstance(place, os.PathLike) else place
    if not isinstance(text, str):
        raise TypeError(
            "a place is a str or a path, a store of zarr-python or obstore, the store of a session of Icechunk, "
            f"an fsspec mapper, a UPath, or a dict, not {type(text).__name__}"
        )
    if type(text) is not str:
        return text  # It stands for a store of Python, which it keeps.
    # As Dask and Xarray do: no shell has expanded ~, and a folder of this name is unlikely.
    return os.path.expanduser(text)


_CLIENTS = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}
"""How the variables begin that the client of a service reads."""

_SECRETS = {
    "AWS_": (
        "aws_access_key_id access_key_id",
        "aws_secret_access_key secret_access_key",
        "aws_session_token aws_token session_token token",
        "aws_sse_customer_key_base64 sse_customer_key_base64",
    ),
    "GOOGLE_": (
        "google_service_account_key service_account_key",
        "google_bearer_token bearer_token",
    ),
    "AZURE_": (
        "azure_storage_account_key azure_storage_access_key azure_storage_master_key "
        "master_key account_key access_key",
        "azure_storage_client_secret azure_client_secret client_secret",
        "azure_storage_sas_key azure_storage_sas_token sas_key sas_token",
        "azure_storage_token bearer_token token",
        "azure_fabric_session_token fabric_session_token",
        "azure_storage_encryption_key encryption_key",
    ),
}
"""The names that a client has for each secret. In capitals, names with the prefix of its variables
are the variables that it reads."""


def portable(
    url: str, settings: Mapping[str, str | list[str]]
) -> dict[str, str | list[str]]:
    """The settings that another process needs in addition to its environment.

    Secrets that the client would take from the environment are left out, so that none from there is
    in a pickle. All else is kept: another process may have another endpoint in its environment.
    """
    begin, secrets = _secrets(url)
    found = dict(settings)
    for names in secrets:
        known = {
            value
            for variable, value in os.environ.items()
            if variable.startswith(begin) and variable.lower() in names
        }
        for name in settings:
            if name.lower() in names and known == {settings[name]}:
                del found[name]
    return found


def without_secrets(
    url: str, settings: Mapping[str, str | list[str]]
) -> dict[str, str | list[str]]:
    """The settings that say where a store is and how it is read, but not who reads it."""
    secrets = {name for names in _secrets(url)[1] for name in names}
    return {name: value for name, value in settings.items() if name.lower() not in secrets}


def _secrets(url: str) -> tuple[str, list[list[str]]]:
    """How the variables of a store's client begin, and the names of each of its secrets."""
    begin = _CLIENTS.get(_native.service(url) or "", "")
    return begin, [names.split() for names in _SECRETS.get(begin, ())]


def _of_obstore(store: Any) -> tuple[str, dict[str, str | list[str]]] | None:
    """The URL and settings of a store of obstore; None if they do not say all.

    Its objects belong to another compiled library, and can be used only there. They give the
    settings that they were made from, so zarr-kit makes its own store, with its own connections. Stores
    in memory and those that ask a function of Python for credentials are used as zarr-python's.
    """
    kind = type(store).__name__
    prefix = str(getattr(store, "prefix", None) or "").strip("/")
    if kind == "LocalStore":
        folder = getattr(store, "prefix", None)
        return os.fspath(folder) if folder is not None else "/", {}
    if kind == "HTTPStore":
        return str(store.url), _settings(store)
    schemes = {"S3Store": ("s3", "bucket"), "GCSStore": ("gs", "bucket"), "AzureStore": ("az", "container_name")}
    if kind not in schemes or getattr(store, "credential_provider", None) is not None:
        return None
    scheme, member = schemes[kind]
    settings = _settings(store)
    bucket = _taken(settings, member)
    if bucket is None:
        raise ValueError(f"{kind}: its configuration names no {member}")
    return f"{scheme}://{bucket}/{encoded(prefix)}".rstrip("/"), settings


def encoded(names: str) -> str:
    """The names in a URL: percent-encoded where they would mean something else there."""
    return re.sub(r"[\0-\x20\x7f%?#*\\]", lambda found: f"%{ord(found[0]):02X}", names)


def _settings(store: Any) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for part in (getattr(store, "config", None), getattr(store, "client_options", None)):
        for name, value in (part or {}).items():
            if isinstance(value, (bool, int, str)):
                found[str(name).lower()] = str(value).lower() if isinstance(value, bool) else str(value)
            else:
                raise TypeError(f"the setting {name} of the store is {type(value).__name__}, no text")
    return found


def _taken(settings: dict[str, Any], member: str) -> str | None:
    for name in list(settings):
        if name == member or name.endswith(f"_{member}"):
            return str(settings.pop(name))
    return None
