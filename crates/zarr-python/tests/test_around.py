"""Groups around a store that is opened by its own path: their consolidated metadata follows."""

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
import zarr
import zarr_kit
from zarr_kit.xarray import to_zarr


def hierarchy(at: Path) -> Path:
    """A group with a group and arrays, consolidated."""
    top = zarr_kit.create_group(at / "x.zarr")
    for group in (top, top.create_group("g")):
        group.create_array("a", shape=4, dtype="i2", chunks=2, dimension_names=["t"])
    for path in ("g", ""):
        zarr.consolidate_metadata(str(at / "x.zarr"), path=path)
    return at / "x.zarr"


def stale(path: Path) -> list[str]:
    return [str(finding) for finding in zarr_kit.open(path).check() if finding.id == "stale-consolidated"]


def test_changes_by_a_nodes_own_path_reach_the_groups_around(tmp_path: Path) -> None:
    path = hierarchy(tmp_path)
    changes: list[Any] = [
        lambda: zarr_kit.open(path / "g/a").append([1, 2]),
        lambda: zarr_kit.open(path / "g/a").resize(5),
        lambda: zarr_kit.open(path / "g/a").attrs.update(units="mm"),
        lambda: zarr_kit.open(path / "g").attrs.update(title="G"),
        lambda: zarr_kit.open(path / "g").create_array("b", shape=3, dtype="i1"),
        lambda: zarr_kit.create(path / "g/n", shape=3, dtype="i1"),
        lambda: zarr_kit.create_group(path / "h"),
        lambda: zarr_kit.copy(path / "g", path / "h/c"),
        lambda: zarr_kit.open(path / "g/a").rearrange([slice(2, 5)], 0),
        lambda: to_zarr(xr.Dataset({"v": ("x", [1, 2])}), path / "m"),
        lambda: to_zarr(xr.Dataset({"v": ("x", [3])}), path / "m", append_dim="x"),
        lambda: to_zarr(xr.Dataset({"w": ("x", [1, 2])}), path / "m", mode="w"),
    ]
    for number, change in enumerate(changes):
        change()
        assert not stale(path), number
    names = set(zarr_kit.open(path))
    assert names == {"a", "g", "h", "m"}


@pytest.mark.parametrize("in_block", [False, True])
def test_groups_that_appear_after_a_handles_first_change_follow(tmp_path: Path, in_block: bool) -> None:
    path = tmp_path / "x.zarr"
    array = zarr_kit.create(path / "g/a", shape=4, dtype="i2", chunks=2)
    group = zarr_kit.create_group(path / "h")
    if in_block:
        with array, group:
            array.attrs["x"] = group.attrs["x"] = 1
    zarr_kit.create_group(path)
    zarr.consolidate_metadata(str(path))
    array.append([1, 2])
    array.attrs["units"] = "mm"
    group.create_array("a", shape=3, dtype="i1")
    assert not stale(path)


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
def test_links_and_dots_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hierarchy(tmp_path)
    (tmp_path / "link").symlink_to(path / "g")
    zarr_kit.open(tmp_path / "link/a").resize(9)
    assert not stale(path)
    monkeypatch.chdir(path / "g/a")
    zarr_kit.open("../../g/a").resize(7)
    zarr_kit.open("..").attrs["x"] = 1
    assert not stale(path)


def test_an_archive_that_cannot_follow_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "zarr_kit"):
        zarr_kit.copy(hierarchy(tmp_path), tmp_path / "x.zip")
        assert not caplog.text
        zarr_kit.open(tmp_path / "x.zip").create_array("b", shape=3, dtype="i1")
    assert "may be out of date" in caplog.text
    [finding] = zarr_kit.open(tmp_path / "x.zip").check()
    assert finding.next is not None
    assert "copy it into a folder" in finding.next


def test_read_only_is_a_value(tmp_path: Path) -> None:
    path = hierarchy(tmp_path) / "a"
    zarr_kit.open(path, storage_options={"read_only": False})[0] = 1
    with pytest.raises(ValueError, match="True or False"):
        zarr_kit.open(path, storage_options={"read_only": "maybe"})


def test_folders_of_a_failed_copy_are_removed(tmp_path: Path) -> None:
    path = hierarchy(tmp_path)
    for dry_run in (True, False):
        with pytest.raises((FileNotFoundError, ValueError, OSError)):
            zarr_kit.copy(
                path / "a", tmp_path / "c", chunks=(0,), intermediate=tmp_path / "i", dry_run=dry_run
            )
    assert sorted(os.listdir(tmp_path)) == ["x.zarr"]


def test_in_a_block_of_an_archive_it_is_said_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    zarr_kit.copy(hierarchy(tmp_path), tmp_path / "x.zip")
    with caplog.at_level(logging.WARNING, "zarr_kit"):
        with zarr_kit.open(tmp_path / "x.zip/g") as group, ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda name: group.create_array(name, shape=3, dtype="i1"), "bcde"))
            assert not caplog.text
        assert len(caplog.records) == 1
        assert "may be out of date" in caplog.text
    assert set(zarr_kit.open(tmp_path / "x.zip/g")) == set("abcde")
    zarr_kit.create_group(tmp_path / "plain.zip")
    caplog.clear()
    with zarr_kit.open(tmp_path / "plain.zip") as group:
        group.create_array("a", shape=3, dtype="i1")
    assert not caplog.text
