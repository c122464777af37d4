"""Chunks and members removed, reordered and inserted, against numpy's concatenate."""

import ctypes
import json
import os
import struct
import sys

import numpy as np
import pytest
import zarr
import zarr_kit

RAW = [{"name": "bytes", "configuration": {"endian": "little"}}]
EDGES = [31, 28, 31]


def filled(place, values, chunks, **more):
    array = zarr_kit.create(
        place, shape=values.shape, dtype=values.dtype, chunks=chunks, codecs=RAW, dimension_names=["day", "x"], **more
    )
    array[...] = values
    return array


@pytest.fixture
def quarter():
    return np.arange(1, 181, dtype="i4").reshape(90, 2)


def test_chunks_are_dropped_reordered_and_inserted(quarter, tmp_path):
    array = filled(tmp_path / "a.zarr", quarter, [EDGES, 1])
    april = filled(tmp_path / "april.zarr", np.full((30, 2), 7, dtype="i4"), [[30], 1])
    array.rearrange([slice(-31, None), slice(31, 59), april], axis="day")
    expected = np.concatenate([quarter[59:], quarter[31:59], april[...]])
    assert array.write_chunk_sizes == ((31, 28, 30), (1, 1))
    np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "a.zarr")[...], expected)
    assert array.check().is_clean and april.shape == (30, 2)
    array.rearrange([slice(1, None)], axis=-1)
    np.testing.assert_array_equal(array[...], expected[:, 1:])


def test_arrays_in_memory_are_rearranged(quarter):
    group = zarr_kit.create_group("memory:")
    array = group.create_array("a", shape=6, dtype="u1", chunks=2)
    array[:] = range(6)
    array.rearrange([slice(4, 6), slice(0, 2)])
    assert array[:].tolist() == group["a"][:].tolist() == [4, 5, 0, 1]


def test_members_of_a_virtual_join_are_rearranged(quarter, tmp_path):
    months, bounds = [], np.cumsum([0, *EDGES])
    for number, (start, stop) in enumerate(zip(bounds, bounds[1:])):
        months.append(filled(tmp_path / f"{number}.zarr", quarter[start:stop], 20))
    april = filled(tmp_path / "april.zarr", np.full((30, 2), 7, dtype="i4"), [[30], 1], fill_value=9)
    zarr_kit.join(months, tmp_path / "q.zjoin", along="day", virtual=True)
    array = zarr_kit.open(tmp_path / "q.zjoin")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.zarr/**/*") if path.is_file()}
    array.rearrange([slice(59, 90), april, slice(0, 31)])
    expected = np.concatenate([quarter[59:], april[...], quarter[:31]])
    np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "q.zjoin")[...], expected)
    document = json.loads((tmp_path / "q.zjoin").read_text())["nodes"][""]
    assert [member["location"] for member in document["members"]] == ["2.zarr", "april.zarr", "0.zarr"]
    assert {path: path.read_bytes() for path in before} == before
    for parts, message in [
        ([slice(1, 90)], "index 1 is inside a member"),
        ([array], "a virtual join itself"),
        ([], "no elements would remain"),
        ([zarr_kit.create("memory:", shape=(1, 2), dtype="i4")], "cannot lead into memory"),
    ]:
        with pytest.raises(ValueError, match=message):
            array.rearrange(parts)
    np.testing.assert_array_equal(array[...], expected)


def test_an_array_of_a_joined_group_is_rearranged(tmp_path):
    groups = []
    for number in range(2):
        groups.append(zarr_kit.create_group(tmp_path / f"{number}.zarr"))
        day = groups[-1].create_array("day", shape=2, dtype="u1", dimension_names=["day"])
        day[:] = [2 * number, 2 * number + 1]
    zarr_kit.join(groups, tmp_path / "q.zjoin", along="day", virtual=True)
    day = zarr_kit.open_group(tmp_path / "q.zjoin")["day"]
    day.rearrange([slice(2, 4), slice(0, 2)])
    assert day[:].tolist() == zarr_kit.open_group(tmp_path / "q.zjoin")["day"][:].tolist() == [2, 3, 0, 1]


def test_what_cannot_be_rearranged_is_refused(quarter, tmp_path):
    array = filled(tmp_path / "a.zarr", quarter, [EDGES, 1])
    other = zarr_kit.create("memory:", shape=(2, 2), dtype="f4", dimension_names=["day", "x"])
    for parts, axis, kind, message in [
        ([slice(0, 30)], 0, ValueError, "index 30 is inside a chunk"),
        ([slice(0, 59), slice(31, 90)], 0, ValueError, "index 31 is kept twice"),
        ([slice(0, 90, 2)], 0, ValueError, "parts have no step"),
        ([slice(90, None)], 0, ValueError, "no elements would remain"),
        ([other], 0, ValueError, "data type"),
        ([3], 0, TypeError, "3: parts are slices of the array, and other arrays"),
        ([slice(None)], 2, IndexError, "axis 2 is out of bounds"),
        ([slice(None)], "time", ValueError, "axis 'time'; the array has the axes"),
    ]:
        with pytest.raises(kind, match=message):
            array.rearrange(parts, axis)
        np.testing.assert_array_equal(array[...], quarter)
    alike = zarr_kit.create("memory:", shape=(2, 2), dtype="f4", dimension_names=["x", "x"])
    for change in (lambda: alike.rearrange([slice(0, 2)], "x"), lambda: alike.append(alike[...], axis="x")):
        with pytest.raises(ValueError, match="several axes are named 'x': give a number"):
            change()
    stale = zarr_kit.open(tmp_path / "a.zarr")
    array.rearrange([slice(31, 90)])
    with pytest.raises(zarr_kit.ConflictError):
        stale.rearrange([slice(31, 90)])


def dataset(place, first, days, edges):
    group = zarr_kit.create_group(place)
    day = group.create_array("day", shape=days, dtype="i4", chunks=[edges], codecs=RAW, dimension_names=["day"])
    rain = group.create_group("in").create_array(
        "rain", shape=(2, days), dtype="i4", chunks=[2, edges], codecs=RAW, dimension_names=["x", "day"]
    )
    day[:] = first + np.arange(days)
    rain[:] = first + np.arange(2 * days).reshape(2, days)
    return group


def test_the_arrays_of_a_dimension_are_rearranged_together(tmp_path):
    group = dataset(tmp_path / "a.zarr", 0, 90, EDGES)
    other = dataset(tmp_path / "b.zarr", 500, 30, [30])
    day, rain = group["day"][:], group["in/rain"][:]
    group.rearrange([slice(-31, None), other, slice(31, 59)], "day")
    expected = np.concatenate([day[59:], other["day"][:], day[31:59]])
    np.testing.assert_array_equal(group["day"][:], expected)
    again = zarr_kit.open_group(tmp_path / "a.zarr")
    np.testing.assert_array_equal(again["day"][:], expected)
    np.testing.assert_array_equal(
        again["in/rain"][:], np.concatenate([rain[:, 59:], other["in/rain"][:], rain[:, 31:59]], axis=1)
    )
    assert again.check().is_clean
    for parts, dim, kind, message in [
        ([slice(0, 30)], "day", ValueError, "index 30 is inside a chunk"),
        ([slice(0, 31)], "height", ValueError, "no array in it has the dimension height"),
        ([group["day"]], "day", TypeError, "parts are slices of the group, and other groups"),
        ([slice(0, 31), zarr_kit.create_group("memory:")], "day", ValueError, "has the dimension day"),
    ]:
        with pytest.raises(kind, match=message):
            group.rearrange(parts, dim)
    np.testing.assert_array_equal(group["day"][:], expected)
    rain = other["in/rain"]
    rain.attrs["units"] = "mm"
    with pytest.raises(ValueError, match="units"):
        group.rearrange([slice(None), other], "day")


def test_a_group_of_a_virtual_join_is_rearranged(tmp_path):
    groups = [dataset(tmp_path / f"{at}.zarr", 100 * at, 3, [3]) for at in range(3)]
    zarr_kit.join(groups, tmp_path / "q.zjoin", along="day", virtual=True)
    joined = zarr_kit.open_group(tmp_path / "q.zjoin")
    joined.rearrange([slice(6, 9), slice(0, 3)], "day")
    again = zarr_kit.open_group(tmp_path / "q.zjoin")
    assert again["day"][:].tolist() == [200, 201, 202, 0, 1, 2]
    assert again["in/rain"].shape == (2, 6)
    again.rearrange([slice(0, 3), groups[1], slice(3, None)], "day")
    whole = zarr_kit.open_group(tmp_path / "q.zjoin")
    assert whole["day"][:].tolist() == [200, 201, 202, 100, 101, 102, 0, 1, 2]
    np.testing.assert_array_equal(
        whole["in/rain"][:], np.concatenate([groups[at]["in/rain"][:] for at in (2, 1, 0)], axis=1)
    )
    for part, message in [
        (zarr_kit.create_group("memory:"), "cannot lead into memory"),
        (zarr_kit.create_group(tmp_path / "empty.zarr"), r"empty.zarr: there is no day here, as there is in"),
        (whole, "a virtual join itself"),
    ]:
        with pytest.raises(ValueError, match=message):
            whole.rearrange([slice(None), part], "day")
    assert zarr_kit.open_group(tmp_path / "q.zjoin")["day"].shape == (9,)


def test_a_group_that_was_left_half_rearranged_is_not_a_dataset(tmp_path):
    xarray = pytest.importorskip("xarray")
    group = zarr_kit.create_group(tmp_path / "a.zarr")
    group.create_array("day", shape=4, dtype="u1", dimension_names=["day"])
    marker = tmp_path / "a.zarr" / "zarr-kit-rearrange.json"
    marker.write_text('{"unfinished_rearrangement_of_arrays": {\n  "version": 1,\n  "step": "switching"\n}}\n')
    with pytest.raises(ValueError, match="some may be rearranged while others are not: repair it first"):
        xarray.open_dataset(tmp_path / "a.zarr", engine="zarr-kit")
    report = group.check()
    assert [finding.id for finding in report] == ["half-rearranged-group"]
    marker.write_text('{"unfinished_rearrangement_of_arrays": {\n  "version": 1,\n  "step": "returning"\n}}\n')
    assert xarray.open_dataset(tmp_path / "a.zarr", engine="zarr-kit").sizes == {"day": 4}


def changed_names(watched):
    """Watches folders, and then gives the names that were moved into them or deleted, in order."""
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    moved_to, deleted = 0x80, 0x200
    for folder in watched:
        assert libc.inotify_add_watch(watch, os.fsencode(folder), moved_to | deleted) > 0

    def names():
        events, at = os.read(watch, 1 << 16), 0
        os.close(watch)
        while at < len(events):
            _, _, _, length = struct.unpack_from("iIII", events, at)
            yield events[at + 16 : at + 16 + length].rstrip(b"\0").decode()
            at += 16 + length

    return names


@pytest.mark.skipif(sys.platform != "linux", reason="needs inotify")
@pytest.mark.parametrize("opened", ["", "inner", "inner/a"])
def test_groups_above_follow_before_old_chunks_are_removed(opened, tmp_path):
    top = zarr_kit.create_group(tmp_path / "g.zarr")
    array = top.create_group("inner").create_array(
        "a", shape=6, dtype="u1", chunks=2, codecs=RAW, dimension_names=["t"]
    )
    array[:] = range(1, 7)
    zarr.consolidate_metadata(tmp_path / "g.zarr")
    chunks = tmp_path / "g.zarr/inner/a/c"
    names = changed_names([tmp_path / "g.zarr", chunks])
    node = zarr_kit.open(tmp_path / "g.zarr" / opened)
    axis = {} if opened == "inner/a" else {"dim": "t"}
    node.rearrange([slice(2, 6)], **axis)
    names = [name for name in names() if not name.startswith(".")]
    assert names[0] == "zarr.json" and set(names[1:]) >= {"0", "1", "2"}
    assert zarr_kit.open_group(tmp_path / "g.zarr", use_consolidated=True)["inner/a"][:].tolist() == [3, 4, 5, 6]
    assert top.check().is_clean


@pytest.mark.parametrize("follows", [True, False])
def test_a_group_that_leads_there_by_a_link_follows_where_links_may(follows, tmp_path):
    for name in ["g.zarr", "h.zarr"]:
        top = zarr_kit.create_group(tmp_path / name)
        if name == "g.zarr":
            inner = top.create_group("inner")
            inner.create_array("a", shape=6, dtype="u1", chunks=2, dimension_names=["t"])[:] = range(1, 7)
        else:
            (tmp_path / "h.zarr/inner").symlink_to("../g.zarr/inner")
        zarr.consolidate_metadata(tmp_path / name)
    options = {"outside_links": follows}
    zarr_kit.open(tmp_path / "h.zarr/inner", storage_options=options).rearrange([slice(2, 6)], dim="t")
    for name, shape in [("g.zarr", [4]), ("h.zarr", [4] if follows else [6])]:
        documents = json.loads((tmp_path / name / "zarr.json").read_text())["consolidated_metadata"]
        assert documents["metadata"]["inner/a"]["shape"] == shape


def test_shards_are_cut_where_inner_chunks_end(tmp_path):
    values = np.arange(48, dtype="i2").reshape(12, 4)
    array = zarr_kit.create(tmp_path / "a.zarr", data=values, chunks=(2, 4), shards=(4, 4))
    array.rearrange([slice(2, 4), slice(8, 12), slice(0, 2)])
    moved = zarr_kit.open_array(tmp_path / "a.zarr")
    assert moved.shards == ((2, 4, 2), (4,))
    np.testing.assert_array_equal(moved[...], np.concatenate([values[2:4], values[8:], values[:2]]))
    with zarr.config.set({"array.rectilinear_chunks": True}):
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "a.zarr")[:], moved[...])
    with pytest.raises(ValueError, match="index 3 is inside an inner chunk.* the nearest edges are 2 and 4"):
        moved.rearrange([slice(0, 3)])
