"""Gives a source distribution of maturin's the lock file of the crates that are in it.

maturin leaves out `xtask`, but not the packages that only `xtask` needs: with that lock file
`cargo build --locked` fails, which distributions of Linux and conda-forge use.

usage: lock.py SDIST FOLDER: unpacks it into FOLDER, and replaces the lock file in both
"""

import io
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path


def packages(lock: bytes) -> set[tuple[str, str, str | None]]:
    found = tomllib.loads(lock.decode())["package"]
    return {(one["name"], one["version"], one.get("checksum")) for one in found}


def main() -> None:
    sdist, folder = map(Path, sys.argv[1:])
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
        members = [(one, archive.extractfile(one)) for one in archive.getmembers()]
        contents = [(one, file.read() if file else None) for one, file in members]
    name = f"{sdist.name.removesuffix('.tar.gz')}/Cargo.lock"
    manifest = (folder / name).with_name("Cargo.toml")
    cargo = [os.environ.get("CARGO", "cargo")]
    subprocess.run([*cargo, "update", "--workspace", "--manifest-path", manifest], check=True)
    new = (folder / name).read_bytes()
    old = next(data for one, data in contents if one.name == name)
    if added := packages(new) - packages(old):
        sys.exit(f"Cargo.lock would get packages that the repository's lacks: {sorted(added)}")
    written = sdist.with_suffix(".new")
    with tarfile.open(written, "w:gz") as archive:
        for one, data in contents:
            if one.name == name:
                data, one.size = new, len(new)
            archive.addfile(one, None if data is None else io.BytesIO(data))
    written.replace(sdist)


main()
