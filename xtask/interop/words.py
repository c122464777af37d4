"""The features that a document uses, and which peers support them."""

import json

TYPES = ["bool", *(f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64))]
TYPES += ["float16", "float32", "float64", "complex64", "complex128"]
SMALL = ["int2", "int4", "float4_e2m1fn", "float8_e3m4", "float8_e4m3fn", "float8_e4m3fnuz"]
SMALL += ["float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16"]
EVERYDAY = {"bytes", "transpose", "gzip", "zstd", "crc32c", "blosc", "sharding_indexed"}


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
    grid = named(document["chunk_grid"])["name"]
    if peer == "TensorStore" and grid != "regular":
        return grid
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
    if peer == "zarr-python":
        return name in TYPES
    if peer == "TensorStore":
        return name in TYPES or name in SMALL
    return not name.endswith("float8_e4m3fn")


def has_codec(peer, name):
    if peer == "plain reader":
        return True
    if peer == "zarr-python":
        return name in EVERYDAY or name.startswith("numcodecs.")
    if peer == "TensorStore":
        return name in EVERYDAY
    return name in EVERYDAY or name in ("packbits", "reshape")
