"""Plants errors in copies of the plain reader: the suite must say what they are.

`planted.py SUITE WORK`: ends with status 1 if a report lacks the words.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# What is changed in reader.py, a case that shows it, and words that its report must have.
ERRORS = [
    ("bit order", "    at = 0\n    out = []",
     "    data = bytes(int(f'{byte:08b}'[::-1], 2) for byte in data)\n    at = 0\n    out = []",
     "reference/packbits-bool-none", "the most significant bit of each byte first"),
    ("sign extension", "element.append(value)",
     "element.append(value & (1 << last + 1) - 1)",
     "reference/packbits-int16-0-6", "does not extend the sign"),
    ("sign extension within a byte", "element.append(value)",
     "element.append(value & (1 << (last + 8) // 8 * 8) - 1)",
     "reference/packbits-int16-0-6", "only to the end of the byte that holds it"),
    ("boundary of a chunk", "target = [o + p for o, p in zip(origin, place, strict=True)]",
     "target = [o + p - (o > 0) for o, p in zip(origin, place, strict=True)]",
     "zarr-python/grid-example", "the boundary of two chunks belongs to the second"),
    ("fill value of absent chunks", "    lengths = reference.edges(metadata)",
     "    fill = (0,) * len(fill)\n    lengths = reference.edges(metadata)",
     "zarr-python/fill-int8-lowest", "takes a chunk that is not stored for zeros"),
    ("an error without a name", "out[ravel(target, shape)] = part[ravel(place, extent)]",
     "out[ravel(target, shape)] = part[ravel(place, extent) ^ (len(part) % 2 == 0)]",
     "reference/packbits-uint8-1-6", "elements differ, first at [0]"),
]


def main(suite, work):
    missing = 0
    for name, right, wrong, case, words in ERRORS:
        copy = work / "plain"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(suite / "plain", copy)
        text = (copy / "reader.py").read_text()
        assert text.count(right) >= 1, right
        (copy / "reader.py").write_text(text.replace(right, wrong))
        command = [sys.executable, suite / "run.py", "--adapter", "plain_reader", "--only", case]
        done = subprocess.run(command, env={**os.environ, "PLAIN": str(copy)}, text=True,
                              capture_output=True, check=False)
        said = done.stdout + done.stderr
        found = words in said and done.returncode == 1
        print(f"{name}: {'named' if found else 'NOT NAMED'}\n    {said.splitlines()[0][:400]}")
        missing += not found
    return missing > 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
