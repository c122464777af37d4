"""Text from stores in HTML: the only place that escapes it."""

from __future__ import annotations

import html

from ._native import printable


def text(value: object) -> str:
    """A value as text in HTML, without characters that hide or reorder what is around them."""
    return html.escape(printable(str(value)))
