"""Arrays and groups as texts, tables and pictures."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html, _indexing
from ._native import printable

if TYPE_CHECKING:
    from ._array import Array
    from ._group import Group

PICTURED = 100_000
"""For arrays with more chunks, a notebook does not show which are stored: it would list them."""

@dataclass(frozen=True, slots=True, repr=False)
class ArrayInfo:
    """What `Array.info` says; ``str(info)`` is the text of the command line.

    Attributes
    ----------
    shape
        The number of elements on each axis.
    data_type
        The data type in Zarr's JSON: a name, or an object.
    dims
        The names of the axes, None if the array has none.
    grid
        ``regular`` or ``rectilinear``.
    codecs
        The codecs in Zarr's JSON.
    chunks
        How many chunks hold elements of the array, on each axis.
    chunks_stored
        How many of them are stored, None if the store cannot be listed.
    inner_chunks_stored
        How many chunks within the stored shards are stored, by the indices of the shards; None
        without shards, or if they are not counted, for the reason in `text`.
    bytes_stored
        The bytes that these take, None if asking for each would take a request.
    text
        All of it as text.
    """

    shape: tuple[int, ...]
    data_type: str | dict[str, Any]
    dims: tuple[str | None, ...] | None
    grid: str
    codecs: tuple[dict[str, Any], ...]
    chunks: tuple[int, ...]
    chunks_stored: int | None
    inner_chunks_stored: int | None
    bytes_stored: int | None
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class GroupInfo:
    """What `Group.info` says, as text."""

    __slots__ = ("text",)

    def __init__(self, group: Group) -> None:
        nodes = [node for _, node in group._all_children()]
        unreadable = sum(isinstance(node, Exception) for node in nodes)
        groups = sum(hasattr(node, "create_array") for node in nodes)
        rows = {"path": group.name, "arrays": len(nodes) - unreadable - groups, "groups": groups}
        if unreadable:
            rows["not read"] = unreadable
        attributes = "".join(f"\n  {printable(name)}  {printable(json.dumps(value))}" for name, value in group.attrs.items())
        lines = "\n".join(f"{name:10}  {printable(str(value))}" for name, value in rows.items())
        self.text = f"{printable(group._where)}: group\n{lines}" + (f"\nattributes{attributes}" if attributes else "")

    def __repr__(self) -> str:
        return self.text


def info(array: Array) -> ArrayInfo:
    """Lists the stored chunks."""
    text, document = array._native.info()
    found = json.loads(document)
    chunks = found["chunks"]
    names = found["dimension_names"]
    return ArrayInfo(
        shape=tuple(found["shape"]),
        data_type=found["data_type"],
        dims=None if names is None else tuple(names),
        grid=found["chunk_grid"]["name"],
        codecs=tuple(found["codecs"]),
        chunks=tuple(chunks["occupied"]),
        chunks_stored=chunks["stored"],
        inner_chunks_stored=None if chunks["inner"] is None else chunks["inner"]["stored"],
        bytes_stored=chunks["stored_bytes"],
        text=f"{printable(array._where)}: array\n{text}",
    )


class Drawing(str):
    """A picture as SVG: text, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


class Picture(bytes):
    """A picture as PNG: bytes, which a notebook shows as a picture with its notes.

    Attributes
    ----------
    notes
        Notes on the picture: the range of the colours, which elements are transparent, and which
        indices are left out.
    """

    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<zarr_kit.Picture of {len(self)} bytes: {printable('; '.join(self.notes))}>"

    def _repr_png_(self) -> bytes:
        return bytes(self)

    def _repr_html_(self) -> str:
        source = base64.b64encode(self).decode()
        notes = "<br>".join(_html.text(note) for note in self.notes)
        return (
            f'<figure style="margin: 0"><img src="data:image/png;base64,{source}" alt="values">'
            f"<figcaption>{notes}</figcaption></figure>"
        )


def draw_values(array: Array, key: Any, file: str | os.PathLike[str] | None) -> Picture:
    """The values of a plane of an array as PNG."""
    axes = _axes(array, ... if key is None else key)
    found, notes = array._native.draw_values(axes)
    picture = Picture(found)
    picture.notes = tuple(notes)
    if file is not None:
        Path(file).write_bytes(picture)
    return picture


def stats(array: Array, key: Any) -> dict[str, Any]:
    """The document of ``zarr-kit stats --json``."""
    found: dict[str, Any] = json.loads(array._native.stats(_axes(array, key), array._where))
    return found


def _axes(array: Array, key: Any) -> tuple[_indexing.Axis, ...]:
    selected = _indexing.translate(key, array.shape)
    if isinstance(selected, _indexing.Points):
        raise IndexError("slices and one list per axis are possible here, single elements are not")
    return selected.axes


def draw(array: Array, key: Any, file: str | os.PathLike[str] | None) -> str:
    """The picture of an array as SVG."""
    axes = None if key is None else _axes(array, key)
    picture = Drawing(array._native.draw(axes, array._where))
    if file is not None:
        Path(file).write_text(picture, encoding="utf-8")
    return picture


def array_html(array: Array) -> str:
    """A table that describes the array, and its picture if that is quick to make."""
    count = array._native.occupied_chunks
    listed = count is not None and count <= PICTURED and array._native.is_quick
    if listed:
        text = array._native.info()[0]
        described = text.partition("\nattributes")[0].splitlines()
        rows = [(line.strip().partition("  ")[::2]) for line in described]
    else:
        named = array.dims or ("",) * array.ndim
        rows = [
            ("type", array._type_name()),
            ("shape", ", ".join(f"{name} {length}".strip() for name, length in zip(named, array.shape, strict=True))),
            ("grid", array._document["chunk_grid"]["name"]),
            ("chunks", "more than 2^64" if count is None else f"{count:,}"),
            *([("shards", f"{array.shards}")] if array.shards is not None else []),
            ("codecs", ", ".join(_name(codec) for codec in array._document["codecs"])),
        ]
    rows += _attribute_rows(array.attrs.asdict())
    lines = "".join(
        f"<tr><th style=\"text-align: left\">{_html.text(name)}</th>"
        f"<td style=\"text-align: left\">{_html.text(value.strip())}</td></tr>"
        for name, value in rows
    )
    picture = array._native.draw(None, array._where) if listed else ""
    return (
        f"<div><strong>{_html.text(array._where)}</strong>: zarr_kit.Array"
        f"<table>{lines}</table>{picture}</div>"
    )


FIRST = ("long_name", "standard_name", "units")
"""Attributes that say what the elements are."""


def _attribute_rows(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The attributes as rows, those of `FIRST` before others; long values are cut."""
    names = [*(name for name in FIRST if name in attributes), *(name for name in attributes if name not in FIRST)]
    rows = []
    for name in names[: _html.ROWS]:
        value = attributes[name]
        shown = value if isinstance(value, str) else json.dumps(value)
        rows.append((name, shown if len(shown) <= 120 else f"{shown[:117]}..."))
    return [*rows, *([("attributes", f"and {len(names) - _html.ROWS} more")] if len(names) > _html.ROWS else [])]


def _name(codec: str | dict[str, Any]) -> str:
    return codec if isinstance(codec, str) else str(codec["name"])
