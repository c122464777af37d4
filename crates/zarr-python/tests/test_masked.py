"""Masked elements of numpy.ma are not written: what is under the mask means nothing."""

import numpy as np
import pytest
import zarr_kit

MASKED = {
    "i2": np.ma.masked_equal(np.array([1, -9, 3], "i2"), -9),
    "f8": np.ma.masked_invalid([1, np.nan, 3]),
    "M8[s]": np.ma.array(np.zeros(3, "M8[s]"), mask=[False, True, False]),
    "string": np.ma.array(["a", "b", "c"], mask=[False, True, False]),
    "S1": np.ma.array([b"a", b"b", b"c"], mask=[False, True, False]),
    "records": np.ma.array(
        np.zeros(3, [("a", "i1"), ("b", "f4")]), mask=[(False, False), (False, True), (False, False)]
    ),
}


@pytest.mark.parametrize("dtype", MASKED)
def test_masked_elements_are_refused(dtype):
    values = MASKED[dtype]
    array = zarr_kit.create("memory:", shape=3, dtype=values.dtype if dtype == "records" else dtype)
    before = array[:].tolist()
    for write in (lambda: array.write(..., values), lambda: array.append(values)):
        with pytest.raises(ValueError, match=r"the element at \(1,\) is masked.*filled"):
            write()
    with pytest.raises(ValueError, match="the element at"):
        array.vindex[[0, 1]] = values[:2]
    assert array[:].tolist() == before
    array[:] = values.filled(values.data[0])
    array[::2] = values[::2]
    assert array[:].tolist() == values.data[[0, 0, 2]].tolist()


def test_the_masked_constant_is_refused():
    array = zarr_kit.create("memory:", shape=3, dtype="f8")
    with pytest.raises(ValueError, match="the value is masked"):
        array[1] = np.ma.masked
