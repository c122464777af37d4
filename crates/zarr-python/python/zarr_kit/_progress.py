"""The progress of long operations."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _html
from ._native import printable

Told = Callable[[str, int, int | None], object]
"""A function that gets the path of an array, the amount done, and the total, or None."""

Progress = bool | Told
"""True for a progress bar, on standard error or in a notebook's cell, or a function that is called."""


@contextmanager
def told(progress: Progress, unit: str) -> Iterator[Told | None]:
    """The function that the native part calls, at most ten times per second."""
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        bar = Bar(unit)
        try:
            yield bar
        finally:
            bar.close()


class Bar:
    """What is done, in a place that each update overwrites."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._start = time.monotonic()
        self._place: _Line | _Cell = _Cell() if _is_notebook() else _Line()

    def __call__(self, path: str, done: int, total: int | None) -> None:
        seconds = time.monotonic() - self._start
        before, after, part = f"{printable(path) or '/'}: {_amount(done, self._unit)}", "", None
        if total:
            left = seconds / done * (total - done) if done else 0.0
            before, after = f"{before} of {_amount(total, self._unit)}", f"{left:.0f} s left"
            part = min(done, total) / total
        self._place.show(before, part, after)

    def close(self) -> None:
        """Ends the line, if there is one."""
        self._place.close()


class _Line:
    """A line on standard error."""

    _width = 0

    def show(self, before: str, part: float | None, after: str) -> None:
        text = before if part is None else f"{before} |{'#' * int(20 * part):20}| {after}"
        print(f"\r{text:{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            print(file=sys.stderr, flush=True)


class _Cell:
    """A bar below the cell of a notebook."""

    _handle: Any = None

    def show(self, before: str, part: float | None, after: str) -> None:
        value = "" if part is None else f' value="{part:.3f}"'
        content = {
            "text/plain": f"{before} {after}".rstrip(),
            "text/html": f"<div>{_html.text(before)} <progress{value}></progress> {after}</div>",
        }
        if self._handle is None:
            displays: Any = importlib.import_module("IPython.display")
            self._handle = displays.display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def close(self) -> None:
        """The last state stays."""


def _is_notebook() -> bool:
    """Whether the code is run by a kernel, which shows HTML."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _amount(number: int, unit: str) -> str:
    if unit != "bytes":
        return f"{number:,} {unit}"
    size = float(number)
    for name in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {name}"
        size /= 1024
    return f"{size:.4g} TiB"
