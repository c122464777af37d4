"""Random valid arrays: types, shapes with 0 and 1, grids, chains, shards, fill values.

The array of a number, a seed and a program is always the same one, whatever else is made.
"""

import itertools
import json
import math
import random

import reference
import words
from agreement import survivors
from fixture_cases import Case
from reader import fill_element
from reference import TYPES, from_raw, surviving, to_raw, type_of

NAMES = ["time", "y", "x", "a name"]
FLOATS = {"float16": 4, "bfloat16": 4, "float32": 8, "float64": 16}


def arrays(program, seed, count):
    """Arrays that `program` is to write or to read: it has every part of them."""
    return [array(program, seed, number) for number in range(count)]


def array(program, seed, number):
    rng = random.Random(f"{program} {seed} {number}")
    name = data_type(rng, program)
    shape = [length(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
    grid, edges = chunk_grid(rng, shape, rectilinear=words_has(program, "rectilinear"))
    codecs = chain(rng, program, name, edges, depth=0)
    fill = fill_value(rng, program, name, codecs)
    document = reference.array_metadata(shape, name, [], codecs, fill)
    document["chunk_grid"] = grid
    document["chunk_key_encoding"] = {
        "name": rng.choice(["default", "default", "v2"]),
        "configuration": {"separator": rng.choice(["/", "."])},
    }
    if rng.random() < 0.2:
        document["dimension_names"] = [rng.choice([None, name]) for name in NAMES[: len(shape)]]
    if rng.random() < 0.2:
        document["attributes"] = {"unit": "°C", "valid": [0, 1e300, None]}
    raw = elements(rng, name, math.prod(shape), fill_element(fill, name), document)
    text = json.dumps(document)
    given = survivors(document, raw) if rng.random() < 0.5 else raw
    name = f"{program}-{seed}-{number:05}"
    return Case(name, document, text, given, survivors(document, raw))


def words_has(program, what):
    document = {"data_type": "uint8", "chunk_grid": what, "codecs": []}
    return words.lacks(program, document) is None


# ── types, shapes, grids ─────────────────────────────────────────────────────────────────────────


def data_type(rng, program):
    """One of the common types every other time, else any that the program has."""
    common = [name for name in words.TYPES if rng.random() < 0.5]
    every = [name for name in [*TYPES, "r8", "r24"] if words.has_type(program, name)]
    return rng.choice(common if common and rng.random() < 0.5 else every)


def length(rng):
    return rng.choice([0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 12]) if rng.random() < 0.9 else 13


def chunk_grid(rng, shape, *, rectilinear):
    """A grid, and of each axis the edges of the chunks that hold elements."""
    if not rectilinear or rng.random() < 0.4:
        sizes = [edge(rng, extent) for extent in shape]
        grid = {"name": "regular", "configuration": {"chunk_shape": sizes}}
        return grid, [[size] if extent else [] for size, extent in zip(sizes, shape, strict=True)]
    entries = [axis(rng, extent) for extent in shape]
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": entries}}
    return grid, reference.edges({"chunk_grid": grid, "shape": shape})


def edge(rng, extent):
    return rng.choice([1, 2, 3, 4, 6, 8, max(1, extent), extent + 1, max(1, extent // 2)])


def axis(rng, extent):
    """An integer, or edges with runs among them; sometimes more than the axis needs."""
    if rng.random() < 0.25:
        return edge(rng, extent)
    common = rng.choice([1, 2, 3, 4])
    edges = []
    while sum(edges) < extent or not edges or rng.random() < 0.1:
        edges += [common * rng.randint(1, 3)] * rng.choice([1, 1, 2, 3])
    out = []
    for value, run in itertools.groupby(edges):
        run = len(list(run))
        out += [[value, run]] if rng.random() < 0.5 else [value] * run
    return out


# ── chains ───────────────────────────────────────────────────────────────────────────────────────


def chain(rng, program, name, edges, depth):
    """Codecs for chunks of every combination of `edges`."""
    out = []
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        edges = array_to_array(rng, program, edges, out)
    width = type_of(name).width
    if depth < 2 and rng.random() < (0.3 if depth == 0 else 0.1) and all(edges):
        inner = [rng.choice(divisors(math.gcd(*axis))) for axis in edges]
        index = [bytes_codec(rng, 8)] + [{"name": "crc32c"}] * (rng.random() < 0.7)
        configuration = {
            "chunk_shape": inner,
            "codecs": chain(rng, program, name, [[size] for size in inner], depth + 1),
            "index_codecs": index,
        }
        if rng.random() < 0.5:
            configuration["index_location"] = rng.choice(["start", "end"])
        out.append({"name": "sharding_indexed", "configuration": configuration})
    elif words.has_codec(program, "packbits") and not words.is_raw(name) and rng.random() < 0.5:
        out.append(packbits(rng, type_of(name).bits))
    else:
        swaps = width > 1
        out.append(bytes_codec(rng, width if swaps else 1))
    whole_shards = out[-1]["name"] == "sharding_indexed" and program == "TensorStore"
    for _ in range(0 if whole_shards else rng.choice([0, 0, 1, 1, 2])):
        out.append(compressor(rng, width))
    return out


def divisors(value):
    return [size for size in range(1, value + 1) if value % size == 0]


def bytes_codec(rng, width):
    if width == 1:
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": rng.choice(["little", "big"])}}


def packbits(rng, bits):
    configuration = {}
    if rng.random() < 0.5:
        configuration["padding_encoding"] = rng.choice(["none", "first_byte", "last_byte"])
    if rng.random() < 0.6:
        first = rng.randrange(bits) if rng.random() < 0.4 else 0
        configuration["last_bit"] = rng.randrange(first, bits)
        if first or rng.random() < 0.5:
            configuration["first_bit"] = first
    return reference.codec("packbits", **configuration)


def compressor(rng, width):
    name = rng.choice(["gzip", "zstd", "crc32c", "blosc"])
    if name == "gzip":
        return {"name": name, "configuration": {"level": rng.randrange(10)}}
    if name == "zstd":
        level, checksum = rng.choice([-3, 0, 1, 3, 12]), rng.random() < 0.5
        return {"name": name, "configuration": {"level": level, "checksum": checksum}}
    if name == "crc32c":
        return {"name": name}
    return {"name": name, "configuration": {
        "cname": rng.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
        "clevel": rng.randrange(10),
        "shuffle": rng.choice(["noshuffle", "shuffle", "bitshuffle"]),
        "typesize": width,
        "blocksize": rng.choice([0, 0, 64, 256]),
    }}


def array_to_array(rng, program, edges, out):
    """Adds a transpose or reshape, and gives the edges of the chunks after it."""
    if words.has_codec(program, "reshape") and rng.random() < 0.5:
        spec, after = reshape(rng, edges)
        for extents in itertools.product(*edges):
            reference.reshaped(list(extents), spec)  # asserts that it is valid
        out.append({"name": "reshape", "configuration": {"shape": spec}})
        return after
    if not edges and rng.random() < 0.8:
        return edges
    order = list(range(len(edges)))
    rng.shuffle(order)
    out.append({"name": "transpose", "configuration": {"order": order}})
    return [edges[axis] for axis in order]


def reshape(rng, edges):
    """Neighbouring axes merged, axes of one edge split, axes of 1 put in."""
    spec, after, guessed, at = [], [], False, 0
    while at < len(edges):
        if rng.random() < 0.15:
            spec.append(rng.choice([1, []]))
            after.append([1])
        if len(set(edges[at])) == 1 and rng.random() < 0.3:
            size = edges[at][0]
            inner = rng.choice(divisors(size))
            spec += [size // inner, inner]
            after += [[size // inner], [inner]]
            at += 1
            continue
        end = min(len(edges), at + rng.choice([1, 1, 2, 3]))
        products = {math.prod(sizes) for sizes in itertools.product(*edges[at:end])}
        if not guessed and rng.random() < 0.3:
            spec.append(-1)
            guessed = True
        else:
            spec.append(list(range(at, end)))
        after.append(sorted(products))
        at = end
    return spec, after


# ── values ───────────────────────────────────────────────────────────────────────────────────────


def fill_value(rng, program, name, codecs):
    """A fill value as JSON that survives the chain."""
    kind = type_of(name)
    if words.is_raw(name):
        return [rng.choice([0, 7, 255]) for _ in range(kind.components)]
    if name.startswith("complex"):
        part = {"complex64": "float32", "complex128": "float64"}.get(
            name, name.removeprefix("complex_"))
        return [component(rng, program, part, codecs) for _ in range(2)]
    return component(rng, program, name, codecs)


def component(rng, program, name, codecs):
    kind = type_of(name)
    if name == "bool":
        return rng.random() < 0.5
    if name == "float8_e8m0fnu":
        choices = [1.0, "NaN"]
    elif "int" in name:
        top = 1 << kind.bits
        value = rng.choice([0, 1, top // 2 - 1, rng.randrange(top)])
        choices = [value - top if kind.signed and value >= top // 2 else value]
    elif name in FLOATS:
        digits = FLOATS[name]
        choices = [0.0, -0.0, 1.5, -2.0, "NaN", "Infinity", "-Infinity"]
        choices.append(f"0x{rng.getrandbits(digits * 4):0{digits}x}")
    else:
        choices = [0.0, 1.0]
    if program == "zarrs" and kind.bits < 16 and "float" in name and rng.random() < 0.9:
        # It takes no decimals for these (SD-45).
        choices = [f"0x{rng.getrandbits(kind.bits):0{-(-kind.bits // 4)}x}"]
        kept = "0x" + "0" * len(choices[0][2:])
    else:
        kept = 0 if "int" in name else "0x00" if name == "float8_e8m0fnu" else 0.0
    value = rng.choice(choices)
    bits = {k: v for k, v in packing_of(codecs).items() if k != "padding_encoding"}
    if surviving(fill_element(value, name), name, **bits) == fill_element(value, name):
        return value
    return kept


def packing_of(codecs):
    found = words.configurations({"codecs": codecs}, "packbits")
    return found[0] if found else {}


def elements(rng, name, count, fill, document):
    """Raw elements: any bit pattern, or few of them, or mostly the fill value."""
    kind = type_of(name)
    style = rng.choice(["any", "few", "runs"])
    out, element = [], fill
    for _ in range(count):
        if style != "runs" or rng.random() < 0.15:
            bits = kind.bits if style == "any" else min(kind.bits, 3)
            element = tuple(rng.getrandbits(bits) for _ in range(kind.components))
        if style == "runs" and rng.random() < 0.1:
            element = fill
        out.append(element)
    assert from_raw(to_raw(out, name), name) == out
    return to_raw(out, name)
