"""The matrix: every array among the fixtures whose elements are known."""

import io
import json
import tarfile
from pathlib import Path
from typing import NamedTuple

import zstandard

COLLECTIONS = ("zarr-python", "tensorstore", "reference", "numcodecs")


class Case(NamedTuple):
    name: str
    document: dict
    text: str
    given: bytes
    expected: bytes

    @property
    def size(self):
        """The sort key that makes a case the smallest."""
        return (len(self.expected), len(self.text))


def cases(fixtures):
    fixtures = Path(fixtures)
    for collection in COLLECTIONS:
        yield from archived(fixtures / collection)
    weather = fixtures / "seattle-weather.zarr"
    for path in sorted(weather.glob("*/zarr.json")):
        name = path.parent.name
        raw = (fixtures / "seattle-weather.expected" / f"{name}.raw").read_bytes()
        yield case(f"seattle-weather.{name}", path.read_text(), raw)


def archived(folder):
    packed = (folder / "stores.tar.zst").read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
        tar = tarfile.open(fileobj=io.BytesIO(stream.read()))
    files = {entry.name: entry for entry in tar if entry.isfile()}
    for entry in json.loads((folder / "cases.json").read_text())["cases"]:
        if entry["node_type"] == "array" and "expected" in entry:
            text = tar.extractfile(files[f"{entry['path']}/zarr.json"]).read().decode()
            raw = tar.extractfile(files[entry["expected"]]).read()
            yield case(f"{folder.name}.{entry['name']}", text, raw)


def case(name, text, expected):
    return Case(name, json.loads(text), text, expected, expected)
