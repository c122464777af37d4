"""Distinguishes reads of this process before and after its writes."""

from __future__ import annotations

import os
import uuid

from . import _native

_PROCESS = uuid.uuid4().hex


def here() -> str | None:
    """A text that every write of this process changes; None before the first, as in other processes.

    Writes of other processes do not change it.
    """
    writes = _native.writes()
    # A forked process has the count of its parent.
    return f"{_PROCESS}-{os.getpid()}-{writes}" if writes else None
