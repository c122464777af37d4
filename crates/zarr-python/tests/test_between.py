"""Groups between a group, or the place of a store, and a new node at a path."""

from pathlib import Path

import pytest
import zarr
import zarr_kit


def listed(path: Path) -> set[str]:
    """The nodes below a group, as zarr-python lists them."""
    return {name for name, _ in zarr.open_group(path, mode="r").members(max_depth=None)}


def test_a_group_creates_the_groups_between(tmp_path: Path) -> None:
    group = zarr_kit.create_group(tmp_path)
    group.create_array("2015/05/rain", shape=3, dtype="f4")
    group.create_group("sites/a")
    assert listed(tmp_path) == {"2015", "2015/05", "2015/05/rain", "sites", "sites/a"}
    assert list(group) == ["2015", "sites"]
    assert isinstance(group["2015"], zarr_kit.Group)


def test_create_makes_the_groups_from_the_url_on(tmp_path: Path) -> None:
    zarr_kit.create(tmp_path / "a.zarr", "2015/rain", shape=3, dtype="f4")
    zarr_kit.create_group(tmp_path / "a.zarr", "2016/05")
    assert listed(tmp_path / "a.zarr") == {"2015", "2015/rain", "2016", "2016/05"}


def test_consolidated_metadata_has_the_groups_between(tmp_path: Path) -> None:
    group = zarr_kit.create_group(tmp_path)
    zarr.consolidate_metadata(str(tmp_path))
    group.create_array("2015/rain", shape=3, dtype="f4")
    assert zarr_kit.open(tmp_path).check().is_clean
    assert set(zarr_kit.open_group(tmp_path, use_consolidated=True)["2015"]) == {"rain"}


def test_a_group_that_exists_is_kept(tmp_path: Path) -> None:
    group = zarr_kit.create_group(tmp_path)
    group.create_group("2015", attributes={"a": 1})
    group.create_array("2015/rain", shape=3, dtype="f4")
    assert group["2015"].attrs["a"] == 1
    with pytest.raises(FileExistsError):
        group.create_array("2015/rain", shape=3, dtype="f4")


def test_an_array_has_no_nodes_in_it(tmp_path: Path) -> None:
    group = zarr_kit.create_group(tmp_path)
    group.create_array("rain", shape=3, dtype="f4")
    with pytest.raises(ValueError, match="rain"):
        group.create_array("rain/2015/a", shape=3, dtype="f4")
    assert list(group) == ["rain"]


def test_in_an_archive(tmp_path: Path) -> None:
    with zarr_kit.create_group(tmp_path / "a.zip") as group:
        group.create_array("2015/rain", shape=3, dtype="f4")
    assert list(zarr_kit.open(tmp_path / "a.zip")) == ["2015"]
