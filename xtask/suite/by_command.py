"""Runs the suite by commands, as an implementation in any language is measured: Zarr.jl, for example, by
`--read 'julia read.jl {store}'`. A program in the place of that one obeys the same contract of arguments,
bytes and exit codes, and reads and writes by the plain reader.

`by_command.py SUITE WORK`: ends with status 1 if a way of asking says something else.
"""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = '''
import json, sys
from pathlib import Path

sys.path[:0] = [{suite!r}, {plain!r}]
import reader, reference, run

kind, *words = sys.argv[1:]
if kind == "write":
    document, raw, store = words
    reference.write_array(store, json.loads(Path(document).read_text()), Path(raw).read_bytes())
    sys.exit()
store, *region = words
try:
    found = reader.read(store)
except Exception as error:
    sys.exit(f"refused: {{error}}")
if region:
    start, stop = ([int(n) for n in text.split(",")] for text in region)
    shape = json.loads((Path(store) / "zarr.json").read_text())["shape"]
    found = run.cut(found, shape, start, stop)
if kind == "lines":
    sys.stdout.writelines(f"{{byte}}\\n" for byte in found)
elif kind == "read":
    sys.stdout.buffer.write(found)
'''

# The ways of asking, the cases, and how many of them there are at least.
WAYS = [
    (["read", "region"], "zarr-python/grid-", 10),
    (["read"], "invalid/chunk-crc", 5),
    (["check"], "invalid/chunk-crc", 5),
    (["lines"], "zarr-python/type-uint8", 1),
    (["write"], "zarr-python/grid-", 10),
]
ARGUMENTS = {
    "read": "{store}", "region": "{store} {start} {stop}", "lines": "{store}", "check": "{store}",
    "write": "{document} {raw} {store}",
}


def main(suite, work):
    program, results, wrong = work / "by_command.py", work / "by_command.json", 0
    program.write_text(PROGRAM.format(suite=str(suite), plain=str(suite / "plain")))
    for kinds, cases, least in WAYS:
        command = [sys.executable, suite / "run.py", "--only", cases, "--json", results]
        for kind in kinds:
            way = "read" if kind == "region" else kind
            command += [f"--{kind}", f"'{sys.executable}' '{program}' {way} {ARGUMENTS[kind]}"]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        found = json.loads(results.read_text())["results"] if done.returncode == 0 else []
        right = len(found) >= least and all(one["verdict"] == "right" for one in found)
        print(f"{', '.join(kinds)} of {cases}: {f'{len(found)} right' if right else done.stdout + done.stderr}")
        wrong += not right
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
