"""The features that a document uses, and which peers support them."""

import json
from pathlib import Path

# The table of programs and features, which the command prints as well.
TABLE = Path(__file__).parents[2] / "crates/zarr-report/src/readers/programs.json"
PROGRAMS = {program["name"]: program for program in json.loads(TABLE.read_text())["programs"]}

TYPES = ["bool", *(f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64))]
TYPES += ["float16", "float32", "float64", "complex64", "complex128"]


def json_of(document):
    return json.dumps(document, ensure_ascii=False)


def named(value):
    """A codec, grid or key encoding as an object, however it is written."""
    return {"name": value} if isinstance(value, str) else value


def codecs(document):
    """All codecs, also those inside shards, each as an object."""
    return list(walk(document["codecs"]))


def walk(chain):
    for codec in map(named, chain):
        yield codec
        if codec["name"] == "sharding_indexed":
            yield from walk(codec["configuration"]["codecs"])
            yield from walk(codec["configuration"].get("index_codecs", []))


def configurations(document, name):
    return [codec.get("configuration", {}) for codec in codecs(document) if codec["name"] == name]


def data_type(document):
    return named(document["data_type"])["name"]


def is_raw(name):
    return name[0] == "r" and name[1:].isdigit()


def lacks(peer, document):
    """The feature of this document that the peer lacks, as a word, or None."""
    name = data_type(document)
    if not has_type(peer, name):
        return name
    grid = named(document["chunk_grid"])
    if peer == "TensorStore" and grid["name"] != "regular":
        return grid["name"]
    if peer in PROGRAMS and 0 in grid.get("configuration", {}).get("chunk_shape", []) \
            and "chunks of length 0" in PROGRAMS[peer]["lacks"]:
        return "chunks of length 0"
    for codec in codecs(document):
        if not has_codec(peer, codec["name"]):
            return codec["name"]
    if peer in ("zarr-python", "plain reader") and "snappy" in json_of(document["codecs"]):
        return "blosc with snappy"
    if peer == "TensorStore" and compressed_shards(document["codecs"]):
        return "a codec after sharding_indexed"
    return None


def compressed_shards(chain):
    """A bytes-to-bytes codec over whole shards, at any depth."""
    chain = [named(codec) for codec in chain]
    if "sharding_indexed" in [codec["name"] for codec in chain[:-1]]:
        return True
    last = chain[-1]
    return last["name"] == "sharding_indexed" and compressed_shards(last["configuration"]["codecs"])


def has_type(peer, name):
    if peer == "plain reader":
        return True
    if peer == "zarrs":
        return name not in PROGRAMS[peer]["lacks"]
    # Those of random arrays: times, strings and records are compared by the fixtures.
    return name in PROGRAMS[peer]["data_types"] and (name in TYPES or peer == "TensorStore")


def has_codec(peer, name):
    if peer == "plain reader":
        return True
    known = PROGRAMS[peer]["codecs"]
    return name in known or any(name.startswith(k[:-1]) for k in known if k.endswith("*"))
