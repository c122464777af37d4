"""The progress of long operations."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._native import printable

Told = Callable[[str, int, int | None], object]
"""A function that gets the path of an array, the amount done, and the total, or None."""

Progress = bool | Told
"""True for a progress bar on standard error, or a function that is called."""


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
    """A line on standard error that is overwritten by each update."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._start = time.monotonic()
        self._width = 0

    def __call__(self, path: str, done: int, total: int | None) -> None:
        seconds = time.monotonic() - self._start
        text = f"{printable(path) or '/'}: {_amount(done, self._unit)}"
        if total:
            filled = 20 * min(done, total) // total
            left = seconds / done * (total - done) if done else 0.0
            text += f" of {_amount(total, self._unit)} |{'#' * filled:20}| {left:.0f} s left"
        self._write(text)

    def close(self) -> None:
        """Ends the line, if there is one."""
        if self._width:
            print(file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        print(f"\r{text:{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)


def _amount(number: int, unit: str) -> str:
    if unit != "bytes":
        return f"{number:,} {unit}"
    size = float(number)
    for name in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {name}"
        size /= 1024
    return f"{size:.4g} TiB"
