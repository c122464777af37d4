"""Arguments that are refused, with an error that names them, and names of axes."""

import numpy as np
import pytest
import zarr_kit


@pytest.mark.parametrize("chunks", [True, np.True_, [True], [(True, 2)]])
def test_truth_values_are_no_chunks(chunks):
    with pytest.raises(TypeError, match="chunks"):
        zarr_kit.create("memory:", shape=3, dtype="i1", chunks=chunks)


@pytest.mark.parametrize("shape", [True, (True,), np.True_])
def test_truth_values_are_no_shape(shape):
    with pytest.raises(TypeError, match="a shape is an integer"):
        zarr_kit.create("memory:", shape=shape, dtype="i1")


def test_chunks_to_add_are_lists():
    array = zarr_kit.create("memory:", shape=6, dtype="i1", chunks=[(4, 2)])
    for chunks in (3, [3], [True], [[2.5]]):
        with pytest.raises(TypeError, match="chunks"):
            array.resize(9, chunks=chunks)
    with pytest.raises(TypeError, match="chunks"):
        array.append([1, 2, 3], chunks=3)
    assert array.shape == (6,)


def test_an_axis_is_appended_to_by_its_name():
    array = zarr_kit.create("memory:", shape=(2, 3), dtype="i1", dimension_names=["x", "day"])
    array.append([[1], [2]], axis="day")
    assert array[:, 3].tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"axis 'time'; the array has the axes \('x', 'day'\)"):
        array.append([[1], [2]], axis="time")
