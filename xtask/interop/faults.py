"""The peers' known faults, by the id in docs/decisions.md.

Every rule names what it explains as narrowly as it can: what no rule explains is undecided, and
fails. A rule is (peers, id, what it is, a test of a `Doubt`).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import words
from reader import fill_element
from reference import Type, edges, type_of
from rounding import FORMATS

EVERYONE = ("zarr-python", "TensorStore", "zarrs")


@dataclass(frozen=True)
class Doubt:
    """A document, and the peer's answer: `read` or `written` if it gave no error."""

    peer: str
    document: dict
    said: str

    @cached_property
    def differs(self):
        return self.said.startswith(("read", "written"))

    @cached_property
    def kind(self):
        try:
            return type_of(words.data_type(self.document))
        except KeyError:  # Neither numbers nor raw bits: no rule on bits explains it.
            return Type(0)

    def says(self, *texts):
        return any(text in self.said for text in texts)

    def all(self, name):
        return words.configurations(self.document, name)

    @cached_property
    def fills(self):
        fill = self.document["fill_value"]
        return fill if isinstance(fill, list) else [fill]

    @cached_property
    def is_float(self):
        return any(word in words.data_type(self.document) for word in ("float", "complex"))


# ── packbits ─────────────────────────────────────────────────────────────────────────────────────


def bits(doubt, configuration):
    first, last = configuration.get("first_bit"), configuration.get("last_bit")
    return first or 0, doubt.kind.bits - 1 if last is None else last


def omits_padding(doubt):
    def whole(configuration):
        first, last = bits(doubt, configuration)
        return (last - first + 1 == doubt.kind.bits and doubt.kind.bits % 8 == 0
                and configuration.get("padding_encoding", "none") != "none")

    return any(map(whole, doubt.all("packbits")))


def narrow_sign(doubt):
    """Signed values of which the top bits were dropped."""
    return doubt.differs and doubt.kind.signed and any(
        bits(doubt, configuration)[1] < doubt.kind.bits - 1
        for configuration in doubt.all("packbits"))


def partial(doubt):
    """A chunk of which a reader of the whole array needs only a part."""
    shape = doubt.document["shape"]
    lengths = edges(doubt.document)
    beyond = any(sum(axis) > extent for axis, extent in zip(lengths, shape, strict=True))
    return beyond or bool(doubt.all("sharding_indexed"))


def partial_bits(doubt):
    return doubt.differs and partial(doubt) and any(
        bits(doubt, configuration)[0] > 0 or doubt.kind.signed
        for configuration in doubt.all("packbits"))


def cut_blosc(doubt):
    """The input of blosc need not be whole elements of its typesize: codecs may precede it."""
    return (doubt.said.startswith("error") and partial(doubt)
            and uneven_blosc(doubt.document["codecs"]))


def uneven_blosc(chain):
    before = []
    for codec in map(words.named, chain):
        name, configuration = codec["name"], codec.get("configuration", {})
        if name == "blosc" and configuration.get("typesize", 1) > 1 and before != ["bytes"]:
            return True
        if name == "sharding_indexed" and uneven_blosc(configuration["codecs"]):
            return True
        if name not in ("transpose", "reshape"):
            before.append(name)
    return False


def part_reshaped(doubt):
    """A reshape outside or inside a shard."""
    broken = ("reshape codec encoded/decoded number of elements differ", "Invalid argument",
              "panic", "died")
    return (doubt.says(*broken) and partial(doubt) and bool(doubt.all("reshape"))
            and bool(doubt.all("sharding_indexed")))


def sub_byte_sign(doubt):
    return doubt.differs and doubt.kind.bits in (2, 4) and doubt.kind.signed


# ── reshape and transpose ────────────────────────────────────────────────────────────────────────


def wrongly_rejected(configuration):
    """zarrs wants an input dimension to be skipped for every size between two lists."""
    sizes = following = 0
    for entry in configuration["shape"]:
        if isinstance(entry, int):
            sizes += 1
        elif entry:
            if sizes > entry[0] - following:
                return True
            sizes, following = 0, entry[-1] + 1
    return False


def rejected_reshape(doubt):
    return doubt.says("ReshapeCodecConfiguration") and any(
        map(wrongly_rejected, doubt.all("reshape")))


def empty_order(doubt):
    return doubt.says("TransposeCodecConfiguration") and any(
        configuration["order"] == [] for configuration in doubt.all("transpose"))


def transposed_shard(doubt):
    return doubt.says("is not divisible by the shard's inner chunk size") and bool(
        doubt.all("transpose"))


def unused_edges(doubt):
    """More edges than the axis has elements for, and a shard that divides only those in use."""
    grid = words.named(doubt.document["chunk_grid"])
    if grid["name"] != "rectilinear":
        return False
    declared = grid["configuration"]["chunk_shapes"]
    counts = [sum(part[1] if isinstance(part, list) else 1 for part in axis)
              for axis in declared if isinstance(axis, list)]
    used = [len(axis) for axis, entry in zip(edges(doubt.document), declared, strict=True)
            if isinstance(entry, list)]
    return counts != used and doubt.says("is not divisible by the shard's inner chunk size")


# ── fill values ──────────────────────────────────────────────────────────────────────────────────


def value_of(pattern, form):
    """The finite number of a bit pattern without its sign."""
    exponent, fraction = pattern >> form.fraction, pattern & (1 << form.fraction) - 1
    if exponent == 0:
        return Fraction(fraction) * Fraction(2) ** (1 - form.bias - form.fraction)
    whole = Fraction((1 << form.fraction) + fraction)
    return whole * Fraction(2) ** (exponent - form.bias - form.fraction)


def inexact(doubt):
    """A decimal that the type does not have exactly: it has to be rounded, once."""
    form = FORMATS.get(words.data_type(doubt.document))
    fill = doubt.document["fill_value"]
    if form is None or not isinstance(fill, (int, float)) or isinstance(fill, bool):
        return False
    if math.isinf(fill):
        return True  # a number beyond the range of Python's floats
    pattern = fill_element(fill, words.data_type(doubt.document))[0]
    pattern &= (1 << form.exponent + form.fraction) - 1
    return value_of(pattern, form) != abs(Fraction(fill))


def rounds_twice(doubt):
    """Differs because of a decimal, or because of one so large that the JSON is refused."""
    return (doubt.differs or doubt.says("Invalid JSON", "number out of range")) and inexact(doubt)


def small_float_fill(doubt):
    """zarrs takes only hex for small floats, and whole numbers as their bits."""
    small = doubt.is_float and doubt.kind.bits < 16
    decimal = any(not isinstance(fill, str) or not fill.startswith("0x") for fill in doubt.fills)
    return small and decimal and (doubt.differs or doubt.says("invalid fill value metadata"))


def exponent_fill(doubt):
    """TensorStore reads a power of two as half of it."""
    return doubt.differs and words.data_type(doubt.document) == "float8_e8m0fnu" and any(
        not isinstance(fill, str) for fill in doubt.fills)


def loses_payload(doubt):
    """A hex fill value that is a NaN."""
    form = FORMATS.get({"complex64": "float32", "complex128": "float64"}.get(
        words.data_type(doubt.document), words.data_type(doubt.document)))

    def is_nan(fill):
        if not isinstance(fill, str) or not fill.startswith("0x"):
            return False
        exponent = (1 << form.exponent) - 1
        pattern = int(fill, 16)
        payload = pattern & (1 << form.fraction) - 1
        return pattern >> form.fraction & exponent == exponent and payload != 0

    return doubt.differs and form is not None and any(map(is_nan, doubt.fills))


# ── documents ────────────────────────────────────────────────────────────────────────────────────


def bare_strings(doubt):
    document = doubt.document
    some = [document["chunk_grid"], document["chunk_key_encoding"], *document["codecs"]]
    some += [c for one in doubt.all("sharding_indexed") for c in one["codecs"]]
    some += [c for one in doubt.all("sharding_indexed") for c in one.get("index_codecs", [])]
    return doubt.says("Expected dict, got <class 'str'>", "Expected object, but received") and any(
        isinstance(value, str) for value in some)


def has_must_understand(doubt):
    return '"must_understand"' in words.json_of(doubt.document)


def missing_members(doubt):
    """Levels, shuffles and the like, which readers do not need."""
    needs = {"gzip": {"level"}, "zstd": {"level"}, "blosc": {"cname", "clevel", "shuffle"}}
    return not doubt.differs and any(
        members - configuration.keys()
        for name, members in needs.items() for configuration in doubt.all(name))


def tokens(doubt):
    bare = any(word in words.json_of(doubt.document).replace('"NaN"', "").replace(
        '"Infinity"', "").replace('"-Infinity"', "") for word in ("NaN", "Infinity"))
    return bare and doubt.says("Invalid JSON", "error parsing metadata")


RULES = [
    (("zarrs",), "SD-14", "leaves out, and refuses, the padding byte of whole bytes",
     lambda d: (d.differs or d.says("the size of a decoded chunk is")) and omits_padding(d)),
    (("zarrs",), "SD-13", "extends the sign within one byte only", narrow_sign),
    (("zarrs",), "SD-17", "ignores first_bit and the sign where it reads a part of a chunk",
     partial_bits),
    (("zarrs",), "SD-17", "drops the end of what blosc holds, past whole elements of its typesize",
     cut_blosc),
    (("zarrs",), "SD-17", "takes the part that it reads for the chunk that a reshape was made of",
     part_reshaped),
    (("zarrs",), "SD-18", "keeps the upper bits of int2 and int4", sub_byte_sign),
    (("zarrs",), "SD-20", "refuses a valid reshape", rejected_reshape),
    (("zarrs",), "SD-30", "refuses the empty permutation", empty_order),
    (("zarr-python",), "SD-34", "checks inner chunks against the axes before the transpose",
     transposed_shard),
    (("zarr-python",), "SD-05", "checks inner chunks against edges that hold no element",
     unused_edges),
    (("zarr-python", "zarrs"), "SD-06", "refuses an empty list of edges on an axis of length 0",
     lambda d: not d.differs and d.says("has no chunk edges", "not compatible with array shape")
     and 0 in d.document["shape"]),
    (EVERYONE, "SD-45", "rounds a decimal fill value by way of another type, or not at all",
     rounds_twice),
    (("zarrs",), "SD-45", "takes the numbers of small floats for their bits, or refuses them",
     small_float_fill),
    (("TensorStore",), "SD-45", "reads a fill value of float8_e8m0fnu as another one",
     exponent_fill),
    (("zarr-python",), "SD-46", "changes the payload of a NaN as fill value",
     loses_payload),
    (("zarr-python", "TensorStore"), "SD-32", "refuses a bare string for an object", bare_strings),
    (("zarr-python", "TensorStore"), "SD-32", "refuses a data type written as an object",
     lambda d: not d.differs and isinstance(d.document["data_type"], dict)),
    (EVERYONE, "SD-43", "refuses the tokens NaN and Infinity in attributes", tokens),
    (EVERYONE, "SD-61", "wants members that do not matter for decoding", missing_members),
    (EVERYONE, "SD-56", "refuses storage transformers that may be ignored",
     lambda d: d.says("torage transformers") and has_must_understand(d)),
    (("TensorStore",), "SD-40", "refuses `must_understand`",
     lambda d: d.says('extra members: "must_understand"') and has_must_understand(d)),
    (("TensorStore",), "SD-56", "refuses null for `dimension_names`",
     lambda d: d.says("dimension_names") and d.document.get("dimension_names", 0) is None),
]

# What our own command must not create, by its own decisions.
REFUSALS = {
    "SD-11 numcodecs.packbits is for reading": "codec numcodecs.packbits: can be read here",
    "SD-42 a codec that was skipped": "can be read here but not written",
    "SD-49 the fill value does not survive": "does not survive the codec chain",
    "snappy, which takes a C++ compiler": ",snappy` adds it",
}


def found(peer, document, said):
    doubt = Doubt(peer, document, said)
    for peers, number, what, explains in RULES:
        if peer in peers and explains(doubt):
            return f"{number}: {what}"
    return None


def refusal(said):
    """Why our command is right to refuse, or None."""
    return next((reason for reason, text in REFUSALS.items() if text in said), None)
