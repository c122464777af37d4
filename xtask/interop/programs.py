"""Runs the programs: ours on the command line, the peers over whole folders at a time."""

import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PEERS = ("zarr-python", "TensorStore", "zarrs")
HERE = Path(__file__).parent
SECONDS = 1200
MEMORY = 16 << 30


class Programs:
    def __init__(self, ours, zarrs):
        self.ours, self.zarrs = ours, zarrs

    # ── ours ─────────────────────────────────────────────────────────────────────────────────────

    def command(self, *arguments):
        """None, or our command's error message."""
        done = subprocess.run([self.ours, *arguments], capture_output=True, text=True, timeout=120,
                              check=False)
        return None if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"

    def create(self, folder, document, raw):
        """Creates an array from a document's file and writes all of it."""
        found = self.command("create", folder, "--metadata", document)
        return found or self.command("write", folder, "--from", raw, "--allow-loss")

    def read(self, folder, raw):
        return self.command("read", folder, "--format", "raw", "--output", raw)

    # ── peers ────────────────────────────────────────────────────────────────────────────────────

    def peer_write(self, peer, folder):
        """Every `<name>.json` with its `<name>.raw` becomes `<name>/`."""
        if peer == "zarrs":
            return self.all_of([self.zarrs, folder], folder)
        return self.all_of([sys.executable, HERE / "peer.py", peer, "write", folder], folder)

    def peer_read(self, peer, folder, results):
        """Every `<name>/` becomes `<results>/<name>.raw`."""
        results.mkdir(parents=True, exist_ok=True)
        if peer == "zarrs":
            return self.all_of([self.zarrs, "--read", folder, results], results)
        peer_py = [sys.executable, HERE / "peer.py", peer, "read", folder, results]
        return self.all_of(peer_py, results)

    @staticmethod
    def all_of(command, results):
        """Restarts a program for the remaining arrays while it dies, and returns the status of each."""
        while True:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                                  preexec_fn=limit_memory, check=False)
            died = [path for path in results.glob("*.status") if path.read_text() == "started"]
            for path in died:
                lines = done.stderr.strip().splitlines()
                path.write_text("died: " + (lines[-1] if lines else f"status {done.returncode}"))
            if done.returncode == 0:
                break
            if not died:
                raise SystemExit(f"{command[0]} failed: {done.stderr}")
        return {path.name.removesuffix(".status"): path.read_text()
                for path in results.glob("*.status")}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def at_once(run, items):
    """`run` of every item, a few at a time."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(run, items))
