"""Arrays back and forth between zarr-kit and zarr-python, TensorStore and zarrs.

`interop.py FIXTURES OURS ZARRS WORK REPORT [--count N] [--seed S] [--only NAME]`: every array of
the fixtures made again by our command and read by each peer; then `N` random arrays from us to the
peers, and `N` from each peer to us. Before that, copies that are killed. Ends with status 1 where we are wrong or it is undecided.
"""

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path

import fixture_cases
import judge
import killed
import random_arrays
import report
from programs import PEERS, Programs, at_once


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask interop")
    for name in ("fixtures", "ours", "zarrs", "work", "report"):
        parser.add_argument(name, type=Path)
    parser.add_argument("commit")
    parser.add_argument("--count", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="arrays whose names hold this; writes no report")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    progress("killed copies, to zarr-python", killed.copies(args.ours, args.work / "killed"))
    programs = Programs(args.ours, args.zarrs)
    matrix = [case for case in fixture_cases.cases(args.fixtures) if args.only in case.name]
    random = {peer: chosen(peer, args) for peer in PEERS}
    sections = {
        "fixtures": from_us(programs, matrix, args.work / "fixtures"),
        "random": from_us(programs, [c for cases in random.values() for c in cases],
                          args.work / "random"),
        "peers": [f for peer, cases in random.items()
                  for f in from_peer(programs, peer, cases, args.work / f"by-{peer}")],
    }
    if not args.only:
        args.report.write_text(report.text(sections, args))
    return report.summary([f for findings in sections.values() for f in findings])


def chosen(peer, args):
    cases = random_arrays.arrays(peer, args.seed, args.count)
    return [case for case in cases if args.only in case.name]


def from_us(programs, cases, work):
    """Arrays that we write and everyone reads."""
    documents, stores = work / "documents", work / "stores"
    for folder in (documents, stores):
        folder.mkdir(parents=True)

    def make(case):
        document, raw = documents / f"{case.name}.json", documents / f"{case.name}.raw"
        document.write_text(case.text)
        raw.write_bytes(case.given)
        said = programs.create(stores / case.name, document, raw)
        if said:
            shutil.rmtree(stores / case.name, ignore_errors=True)
        return said

    said = dict(zip((case.name for case in cases), at_once(make, cases), strict=True))
    progress("we wrote", Counter("refused" if s else "arrays" for s in said.values()))
    findings = [judge.refused(case, said[case.name]) for case in cases if said[case.name]]
    cases = [case for case in cases if not said[case.name]]
    by_text = {case.name: judge.read_by_text(case, stores / case.name) for case in cases}
    findings += by_text.values()
    for peer in PEERS:
        results = work / f"read-by-{peer}"
        status = programs.peer_read(peer, stores, results)
        for case in cases:
            raw = results / f"{case.name}.raw"
            raw = raw.read_bytes() if raw.is_file() else None
            findings.append(judge.read_by_peer(
                case, peer, status[case.name], raw, by_text[case.name]))
        progress(f"{peer} read", Counter(f.verdict for f in findings if f.peer == peer))
    return findings


def from_peer(programs, peer, cases, work):
    """Arrays that a peer writes and we read."""
    work.mkdir(parents=True)
    for case in cases:
        (work / f"{case.name}.json").write_text(case.text)
        (work / f"{case.name}.raw").write_bytes(case.given)
        (work / f"{case.name}.expected").write_bytes(case.expected)
    status = programs.peer_write(peer, work)

    def read(case):
        out = work / f"{case.name}.ours"
        said = programs.read(work / case.name, out)
        return said, out.read_bytes() if out.is_file() else None

    results = zip(cases, at_once(read, cases), strict=True)
    findings = [judge.written_by_peer(case, peer, status[case.name], work / case.name, said, raw)
                for case, (said, raw) in results]
    progress(f"{peer} wrote", Counter(f.verdict for f in findings))
    return findings


def progress(what, counts):
    words = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{what}: {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
