"""Runs zarr-python and TensorStore as peers.

`peer.py PEER write FOLDER`: for every `<name>.json` (an array document) with `<name>.raw` (all its
elements) in the folder, writes the array into `<name>/`.
`peer.py PEER read FOLDER RESULTS`: reads every array `<name>/` of the folder into
`RESULTS/<name>.raw`.

How that went is in `<name>.status`. A status of `started` is left behind where the peer died; what
has a status is not tried again, so that whoever called can call again for the rest. The program
`xtask/peers/zarrs-writer` does the same with zarrs.
"""

import json
import sys
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
from reference import from_raw, to_raw, type_of, write_json


def little_endian(values):
    values = np.asarray(values)
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def from_bytes(raw, dtype, shape):
    """Raw elements as an array of numpy's."""
    return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).reshape(shape)


class ZarrPython:
    def __init__(self):
        import zarr  # noqa: PLC0415 - each process needs one of the two

        warnings.filterwarnings("ignore", module="zarr")
        zarr.config.set({"array.rectilinear_chunks": True})
        self.zarr = zarr

    def write(self, folder, document, raw):
        """The document that zarr-python makes of this one, and its chunks."""
        from zarr.core.buffer import default_buffer_prototype  # noqa: PLC0415
        from zarr.core.metadata.v3 import ArrayV3Metadata  # noqa: PLC0415

        metadata = ArrayV3Metadata.from_dict(document)
        buffer = metadata.to_buffer_dict(default_buffer_prototype())["zarr.json"]
        write_json(folder / "zarr.json", json.loads(buffer.to_bytes()))
        array = self.zarr.open_array(folder, mode="r+")
        array[...] = from_bytes(raw, array.dtype, document["shape"])

    def read(self, folder):
        return little_endian(self.zarr.open_array(folder, mode="r")[...])


class TensorStore:
    def __init__(self):
        import tensorstore  # noqa: PLC0415

        self.ts = tensorstore

    def spec(self, folder, **more):
        store = {"driver": "file", "path": f"{folder}/"}
        return {"driver": "zarr3", "kvstore": store, **more}

    def write(self, folder, document, raw):
        document = {k: v for k, v in document.items() if k not in ("zarr_format", "node_type")}
        array = self.ts.open(self.spec(folder, metadata=document, create=True)).result()
        dtype = array.dtype.numpy_dtype
        values = from_bytes(raw, dtype, document["shape"])
        array.write(values).result()

    def read(self, folder):
        array = self.ts.open(self.spec(folder), open=True).result()
        return little_endian(array.read().result())


def attempt(status, run):
    if status.is_file():
        return
    status.write_text("started")
    try:
        said = run()
    except Exception as error:  # noqa: BLE001 - any error is the result
        words = " ".join(f"{type(error).__name__}: {error}".split())
        said = f"error: {words[:600]}"
    status.write_text(said)


def write_all(peer, folder):
    def write(path):
        document = json.loads(path.read_text())
        peer.write(path.with_suffix(""), document, path.with_suffix(".raw").read_bytes())
        return "written"

    for path in sorted(folder.glob("*.json")):
        attempt(path.with_suffix(".status"), lambda path=path: write(path))


def read_all(peer, folder, results):
    def read(array):
        raw = peer.read(array)
        data_type = json.loads((array / "zarr.json").read_text())["data_type"]
        if isinstance(data_type, str) and type_of(data_type).bits < 8:
            # The upper bits as this project's documents have them.
            raw = to_raw(from_raw(raw, data_type), data_type)
        (results / f"{array.name}.raw").write_bytes(raw)
        return "read"

    for array in sorted(path for path in folder.iterdir() if path.is_dir()):
        attempt(results / f"{array.name}.status", lambda array=array: read(array))


if __name__ == "__main__":
    assert ml_dtypes  # gives numpy the small types by name
    name, what, *folders = sys.argv[1:]
    peer = {"zarr-python": ZarrPython, "TensorStore": TensorStore}[name]()
    {"write": write_all, "read": read_all}[what](peer, *map(Path, folders))
