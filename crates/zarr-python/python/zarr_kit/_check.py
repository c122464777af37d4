"""Checks of stores against the specifications."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from . import _html, _native, _store
from ._native import printable
from ._progress import Progress, told

MEMORY = 1 << 30
"""The memory that operations on whole hierarchies may use by default."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that breaks a rule, or that is legal but probably not intended.

    Attributes
    ----------
    id
        The name of the rule, which does not change: ``chunk-checksum``.
    severity
        ``error``, ``warning`` or ``note``.
    key
        The object in the store, None if the finding is about the whole node.
    path
        The place in a document, as a JSON path such as ``$.codecs[0]``.
    message
        What was found.
    rule
        What the rule says.
    array, region
        The path of the array in the store, and the elements of the chunk as slices, to be used as
        ``a[region]``; None if the finding is not about a chunk.
    labels
        The labels of these elements on axes with a coordinate array, such as
        ``time=2012-03-01:2012-03-31``; None if no axis has one.
    next
        The next step, with the command; None if there is none.
    """

    id: str
    severity: str
    key: str | None
    path: str | None
    message: str
    rule: str
    array: str | None = None
    region: tuple[slice, ...] | None = None
    labels: str | None = None
    next: str | None = None

    def __str__(self) -> str:
        key = "" if self.key is None else f"{self.key}: "
        path = "" if self.path in (None, "$") else f"{self.path}: "
        text = f"{self.severity}: {key}{path}{self.message} [{self.id}]"
        if self.region and self.severity != "note":
            region = ",".join(f"{axis.start}:{axis.stop}" for axis in self.region)
            text += f" (region {region}{'' if self.labels is None else f'; {self.labels}'})"
        return printable(text)


class Report(_html.Table, Sequence[Finding]):
    """What a check has found, in the order of keys within each node.

    Attributes
    ----------
    groups, arrays, chunks
        How many were examined; for chunks, how many stored ones.
    bytes_read
        The bytes of chunks that were read.
    """

    __slots__ = ("_findings", "arrays", "bytes_read", "chunks", "groups")

    def __init__(self, findings: list[Finding], seen: tuple[int, int, int, int]) -> None:
        self._findings = tuple(findings)
        self.groups: int = seen[0]
        self.arrays: int = seen[1]
        self.chunks: int = seen[2]
        self.bytes_read: int = seen[3]

    @property
    def errors(self) -> list[Finding]:
        """The findings that are errors."""
        return [finding for finding in self if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are warnings."""
        return [finding for finding in self if finding.severity == "warning"]

    @property
    def is_clean(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return not self.errors and not self.warnings

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __repr__(self) -> str:
        return f"<zarr_kit.Report of {self._counts()}>"

    def _counts(self) -> str:
        errors, warnings = len(self.errors), len(self.warnings)
        counts = (self.arrays, "array"), (self.chunks, "stored chunk"), (errors, "error"), (warnings, "warning")
        return "{}, {}: {}, {}".format(*(f"{count} {name}{'s' * (count != 1)}" for count, name in counts))

    def __str__(self) -> str:
        return "\n".join([*map(str, self), repr(self)])

    def _table(self) -> tuple[str, Sequence[str], list[Sequence[object]], int]:
        names = "severity", "where", "finding", "next step"
        rows: list[Sequence[object]] = [
            (each.severity, each.labels or each.key or each.path or "", f"{each.message} [{each.id}]", each.next or "")
            for each in self[: _html.ROWS]
        ]
        return self._counts(), names, rows, len(self)


def check(
    store: _store.Url,
    path: str = "",
    *,
    data: bool = True,
    complete: bool = False,
    memory: int | str = MEMORY,
    ignore: Sequence[str] = (),
    progress: Progress = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Report:
    """Checks the nodes at a place, also nodes that are too damaged to be opened.

    Parameters
    ----------
    store, path, storage_options
        As for `open`.
    data, complete, memory, ignore, progress
        As for `Array.check`.

    Returns
    -------
    Report
        The findings, node by node.

    Raises
    ------
    FileNotFoundError
        If the place does not exist.
    ValueError
        If ``memory`` is no number of bytes, or no finding has an id in ``ignore``.

    Examples
    --------
    >>> import pathlib, tempfile, zarr_kit
    >>> folder = tempfile.mkdtemp()
    >>> _ = pathlib.Path(folder, "zarr.json").write_text("{}")
    >>> [finding.severity for finding in zarr_kit.check(folder)]
    ['error']
    """
    return check_node(_store.state(store, path, storage_options), data, complete, memory, ignore, progress)


def check_node(
    node: _native.NodeOrState,
    data: bool,
    complete: bool,
    memory: int | str,
    ignore: Sequence[str],
    progress: Progress,
) -> Report:
    """Checks an open node, or the node that a `_store.state` names."""
    with told(progress, "chunks") as tell:
        found, seen = _native.check(node, data, complete, parsed_bytes(memory), list(ignore), tell)
    return Report([_finding(*finding) for finding in found], seen)


def _finding(
    id: str,
    severity: str,
    key: str | None,
    path: str | None,
    message: str,
    rule: str,
    at: tuple[str, list[tuple[int, int]]] | None,
    labels: str | None,
    next: str | None,
) -> Finding:
    array, axes = at or (None, None)
    region = None if axes is None else tuple(slice(start, stop) for start, stop in axes)
    return Finding(id, severity, key, path, message, rule, array, region, labels, next)


def parsed_bytes(size: int | str) -> int:
    """A number of bytes, or one with a unit such as ``"512MiB"``.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if not isinstance(size, str):
        try:
            found = operator.index(size)
        except TypeError:
            raise ValueError(f"{size!r} is no number of bytes, such as 4096 or '512MiB'") from None
        if found < 0:
            raise ValueError(f"{found} is no number of bytes")
        return found
    text = size.strip()
    number = text.rstrip("BKMGTiIbkmgt ")
    unit = text[len(number) :].strip().lower().removesuffix("b")
    powers = {"": 1, **{f"{letter}i": 1024**n for n, letter in enumerate("kmgt", 1)}}
    powers |= {letter: 1000**n for n, letter in enumerate("kmgt", 1)}
    try:
        return parsed_bytes(int(float(number) * powers[unit]))
    except (KeyError, OverflowError, ValueError):
        raise ValueError(f"{size!r} is no number of bytes, such as 4096 or '512MiB'") from None
