"""Writes ml_dtypes.txt: what ml_dtypes and numpy make of every code and of some numbers.

Run with Python 3.12, `pip install ml_dtypes==0.6.0 numpy`: python ml_dtypes_table.py > ml_dtypes.txt
"""

import random
import struct

import ml_dtypes
import numpy as np

SMALL = [
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
BITS = {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


def bits(x):
    return "nan" if x != x else struct.pack(">d", x).hex()


def main():
    random.seed(45)
    for name in SMALL:
        dtype = getattr(ml_dtypes, name)
        codes = np.arange(1 << BITS.get(name, 8), dtype=np.uint8)
        values = codes.view(dtype).astype(np.float64)
        print("decode", name, *(bits(x) for x in values))
        ladder = np.unique(values[np.isfinite(values) & (values >= 0)])
        # Exact: neighbours have few bits.
        ties = ladder[:-1] / 2 + ladder[1:] / 2
        found = ties.astype(dtype).view(np.uint8)
        print("ties", name, *(f"{bits(x)}:{code:02x}" for x, code in zip(ties, found)))
    for name in [*SMALL, "bfloat16", "float16"]:
        dtype = np.float16 if name == "float16" else getattr(ml_dtypes, name)
        finite = ml_dtypes.finfo(dtype)
        largest, least = float(finite.max), float(finite.smallest_subnormal)
        pairs = []
        for _ in range(300):
            low, high = np.log2(least) - 1, np.log2(largest)
            x = float(np.float64(2.0 ** random.uniform(low, high)))
            if name != "float8_e8m0fnu" and random.random() < 0.5:
                x = -x
            if abs(x) > largest or (name == "float8_e8m0fnu" and x < least):
                continue
            code = np.array([x]).astype(dtype).tobytes()[::-1].hex()
            pairs.append(f"{bits(x)}:{code}")
        print("encode", name, *pairs)


main()
