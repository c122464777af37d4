"""The codecs ``packbits`` and ``reshape`` for zarr-python.

zarr-python finds them through their entry points once zarr-kit is installed. Arrays with these codecs
open like all others; pass them to new arrays as objects, or as in ``zarr.json``.

Examples
--------
>>> import numpy as np, zarr
>>> from zarr_kit.codecs import PackBits, Reshape
>>> a = zarr.create_array(
...     {}, shape=(6, 4), chunks=(3, 4), dtype="uint8", compressors=None,
...     filters=[Reshape([[0, 1]])], serializer=PackBits(last_bit=3),
... )
>>> a[...] = np.arange(24).reshape(6, 4) % 16
>>> a.store._store_dict["c/0/0"].to_bytes().hex()
'1032547698ba'
"""

from __future__ import annotations

from ._extras import need

need("zarr", "zarr")

import json
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import zarr.codecs
from zarr.abc.codec import ArrayArrayCodec

from . import _chunks, _native
from ._compiled import CompiledCodec

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import NDBuffer

__all__ = ["PackBits", "Reshape"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The codecs of zarr-python, which arrays are created with here, too: ``BloscCodec``."""
        return getattr(zarr.codecs, name)


@dataclass(frozen=True)
class PackBits(CompiledCodec):
    """Packs the low bits of each value next to each other, without padding between values.

    Parameters
    ----------
    first_bit, last_bit
        The first and the last bit of each component that are stored, counted from the least
        significant; None for the lowest and the highest of the data type.
    padding_encoding
        ``"first_byte"`` or ``"last_byte"`` to store the number of padding bits, otherwise
        ``"none"``.

    Raises
    ------
    ValueError
        If a member is not valid; the message names it.
    zarr_kit.LossError
        On writing, if a value has bits outside the stored ones: values are never cut.

    Notes
    -----
    Specification: zarr-extensions, ``codecs/packbits``.

    Examples
    --------
    >>> PackBits(last_bit=11).to_dict()
    {'name': 'packbits', 'configuration': {'last_bit': 11}}
    >>> PackBits(first_bit=-1)
    Traceback (most recent call last):
    ValueError: $.configuration.first_bit: found -1, expected a bit, counted from 0, or null
    """

    is_fixed_size = True

    first_bit: int | None
    last_bit: int | None
    padding_encoding: str
    _document: str = field(repr=False, compare=False)

    def __init__(
        self,
        *,
        first_bit: int | None = None,
        last_bit: int | None = None,
        padding_encoding: str = "none",
    ) -> None:
        configuration: dict[str, Any] = {}
        if padding_encoding != "none":
            configuration["padding_encoding"] = padding_encoding
        for name, bit in (("first_bit", first_bit), ("last_bit", last_bit)):
            if bit is not None:
                configuration[name] = operator.index(bit)
        self._set({"name": "packbits", "configuration": configuration} if configuration else {"name": "packbits"})

    def _set(self, document: dict[str, Any]) -> None:
        checked = _checked(document)
        configuration = document.get("configuration", {})
        object.__setattr__(self, "first_bit", configuration.get("first_bit"))
        object.__setattr__(self, "last_bit", configuration.get("last_bit"))
        object.__setattr__(self, "padding_encoding", configuration.get("padding_encoding", "none"))
        object.__setattr__(self, "_document", checked)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec that a document has, which is written back as it was.

        Parameters
        ----------
        data
            The codec as in ``zarr.json``.

        Returns
        -------
        Self

        Raises
        ------
        ValueError
            If a member is not valid; the message names it.
        """
        codec = cls.__new__(cls)
        codec._set(_object(data, "packbits"))
        return codec

    def to_dict(self) -> dict[str, Any]:
        """The codec as in ``zarr.json``.

        Returns
        -------
        dict
        """
        return _document(self._document)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """The same codec, if it can encode the data type.

        Parameters
        ----------
        array_spec
            The data type and the number of axes.

        Returns
        -------
        PackBits

        Raises
        ------
        ValueError
            If the codec does not fit the data type; the message names the member.
        """
        self._chain(array_spec)
        return self

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """The encoded size of a chunk with this size in memory.

        Parameters
        ----------
        input_byte_length
            The bytes of the chunk in memory.
        chunk_spec
            Its data type.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If the codec does not fit the data type.
        """
        elements = input_byte_length // chunk_spec.dtype.to_native_dtype().itemsize
        length = self._chain(replace(chunk_spec, shape=(elements,))).encoded_len((elements,))
        assert length is not None
        return length

    def _chain(self, spec: ArraySpec) -> _native.Chain:
        return _chunks.chain(f"[{self._document}]", spec, place="$")


@dataclass(frozen=True)
class Reshape(ArrayArrayCodec):
    """Changes the shape of chunks; the elements keep their (C) order.

    Parameters
    ----------
    shape
        For each axis of the result: its length, a list of axes of the chunk to multiply their
        lengths, or, once, -1 for the rest.

    Raises
    ------
    ValueError
        If an entry is not valid, or does not fit the shape of a chunk; the message names it.

    Notes
    -----
    Specification: zarr-extensions, ``codecs/reshape``. zarr-python passes the shape of
    chunks only when it encodes or decodes one, so a shape that does not fit is found then.

    Examples
    --------
    >>> Reshape([[0, 1], 3]).to_dict()
    {'name': 'reshape', 'configuration': {'shape': [[0, 1], 3]}}
    """

    is_fixed_size = True

    shape: tuple[int | tuple[int, ...], ...]
    _document: str = field(repr=False, compare=False)

    def __init__(self, shape: Iterable[int | Iterable[int]]) -> None:
        entries = [
            [operator.index(axis) for axis in entry] if isinstance(entry, Iterable) else operator.index(entry)
            for entry in shape
        ]
        self._set({"name": "reshape", "configuration": {"shape": entries}})

    def _set(self, document: dict[str, Any]) -> None:
        checked = _checked(document)
        entries = document["configuration"]["shape"]
        shape = tuple(entry if isinstance(entry, int) else tuple(entry) for entry in entries)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "_document", checked)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The codec that a document has, which is written back as it was.

        Parameters
        ----------
        data
            The codec as in ``zarr.json``.

        Returns
        -------
        Self

        Raises
        ------
        ValueError
            If a member is not valid; the message names it.
        """
        codec = cls.__new__(cls)
        codec._set(_object(data, "reshape"))
        return codec

    def to_dict(self) -> dict[str, Any]:
        """The codec as in ``zarr.json``.

        Returns
        -------
        dict
        """
        return _document(self._document)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """The same number of bytes.

        Parameters
        ----------
        input_byte_length, chunk_spec
            The bytes of the chunk, and its shape and data type.

        Returns
        -------
        int
        """
        return input_byte_length

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """The input of the next codec.

        zarr-python also calls this with the shape of the array, or an invented one: if that does
        not fit, the result has the right number of axes.

        Parameters
        ----------
        chunk_spec
            The shape and data type of the chunk.

        Returns
        -------
        zarr.core.array_spec.ArraySpec
        """
        try:
            shape = self._stored_shape(chunk_spec)
        except ValueError:
            shape = (1,) * len(self.shape)
        return replace(chunk_spec, shape=shape)

    def _stored_shape(self, spec: ArraySpec) -> tuple[int, ...]:
        return _stored_shape(self._document, tuple(spec.shape))

    def _encode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer | None:
        return chunk_data.reshape(self._stored_shape(chunk_spec))

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer | None:
        return self._encode_sync(chunk_data, chunk_spec)

    def _decode_sync(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        self._stored_shape(chunk_spec)
        return chunk_data.reshape(chunk_spec.shape)

    async def _decode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


@lru_cache(maxsize=256)
def _stored_shape(document: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The encoded shape of a chunk of this shape."""
    chain = _native.Chain(f'[{document}, {{"name": "bytes"}}]', '"uint8"', [[]] * len(shape), "$")
    return chain.stored_shape(shape)


def _checked(document: dict[str, Any]) -> str:
    text = json.dumps(document)
    _native.check_codec(text)
    return text


def _object(data: Any, name: str) -> dict[str, Any]:
    """The object of the codec with this name as in the document, with lists instead of zarr-python's tuples."""
    found: dict[str, Any] = {"name": data} if isinstance(data, str) else json.loads(json.dumps(data))
    if isinstance(found, dict) and found.get("name") != name:
        raise ValueError(f"$.name: found {found.get('name')!r}, expected {name!r}")
    return found


def _document(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found
