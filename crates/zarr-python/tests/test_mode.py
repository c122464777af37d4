"""What `open` returns, and handles that cannot write."""

import pickle

import numpy as np
import pytest
import zarr_kit


@pytest.fixture
def folder(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr", attributes={"title": "weather"})
    rain = group.create_array("rain", shape=6, dtype="i2", chunks=2, dimension_names=["time"])
    rain[...] = range(6)
    return tmp_path / "g.zarr"


def test_open_returns_what_is_there(folder, tmp_path):
    assert isinstance(zarr_kit.open(folder), zarr_kit.Group)
    assert isinstance(zarr_kit.open(folder, "rain"), zarr_kit.Array)
    assert isinstance(zarr_kit.open(f"{folder}/rain"), zarr_kit.Array)
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(tmp_path, "none")
    with pytest.raises(ValueError, match="mode"):
        zarr_kit.open(folder, mode="rw")


@pytest.mark.parametrize("again", [lambda node: node, lambda node: pickle.loads(pickle.dumps(node))])
def test_a_handle_of_mode_r_changes_nothing(folder, tmp_path, again):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    rain, group = again(zarr_kit.open(folder, "rain", mode="r")), again(zarr_kit.open_group(folder, mode="r"))
    other = zarr_kit.create(tmp_path / "o.zarr", shape=2, dtype="i2", chunks=2)
    other[...] = 7
    changes = [
        lambda: rain.__setitem__(0, 1),
        lambda: rain.__setitem__(slice(0, 2), [8, 9]),
        lambda: rain.vindex.__setitem__([0], 1),
        lambda: rain.resize(4),
        lambda: rain.append([1, 2]),
        lambda: rain.rearrange([slice(2, 6)]),
        lambda: rain.attrs.update(units="mm"),
        lambda: group["rain"].__setitem__(0, 1),
        lambda: group.create_array("new", shape=1, dtype="i1"),
        lambda: group.create_group("new"),
        lambda: group.rearrange([slice(2, 6)], "time"),
        lambda: group.attrs.update(title="other"),
        lambda: group.attrs.clear(),
        lambda: zarr_kit.copy(other, group, overwrite=True),
    ]
    for number, change in enumerate(changes):
        with pytest.raises(PermissionError, match='mode="r"'):
            change()
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before, number
    with rain as inside:
        assert np.array_equal(inside[...], range(6))
    assert rain.refresh()[5] == 5


def test_of_a_virtual_join(folder, tmp_path):
    zarr_kit.join([folder / "rain", folder / "rain"], folder / "both.zjoin", along=0, virtual=True)
    both = zarr_kit.open(folder / "both.zjoin", mode="r")
    with pytest.raises(PermissionError, match='mode="r"'):
        both.rearrange([slice(6, 12)])
    assert both.refresh().shape == (12,)
