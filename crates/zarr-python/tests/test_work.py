"""Plans, checks, pictures, descriptions and copies."""

import io
import json
import subprocess
import sys
import types
import xml.etree.ElementTree
from contextlib import redirect_stderr

import numpy as np
import pytest
import zarr_kit

RAW = [{"name": "bytes", "configuration": {"endian": "little"}}]


@pytest.fixture
def array(tmp_path):
    array = zarr_kit.create(
        tmp_path / "a.zarr", shape=(59, 8), dtype="i2", chunks=[(31, 28), 4], codecs=RAW, dimension_names=["day", "x"]
    )
    array[:31] = np.arange(31 * 8).reshape(31, 8)
    return array


def test_a_plan_says_what_is_read(array):
    plan = array.plan(np.s_[30:33, 6:1:-2])
    assert len(plan) == 4
    first = plan[0]
    assert (first.key, first.chunk, first.shape) == ("c/0/0", (0, 0), (31, 4))
    assert [list(axis) for axis in first.in_chunk] == [[30], [2]]
    assert [list(axis) for axis in first.in_selection] == [[0], [2]]
    assert first.stored_bytes == 31 * 4 * 2 and first.reads == ((30 * 8 + 4, 30 * 8 + 6),) and first.read_bytes == 2
    assert plan[3].stored_bytes is None and plan[3].reads == () and not plan[3].is_whole
    assert [chunk.key for chunk in plan] == [chunk.key for chunk in plan[:]] == ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]
    assert plan[-1] == plan[3] and [chunk.key for chunk in plan[::-2]] == ["c/1/1", "c/0/1"]
    with pytest.raises(IndexError):
        plan[4]
    with pytest.raises(IndexError, match="single elements"):
        array.plan(np.ones((59, 8), bool))
    # Every element of the selection is in one chunk, at its place.
    values = np.arange(59 * 8).reshape(59, 8)
    found = np.full((3, 3), -1)
    starts = ([0, 31], [0, 4])
    for chunk in plan:
        box = [np.array(axis) + starts[n][chunk.chunk[n]] for n, axis in enumerate(chunk.in_chunk)]
        found[np.ix_(*map(list, chunk.in_selection))] = values[np.ix_(*box)]
    np.testing.assert_array_equal(found, values[30:33, 6:1:-2])


def test_a_plan_of_a_million_chunks_costs_nothing():
    array = zarr_kit.create("memory:", shape=10**9, dtype="i1", chunks=1000)
    plan = array.plan()
    assert len(plan) == 10**6 and plan[999_999].key == "c/999999"


def test_plans_of_strings_and_lists(tmp_path):
    array = zarr_kit.create(tmp_path / "s.zarr", shape=6, dtype=str, chunks=2)
    array[:3] = "a"
    assert [chunk.stored_bytes is None for chunk in array.plan()] == [False, False, True]
    plan = array.plan([5, 0, 1])
    assert [chunk.in_selection for chunk in plan] == [((1, 2),), ((0,),)]


def test_checks_find_what_is_wrong(array, tmp_path):
    assert array.check().is_clean and array.check().chunks == 2
    (tmp_path / "a.zarr/c/0/1").write_bytes(b"short")
    (tmp_path / "a.zarr/stray").write_bytes(b"")
    told = []
    report = array.check(progress=lambda path, done, total: told.append((path, done, total)))
    assert [(finding.id, finding.severity, finding.key) for finding in report] == [
        ("chunk-length", "error", "c/0/1"),
        ("stray-object", "warning", "stray"),
        ("no-checksum", "note", None),
    ]
    assert len(report.errors) == len(report.warnings) == 1 and not report.is_clean
    assert str(report[1]) == "warning: stray: in an array, but no chunk's key [stray-object]"
    # Two threads may tell in another order than they counted.
    assert max(told)[1:] == (2, 2)
    # A size is found without reading.
    assert [finding.id for finding in array.check(data=False)] == ["chunk-length", "stray-object"]


def test_groups_are_checked_whole(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_array("a", shape=3, dtype="i1")[:] = 1
    group.create_group("b").create_array("c", shape=3, dtype=str)[:] = "x"
    report = group.check(memory="64MiB")
    assert (report.groups, report.arrays, report.chunks, len(report)) == (2, 2, 2, 0)
    assert report.bytes_read > 0


def test_what_progress_raises_ends_the_check(array):
    def fails(path, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        array.check(progress=fails)


def test_info_is_what_the_command_line_says(array, tmp_path):
    info = array.info
    assert (info.shape, info.chunks, info.chunks_stored, info.bytes_stored) == ((59, 8), (2, 2), 2, 31 * 8 * 2)
    assert (info.grid, info.dims, info.data_type) == ("rectilinear", ("day", "x"), "int16")
    done = subprocess.run([sys.executable, "-m", "zarr_kit", "info", tmp_path / "a.zarr"], capture_output=True, text=True)
    assert f"{info}\n" == done.stdout


def test_pictures_are_those_of_the_command_line(array, tmp_path):
    command = [sys.executable, "-m", "zarr_kit", "draw", tmp_path / "a.zarr", "-o", tmp_path / "theirs.svg"]
    subprocess.run([*command, "--region", "30:40,2"], check=True, capture_output=True)
    text = array.draw(np.s_[30:40, 2], file=tmp_path / "ours.svg")
    assert (tmp_path / "theirs.svg").read_text() == (tmp_path / "ours.svg").read_text() == text
    assert xml.etree.ElementTree.fromstring(text).tag.endswith("svg")


def test_notebooks_show_tables_and_pictures(array):
    html = array._repr_html_()
    assert "<svg" in html and "<td" in html and "int16" in html and "2 stored" in html
    many = zarr_kit.create("memory:", shape=10**9, dtype="i1", chunks=1000)
    assert "<svg" not in many._repr_html_() and "1,000,000" in many._repr_html_()


def test_names_are_escaped(tmp_path):
    group = zarr_kit.create_group(tmp_path / "<b>&.zarr")
    group.create_array("<i>", shape=1, dtype="i1")
    group.create_group("<u>")
    for html in (group._repr_html_(), group["<i>"]._repr_html_()):
        assert not {"<b>", "<i>", "<u>"} & {html[at : at + 3] for at in range(len(html))}


@pytest.mark.parametrize("resume", [False, True])
def test_copies_into_other_chunks(array, tmp_path, resume):
    told = []
    done = zarr_kit.copy(
        array,
        tmp_path / "b.zarr",
        chunks=[20, 8],
        codecs=[{"name": "transpose", "configuration": {"order": [1, 0]}}, *RAW],
        verify=True,
        memory="16MiB",
        progress=lambda path, done, total: told.append((done, total)),
    )
    assert (done.arrays, done.groups) == (1, 0) and told[-1][0] == told[-1][1] == done.nbytes
    found = zarr_kit.open(tmp_path / "b.zarr")
    assert found.write_chunk_sizes == ((20, 20, 19), (8,))
    np.testing.assert_array_equal(found[...], array[...])
    with pytest.raises(FileExistsError):
        zarr_kit.copy(array, tmp_path / "b.zarr", resume=resume)
    zarr_kit.copy(array, tmp_path / "b.zarr", overwrite=True)
    assert zarr_kit.open(tmp_path / "b.zarr").chunks == array.chunks


def test_groups_are_copied_with_chunks_by_path(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr", attributes={"a": 1})
    group.create_array("x", shape=8, dtype="i1", chunks=2)[:] = range(8)
    group.create_group("in").create_array("y", shape=(4, 4), dtype="f4", chunks=2)
    zarr_kit.copy(group, tmp_path / "h.zarr", chunks={"in/y": (4, 1)})
    zarr_kit.copy(group, tmp_path / "j.zarr", chunks={"/x": 5, "in/y/": (4, 1)})
    slashes = zarr_kit.open(tmp_path / "j.zarr")
    assert slashes["x"].write_chunk_sizes == ((5, 3),) and slashes["in/y"].write_chunk_sizes == ((4,), (1, 1, 1, 1))
    found = zarr_kit.open_group(tmp_path / "h.zarr")
    assert found["x"].chunks == group["x"].chunks and found["in/y"].write_chunk_sizes == ((4,), (1, 1, 1, 1))
    assert found["x"][:].tolist() == list(range(8)) and dict(found.attrs) == {"a": 1}
    zarr_kit.copy(group["in"], tmp_path / "i.zarr", chunks={"y": 3})
    assert zarr_kit.open(tmp_path / "i.zarr", "y").write_chunk_sizes == ((3, 1), (3, 1))


def test_chunks_are_given_by_dimension(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    new = {"dtype": "i2", "fill_value": 1}
    rain = group.create_array("rain", shape=(9, 8), chunks=[(4, 5), 4], dimension_names=["day", "x"], **new)
    rain[...] = np.arange(72).reshape(9, 8)
    group.create_array("day", shape=9, chunks=9, dimension_names=["day"], **new)
    group.create_array("other", shape=9, chunks=9, **new)

    def copied(source, **asked):
        zarr_kit.copy(source, tmp_path / "h.zarr", overwrite=True, **asked)
        return zarr_kit.open(tmp_path / "h.zarr")

    for source in (rain, tmp_path / "g.zarr/rain"):
        found = copied(source, chunks={"x": 8})
        assert found.write_chunk_sizes == ((4, 5), (8,)) and np.array_equal(found, rain)
        found = copied(source, chunks={"day": [2, 7], "x": -1})
        assert found.write_chunk_sizes == ((2, 7), (8,))
        found = copied(source, chunks={"day": 3, "x": 2}, shards={"day": 9, "x": 4})
        assert (found.chunks, found.shards) == ((3, 2), (9, 4)) and np.array_equal(found, rain)
        # Within shards, an axis without a name in the dict keeps its chunks.
        again = zarr_kit.create(tmp_path / "s.zarr", shape=(9, 8), chunks=(3, 2), shards=(9, 4), dimension_names=["day", "x"], overwrite=True, **new)
        assert copied(again, chunks={"x": 4}, shards={"x": 8}).chunks == (3, 4)
    found = copied(group, chunks={"day": 3})
    assert [found[name].chunks for name in ("rain", "day", "other")] == [(3, 4), (3,), (9,)]
    found = copied(group, chunks={"/day": 3, "other": 2})
    assert [found[name].chunks for name in ("rain", "day", "other")] == [((4, 5), (4, 4)), (3,), (2,)]
    with pytest.raises(ValueError, match=r"no dimensions and no arrays \['z'\]"):
        copied(rain, chunks={"z": 1})


def test_chunks_move_into_shards_and_out_of_them(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=(20, 9), dtype="i2", chunks=(2, 3))
    array[:] = np.arange(180).reshape(20, 9)
    (tmp_path / "a.zarr/c/4/1").write_bytes(b"damaged")
    planned = zarr_kit.copy(array, tmp_path / "s.zarr", shards=(8, 9), dry_run=True)
    assert [(plan["route"], plan["source_chunks"], plan["reads"]) for plan in planned] == [("moved", 30, 0)]
    zarr_kit.copy(array, tmp_path / "s.zarr", shards=(8, 9))
    sharded = zarr_kit.open(tmp_path / "s.zarr")
    assert (sharded.chunks, sharded.shards) == ((2, 3), (8, 9))
    assert (sharded.info.chunks_stored, sharded.info.inner_chunks_stored, sharded.nchunks) == (3, 30, 30)
    assert "inner     30 of 2 x 3, 30 stored" in str(sharded.info) and array.info.inner_chunks_stored is None
    zarr_kit.copy(sharded, tmp_path / "t.zarr", shards=((2, 18), 9))
    zarr_kit.copy(tmp_path / "t.zarr", tmp_path / "b.zarr", chunks=array.chunks)
    for path in (tmp_path / "a.zarr/c").glob("*/*"):
        assert path.read_bytes() == (tmp_path / "b.zarr" / path.relative_to(tmp_path / "a.zarr")).read_bytes()
    with pytest.raises(ValueError, match="4/1"):
        zarr_kit.copy(array, tmp_path / "v.zarr", shards=(20, 9), verify=True)

    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_array("x", shape=8, dtype="i1", chunks=2)[:] = range(8)
    zarr_kit.copy(group, tmp_path / "h.zarr", shards={"x": 4})
    found = zarr_kit.open(tmp_path / "h.zarr")["x"]
    assert (found.chunks, found.shards, found[:].tolist()) == ((2,), (4,), list(range(8)))
    with pytest.raises(ValueError, match="shards: there are no dimensions and no arrays"):
        zarr_kit.copy(group, tmp_path / "i.zarr", shards={"y": 4})


def test_copies_tell_what_they_cannot_have(array, tmp_path, caplog):
    (tmp_path / "a.zarr/README").write_text("about")
    done = zarr_kit.copy(array, tmp_path / "b.zarr")
    assert (done.others, done.without_key) == (1, ()) and not caplog.records
    (tmp_path / "a.zarr/back\\slash").write_text("lost")
    done = zarr_kit.copy(array, tmp_path / "c.zarr", chunks=7)
    [record] = caplog.records
    assert record.name == "zarr_kit" and record.getMessage().startswith("not in the copy: 'back")
    assert (done.others, done.without_key) == (1, ("back\\slash",))
    found = zarr_kit.check(tmp_path / "a.zarr", data=False)
    assert ("foreign-file", "back\\slash") in [(finding.id, finding.key) for finding in found]


@pytest.fixture
def wide(tmp_path):
    """An array of 1 MiB in chunks of rows."""
    wide = zarr_kit.create(tmp_path / "wide.zarr", shape=(512, 512), dtype="i4", chunks=(16, 512))
    wide[...] = np.arange(512 * 512).reshape(512, 512)
    return wide


def test_copies_say_what_they_read_before_they_do(wide, tmp_path):
    target = tmp_path / "new/folder/c.zarr"
    [direct] = zarr_kit.copy(wide, target, chunks=(512, 16), dry_run=True)
    assert (direct["array"], direct["route"], direct["bytes"], direct["source_chunks"], direct["why"]) == (
        "", "direct", 1 << 20, 32, None,
    )
    [twice] = zarr_kit.copy(wide, target, chunks=(512, 16), memory="256KiB", dry_run=True)
    assert (twice["route"], twice["reads"], twice["intermediate_bytes"]) == ("intermediate", 32, 1 << 20)
    place = tmp_path / "scratch/deep"
    assert zarr_kit.copy(wide, target, chunks=(512, 16), memory="256KiB", intermediate=place, dry_run=True) == [
        twice
    ]
    assert not (tmp_path / "new").exists() and not (tmp_path / "scratch").exists()
    done = subprocess.run(
        [sys.executable, "-m", "zarr_kit", "copy", tmp_path / "wide.zarr", target, "--chunks", "512,16", "--memory", "256KiB", "--dry-run", "--json"],
        capture_output=True, check=True,
    )
    [theirs] = json.loads(done.stdout)["arrays"]
    # The command keeps a part of the memory for itself.
    assert theirs.keys() == twice.keys()
    assert all(theirs[name] == twice[name] for name in ("route", "bytes", "source_chunks", "reads", "intermediate_bytes"))


def test_copies_in_two_passes_have_their_intermediate_where_it_is_told(wide, tmp_path, caplog):
    place = tmp_path / "scratch"
    done = zarr_kit.copy(wide, tmp_path / "c.zarr", chunks=(512, 16), memory="256KiB", intermediate=place)
    assert done.in_two_passes == 1 and not place.exists() and not caplog.records
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "c.zarr")[...], wide[...])
    text = zarr_kit.create(tmp_path / "t.zarr", shape=(256, 256), dtype=str, chunks=(1, 256))
    text[...] = "x"
    zarr_kit.copy(text, tmp_path / "u.zarr", chunks=(256, 1), memory="128KiB")
    [record] = caplog.records
    assert record.name == "zarr_kit" and "times, since elements of variable length have no intermediate" in record.getMessage()


def test_portable_copies_are_read_by_all(array, tmp_path):
    done = zarr_kit.copy(array, tmp_path / "p.zarr", portable=True)
    found = zarr_kit.open(tmp_path / "p.zarr")
    assert done.arrays == 1 and found.write_chunk_sizes == ((31, 28), (4, 4)) and found.metadata["chunk_grid"]["name"] == "regular"
    np.testing.assert_array_equal(found[...], array[...])
    zarr_kit.create(tmp_path / "i.zarr", shape=8, dtype="int4", chunks=4)
    with pytest.raises(ValueError, match="portable: elements of type int4 are not read by all programs"):
        zarr_kit.copy(tmp_path / "i.zarr", tmp_path / "j.zarr", portable=True)


def test_what_is_not_portable_is_refused(array, tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    create = {"shape": 59, "dtype": "i2", "portable": True}
    for made in (lambda: zarr_kit.create(tmp_path / "n.zarr", chunks=[(31, 28)], **create), lambda: group.create_array("n", chunks=[(31, 28)], **create)):
        with pytest.raises(ValueError, match="portable: read by zarr-python with array.rectilinear_chunks"):
            made()
    assert not (tmp_path / "n.zarr").exists() and "n" not in group
    assert zarr_kit.create(tmp_path / "n.zarr", chunks=31, **create).chunks == (31,)
    members = [array, array]
    with pytest.raises(ValueError, match="portable: read by zarr-python with"):
        zarr_kit.join(members, tmp_path / "j.zarr", along="day", portable=True)
    assert not (tmp_path / "j.zarr").exists()
    zarr_kit.join(members, tmp_path / "j.zarr", along="day", portable=True, chunks={"day": 40})
    assert zarr_kit.open(tmp_path / "j.zarr").write_chunk_sizes == ((40, 40, 38), (4, 4))


def test_copies_that_lose_something_are_refused(array, tmp_path):
    packed = [{"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 6}}]
    with pytest.raises(ValueError, match="255|128|64|loss|read back"):
        zarr_kit.copy(array, tmp_path / "b.zarr", codecs=packed)
    with pytest.raises(ValueError, match="add up to 58"):
        zarr_kit.copy(array, tmp_path / "c.zarr", chunks=[(30, 28), 8])
    assert not (tmp_path / "c.zarr/zarr.json").exists()


def test_a_bar_is_drawn_on_standard_error(array, tmp_path):
    with redirect_stderr(io.StringIO()) as shown:
        zarr_kit.copy(array, tmp_path / "b.zarr", chunks=7, progress=True)
        array.check(progress=True)
    assert "|####################|" in shown.getvalue() and "2 chunks of 2 chunks" in shown.getvalue()


@pytest.mark.parametrize(("size", "expected"), [(7, 7), ("512", 512), ("2MiB", 2 << 20), ("1.5 kB", 1500), ("1GiB", 1 << 30)])
def test_sizes(size, expected):
    from zarr_kit._check import parsed_bytes

    assert parsed_bytes(size) == expected
    with pytest.raises(ValueError, match="no number of bytes"):
        parsed_bytes(f"{size} apples")


def test_trees_of_groups(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_array("a", shape=3, dtype="f4")
    group.create_group("b").create_array("c", shape=(2, 2), dtype=str)
    assert str(group.tree()) == "/\n├── a (3,) float32\n└── b\n    └── c (2, 2) string"
    assert "<details open><summary>b</summary><ul><li>c (2, 2) string</li></ul></details>" in group.tree()._repr_html_()
    assert zarr_kit.open_group(tmp_path / "g.zarr") == group != group["b"]
    other = zarr_kit.open_group(tmp_path / "g.zarr")
    other.attrs["x"] = 1
    assert dict(group.attrs) == {} and dict(group.refresh().attrs) == {"x": 1}


def test_places_are_checked_that_cannot_be_opened(array, tmp_path):
    assert zarr_kit.check(tmp_path / "a.zarr", progress=lambda *at: None).is_clean
    (tmp_path / "a.zarr/zarr.json").write_text('{"zarr_format": 3, "node_type": "array", "shape": "x"}')
    with pytest.raises(ValueError, match="shape"):
        zarr_kit.open(tmp_path / "a.zarr")
    report = zarr_kit.check(tmp_path / "a.zarr", memory="64MiB")
    assert [finding.severity for finding in report.errors] == ["error"] and report.errors[0].key == "zarr.json"
    assert zarr_kit.check(tmp_path, "a.zarr")[0].key.endswith("zarr.json")
    with pytest.raises(FileNotFoundError):
        zarr_kit.check(tmp_path / "none.zarr")
    assert zarr_kit.check(tmp_path, "a.zarr", memory=np.int64(1 << 20))
    for memory in (-1, "-5MiB", "many", 1e9, None, [1]):
        with pytest.raises(ValueError, match="no number of bytes"):
            zarr_kit.check(tmp_path, memory=memory)


def test_chunks_for_arrays_that_are_not_there_are_refused(array, tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_group("in").create_array("y", shape=4, dtype="i1")
    for source in (group, tmp_path / "g.zarr"):
        with pytest.raises(ValueError, match=r"no dimensions and no arrays \['y', 'in'\] in"):
            zarr_kit.copy(source, tmp_path / "h.zarr", chunks={"in/y": 2, "y": 2, "in": 3})
    with pytest.raises(ValueError, match=r"no dimensions and no arrays \['a'\] in"):
        zarr_kit.copy(array, tmp_path / "h.zarr", chunks={"a": 2})
    assert not (tmp_path / "h.zarr").exists()


def test_progress_in_a_notebook_is_a_bar_below_the_cell(tmp_path, monkeypatch, capfd):
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append((False, content))

    def display(content, raw, display_id):
        shown.append((True, content))
        return Handle()

    ipython, displays = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=None)
    displays.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    source = zarr_kit.create_group(tmp_path / "a")
    for name in ("<b>", "c"):
        source.create_array(name, data=np.arange(40.0), chunks=10)
    zarr_kit.copy(source, tmp_path / "b", chunks=20, codecs=["bytes"], progress=True)
    assert [first for first, _ in shown] == [True] + [False] * (len(shown) - 1)
    assert all("<progress" in content["text/html"] and "<b>" not in content["text/html"] for _, content in shown)
    assert 'value="1.000"' in shown[-1][1]["text/html"]
    assert capfd.readouterr() == ("", "")
    # A shell of IPython in a terminal has no kernel.
    ipython.get_ipython = lambda: types.SimpleNamespace()
    shown.clear()
    zarr_kit.copy(source, tmp_path / "c", chunks=20, codecs=["bytes"], progress=True)
    assert not shown and "\r" in capfd.readouterr().err
