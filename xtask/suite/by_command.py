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

# Arguments that measure nothing, and what is said of them.
MISTAKES = [
    (["--read", "no-such-program {store}"], "cannot start no-such-program"),
    (["--read", "cat {shop}"], "'shop'; there are {store}"),
    (["--read", "cat {store}", "--only", "no-such-case"], "no case is measured"),
    (["--read", "cat {store}", "--levels", "corre"], "no level corre; there are core"),
    (["--adapter", "zarr_perl"], "no adapter zarr_perl; there are"),
]


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
    for arguments, words in MISTAKES:
        command = [sys.executable, suite / "run.py", *arguments]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        right = done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr
        print(f"{arguments[1]}: {'right' if right else done.stdout + done.stderr}")
        wrong += not right
    outputs = [work / "by_command.svg", results]
    command = f"'{sys.executable}' '{program}' read {{store}}"
    subprocess.run([sys.executable, suite / "run.py", "--read", command, "--only", "grid-drawing", "--quiet",
                    "--badge", outputs[0], "--json", outputs[1]], check=True)
    right = "3 of 3 right" in outputs[0].read_text() and len(json.loads(outputs[1].read_text())["results"]) == 3
    print(f"a badge and JSON: {'right' if right else outputs[0].read_text()}")
    return wrong > 0 or not right


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
