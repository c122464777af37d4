"""Joins: what is moved and decoded, and what is refused, against numpy's concatenate and stack."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr_kit

RAW = [{"name": "bytes", "configuration": {"endian": "little"}}]
MONTHS = {"jan": 31, "feb": 28, "mar": 31}


@pytest.fixture
def months(tmp_path):
    """The paths of three arrays, and their values."""
    paths, values = [], []
    for number, (name, days) in enumerate(MONTHS.items()):
        paths.append(str(tmp_path / f"{name}.zarr"))
        values.append(np.arange(days * 3, dtype="i4").reshape(days, 3) + 1000 * number + 1)
        attributes = {"units": "mm", "month": name}
        array = zarr_kit.create(
            paths[-1], shape=(days, 3), dtype="i4", chunks=(days, 2), codecs=RAW,
            dimension_names=["day", "x"], attributes=attributes,
        )  # fmt: skip
        array[...] = values[-1]
    return paths, values


@pytest.mark.parametrize("along", ["day", 0, -2, ["day"], np.int64(0)])
def test_members_end_to_end(months, tmp_path, along):
    paths, values = months
    done = zarr_kit.join(paths, tmp_path / "all.zarr", along=along)
    assert (done.members, done.linked, done.written) == (3, 0, 0)
    assert done.cloned + done.copied == 6 and done.copied_bytes in (0, 90 * 4 * 4)
    found = zarr_kit.open(tmp_path / "all.zarr")
    np.testing.assert_array_equal(found[...], np.concatenate(values))
    assert found.write_chunk_sizes == ((31, 28, 31), (2, 1)) and found.dims == ("day", "x")
    assert found.attrs["month"] == "jan" and found.check().is_clean


def test_links_are_the_members_files(months, tmp_path):
    paths, _ = months
    assert zarr_kit.join(paths, tmp_path / "all.zarr", along="day", link=True).linked == 6
    assert os.path.samefile(f"{paths[1]}/c/0/1", tmp_path / "all.zarr/c/1/1")


def test_a_dry_run_counts_and_writes_nothing(months, tmp_path):
    paths, _ = months
    before = sorted(tmp_path.rglob("*"))
    plan = zarr_kit.join(paths, along="day", dry_run=True)
    assert (plan.moved_chunks, plan.moved_bytes, plan.written_chunks) == (6, 90 * 4 * 4, 0)
    assert plan.arrays[""].shape == (90, 3) and plan.reasons == {}
    plan = zarr_kit.join(paths, tmp_path / "none.zarr", along="day", chunks=[30, (2, 1)], dry_run=True)
    assert plan.arrays[""].written_bytes == 90 * 3 * 4 and sum(plan.reasons.values()) == plan.written_chunks == 6
    assert sorted(tmp_path.rglob("*")) == before


def test_other_codecs_and_fill_values_are_decoded(tmp_path):
    values = [np.arange(5, dtype="i2"), np.arange(7, dtype="i2") * 3, np.arange(4, dtype="i2") - 9]
    options = [{}, {"codecs": RAW}, {"fill_value": -9}]
    for number, (part, more) in enumerate(zip(values, options, strict=True)):
        zarr_kit.create(tmp_path / f"{number}.zarr", shape=part.shape, dtype="i2", chunks=3, **more)[:] = part
    sources = [zarr_kit.open(tmp_path / f"{number}.zarr") for number in range(3)]
    done = zarr_kit.join(sources, tmp_path / "all.zarr", along=0)
    assert done.plan.reasons == {"other codecs": 3, "another fill value": 2, "padding at the end of a member": 1}
    found = zarr_kit.open(tmp_path / "all.zarr")
    np.testing.assert_array_equal(found[:], np.concatenate(values))
    assert found.fill_value == 0 and found.check().is_clean


def test_members_are_stacked_on_a_new_axis(months, tmp_path):
    paths, values = months
    zarr_kit.join([paths[0], paths[2]], tmp_path / "runs.zarr", new_axis="run")
    found = zarr_kit.open(tmp_path / "runs.zarr")
    np.testing.assert_array_equal(found[...], np.stack([values[0], values[2]]))
    assert found.dims == ("run", "day", "x")


def test_tiles(tmp_path):
    values = np.arange(5 * 9).reshape(5, 9)
    pieces = [values[rows, columns] for rows in np.s_[:2, 2:] for columns in np.s_[:4, 4:5, 5:]]
    for number, piece in enumerate(pieces):
        zarr_kit.create(tmp_path / f"{number}.zarr", shape=piece.shape, dtype="i8", chunks=piece.shape)[...] = piece
    sources = [tmp_path / f"{number}.zarr" for number in range(6)]
    zarr_kit.join(sources, tmp_path / "all.zarr", along=[0, 1], grid=(2, 3))
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "all.zarr")[...], values)
    with pytest.raises(ValueError, match="along: \"0\"; the grid has 2 axes, and each needs a name here"):
        zarr_kit.join(sources, tmp_path / "b.zarr", along=0, grid=(2, 3))
    with pytest.raises(ValueError, match="in their order"):
        zarr_kit.join(sources, tmp_path / "b.zarr", along=[1, 0], grid=(2, 3))
    with pytest.raises(ValueError, match="does not fit 6 members"):
        zarr_kit.join(sources, tmp_path / "b.zarr", along=[0, 1], grid=(2, 2))
    with pytest.raises(ValueError, match="only groups have coordinates"):
        zarr_kit.join(sources, tmp_path / "b.zarr", along=[0, 1], grid="auto")
    assert not (tmp_path / "b.zarr").exists()


def dataset(folder, days, first, scale=1):
    group = zarr_kit.create_group(folder, attributes={"title": "weather"})
    times = group.create_array("day", shape=days, dtype="i4", chunks=days, dimension_names=["day"])
    times[:] = first + np.arange(days)
    rain = group.create_array("rain", shape=(days, 2), dtype="f4", chunks=(days, 2), dimension_names=["day", "x"])
    rain[...] = scale * np.arange(days * 2).reshape(days, 2)
    group.create_array("x", shape=2, dtype="i1", dimension_names=["x"])[:] = [1, 2]
    return group


def test_groups_get_other_chunks_by_the_names_of_dimensions(tmp_path):
    parts = [dataset(tmp_path / "a.zarr", 31, 0), dataset(tmp_path / "b.zarr", 28, 31, 2)]
    plan = zarr_kit.join(parts, along="day", chunks={"day": [31, 28], "x": 1}, dry_run=True)
    # The times, and the array x, keep their chunks.
    assert {name: (array.moved_chunks, array.written_chunks) for name, array in plan.arrays.items()} == {
        "day": (2, 0), "rain": (0, 4), "x": (0, 2),
    }
    zarr_kit.join(parts, tmp_path / "all.zarr", along="day", chunks={"day": 20})
    found = zarr_kit.open_group(tmp_path / "all.zarr")
    assert [found[name].write_chunk_sizes for name in ("day", "rain", "x")] == [((20, 20, 19),), ((20, 20, 19), (2,)), ((2,),)]
    assert [found[name].metadata["chunk_grid"]["name"] for name in ("day", "rain", "x")] == ["regular"] * 3
    for name in ("day", "rain"):
        np.testing.assert_array_equal(found[name][...], np.concatenate([part[name][...] for part in parts]))
    only = zarr_kit.join([part["rain"] for part in parts], along="day", chunks={"x": 1}, dry_run=True).arrays[""]
    assert only.metadata["chunk_grid"]["configuration"]["chunk_shapes"] == [[31, 28], 1]
    for chunks, message in [
        ({"day": 20, "lat": 5}, r"no array of the members has the dimensions \['lat'\]"),
        ({"day": [20]}, "axis day: the chunks add up to 20, the axis has 59 elements"),
    ]:
        with pytest.raises(ValueError, match=message):
            zarr_kit.join(parts, tmp_path / "none.zarr", along="day", chunks=chunks)
        assert not (tmp_path / "none.zarr").exists()


def test_groups_are_joined_by_the_paths_of_their_arrays(tmp_path):
    parts = [dataset(tmp_path / "a.zarr", 31, 0), dataset(tmp_path / "b.zarr", 28, 31, 2)]
    done = zarr_kit.join(parts, tmp_path / "all.zarr", along="day")
    assert set(done.plan.arrays) == {"day", "rain", "x"}
    found = zarr_kit.open_group(tmp_path / "all.zarr")
    for name in ("day", "rain"):
        np.testing.assert_array_equal(found[name][...], np.concatenate([part[name][...] for part in parts]))
    assert found["x"][:].tolist() == [1, 2] and found.attrs["title"] == "weather"
    with pytest.raises(ValueError, match="overlap or go backwards"):
        zarr_kit.join(parts[::-1], tmp_path / "b-a.zarr", along="day")
    zarr_kit.join(parts[::-1], tmp_path / "b-a.zarr", along="day", any_order=True)
    zarr_kit.join(parts[::-1], tmp_path / "sorted.zarr", along=["day"], grid="auto")
    assert zarr_kit.open_group(tmp_path / "sorted.zarr")["day"][:].tolist() == list(range(59))
    with pytest.raises(ValueError, match="has no axis along which to join them"):
        zarr_kit.join(parts, tmp_path / "c.zarr", along=0)
    with pytest.raises(ValueError, match="chunks have 1 axis, the shape has 2"):
        zarr_kit.join(parts, tmp_path / "c.zarr", along="day", chunks=[10])
    with pytest.raises(ValueError, match="rain is an array, and .*b.zarr a group"):
        zarr_kit.join([parts[0]["rain"], parts[1]], tmp_path / "c.zarr", along="day")
    assert not (tmp_path / "c.zarr").exists()


def test_attributes_are_combined_by_xarrays_rules(months, tmp_path):
    paths, _ = months
    for rule, expected in [("override", "jan"), ("drop_conflicts", None), ("drop", None)]:
        zarr_kit.join(paths, tmp_path / rule, along="day", combine_attrs=rule)
        found = zarr_kit.open(tmp_path / rule).attrs
        assert found.get("month") == expected and found["units"] == "mm"
    for rule in ("no_conflicts", "identical"):
        with pytest.raises(ValueError, match=r'feb.zarr: the attribute month is "feb", but "jan" in'):
            zarr_kit.join(paths, tmp_path / rule, along="day", combine_attrs=rule)
    with pytest.raises(ValueError, match='"merge" is no rule for attributes: they are override'):
        zarr_kit.join(paths, tmp_path / "merge", along="day", combine_attrs="merge")
    zarr_kit.open(paths[2]).attrs["units"] = "cm"
    with pytest.raises(ValueError, match="the attribute units"):
        zarr_kit.join(paths, tmp_path / "units", along="day")


def test_what_does_not_fit_is_named(months, tmp_path):
    paths, _ = months
    target = tmp_path / "all.zarr"
    other = zarr_kit.create(tmp_path / "other.zarr", shape=(5, 4), dtype="i4", dimension_names=["day", "x"])
    cases = [
        (paths + [other], {"along": "day"}, ValueError, "other.zarr: axis 1 has length 4, but 3 in"),
        (paths, {"along": "time"}, ValueError, 'along: "time"; the arrays have the axes day, x'),
        (paths, {"along": 2}, IndexError, "along: 2; the arrays have 2 axes"),
        (paths, {"along": -3}, IndexError, "along: -3"),
        (paths, {"along": ["day", "x"]}, ValueError, "one axis is joined without a grid"),
        ([], {"along": "day"}, ValueError, "nothing to join"),
        (paths + [str(tmp_path / "no.zarr")], {"along": "day"}, FileNotFoundError, "no.zarr"),
        (paths + [str(tmp_path)], {"along": "day"}, FileNotFoundError, str(tmp_path)),
        (paths[0], {"along": "day"}, TypeError, "sources must be a list of members"),
        (zarr_kit.open(paths[0]), {"along": "day"}, TypeError, "sources must be a list of members"),
        (paths, {}, TypeError, "give either along"),
        (paths, {"along": "day", "new_axis": "run"}, TypeError, "give either along"),
        (paths, {"new_axis": "run", "grid": [3]}, ValueError, "along one new axis"),
        (paths, {"along": "day", "resume": True, "overwrite": True}, ValueError, "give one"),
        (paths, {"along": "day", "fill_missing": True}, ValueError, "for virtual joins"),
        (paths, {"along": "day", "chunks_may_change": True}, ValueError, "for virtual joins"),
        (paths, {"new_axis": "run"}, ValueError, "feb.zarr: axis 1 has length 28, but 31"),
    ]
    for sources, arguments, kind, message in cases:
        with pytest.raises(kind, match=message):
            zarr_kit.join(sources, target, **arguments)
        assert not target.exists(), message
    with pytest.raises(TypeError, match="target"):
        zarr_kit.join(paths, along="day")
    for work in (zarr_kit.join, lambda sources, target, along: zarr_kit.copy(sources[0], target)):
        with pytest.raises(ValueError, match="could not be opened"):
            work(paths, "memory:", along="day")
    with pytest.raises(FileExistsError, match="overwrite=True removes it first, resume=True"):
        zarr_kit.join(paths, tmp_path / "other.zarr", along="day")
    with pytest.raises(ValueError, match="source and target share objects"):
        zarr_kit.join(paths, paths[0], along="day", overwrite=True)
    with pytest.raises(TypeError, match="settings that it was opened with"):
        zarr_kit.join([zarr_kit.open(paths[0])], target, along="day", source_options={"region": "x"})


def test_a_join_of_arrays_in_memory_and_in_one_store(tmp_path):
    group = zarr_kit.create_group("memory:")
    for name, part in [("a", [1, 2]), ("b", [3])]:
        group.create_array(name, shape=len(part), dtype="u1", chunks=1)[:] = part
    zarr_kit.join(group.values(), tmp_path / "x.zip", along=0)
    assert zarr_kit.open(tmp_path / "x.zip")[:].tolist() == [1, 2, 3]


def test_progress_and_its_exceptions(months, tmp_path):
    paths, _ = months
    told = []
    zarr_kit.join(paths, tmp_path / "a.zarr", along="day", progress=lambda *at: told.append(at))
    assert told[-1] == ("", 6, 6)

    def fails(path, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        zarr_kit.join(paths, tmp_path / "b.zarr", along="day", progress=fails)
    with pytest.raises(zarr_kit.UnfinishedCopyError):
        zarr_kit.open(tmp_path / "b.zarr")
    with pytest.raises(zarr_kit.UnfinishedCopyError):
        zarr_kit.join(paths, tmp_path / "b.zarr", along="day")
    done = zarr_kit.join(paths, tmp_path / "b.zarr", along="day", resume=True)
    assert done.done_before + done.cloned + done.copied == 6 and done.done_before > 0
    zarr_kit.join(paths[:2], tmp_path / "b.zarr", along="day", overwrite=True)
    assert zarr_kit.open(tmp_path / "b.zarr").shape == (59, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix")
def test_ctrl_c_ends_a_join_that_can_be_resumed(tmp_path):
    parts = [zarr_kit.create(tmp_path / f"{n}.zarr", shape=5000, dtype="u1", chunks=2, codecs=RAW) for n in range(2)]
    for part in parts:
        part[:] = 7
    with pytest.raises(KeyboardInterrupt):
        zarr_kit.join(parts, tmp_path / "all.zarr", along=0, progress=lambda *at: os.kill(os.getpid(), signal.SIGINT))
        time.sleep(60)
    with pytest.raises(zarr_kit.UnfinishedCopyError):
        zarr_kit.open(tmp_path / "all.zarr")
    done = zarr_kit.join(parts, tmp_path / "all.zarr", along=0, resume=True)
    assert done.done_before > 0 and done.done_before + done.cloned + done.copied == 5000
    assert set(zarr_kit.open(tmp_path / "all.zarr")[:]) == {7}


def test_a_virtual_join_is_a_small_file(months, tmp_path):
    paths, values = months
    done = zarr_kit.join(paths, tmp_path / "q.zjoin", along="day", virtual=True)
    assert (done.members, done.plan, done.copied) == (3, None, 0)
    document = json.loads((tmp_path / "q.zjoin").read_text())
    assert [member["location"] for member in document["nodes"][""]["members"]] == [f"{m}.zarr" for m in MONTHS]
    found = zarr_kit.open(tmp_path / "q.zjoin")
    np.testing.assert_array_equal(found[...], np.concatenate(values))
    with pytest.raises(FileExistsError):
        zarr_kit.join(paths, tmp_path / "q.zjoin", along="day", virtual=True)
    with pytest.raises(ValueError, match=r"ends in \.zjoin"):
        zarr_kit.join(paths, tmp_path / "q.zarr", along="day", virtual=True)
    for name in ("link", "dry_run", "resume", "overwrite"):
        with pytest.raises(ValueError, match=f"{name}: a virtual join writes no chunks"):
            zarr_kit.join(paths, tmp_path / "r.zjoin", along="day", virtual=True, **{name: True})
    memory = zarr_kit.create("memory:", shape=(5, 3), dtype="i4")
    with pytest.raises(ValueError, match="cannot lead into memory"):
        zarr_kit.join([*paths, memory], tmp_path / "r.zjoin", along="day", virtual=True)
    assert not (tmp_path / "r.zjoin").exists()


def test_members_in_groups_of_one_store_are_joined_virtually(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_array("a", shape=2, dtype="u1")[:] = [1, 2]
    group.create_group("in").create_array("b", shape=1, dtype="u1")[:] = [3]
    zarr_kit.join([group["a"], group["in/b"]], tmp_path / "q.zjoin", along=0, virtual=True)
    assert zarr_kit.open(tmp_path / "q.zjoin")[:].tolist() == [1, 2, 3]


@pytest.fixture
def groups(tmp_path):
    """Groups with an array along a day, its coordinates, and an array that is equal in all; their values."""
    stores, rain, first = [], [], 0
    for name, days in MONTHS.items():
        root = zarr_kit.create_group(tmp_path / f"{name}.zarr", attributes={"month": name})
        group = root.create_group("in")
        rain.append(np.arange(days * 2, dtype="i2").reshape(days, 2) + 100 * first)
        for path, values, dims in [
            ("day", np.arange(first, first + days, dtype="i4"), ["day"]),
            ("deep/rain", rain[-1], ["day", "x"]),
            ("x", np.array([5, 7], dtype="i4"), ["x"]),
        ]:
            if "/" in path:
                group.create_group(path.split("/")[0])
            group.create_array(path, shape=values.shape, dtype=values.dtype, chunks=10, dimension_names=dims)[
                ...
            ] = values
        stores.append(root)
        first += days
    return stores, np.concatenate(rain)


def test_groups_are_joined_virtually(groups, tmp_path):
    roots, rain = groups
    members = [root["in"] for root in roots]
    done = zarr_kit.join(members, tmp_path / "q.zjoin", along="day", virtual=True)
    assert (done.members, done.plan) == (3, None)
    document = json.loads((tmp_path / "q.zjoin").read_text())["nodes"]
    assert sorted(document) == ["", "day", "deep", "deep/rain", "x"]
    found = [(member["location"], member["path"]) for member in document["deep/rain"]["members"]]
    assert found == [(f"{month}.zarr", "in/deep/rain") for month in MONTHS]
    assert [member["location"] for member in document["x"]["members"]] == ["jan.zarr"]
    joined = zarr_kit.open_group(tmp_path / "q.zjoin")
    np.testing.assert_array_equal(joined["deep/rain"][...], rain)
    np.testing.assert_array_equal(joined["day"][...], np.arange(90))
    assert joined["x"][...].tolist() == [5, 7]
    zarr_kit.copy(joined, tmp_path / "copy.zarr")
    np.testing.assert_array_equal(zarr_kit.open_group(tmp_path / "copy.zarr")["deep/rain"][...], rain)


def test_what_groups_are_refused_as_virtual_joins(groups, tmp_path):
    roots, _ = groups
    target = tmp_path / "q.zjoin"
    for members, arguments, message in [
        ([roots[0], roots[1]], {"along": "in"}, "in/day: differs from"),
        ([root["in"] for root in (roots[1], roots[0])], {"along": "day"}, "overlap or go backwards"),
        ([roots[0]["in"], roots[1]["in/day"]], {"along": "day"}, "either arrays or groups"),
        ([root["in"] for root in roots], {"along": 0}, "has no axis along which to join them"),
        ([root["in"] for root in roots], {"along": "day", "combine_attrs": "merge"}, '"merge" is no rule'),
        ([root["in"] for root in roots], {"new_axis": "run"}, "differs from"),
        ([], {"along": "day"}, "nothing to join"),
    ]:
        with pytest.raises(ValueError, match=message):
            zarr_kit.join(members, target, virtual=True, **arguments)
        assert not target.exists(), message
    backwards = [root["in"] for root in reversed(roots)]
    zarr_kit.join(backwards, target, along="day", any_order=True, virtual=True)
    assert zarr_kit.open_group(target)["day"][[0, 31]].tolist() == [59, 31]


def test_missing_members_are_errors_unless_they_read_as_the_fill_value(months, tmp_path):
    paths, values = months
    zarr_kit.join(paths, tmp_path / "q.zjoin", along="day", virtual=True)
    zarr_kit.join(paths, tmp_path / "f.zjoin", along="day", virtual=True, fill_missing=True)
    os.rename(paths[1], tmp_path / "away")
    with pytest.raises((OSError, ValueError), match="feb"):
        zarr_kit.open(tmp_path / "q.zjoin")[...]
    values[1][...] = 0
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "f.zjoin")[...], np.concatenate(values))


def test_chunks_that_are_written_later_are_errors_unless_they_may_change(months, tmp_path):
    paths, values = months
    zarr_kit.join(paths, tmp_path / "q.zjoin", along="day", virtual=True)
    zarr_kit.join(paths, tmp_path / "f.zjoin", along="day", virtual=True, chunks_may_change=True)
    opened = [zarr_kit.open(tmp_path / name) for name in ("q.zjoin", "f.zjoin")]
    for array in opened:
        np.testing.assert_array_equal(array[...], np.concatenate(values))
    february = zarr_kit.open(paths[1])
    february[...] = values[1] + 1
    for chunk in pathlib.Path(paths[1]).glob("c/**/*"):
        if chunk.is_file():
            os.utime(chunk, (4_000_000_000, 4_000_000_000))
    for array in (opened[0], zarr_kit.open(tmp_path / "q.zjoin")):
        with pytest.raises(OSError, match=r"feb.*modified at 2096-10-02T07:06:40Z, after .*chunks_may_change"):
            array[...]
        np.testing.assert_array_equal(array[:31], values[0])
    findings = list(opened[0].check(data=True))
    assert {(finding.id, finding.key) for finding in findings if finding.severity != "note"} == {
        ("unusable-member", f"feb.zarr/c/0/{number}") for number in range(2)
    }
    expected = np.concatenate([values[0], values[1] + 1, values[2]])
    np.testing.assert_array_equal(opened[1][...], expected)


def test_the_command_line_plans_the_same(months, tmp_path):
    paths, _ = months
    command = [sys.executable, "-m", "zarr_kit", "join", *paths, "--along", "day", "--dry-run", "--json"]
    theirs = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["arrays"][0]
    ours = zarr_kit.join(paths, along="day", dry_run=True).arrays[""]
    assert theirs["zarr_json"] == ours.metadata
    assert theirs["moved"] == {"chunks": ours.moved_chunks, "bytes": ours.moved_bytes}


def test_axes_without_names_are_numbered_and_named(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    for name, shape in [("a", (4, 6)), ("b", (4, 3)), ("flat", (4,))]:
        array = group.create_array(name, shape=shape, dtype="u1", chunks=2)
        array[...] = np.arange(np.prod(shape)).reshape(shape)
    shapes = lambda place: {name: array.shape for name, array in zarr_kit.open_group(place).arrays()}
    zarr_kit.join([group, group], tmp_path / "tall.zarr", along=0)
    assert shapes(tmp_path / "tall.zarr") == {"a": (8, 6), "b": (8, 3), "flat": (8,)}
    zarr_kit.join([group, group], tmp_path / "wide.zarr", along=-1)
    assert shapes(tmp_path / "wide.zarr") == {"a": (4, 12), "b": (4, 6), "flat": (8,)}
    tall = zarr_kit.open_group(tmp_path / "tall.zarr")
    tall.rearrange([slice(4, 8)], 0)
    assert shapes(tmp_path / "tall.zarr") == {"a": (4, 6), "b": (4, 3), "flat": (4,)}

    names = {"a": ("y", "x"), "b": ("y", "x"), "flat": None}
    dims = lambda place: {name: array.dims for name, array in zarr_kit.open_group(place).arrays()}
    zarr_kit.copy(group, tmp_path / "named.zarr", dimension_names=("y", "x"), chunks={"x": 3})
    assert dims(tmp_path / "named.zarr") == names
    assert zarr_kit.open_array(tmp_path / "named.zarr/a").chunks == (2, 3)
    zarr_kit.copy(group, tmp_path / "one.zarr", dimension_names={"flat": ["z"]})
    assert dims(tmp_path / "one.zarr") == {"a": None, "b": None, "flat": ("z",)}
    for wrong, message in [(("t", "y", "x"), "3 names, and no array"), ({"c": ["z"]}, "no arrays ..c")]:
        with pytest.raises(ValueError, match=message):
            zarr_kit.copy(group, tmp_path / "none.zarr", dimension_names=wrong)
    with pytest.raises(TypeError, match="not a string"):
        zarr_kit.copy(group, tmp_path / "none.zarr", dimension_names="yx")
    assert not (tmp_path / "none.zarr").exists()
