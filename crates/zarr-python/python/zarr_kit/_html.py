"""Text from stores in HTML: the only place that escapes it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ._native import printable

ROWS = 20
"""The most rows of a table in a notebook."""


def text(value: object) -> str:
    """A value as text in HTML, without characters that hide or reorder what is around them."""
    return html.escape(printable(str(value)))


class Table:
    """What is shown as the last line of a notebook's cell: a table, in HTML and as text."""

    __slots__ = ()

    def _table(self) -> tuple[str, Sequence[str], Iterable[Sequence[object]], int]:
        """A title, the names of the columns, the first `ROWS` rows, and the number of all rows."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        title, names, rows, count = self._table()
        cells = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
        head = "".join(f"<th>{text(name)}</th>" for name in names)
        table = f"<table><tr>{head}</tr>{cells}</table>" if rows else ""
        more = f"<p>and {count - ROWS} more</p>" if count > ROWS else ""
        return f"<div><strong>{text(title)}</strong>{table}{more}</div>"

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        title, names, rows, count = self._table()
        lines = [tuple(names), *(tuple(printable(str(cell)) for cell in row) for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        more = [f"and {count - ROWS} more"] if count > ROWS else []
        printer.text("\n".join([printable(title), *(shown if len(lines) > 1 else ()), *more]))  # type: ignore[attr-defined]
