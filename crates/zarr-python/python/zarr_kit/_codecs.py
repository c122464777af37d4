"""Codecs of new arrays, in the forms of documents, of the command line, of zarr-python and of numcodecs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _dtypes

Codecs = str | Sequence[Any]
"""A chain: the short form ``"transpose,zstd:3"``, or a sequence of codecs. Each is a dict as in
``zarr.json``, a short form such as ``"zstd:3"``, or an object of zarr-python or numcodecs."""

_SHUFFLE = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
"""The numbers of numcodecs."""

_OF_ZARR = ("blosc", "gzip", "zstd", "crc32c")
"""The codecs of numcodecs that Zarr has by the same name; others begin with ``numcodecs.``."""


class Codec(Mapping[str, Any]):
    """A codec of an array: ``name`` and ``configuration`` as in ``zarr.json``.

    It equals a codec of zarr-python with the same configuration, and may be given for a new array.
    """

    __slots__ = ("_json",)

    def __init__(self, codec: Mapping[str, Any] | str) -> None:
        self._json = {"name": codec} if isinstance(codec, str) else dict(codec)

    def to_dict(self) -> dict[str, Any]:
        """The codec as in ``zarr.json``."""
        return json.loads(json.dumps(self._json))  # type: ignore[no-any-return]

    def __getitem__(self, name: str) -> Any:
        return self._json[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._json)

    def __len__(self) -> int:
        return len(self._json)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping) and not hasattr(other, "to_dict"):
            return NotImplemented
        return _comparable(self._json) == _comparable(named(other))

    def __hash__(self) -> int:
        return hash(json.dumps(_comparable(self._json), sort_keys=True))

    def __repr__(self) -> str:
        configuration = self._json.get("configuration") or {}
        return f"<{self._json['name']} {json.dumps(configuration)}>" if configuration else f"<{self._json['name']}>"


def _comparable(codec: Mapping[str, Any]) -> dict[str, Any]:
    return {"configuration": {}, **json.loads(json.dumps(codec))}


def as_json(codecs: Codecs, data_type: str | dict[str, Any], shape: Sequence[int]) -> str:
    """The chain of an array as JSON for the native part, in which short forms are text."""
    if isinstance(codecs, Mapping) or hasattr(codecs, "to_dict"):
        raise TypeError(f"codecs: a sequence of codecs, such as [{codecs!r}], not a single one")
    if isinstance(codecs, str):
        codecs = codecs.split(",")
    codecs = [_evolved(codec, data_type, shape) for codec in codecs]
    return json.dumps([codec if isinstance(codec, str) else _completed(named(codec), data_type) for codec in codecs])


def _evolved(codec: Any, data_type: str | dict[str, Any], shape: Sequence[int]) -> Any:
    """A codec of zarr-python with what it takes from the array, such as the size of elements for ``blosc``."""
    if not hasattr(codec, "evolve_from_array_spec"):
        return codec
    from zarr.core.array_spec import ArrayConfig, ArraySpec
    from zarr.core.buffer import default_buffer_prototype
    from zarr.dtype import parse_dtype

    try:
        dtype = parse_dtype(data_type, zarr_format=3)
        config, prototype = ArrayConfig.from_dict({}), default_buffer_prototype()
        return codec.evolve_from_array_spec(ArraySpec(tuple(shape), dtype, dtype.default_scalar(), config, prototype))
    except (TypeError, ValueError):
        return codec  # The native part says what is wrong with it, or reads what zarr-python does not.


def joined(
    filters: Any, serializer: Any, compressors: Any, data_type: str | dict[str, Any]
) -> list[Any] | None:
    """The chain of zarr-python's three arguments; None if all are ``"auto"``."""
    if all(map(_is_auto, (filters, serializer, compressors))):
        return None
    if _is_auto(serializer):
        is_text, is_bytes = _dtypes.is_text(data_type), _dtypes.is_bytes(data_type)
        serializer = "vlen-utf8" if is_text else "vlen-bytes" if is_bytes else "bytes"
    return [*_part(filters, []), serializer, *_part(compressors, ["zstd"])]


def _is_auto(codec: Any) -> bool:
    return isinstance(codec, str) and codec == "auto"


def _part(codecs: Any, automatic: list[Any]) -> list[Any]:
    if _is_auto(codecs):
        return automatic
    if codecs is None:
        return []
    is_one = isinstance(codecs, str | Mapping) or hasattr(codecs, "to_dict") or hasattr(codecs, "get_config")
    return [codecs] if is_one else list(codecs)


def named(codec: Any) -> dict[str, Any]:
    """A codec, or another named object of a document, as in ``zarr.json``."""
    if isinstance(codec, str):
        return {"name": codec}
    if hasattr(codec, "to_dict"):
        codec = codec.to_dict()
    elif hasattr(codec, "get_config"):
        return _of_numcodecs(codec.get_config())
    if not isinstance(codec, Mapping):
        raise TypeError(f"a codec is a name, a dict or an object of zarr-python or numcodecs, not {type(codec).__name__}")
    if "id" in codec and "name" not in codec:
        return _of_numcodecs(dict(codec))
    if set(codec) == {"name", "separator"}:  # zarr-python's short form of a key encoding
        return {"name": codec["name"], "configuration": {"separator": codec["separator"]}}
    return dict(codec)


def _of_numcodecs(config: dict[str, Any]) -> dict[str, Any]:
    name = config.pop("id")
    if name not in _OF_ZARR:
        return {"name": f"numcodecs.{name}", "configuration": config}
    if name == "zstd":
        config.setdefault("checksum", False)
    if name == "blosc":
        config["shuffle"] = _SHUFFLE.get(config.get("shuffle", 1))
    return {"name": name, "configuration": config}


def _completed(codec: dict[str, Any], data_type: str | dict[str, Any]) -> dict[str, Any]:
    """A codec of a document or of numcodecs with what these take from the array."""
    if codec.get("name") == "blosc":
        configuration = dict(codec.get("configuration") or {})
        size = max(_dtypes.to_numpy(data_type).itemsize, 1)
        if configuration.get("typesize") is None:
            configuration["typesize"] = size
        if configuration.get("shuffle") is None:
            configuration["shuffle"] = "bitshuffle" if size == 1 else "shuffle"
        codec = {**codec, "configuration": configuration}
    return json.loads(json.dumps(codec, default=_plain))  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """Enumerations and tuples of zarr-python as JSON."""
    return value.value if hasattr(value, "value") else list(value)
