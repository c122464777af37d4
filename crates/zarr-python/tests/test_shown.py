"""What a notebook shows as the last line of a cell."""

import re

import numpy as np
import pytest
import zarr_kit


class Printer:
    """What IPython gives to ``_repr_pretty_``."""

    def __init__(self):
        self.shown = ""

    def text(self, text):
        self.shown += text


@pytest.fixture
def group(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    a = group.create_array("a", shape=60, dtype="i2", chunks=2)
    a[:10] = np.arange(10)
    return group


def shown(value):
    printer = Printer()
    value._repr_pretty_(printer, False)
    return printer.shown, value._repr_html_()


def test_a_plan_is_a_table_of_chunks(group):
    text, html = shown(group["a"].plan())
    lines = text.splitlines()
    assert lines[0] == "a read of 30 chunks" and lines[1].split() == ["chunk", "key", "stored", "bytes", "read", "bytes"]
    assert lines[2].split()[:2] == ["(0,)", "a/c/0"] and "not stored" in lines[-2] and lines[-1] == "and 10 more"
    assert html.count("<tr>") == 21 and "<td>a/c/19</td>" in html and "<p>and 10 more</p>" in html


def test_a_report_is_a_table_of_findings(group, tmp_path):
    assert shown(group.check())[0] == "1 array, 5 stored chunks: 0 errors, 0 warnings"
    (tmp_path / "g.zarr/a/c/1").write_bytes(b"damage")
    text, html = shown(group.check())
    assert "1 error," in text and re.search(r"error +\S*c/1", text) and "<td>error</td>" in html


def test_a_plan_of_a_join_has_a_line_for_each_array(tmp_path, group):
    members = []
    for number in range(2):
        members.append(zarr_kit.create_group(tmp_path / f"{number}.zarr"))
        members[-1].create_array("x", shape=3, dtype="i2", chunks=3, dimension_names=["t"])[:] = number + 1
    plan = zarr_kit.join(members, along="t", dry_run=True)
    text, html = shown(plan)
    assert text.splitlines()[-1].split() == ["x", "(6,)", "2", "0", "0"] and "<td>x</td>" in html
    assert "metadata" not in repr(plan)
    assert "plan" not in repr(zarr_kit.join(members, tmp_path / "j.zarr", along="t"))


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\x1b[31mred", "a\u202eb"])
def test_names_are_text(tmp_path, name):
    group = zarr_kit.create_group("memory:")
    group.create_array(name, shape=2, dtype="i2", chunks=1)[:] = 1
    for value in (group[name].plan(), group.check()):
        for text in shown(value):
            assert "\x1b" not in text and "\u202e" not in text
        assert "<script>" not in value._repr_html_()


@pytest.mark.parametrize("chunks", [5, 1])
def test_an_array_shows_its_axes_and_attributes(chunks):
    """Also one of more chunks than are listed."""
    attributes = {"history": "x" * 500, "units": "mm", "long_name": "<b>Rain</b>", "flags": [1, 2]}
    shape = (20, 7) if chunks == 5 else (400, 70)
    a = zarr_kit.create_array(
        shape=shape, dtype="f4", chunks=(chunks, 7), dimension_names=("time", "x"), attributes=attributes
    )
    html = a._repr_html_()
    assert "time" in html and "&lt;b&gt;Rain" in html and "<b>Rain" not in html and "[1, 2]" in html
    assert html.index("Rain") < html.index(">mm<") < html.index("xxx") and "x" * 120 not in html


def test_one_array_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_array("a", shape=3, dtype="i1")
    for name, document in [("b", b"{"), ("c", (tmp_path / "g.zarr/a/zarr.json").read_bytes().replace(b'"zstd"', b'"example.<b>"'))]:
        (tmp_path / f"g.zarr/{name}").mkdir()
        (tmp_path / f"g.zarr/{name}/zarr.json").write_bytes(document)
    tree, shown = str(group.tree()), group._repr_html_()
    assert "a (3,) int8" in tree and "b not readable: b/zarr.json" in tree and "c not readable: c/zarr.json" in tree
    assert "a (3,) int8" in shown and "c not readable" in shown and "<b>" not in shown
    assert "not read    2" in str(group.info)
    with pytest.raises(ValueError, match="b/zarr.json"):
        list(group.arrays())
