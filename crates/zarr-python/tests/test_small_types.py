"""Data types of ml_dtypes in zarr-python: each package reads what the other wrote."""

import numpy as np
import pytest
import zarr_kit

zarr = pytest.importorskip("zarr")
pytest.importorskip("ml_dtypes")
from zarr_kit import dtypes  # noqa: E402


@pytest.mark.parametrize("name", dtypes.TYPES)
def test_both_packages_read_what_the_other_wrote(tmp_path, name):
    dtype = dtypes.TYPES[name]().to_native_dtype()
    ours = zarr_kit.create(tmp_path / "a.zarr", shape=6, dtype=name, chunks=4, fill_value=1)
    ours[:4] = np.array([1, 2, 2, 1], dtype)
    theirs = zarr.open_array(tmp_path / "a.zarr")
    assert theirs.dtype == dtype and theirs[:].astype("f4").tolist() == [1, 2, 2, 1, 1, 1]
    theirs[4:] = np.array([2, 2], dtype)
    assert ours[:].astype("f4").tolist() == [1, 2, 2, 1, 2, 2]
    made = zarr.create_array(tmp_path / "b.zarr", shape=3, dtype=dtype, fill_value=2)
    assert made.metadata.to_dict()["data_type"] == name
    found = zarr_kit.open(tmp_path / "b.zarr")
    assert found.dtype == dtype and found[:].astype("f4").tolist() == [2, 2, 2]
    assert found.check().is_clean
    for value in ("x", 10**6 if name.startswith("uint") else None):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            zarr.create_array({}, shape=1, dtype=dtype, fill_value=value if value is not None else "x")


def test_bytes_are_those_of_the_specification(tmp_path):
    from ml_dtypes import bfloat16

    zarr.create_array(tmp_path / "a.zarr", data=np.array([1, -2.5], bfloat16), compressors=None)
    assert (tmp_path / "a.zarr/c/0").read_bytes() == bytes.fromhex("803f20c0")
    with pytest.raises(ValueError, match="big-endian"):
        dtypes.TYPES["bfloat16"](endianness="big").to_native_dtype()
