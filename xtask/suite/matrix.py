"""Runs the suite with every implementation and writes the page of results.

`matrix.py SUITE WORK PAGE OURS ZARRS KIT`: `OURS` is the folder of zarr-kit's command, `ZARRS` the
program of `xtask/peers/zarrs-writer`, `KIT` that of `xtask/peers/zarrs-kit`; `WORK` has the
`node_modules`. `matrix.py SUITE WORK PAGE --page` only writes the page, from the results in `WORK`.
"""

import collections
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

SECONDS = "60"
KIT = "zarrs with zarr-kit's crates"
NAMES = ("zarr-kit", "zarrs", KIT, "zarrs (Python)", "zarr-python", "Xarray", "TensorStore",
         "zarrita.js")
WRITERS = ("zarr-kit", KIT, "zarr-python", "TensorStore")
BAD = ("wrong", "accepted", "died")


def commands(ours, zarrs, kit):
    return {
        "zarr-kit": ["--adapter", "zarr_kit"],
        "zarrs": ["--read", f"{zarrs} --one {{store}}",
                  "--region", f"{zarrs} --one {{store}} {{start}} {{stop}}"],
        KIT: ["--read", f"{kit} read {{store}}",
              "--region", f"{kit} read {{store}} {{start}} {{stop}}"],
        "zarrs (Python)": ["--adapter", "zarrs_python"],
        "zarr-python": ["--adapter", "zarr_python"],
        "Xarray": ["--adapter", "xarray_zarr"],
        "TensorStore": ["--adapter", "tensor_store"],
        "zarrita.js": ["--adapter", "zarrita"],
        "zarr-kit, zjoin": ["--adapter", "zarr_kit", "--levels", "zjoin"],
        "zjoin.py": ["--adapter", "zjoin_python", "--levels", "zjoin"],
        "zarr-kit, writing": ["--adapter", "zarr_kit", "--write"],
        f"{KIT}, writing": ["--write", f"{kit} write {{document}} {{raw}} {{store}}"],
        "zarr-python, writing": ["--adapter", "zarr_python", "--write"],
        "TensorStore, writing": ["--adapter", "tensor_store", "--write"],
    }


def versions(work):
    root = Path(__file__).parents[2]
    pinned = (root / "xtask/peers/zarrs-writer/Cargo.toml").read_text().split('version = "=')[1]
    packages = json.loads((root / "xtask/suite/package.json").read_text())["dependencies"]
    return {
        "zarr-kit": "of this repository", "zarrs": pinned.split('"')[0],
        KIT: "as [plug-ins](from-zarrs.md#zarrs-with-these-crates)",
        "zarrs (Python)": version("zarrs"), "zarr-python": version("zarr"),
        "Xarray": version("xarray"), "TensorStore": version("tensorstore"), "zarrita.js": packages["zarrita"],
    }


def run(suite, work, *programs):
    env = {**os.environ, "PATH": f"{programs[0]}{os.pathsep}{os.environ['PATH']}"}
    for name, words in commands(*programs).items():
        out = work / f"{name}.json"
        out.unlink(missing_ok=True)
        print(name, flush=True)
        subprocess.run([sys.executable, suite / "run.py", *words, "--seconds", SECONDS, "--quiet",
                        "--json", out], cwd=work, env=env, check=False)


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


def page(suite, work):
    manifest = json.loads((suite / "manifest.json").read_text())
    cases = {case["id"]: case for case in manifest["cases"]}
    results = {name: json.loads((work / f"{name}.json").read_text())["results"] for name in NAMES}
    is_valid = {id: "fails" not in case for id, case in cases.items()}
    commit = (work / "commit").read_text()
    lines = [HEAD.format(commit=commit, versions=", ".join(f"{n} {v}" for n, v in versions(work).items()),
                         cases=len(results["zarr-kit"]), seconds=SECONDS)]
    for title, valid, words in (
        ("Stores that must be read", True, ("right", "refused", "wrong", "died")),
        ("Stores that must be refused", False, ("right", "accepted", "died")),
    ):
        chosen = {n: [r for r in rs if is_valid[r["id"]] == valid] for n, rs in results.items()}
        lines += [f"## {title}", "", f"Each cell: {', '.join(words)}; what is not there is 0.", ""]
        lines += table(chosen, manifest["levels"], words)
    lines += ["## What is wrong", "", WRONG, ""]
    for name in NAMES:
        lines += faults(name, results[name], cases)
    lines += ["## Writing", "", "Each program makes arrays of a document and elements, which the plain "
              "reader reads.", "", "| program | cases | right | refused | wrong or died | for example |",
              "| --- | --: | --: | --: | --: | --- |", *(writing(work, name) for name in WRITERS), ""]
    lines += ["## Virtual joins", "", *(joins(work, name) for name in ("zarr-kit, zjoin", "zjoin.py"))]
    return "\n".join(lines).rstrip() + "\n"


def writing(work, name):
    found = json.loads((work / f"{name}, writing.json").read_text())["results"]
    count = collections.Counter(r["verdict"] for r in found)
    bad = [r for r in found if r["verdict"] in BAD]
    example = f"`{bad[0]['id']}`: {short(bad[0]['why'])}".replace("|", "/") if bad else ""
    return f"| {name} | {len(found)} | {count['right']} | {count['refused']} | {len(bad)} | {example} |"


def joins(work, name):
    found = json.loads((work / f"{name}.json").read_text())["results"]
    right = sum(r["verdict"] == "right" for r in found)
    other = ", ".join(f"`{r['id']}` {r['verdict']}" for r in found if r["verdict"] != "right")
    return f"- {name.split(',')[0]}: {right} of {len(found)} cases right{other and '; ' + other}"


def counted(levels):
    return [level for level in levels if level not in ("core", "regular-edges")] or levels[-1:]


def table(results, levels, words):
    lines = ["| level | cases | " + " | ".join(NAMES) + " |", "| --- | --: |" + " --- |" * len(NAMES)]
    for level in [*levels, "all"]:
        def of(name):
            return [r for r in results[name] if level == "all" or level in counted(r["levels"])]

        most = max(len(of(name)) for name in NAMES)
        if most:
            cells = [cell([r["verdict"] for r in of(name)], words) for name in NAMES]
            lines.append(f"| {level} | {most} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def cell(verdicts, words):
    found = collections.Counter(verdicts)
    return ", ".join(f"**{found[w]} {w}**" if w in BAD else f"{found[w]} {w}"
                     for w in words if found[w]) or "0 right"


def faults(name, results, cases):
    """Wrong bytes and deaths by what they have in common, each with its smallest case."""
    groups = collections.defaultdict(list)
    for result in results:
        if result["verdict"] in BAD:
            case = cases[result["id"]]
            groups[result["verdict"], case["document"], case["section"]].append((result, case))
    if not groups:
        return [f"**{name}**: nothing.", ""]
    lines = [f"**{name}**", "", "| cases | verdict | text | for example | |", "| --: | --- | --- | --- | --- |"]
    ordered = sorted(groups.items(), key=lambda g: (BAD.index(g[0][0]), -len(g[1])))
    for (verdict, document, section), members in ordered:
        result, case = min(members, key=lambda m: len(str(m[1].get("shape", ""))))
        why = result["why"] if verdict != "accepted" else f"{case['where']}: {case['reason']}"
        why = " ".join(why.split()).replace("|", "/").replace("<", "&lt;")
        lines.append(f"| {len(members)} | {verdict} | {document}: {section} | `{case['id']}` | {short(why)} |")
    return [*lines, ""]


def short(text):
    text = re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "", "".join(c for c in text if c.isprintable()))
    # Addresses in memory differ from run to run.
    text = re.sub(r"@ +0x[0-9a-f]+ +", "@ ", text)
    return text if len(text) <= 160 else text[:159] + "…"


HEAD = """# Who reads what

Made by `cargo xtask suite` at commit `{commit}`, which runs the conformance suite (`fixtures/conformance`) with {versions}. Each program is as its registry gives it, without other settings than rectilinear grids in zarr-python, through which Xarray reads. Of {cases} cases each has {seconds} seconds and 2 GiB. A region of each array is read as well.

*Right* means the expected bytes, or the refusal of a store that must be refused. *Refused* is a valid store that was not read: mostly a feature that is missing. *Wrong* is other bytes without an error. *Died* is a crash, a panic, or too much time or memory. A case counts for each level that it needs, and for `core` and `regular-edges` only if it needs no other.
"""

WRONG = ("Grouped by the text that a case follows, with one case of each group. What the text says and "
         "what is disputed is in `manifest.json`: some of these are readings that a program does not "
         "share, such as the payload of a NaN as fill value, or a member of a document that it does "
         "not check.")


def main():
    suite, work, target, *rest = sys.argv[1:]
    suite, work = Path(suite).resolve(), Path(work).resolve()
    if rest != ["--page"]:
        run(suite, work, *rest)
    Path(target).write_text(page(suite, work))


if __name__ == "__main__":
    main()
