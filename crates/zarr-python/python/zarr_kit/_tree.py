"""Groups as texts and lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import _html
from ._array import Array
from ._native import printable

if TYPE_CHECKING:
    from ._group import Group

ROWS = 1000
"""The largest number of nodes of a group that a notebook shows."""


class Tree:
    """The result of `Group.tree`: text, and in a notebook a list that can be folded."""

    __slots__ = ("_group",)

    def __init__(self, group: Group) -> None:
        self._group = group

    def __str__(self) -> str:
        return "\n".join([f"/{printable(self._group.path)}", *_lines(self._group, "")])

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self._group)

    def _repr_html_(self) -> str:
        left = [ROWS]
        inside = _items(self._group, left)
        more = "<li>more is not shown</li>" if left[0] <= 0 else ""
        return f"<div><strong>{_html.text(self._group._where)}</strong><ul>{inside}{more}</ul></div>"


def _lines(group: Group, indent: str) -> Iterator[str]:
    children = list(group._all_children())
    for place, (name, node) in enumerate(children):
        last = place + 1 == len(children)
        branch = "└── " if last else "├── "
        if isinstance(node, Array | Exception):
            yield f"{indent}{branch}{printable(name)} {printable(_described(node))}"
        else:
            yield f"{indent}{branch}{printable(name)}"
            yield from _lines(node, indent + ("    " if last else "│   "))


def _described(node: Array | Exception) -> str:
    return f"not readable: {node}" if isinstance(node, Exception) else f"{node.shape} {node._type_name()}"


def _items(group: Group, left: list[int]) -> str:
    items = []
    for name, node in group._all_children():
        left[0] -= 1
        if left[0] <= 0:
            break
        if isinstance(node, Array | Exception):
            items.append(f"<li>{_html.text(name)} {_html.text(_described(node))}</li>")
        else:
            inside = f"<summary>{_html.text(name)}</summary><ul>{_items(node, left)}</ul>"
            items.append(f"<li><details open>{inside}</details></li>")
    return "".join(items)
