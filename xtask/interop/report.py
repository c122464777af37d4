"""The findings as docs/interop.md."""

import json
import sys
from collections import Counter, defaultdict
from importlib.metadata import version

import words
from judge import AGREE, LACKS, OPEN, OURS, PEER

TITLES = {
    "fixtures": "Every fixture, written by our command",
    "random": "Random arrays, written by our command",
    "peers": "Random arrays, written by the peers",
}
HEAD = """# Interoperability with other programs

Made by `cargo xtask interop --count {count} --seed {seed}` at commit `{commit}`; the same seed gives the same arrays. The programs are zarr-python {zarr}, TensorStore {tensorstore} and zarrs {zarrs},
in the environment of `xtask/fixtures/versions.txt`; ours is the command `zarr-kit`. Arrays are
written and read whole, and compared to the byte. Each random array is one that its peer supports;
the other programs try it too.

The *plain reader* (`fixtures/conformance/plain/reader.py`) follows the documents one element at a time and
shares no code with the crates: it settles who is right where two programs differ. A difference
counts as a peer's fault only where the plain reader agrees with us and a rule of
`xtask/interop/faults.py` explains it by a row of [decisions.md](decisions.md); any other is
undecided, and the command fails. The rows of fixtures count the valid arrays that there were at the
time of this run; how many the suite has today, its manifest says.

| array written by | read by | arrays | agree | not supported | peer's fault | ours wrong | undecided |
| --- | --- | --: | --: | --: | --: | --: | --: |
"""


def summary(findings):
    """The exit status; what we have to mend goes to standard error."""
    bad = [f for f in findings if f.verdict in (OURS, OPEN)]
    for finding in sorted(bad, key=smallest)[:40]:
        print(f"{finding.verdict}: {finding.case.name}, written by {writer(finding)}, read by "
              f"{reader(finding)}: {finding.detail[:300]}\n  {shown(finding.case)}",
              file=sys.stderr)
    print(f"{len(bad)} disagreements that are ours or undecided", file=sys.stderr)
    return 1 if bad else 0


def smallest(finding):
    return finding.case.size


def writer(finding):
    return finding.peer if finding.direction == "theirs" else "zarr-kit"


def reader(finding):
    return "zarr-kit" if finding.direction == "theirs" else finding.peer


def text(sections, args):
    """The whole document."""
    versions = {"zarr": version("zarr"), "tensorstore": version("tensorstore")}
    out = HEAD.format(count=args.count, seed=args.seed, commit=args.commit, zarrs="0.23.14",
                      **versions)
    everything = [f for findings in sections.values() for f in findings]
    for section, findings in sections.items():
        out += f"| **{TITLES[section]}** | | | | | | | |\n"
        out += rows(findings)
    out += "\n" + disagreements(everything) + faults(everything) + lacking(everything)
    return out


def rows(findings):
    groups = defaultdict(Counter)
    for finding in findings:
        groups[writer(finding), reader(finding)][finding.verdict] += 1
    out = ""
    for (wrote, read), counts in groups.items():
        numbers = [sum(counts.values()), *(counts[v] for v in (AGREE, LACKS, PEER, OURS, OPEN))]
        out += f"| {wrote} | {read} | " + " | ".join(map(str, numbers)) + " |\n"
    return out


def disagreements(findings):
    bad = sorted((f for f in findings if f.verdict in (OURS, OPEN)), key=smallest)
    if not bad:
        return "There is no array in which we are wrong, and none that is undecided.\n"
    out = "## Ours, or undecided\n\nSmallest first.\n\n"
    for finding in bad[:50]:
        out += (f"- {finding.verdict}: `{finding.case.name}`, written by {writer(finding)}, read by "
                f"{reader(finding)}: {finding.detail.strip()[:300]}\n  `{shown(finding.case)}`\n")
    return out


def faults(findings):
    """The peers' faults, each with the smallest array that shows it."""
    groups = defaultdict(list)
    for finding in findings:
        if finding.verdict == PEER:
            groups[finding.peer, finding.reason].append(finding)
    out = "\n## Faults of the peers\n\nEach with the smallest array that shows it.\n"
    out += "\n| peer | decision | arrays | smallest |\n| --- | --- | --: | --- |\n"
    for (peer, reason), members in sorted(groups.items()):
        least = min(members, key=smallest)
        out += (f"| {peer} | {reason} | {len(members)} | `{least.case.name}`: "
                f"`{shown(least.case).replace('|', chr(92) + '|')}` |\n")
    return out


def shown(case):
    """The relevant members of a document, on one line."""
    document = case.document
    grid = words.named(document["chunk_grid"]).get("configuration", {})
    parts = [document["data_type"], document["shape"],
             grid.get("chunk_shape", grid.get("chunk_shapes")),
             {"fill": document["fill_value"]}, document["codecs"]]
    line = " ".join(p if isinstance(p, str) else short(p) for p in parts)
    return line if len(line) <= 400 else line[:400] + "…"


def short(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace('"configuration":', "").replace('"name":', "")


def lacking(findings):
    """What was not supported."""
    groups = defaultdict(Counter)
    for finding in findings:
        if finding.verdict == LACKS:
            groups[finding.peer][finding.reason] += 1
    out = "\n## Not supported\n\nFeatures that a program lacks, with the number of arrays left out "
    out += "because of each. Rows of the plain reader that name a decision are documents of the "
    out += "fixtures that our command rightly refuses to create.\n\n"
    for peer, counts in groups.items():
        listed = ", ".join(f"{word} ({count})" for word, count in counts.most_common())
        out += f"- {peer}: {listed}\n"
    return out
