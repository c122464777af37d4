"""The matrix: every array among the fixtures whose elements are known."""

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import NamedTuple

import zstandard

SUITE = ("zarr-python", "tensorstore", "reference")


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
    suite = fixtures / "conformance"
    listed = json.loads((suite / "manifest.json").read_text())["cases"]
    for archive in SUITE:
        packed = gzip.decompress((suite / "stores" / f"{archive}.tar.gz").read_bytes())
        yield from archived(archive, packed, [c for c in listed if c["archive"] == archive])
    packed = (fixtures / "numcodecs/stores.tar.zst").read_bytes()
    packed = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    listed = json.loads((fixtures / "numcodecs/cases.json").read_text())["cases"]
    yield from archived("numcodecs", packed, listed)
    weather = fixtures / "seattle-weather.zarr"
    for path in sorted(weather.glob("*/zarr.json")):
        name = path.parent.name
        raw = (fixtures / "seattle-weather.expected" / f"{name}.raw").read_bytes()
        yield case(f"seattle-weather.{name}", path.read_text(), raw)


def archived(collection, packed, listed):
    tar = tarfile.open(fileobj=io.BytesIO(packed))
    files = {entry.name: entry for entry in tar if entry.isfile()}
    for entry in listed:
        if entry["node_type"] == "array" and "expected" in entry:
            text = tar.extractfile(files[f"{entry['path']}/zarr.json"]).read().decode()
            raw = tar.extractfile(files[entry["expected"]]).read()
            name = entry.get("name") or entry["id"].partition("/")[2]
            yield case(f"{collection}.{name}", text, raw)


def case(name, text, expected):
    return Case(name, json.loads(text), text, expected, expected)
